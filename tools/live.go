package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

// liveCap is how much of a call's output those who watch can read: what a person
// can scroll through. The whole is the tool's to keep.
const liveCap = 16 << 20

// A liveFile takes the output of a running call for those who watch. It is made
// with the first byte, and a failure of it never fails the call: Close tells it.
type liveFile struct {
	path string

	mu   sync.Mutex
	f    *os.File
	n    int64
	over int64 // bytes that were not kept
	err  error
}

func (c *Caller) live(path string) *liveFile {
	if path == "" {
		return nil
	}
	return &liveFile{path: path}
}

func (l *liveFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil && l.err == nil {
		l.f, l.err = createPrivate(l.path)
	}
	keep := p[:max(0, min(int64(len(p)), liveCap-l.n))]
	if l.err != nil {
		keep = nil
	}
	if len(keep) > 0 {
		var n int
		n, l.err = l.f.Write(keep)
		l.n += int64(n)
		keep = keep[:n]
	}
	l.over += int64(len(p) - len(keep))
	return len(p), nil
}

// Close ends the file, with a last line that says what it lacks.
func (l *liveFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return l.err
	}
	if l.over > 0 && l.err == nil {
		_, l.err = fmt.Fprintf(l.f, "\n[%s more were not kept for watching]\n", outcome.CountBytes(l.over))
	}
	err := errors.Join(l.err, l.f.Close())
	l.f, l.err = nil, nil
	return err
}

// createPrivate makes a new file that only its owner reads, in a folder of the
// same kind.
func createPrivate(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
}

// SweepLive removes the output of calls that was last written to more than age
// before now. It returns how many files went, and what could not be looked at.
func SweepLive(dir string, age time.Duration, now time.Time) (gone int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("sweep live output: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".raw") || !e.Type().IsRegular() {
			continue // not ours
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) <= age {
			continue // gone meanwhile, or young
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("sweep live output: %w", err))
			continue
		}
		gone++
	}
	return gone, errors.Join(errs...)
}
