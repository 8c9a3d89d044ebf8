package safepath

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/honestty/honestty/internal/leak"
)

// The walk that stands in for openat2 passes and refuses the same.
func TestWalkWithoutTheKernelsHelpAgrees(t *testing.T) {
	before := leak.Take(t)
	w := newWorld(t)
	write(t, filepath.Join(w.dir, "real/f"), "x")
	link(t, "real", filepath.Join(w.dir, "way"))
	link(t, "real/f", filepath.Join(w.dir, "last"))
	for _, c := range []struct {
		path  string
		flags int
	}{
		{filepath.Join(w.dir, "real/f"), 0},
		{filepath.Join(w.dir, "real"), syscall.O_DIRECTORY},
		{"/", syscall.O_DIRECTORY},
		{filepath.Join(w.dir, "way/f"), 0},
		{filepath.Join(w.dir, "way"), syscall.O_DIRECTORY},
		{filepath.Join(w.dir, "last"), 0},
		{filepath.Join(w.dir, "gone/f"), 0},
		{filepath.Join(w.dir, "gone"), 0},
	} {
		f, want := openNoLinks(c.path, c.flags)
		g, got := walkNoLinks(c.path, c.flags|syscall.O_CLOEXEC|syscall.O_NOFOLLOW)
		if (want == nil) != (got == nil) || want != nil && RuleOf(opened(want)) != RuleOf(opened(got)) ||
			errors.Is(want, os.ErrNotExist) != errors.Is(got, os.ErrNotExist) {
			t.Errorf("%s: walk says %v, the kernel %v", filepath.Base(c.path), got, want)
		}
		for _, open := range []*os.File{f, g} {
			if open == nil {
				continue
			}
			if c.flags == 0 {
				if b, err := io.ReadAll(open); err != nil || string(b) != "x" {
					t.Errorf("%s: %q, %v", c.path, b, err)
				}
			}
			if err := open.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	before.Check(t)
}
