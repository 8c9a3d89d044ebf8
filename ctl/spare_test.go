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
	checkLeaks(t)
	dir := shortDir(t)
	var short atomic.Pointer[syscall.Errno]
	full, system := syscall.EMFILE, syscall.ENFILE
	short.Store(&full)
	s := serve(t, testEnv(dir), echo, func(s *Server) {
		s.limits.place, s.limits.pause = time.Millisecond, time.Millisecond
		s.accept = func() (*net.UnixConn, error) {
			if no := short.Load(); no != nil && s.spare.file != nil {
				return nil, *no
			}
			return s.ln.AcceptUnix()
		}
	})
	for no, says := range map[*syscall.Errno]string{&full: "the window has no descriptor left", &system: "the system has no descriptor left"} {
		short.Store(no)
		if _, err := Dial(testEnv(dir), ""); !errors.Is(err, &Error{Code: NoDescriptors}) || !strings.Contains(err.Error(), says) {
			t.Errorf("dial while descriptors are short = %v, want that %s", err, says)
		}
	}
	if got := s.Stats(); got.Short != 2 || got.Accepted != 0 {
		t.Errorf("stats = %+v, want two clients turned away", got)
	}
	short.Store(nil)
	if err := client(t, testEnv(dir), "").Call(t.Context(), "x", nil, nil); err != nil {
		t.Errorf("once there are some again: %v", err)
	}
}
