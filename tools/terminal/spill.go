package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

const (
	// DefaultSpill is how many bytes of one output a spill file takes when the
	// caller names no number. One command that does not end must not fill the
	// disk.
	DefaultSpill = 4 << 30

	// spillReserve is what spill files leave free on their file system, for
	// the work that the user does there.
	spillReserve = 512 << 20

	// spillCheck is how many bytes pass between two looks at the free space.
	spillCheck = 64 << 20

	spillPrefix, spillSuffix = "out-", ".log"
)

// A spill is the private file that takes a whole output, up to its limit.
type spill struct {
	dir  string
	max  int64
	free func(dir string) (uint64, error)

	f       *os.File
	path    string
	written int64
	next    int64  // the count at which the free space is looked at again
	full    string // why no more is taken; empty while it is
}

// open makes the file: 0600, in a folder of 0700, and new.
func (s *spill) open() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the spill folder: %w", err)
	}
	f, err := os.CreateTemp(s.dir, spillPrefix+"*"+spillSuffix)
	if err != nil {
		return fmt.Errorf("open a spill file: %w", err)
	}
	s.f, s.path = f, f.Name()
	return nil
}

// write appends p, as much of it as the limits allow.
func (s *spill) write(p []byte) error {
	if s.full != "" {
		return nil
	}
	if s.written >= s.next {
		s.next = s.written + spillCheck
		if free, err := s.free(s.dir); err == nil && free < spillReserve+spillCheck {
			s.full = fmt.Sprintf("less than %s would be left free on its disk", outcome.Size(spillReserve))
			return nil
		}
	}
	if room := s.max - s.written; int64(len(p)) > room {
		p = p[:room]
		s.full = fmt.Sprintf("its limit is %s", outcome.CountBytes(s.max))
	}
	n, err := s.f.Write(p)
	s.written += int64(n)
	if err != nil {
		return fmt.Errorf("write the spill file: %w", err)
	}
	return nil
}

func (s *spill) close() error {
	if s.f == nil {
		return nil
	}
	f := s.f
	s.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close the spill file: %w", err)
	}
	return nil
}

// freeSpace is what an ordinary user may still write on the file system of dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// SweepSpills removes the spill files of dir that were last written to more
// than age before now, and returns how many. Nothing else in the folder is
// touched.
func SweepSpills(dir string, age time.Duration, now time.Time) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list the spill folder: %w", err)
	}
	removed := 0
	var errs []error
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), spillPrefix) || !strings.HasSuffix(e.Name(), spillSuffix) {
			continue
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) <= age {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("remove a spill file: %w", err))
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}
