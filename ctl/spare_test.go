package ctl

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestAClientIsToldOfAShortageThatLasts has no descriptor but the spare one.
func TestAClientIsToldOfAShortageThatLasts(t *testing.T) {
	for no, says := range map[syscall.Errno]string{syscall.EMFILE: "the window has no descriptor left", syscall.ENFILE: "the system has no descriptor left"} {
		t.Run(no.Error(), func(t *testing.T) {
			checkLeaks(t)
			dir := shortDir(t)
			var short atomic.Bool
			short.Store(true)
			s := serve(t, testEnv(dir), echo, func(s *Server) {
				s.limits.place, s.limits.pause = time.Millisecond, time.Millisecond
				s.accept = func() (*net.UnixConn, error) {
					if short.Load() && s.spare.file != nil {
						return nil, no
					}
					return s.ln.AcceptUnix()
				}
			})
			if _, err := Dial(testEnv(dir), ""); !errors.Is(err, &Error{Code: NoDescriptors}) || !strings.Contains(err.Error(), says) {
				t.Errorf("dial while descriptors are short = %v, want that %s", err, says)
			}
			if got := s.Stats(); got.Short != 1 || got.Accepted != 0 {
				t.Errorf("stats = %+v, want one client turned away", got)
			}
			short.Store(false)
			c, err := Dial(testEnv(dir), "")
			if errors.Is(err, &Error{Code: NoDescriptors}) { // a turn that had begun before
				c, err = Dial(testEnv(dir), "")
			}
			if err != nil {
				t.Fatalf("once there are some again: %v", err)
			}
			if err := errors.Join(c.Call(t.Context(), "x", nil, nil), c.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
