package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// A WindowRef is one window that is open.
type WindowRef struct {
	PID  int    // that its socket is named after; 0 for a name of the user's
	Path string // of its socket
}

// Name is what Dial takes for it.
func (w WindowRef) Name() string {
	if w.PID != 0 {
		return strconv.Itoa(w.PID)
	}
	return w.Path
}

// Windows lists the windows that listen in the places where Dial looks, the
// newest of each folder first. skipped says which places were not looked into.
func Windows(env Env) (open []WindowRef, skipped []error) {
	s, err := newSearch(env)
	if err != nil {
		skipped = append(skipped, err)
	}
	return s.open(), append(skipped, s.skipped...)
}

// A search is the folders in which windows may be.
type search struct {
	folders []string // private, checked, in order
	looked  []string
	skipped []error
	named   string // the socket of SocketVariable
}

// newSearch lists the folders. With an error, which is about SocketVariable,
// it holds the other places.
func newSearch(env Env) (search, error) {
	var s search
	path, err := env.named()
	if err == nil && path != "" {
		s.named = path
		s.add(filepath.Dir(path))
	}
	for _, p := range env.places() {
		switch berr := checkBase(p.base, ownUID()); {
		case errors.Is(berr, fs.ErrNotExist):
		case berr != nil:
			s.skipped = append(s.skipped, fmt.Errorf("%s: %w", p.from, berr))
		default:
			s.add(p.folder)
		}
	}
	return s, err
}

// add takes a folder if it is there and private. That its sockets are ours is
// asked again from the kernel at every connection.
func (s *search) add(folder string) {
	s.looked = append(s.looked, folder)
	switch err := checkFolder(folder, ownUID()); {
	case err == nil:
		s.folders = append(s.folders, folder)
	case !errors.Is(err, fs.ErrNotExist):
		s.skipped = append(s.skipped, err)
	}
}

// candidates lists the sockets of a folder in the order in which they may be
// the latest window: where the link leads, then the newest.
func candidates(folder string) []string {
	var out []string
	first := latest(folder)
	if first != "" {
		out = append(out, first)
	}
	all, err := socketsIn(folder, ownUID())
	if err != nil {
		return out // it is gone since it was checked
	}
	for _, s := range all {
		if s.name != first {
			out = append(out, s.name)
		}
	}
	return out
}

func (s *search) open() []WindowRef {
	var out []WindowRef
	seen := map[string]bool{}
	for _, folder := range s.folders {
		for _, name := range candidates(folder) {
			path := filepath.Join(folder, name)
			if !seen[path] && probe(path) == alive {
				out = append(out, WindowRef{PID: namedPID(name), Path: path})
			}
			seen[path] = true
		}
	}
	return out
}

// paths lists the sockets to try for a window, in order.
func (s *search) paths(which string) ([]string, error) {
	switch {
	case which == "" && s.named != "":
		s.looked = []string{s.named}
		return s.looked, nil // only this: an order must not reach another window
	case which == "" || which == Latest:
		var out []string
		for _, folder := range s.folders {
			for _, name := range candidates(folder) {
				out = append(out, filepath.Join(folder, name))
			}
		}
		return out, nil
	case strings.ContainsRune(which, filepath.Separator):
		path, err := filepath.Abs(which)
		if err != nil {
			return nil, err
		}
		s.looked = []string{path}
		return s.looked, checkLength(path)
	}
	pid, err := strconv.Atoi(which)
	if err != nil || pid <= 0 {
		return nil, fmt.Errorf("window %q: it must be a pid, %q or the path of a socket", which, Latest)
	}
	var out []string
	for _, folder := range s.folders {
		out = append(out, filepath.Join(folder, pidName(pid)))
	}
	return out, nil
}

// none is the error for a window that was not found.
func (s *search) none(which string) error {
	e := &NoWindowError{Which: which, Looked: s.looked, Skipped: s.skipped}
	if which == "" && s.named != "" {
		e.Which = fmt.Sprintf("%s of %s", s.named, SocketVariable)
	}
	for _, w := range s.open() {
		e.Open = append(e.Open, w.Name())
	}
	return e
}
