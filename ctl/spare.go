package ctl

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A spare is one descriptor that is kept for the moment in which a process has
// no other: with it a client can be told so, instead of waiting for a window
// that cannot even take the connection. It belongs to the accept loop.
type spare struct{ file *os.File }

// keep takes one when there is none. Without a descriptor left it stays empty.
func (s *spare) keep() {
	if s.file == nil {
		s.file, _ = os.Open(os.DevNull) // nil on an error: it is tried again
	}
}

// give gives it up and reports whether there was one.
func (s *spare) give() bool {
	if s.file == nil {
		return false
	}
	_ = s.file.Close() // nothing was written
	s.file = nil
	return true
}

// isShortage reports whether an accept failed because there are no descriptors
// left, of this process or of the system.
func isShortage(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }

// turnAway takes one client on the spare descriptor and tells it why it cannot
// stay. When none is there it returns soon: the kernel reports a shortage also
// to who waits for clients that have not come.
func (s *Server) turnAway(why error) {
	defer s.spare.keep()
	if !s.spare.give() {
		return
	}
	_ = s.ln.SetDeadline(time.Now().Add(s.limits.turn)) // fails only on a closed listener, where accept fails too
	nc, err := s.accept()
	_ = s.ln.SetDeadline(time.Time{})
	if err != nil {
		return // nobody is there, or somebody else took the descriptor
	}
	if uid, err := peerUID(nc); err != nil || uid != ownUID() {
		s.foreign(nc)
		return
	}
	s.count.short.Add(1)
	whose, do := "the window", "close panes or jobs of it, or raise ulimit -n and start it anew"
	if errors.Is(why, unix.ENFILE) {
		whose, do = "the system", "end programs that hold many, or raise the limit of the system"
	}
	s.refuse(nc, Errorf(NoDescriptors, "%s has no descriptor left for one more client: %s", whose, do))
}
