package fdmeter

import (
	"errors"
	"syscall"
)

// A Proof says how it was found out that two descriptors are one. The zero
// value is none.
type Proof uint8

const (
	ProofNone     Proof = iota
	ProofKernel         // kcmp(2): they are one open file description
	ProofInode          // the same socket, or the same end of the same pipe
	ProofPosition       // the same file, flags and position: likely, not proved
)

func (p Proof) String() string {
	switch p {
	case ProofKernel:
		return "kcmp"
	case ProofInode:
		return "same inode"
	case ProofPosition:
		return "same file and position"
	}
	return "none"
}

// A Shared is a descriptor of a child and what is known of its origin.
type Shared struct {
	FD     FD
	Origin int   // the parent's number; -1 when there is none or it is not known
	Shared Maybe // MaybeUnknown: nobody can tell
	By     Proof
}

// Inherited says which descriptors of the child are the parent's as well: it
// got them when it was made, or they were passed over a socket since. Where the
// kernel refuses to compare, the kind of proof says what the answer rests on,
// and where nothing proves anything the answer is unknown.
func (m *Meter) Inherited(parent, child Breakdown) []Shared {
	byTarget := map[string][]FD{}
	for _, fd := range parent.FDs {
		if fd.Kind != KindUnreadable {
			byTarget[fd.Target] = append(byTarget[fd.Target], fd)
		}
	}
	whole := parent.Listed.Known() && parent.NotInspected == 0 && parent.Counts[KindUnreadable] == 0
	out := make([]Shared, 0, len(child.FDs))
	for _, fd := range child.FDs {
		switch {
		case fd.Kind == KindUnreadable:
			out = append(out, Shared{FD: fd, Origin: -1})
		case len(byTarget[fd.Target]) == 0 && whole:
			out = append(out, Shared{FD: fd, Origin: -1, Shared: MaybeNo})
		default:
			out = append(out, m.shared(parent.PID, child.PID, fd, byTarget[fd.Target], whole))
		}
	}
	return out
}

// maxCompared bounds the calls of kcmp for one descriptor.
const maxCompared = 256

// shared compares one descriptor with those of the parent that lead to the
// same target.
func (m *Meter) shared(parent, child int, fd FD, candidates []FD, whole bool) Shared {
	answer := Shared{FD: fd, Origin: -1}
	refused := len(candidates) > maxCompared
	for _, of := range candidates[:min(len(candidates), maxCompared)] {
		same, err := m.source().same(parent, of.Number, child, fd.Number)
		if errors.Is(err, syscall.EBADF) || isGone(err) {
			continue // one of them was closed meanwhile
		}
		if err != nil {
			refused = true
			break
		}
		if same {
			return Shared{fd, of.Number, MaybeYes, ProofKernel}
		}
	}
	if !refused {
		if whole {
			answer.Shared, answer.By = MaybeNo, ProofKernel
		}
		return answer
	}
	return guess(fd, candidates)
}

// guess answers without the kernel's help.
func guess(fd FD, candidates []FD) Shared {
	answer := Shared{FD: fd, Origin: -1}
	for _, of := range candidates {
		if _, unique := fd.Inode(); unique {
			// The two ends of a pipe have one inode and other flags.
			if of.Detail.Flags.Known() && of.Detail.Flags == fd.Detail.Flags {
				return Shared{fd, of.Number, MaybeYes, ProofInode}
			}
			continue
		}
		// One open file description has one position. At the beginning two
		// that are not one look alike.
		same := of.Detail.Flags.Known() && of.Detail.Flags == fd.Detail.Flags && of.Detail.Pos == fd.Detail.Pos
		if at, known := fd.Detail.Pos.Get(); same && known && at > 0 {
			return Shared{fd, of.Number, MaybeYes, ProofPosition}
		}
	}
	return answer
}
