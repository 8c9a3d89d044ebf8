package session

import (
	"slices"

	"github.com/honestty/honestty/tools/fdmeter"
)

// The labels of OwnParts.
const (
	PartMasters = "masters of the panes' terminals"
	PartPidfds  = "pidfds of the panes' processes"
	PartWaiter  = "waiting for all of them"
	PartWake    = "wake-up of the waiting"
	PartRuntime = "the Go runtime's own waiting"
	PartTTY     = "this window's terminal"
	PartSocket  = "sockets for commands"
)

// OwnParts says which descriptors of this process the parts of a session hold,
// for fdmeter.Meter.Own. It judges by what each descriptor is open on, as b has
// it: a master is one of /dev/ptmx, a pidfd is a pane's when its process is, and
// the waiter is the epoll that watches a terminal. A part that holds nothing is
// left out. Elsewhere than on Linux little of that is told, and the rest of
// Share is larger.
func (s *Session) OwnParts(b fdmeter.Breakdown) []fdmeter.Part {
	roots := s.roots()
	held := map[string][]int{}
	hold := func(label string, fd fdmeter.FD) { held[label] = append(held[label], fd.Number) }
	kinds := map[int]fdmeter.Kind{}
	for _, fd := range b.FDs {
		kinds[fd.Number] = fd.Kind
		switch pid, known := fd.Detail.Process.Get(); {
		case fd.Kind == fdmeter.KindPTY && (fd.Target == "/dev/ptmx" || fd.Detail.Slave != ""):
			hold(PartMasters, fd)
		case fd.Kind == fdmeter.KindPTY:
			hold(PartTTY, fd)
		case fd.Kind == fdmeter.KindPidfd && known && slices.Contains(roots, int(pid)):
			hold(PartPidfds, fd)
		case fd.Kind == fdmeter.KindSocket:
			hold(PartSocket, fd)
		}
	}
	for _, fd := range b.FDs {
		if fd.Kind != fdmeter.KindEpoll {
			continue
		}
		waits, wakes := PartRuntime, PartRuntime
		if slices.ContainsFunc(fd.Detail.Watches, func(n int) bool { return kinds[n] == fdmeter.KindPTY }) {
			waits, wakes = PartWaiter, PartWake
		}
		hold(waits, fd)
		for _, n := range fd.Detail.Watches {
			if kinds[n] == fdmeter.KindEventfd {
				held[wakes] = append(held[wakes], n)
			}
		}
	}
	var out []fdmeter.Part
	for _, label := range []string{PartMasters, PartPidfds, PartWaiter, PartWake, PartTTY, PartSocket, PartRuntime} {
		if fds := held[label]; len(fds) > 0 {
			out = append(out, fdmeter.Part{Label: label, FDs: fds})
		}
	}
	return out
}
