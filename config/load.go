package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/honestty/honestty/outcome"
)

// maxFile is the size in bytes above which a file is not taken for settings. The
// work of the decoder grows with the square of it.
const maxFile = 64 << 10

// noColor is the variable that turns colour off when it is not empty
// (no-color.org).
const noColor = "NO_COLOR"

// Options say where settings come from.
type Options struct {
	Path  string                   // a file of its own, over the user's; "": none
	Env   func(name string) string // nil: os.Getenv
	Check KeyCheck                 // nil: keys are taken as they stand
}

func (o Options) env(name string) string {
	if o.Env == nil {
		return os.Getenv(name)
	}
	return o.Env(name)
}

// UserPath returns where the user's file is looked for:
// $XDG_CONFIG_HOME/honestty/config.toml, or ~/.config in place of a variable
// that is not set or, against the XDG rule, not absolute. It is "" when there
// is no home either. A nil env is os.Getenv.
func UserPath(env func(name string) string) string {
	return xdgPath(Options{Env: env}, "XDG_CONFIG_HOME", ".config", "config.toml")
}

// StatePath returns where the state is kept: $XDG_STATE_HOME/honestty/state.json,
// by the rules of UserPath with ~/.local/state.
func StatePath(env func(name string) string) string {
	return xdgPath(Options{Env: env}, "XDG_STATE_HOME", ".local/state", "state.json")
}

func xdgPath(o Options, variable, below, file string) string {
	dir := o.env(variable)
	if !filepath.IsAbs(dir) {
		home := o.env("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, below)
	}
	return filepath.Join(dir, "honestty", file)
}

// Load reads the settings: defaults, the user's file when there is one, the
// file of Options.Path, which must be there, and NO_COLOR. A later one wins key
// by key. An error is Problems with everything that is wrong; the Config is
// then the defaults (and NO_COLOR), never a part of a file.
func Load(o Options) (Config, error) {
	c, _, bad := load(o)
	if bad != nil {
		return c, bad
	}
	return c, nil
}

// load is Load with the stamps of the files it looked at.
func load(o Options) (Config, []stamp, Problems) {
	c := Defaults()
	c.marks = map[string]mark{}
	var bad list
	var stamps []stamp
	user := UserPath(o.Env)
	for _, path := range []string{user, o.Path} {
		if path == "" {
			continue
		}
		data, st, err := readFile(path)
		stamps = append(stamps, st)
		switch {
		case err == nil:
			read(&c, path, data, &bad)
		case path == user && path != o.Path && errors.Is(err, fs.ErrNotExist):
		default:
			bad.add(Problem{File: path, Text: "read settings: " + safe(outcome.Errno(err)), Err: err})
		}
		if user == o.Path {
			break // one file, named twice
		}
	}
	checkKeys(&c, o.Check, &bad)
	problems := bad.sorted()
	if problems != nil {
		c = Defaults()
		c.marks = map[string]mark{}
	}
	if o.env(noColor) != "" {
		c.UI.Color = ColorNever
		c.marks["ui.color"] = mark{env: noColor}
	}
	return c, stamps, problems
}

// Parse reads settings from data over the defaults. The name stands for the
// file in problems and origins.
func Parse(name string, data []byte, check KeyCheck) (Config, error) {
	c := Defaults()
	c.marks = map[string]mark{}
	var bad list
	read(&c, name, data, &bad)
	checkKeys(&c, check, &bad)
	if problems := bad.sorted(); problems != nil {
		return Defaults(), problems
	}
	return c, nil
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = fmt.Errorf("larger than %v, so not a settings file", Size(maxFile))
)

// readFile reads a settings file and says what it was when it was read. It
// does not wait for a pipe that somebody put there.
func readFile(path string) ([]byte, stamp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		// The file itself is named by the problem.
		return nil, look(path), withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	st := stamp{path: path, info: info}
	switch {
	case err != nil:
		return nil, stamp{path: path, err: err.Error()}, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, st, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, st, withoutPath(err)
	case len(data) > maxFile:
		return nil, st, errTooLarge
	}
	return data, st, nil
}

// withoutPath takes the path out of an error that the caller puts beside it.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
