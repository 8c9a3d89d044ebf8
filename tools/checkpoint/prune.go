package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Pruned is what Prune took out.
type Pruned struct {
	Dropped []Drop `json:"dropped"` // entries over a limit
	Blobs   int    `json:"blobs"`   // contents that no entry names any more
	Temps   int    `json:"temps"`   // copies that a crash left behind, here or beside a file to restore
	Lines   int    `json:"lines"`   // lines of the index that could not be read
	Bytes   int64  `json:"bytes"`   // freed
}

// Prune drops entries over the limits, and sweeps what no entry names. A field
// of limits that is 0 means the store's own.
func (s *Store) Prune(limits Limits) (Pruned, error) {
	if limits.Total <= 0 {
		limits.Total = s.limits.Total
	}
	if limits.Age <= 0 {
		limits.Age = s.limits.Age
	}
	p := Pruned{Dropped: []Drop{}}
	err := s.locked(func() error {
		l, err := s.read()
		if err != nil {
			return err
		}
		stay, drop := s.overLimits(l, limits, 0, "", "")
		p.Dropped = append(p.Dropped, drop...)
		p.Lines = l.Damaged
		if len(drop) > 0 || l.Damaged > 0 {
			if err := s.rewrite(stay); err != nil {
				return err
			}
		}
		var freed int64
		if p.Blobs, freed, err = s.sweepBlobs(stay); err != nil {
			return err
		}
		p.Bytes += freed
		for _, folder := range []string{tempsName, notesName} {
			n, freed, err := s.sweepTemps(folder)
			p.Temps, p.Bytes = p.Temps+n, p.Bytes+freed
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("prune checkpoints: %w", err)
	}
	return p, nil
}

// sweepBlobs removes contents that no entry names. The caller has the lock, so
// no content is between its rename and its line.
func (s *Store) sweepBlobs(stay []Entry) (n int, freed int64, err error) {
	named := map[string]bool{}
	for _, e := range stay {
		named[e.SHA256] = true
	}
	if err := s.step("sweep"); err != nil {
		return 0, 0, err
	}
	err = filepath.WalkDir(s.at(blobsName), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || named[d.Name()] {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		n++
		freed += info.Size()
		return nil
	})
	if err != nil {
		return n, freed, fmt.Errorf("sweep content: %w", err)
	}
	return n, freed, nil
}

// announce notes in the store which file is about to be made beside a target,
// so that Prune finds it when this process is killed. The note is locked for
// as long as it is open.
func (s *Store) announce(beside string) (*os.File, error) {
	note, err := s.createLocked(notesName)
	if err != nil {
		return nil, err
	}
	_, err = note.WriteString(beside)
	if err = errors.Join(err, note.Sync()); err != nil {
		return nil, errors.Join(fmt.Errorf("note the restore: %w", bare(err)), discard(note))
	}
	return note, nil
}

// sweepTemps removes files whose maker is gone: nobody has them locked. A note
// takes with it what it names.
func (s *Store) sweepTemps(folder string) (n int, freed int64, err error) {
	entries, err := os.ReadDir(s.at(folder))
	if err != nil {
		return 0, 0, fmt.Errorf("sweep copies: %w", err)
	}
	for _, d := range entries {
		size, swept, err := sweepTemp(s.at(folder, d.Name()), folder == notesName)
		if err != nil {
			return n, freed, fmt.Errorf("sweep copies: %w", err)
		}
		if swept {
			n++
			freed += size
		}
	}
	return n, freed, nil
}

func sweepTemp(path string, note bool) (size int64, swept bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if note {
		if size, err = sweepNoted(f); err != nil {
			return 0, false, err
		}
		return size, true, os.Remove(path)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, os.Remove(path)
}

// sweepNoted removes the regular file that a note names. Its name holds a
// random part that was made for it alone.
func sweepNoted(note *os.File) (int64, error) {
	raw, err := io.ReadAll(io.LimitReader(note, 1<<16))
	if err != nil {
		return 0, err
	}
	beside := string(raw)
	base := filepath.Base(beside)
	if !filepath.IsAbs(beside) || !strings.HasPrefix(base, ".") || !strings.HasSuffix(base, ".tmp") {
		return 0, nil // killed before the note was whole, and so before there was a file
	}
	info, err := os.Lstat(beside)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, err
	}
	return info.Size(), os.Remove(beside)
}
