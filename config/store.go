package config

import (
	"os"
	"slices"
	"sync"
)

// A Store keeps the settings in force. It is safe for use by several
// goroutines, and holds no lock while it reads a file.
type Store struct {
	opts Options

	mu      sync.Mutex
	conf    Config // the last good one
	bad     Problems
	stamps  []stamp // the files as the last Reload found them
	started uint64  // Reloads that began
	taken   uint64  // the Reload whose findings are held
}

// NewStore returns a Store with the settings of Load. The Store is never nil:
// after an error the defaults are in force until a Reload finds good files.
func NewStore(o Options) (*Store, error) {
	s := &Store{opts: o}
	var bad Problems
	s.conf, s.stamps, bad = load(o)
	s.bad = bad
	if bad != nil {
		return s, bad
	}
	return s, nil
}

// Config returns the settings in force. The caller may change what it gets.
func (s *Store) Config() Config {
	s.mu.Lock()
	c := s.conf
	s.mu.Unlock()
	return c.Clone() // a Config in the Store is replaced, not changed
}

// Problems returns what is wrong with the files as they were last read; nil
// when they are in force.
func (s *Store) Problems() Problems {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bad)
}

// Reload reads the files again. When all is well they are in force on return;
// otherwise the settings stay what they were and the error is Problems. Of two
// Reloads at once the one that began later decides.
func (s *Store) Reload() error {
	s.mu.Lock()
	s.started++
	turn := s.started
	s.mu.Unlock()

	c, stamps, bad := load(s.opts)

	s.mu.Lock()
	if turn > s.taken {
		s.taken, s.stamps, s.bad = turn, stamps, bad
		if bad == nil {
			s.conf = c
		}
	}
	s.mu.Unlock()
	if bad != nil {
		return bad
	}
	return nil
}

// Changed reports whether a file is no longer what the last Reload read: by
// device, inode, size, mode and time of change, or that it came or went. It
// costs one stat a file. A second change of the same size within one tick of
// the file system's clock (a few ms) is not seen.
func (s *Store) Changed() bool {
	s.mu.Lock()
	stamps := s.stamps // replaced as a whole, not changed
	s.mu.Unlock()
	return slices.ContainsFunc(stamps, func(st stamp) bool { return !st.same(look(st.path)) })
}

// A stamp is what a file was at one moment.
type stamp struct {
	path string
	info os.FileInfo // nil when it could not be had
	err  string      // why not
}

// look takes the stamp of a path, through symbolic links.
func look(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path, err: withoutPath(err).Error()}
	}
	return stamp{path: path, info: info}
}

func (s stamp) same(o stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil && s.err == o.err
	}
	return os.SameFile(s.info, o.info) && s.info.Size() == o.info.Size() &&
		s.info.Mode() == o.info.Mode() && s.info.ModTime().Equal(o.info.ModTime())
}
