package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Marks are empty files in one folder:
//
//	run.SESSION.KEY.CALL   a call that began and whose end was not told
//	lost.ID                an event that could not be journaled
//
// SESSION and KEY are hashes; CALL is the id in the journal.
const (
	markRun  = "run."
	markLost = "lost."
)

// markAge is how long a mark is kept: longer than any call runs.
const markAge = 7 * 24 * time.Hour

const (
	maxMarks  = 20_000 // names of the folder that are read for one event
	manyMarks = 512    // more than run at once: some are of calls that nobody will end
)

type marks struct{ dir string }

// hash is a short name for a text that may be anything.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// set leaves an empty file of that name.
func (m marks) set(name string) error {
	if m.dir == "" {
		return errors.New("there is no folder for marks")
	}
	open := func() error {
		f, err := os.OpenFile(filepath.Join(m.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	}
	err := open()
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(m.dir, 0o700); err == nil {
			err = open()
		}
	}
	return err
}

// take removes a mark. It reports whether it was this process that did, and
// when the mark was set.
func (m marks) take(name string) (time.Time, bool) {
	path := filepath.Join(m.dir, name)
	info, err := os.Lstat(path)
	if err != nil || os.Remove(path) != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// names lists the marks that begin with prefix, oldest call first.
func (m marks) names(prefix string) []string {
	dir, err := os.Open(m.dir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	all, _ := dir.Readdirnames(maxMarks) // what cannot be read has no marks
	if len(all) > manyMarks {
		m.sweep(all, time.Now())
	}
	var out []string
	for _, name := range all {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	slices.Sort(out) // ids of version 7 sort by time
	return out
}

// sweep removes marks that are older than any call.
func (m marks) sweep(names []string, now time.Time) {
	for _, name := range names {
		path := filepath.Join(m.dir, name)
		info, err := os.Lstat(path)
		if err == nil && strings.HasPrefix(name, markRun) && now.Sub(info.ModTime()) > markAge {
			_ = os.Remove(path) // another one may sweep too
		}
	}
}

// begun remembers that a call began.
func (m marks) begun(session, key, call string) error {
	return m.set(markRun + session + "." + key + "." + call)
}

// ended takes the mark of one call away: of the oldest one with that key. It
// returns the id that the call began with and when; none where none began.
func (m marks) ended(session, key string) (call string, began time.Time) {
	prefix := markRun + session + "." + key + "."
	for _, name := range m.names(prefix) {
		if at, ok := m.take(name); ok {
			return strings.TrimPrefix(name, prefix), at
		}
	}
	return "", time.Time{}
}

// endedAs is ended for a call whose id is known: nothing has to be listed.
func (m marks) endedAs(session, key, call string) (began time.Time, ok bool) {
	return m.take(markRun + session + "." + key + "." + call)
}

// left takes the marks of all calls of a session away and returns their ids.
func (m marks) left(session string) []string {
	var out []string
	for _, name := range m.names(markRun + session + ".") {
		if _, ok := m.take(name); ok {
			out = append(out, name[strings.LastIndexByte(name, '.')+1:])
		}
	}
	return out
}

// lose remembers that an event could not be journaled.
func (m marks) lose() error { return m.set(markLost + uuid.NewString()) }

// found takes the marks of lost events away and returns how many there were.
func (m marks) found() int {
	n := 0
	for _, name := range m.names(markLost) {
		if _, ok := m.take(name); ok {
			n++
		}
	}
	return n
}
