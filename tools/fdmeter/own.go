package fdmeter

import (
	"slices"
	"time"
)

// A Part is what one part of a program says that it holds: a pane's master,
// the waiter, its wake-up, a pidfd.
type Part struct {
	Label string
	FDs   []int
}

// A Cost is what a Part really holds.
type Cost struct {
	Label string
	FDs   []FD
	// Missing are the numbers that the part claims and that are not open.
	Missing []int
}

// A Share is the descriptors of a process by the part that they belong to.
type Share struct {
	Parts []Cost
	// Rest is held by nobody who said so: by the language's runtime, by
	// libraries, or by a leak.
	Rest []FD
	// Unknown says why there are no figures; it means nothing when Known.
	Listed Value
}

// Own looks at our own descriptors and shares them out among the parts. A
// number that two parts claim is counted for the first.
func (m *Meter) Own(now time.Time, pid int, parts []Part) Share {
	b := m.Types(pid, now)
	share := Share{Parts: make([]Cost, 0, len(parts)), Listed: b.Listed}
	left := slices.Clone(b.FDs)
	for _, part := range parts {
		cost := Cost{Label: part.Label}
		for _, number := range part.FDs {
			i := slices.IndexFunc(left, func(fd FD) bool { return fd.Number == number })
			switch {
			case i >= 0:
				cost.FDs = append(cost.FDs, left[i])
				left = slices.Delete(left, i, i+1)
			case b.Listed.Known() && !b.beyond(number) && !slices.ContainsFunc(b.FDs, func(fd FD) bool { return fd.Number == number }):
				cost.Missing = append(cost.Missing, number)
			}
		}
		share.Parts = append(share.Parts, cost)
	}
	share.Rest = left
	return share
}
