package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/outcome"
)

// HintStarts is the number of starts that show the row of hints.
const HintStarts = 3

// maxPrograms is how many programs the state remembers an answer for, so that
// the file stays small.
const maxPrograms = 200

// maxProgram is the length in bytes of the longest program that is remembered.
const maxProgram = 256

// lockTries and lockPause bound the wait for another window that writes the
// state: half a second, which is a hundred times what a write takes.
const (
	lockTries = 50
	lockPause = 10 * time.Millisecond
)

var (
	// ErrNoState says that there is no place for the state: no home.
	ErrNoState = errors.New("no home directory: nothing is remembered")

	// ErrStateBusy says that another window kept the state to itself.
	ErrStateBusy = errors.New("the state is being written by another window")

	// ErrStateFull says that no more programs are remembered.
	ErrStateFull = fmt.Errorf("answers for %d programs are remembered, and no more", maxPrograms)

	// ErrStateBroken matches every BrokenStateError.
	ErrStateBroken = errors.New("the state file is broken")
)

// A State is what honestty remembers by itself. The zero value remembers
// nothing.
type State struct {
	Starts int                // windows opened so far
	Dock   DockState          // what the user made of it
	OSC52  map[string]Consent // by program: ConsentAllow or ConsentDeny
}

// A DockState is the dock as the user left it. Zero values are not remembered.
type DockState struct {
	Side   Side
	Right  Percent // size at the right
	Bottom Percent // size at the bottom
}

// Hint reports whether this start shows the row of hints. Starts counts this
// one.
func (s State) Hint() bool { return s.Starts <= HintStarts }

// DockIn returns the dock to open: what is remembered over what is configured.
func (s State) DockIn(c Config) Dock {
	d := c.UI.Dock
	if s.Dock.Side != "" {
		d.Side = s.Dock.Side
	}
	size := s.Dock.Right
	if d.Side == SideBottom {
		size = s.Dock.Bottom
	}
	if size != 0 {
		d.Size = size
	}
	return d
}

// Remember keeps the answer for a program. ConsentAsk forgets it. A name that
// is too long is not kept.
func (s *State) Remember(program string, answer Consent) error {
	if answer == ConsentAsk {
		delete(s.OSC52, program)
		return nil
	}
	_, known := s.OSC52[program]
	switch {
	case !known && len(s.OSC52) >= maxPrograms:
		return ErrStateFull
	case len(program) > maxProgram:
		return fmt.Errorf("remember answer: the program's name has more than %d bytes", maxProgram)
	}
	if s.OSC52 == nil {
		s.OSC52 = map[string]Consent{}
	}
	s.OSC52[program] = answer
	return nil
}

// ConsentFor returns what a program may do: the remembered answer over what is
// configured, except that an answer does not lift a configured "deny".
func (s State) ConsentFor(program string, c Config) Consent {
	if answer, ok := s.OSC52[program]; ok && c.Clipboard.OSC52Write != ConsentDeny {
		return answer
	}
	return c.Clipboard.OSC52Write
}

// A BrokenStateError says that what was remembered could not be read. Nothing
// of it is used.
type BrokenStateError struct {
	Path  string
	Kept  string // where the broken file is now; "": where it was
	Cause error
}

// Error says what happened to the file. It is safe to show.
func (e *BrokenStateError) Error() string {
	text := fmt.Sprintf("read state %s: %s", safe(e.Path), safe(outcome.Errno(e.Cause)))
	if e.Kept != "" {
		text += "; the file is kept as " + safe(e.Kept)
	}
	return text
}

// Unwrap returns Cause.
func (e *BrokenStateError) Unwrap() error { return e.Cause }

// Is reports whether target is ErrStateBroken.
func (e *BrokenStateError) Is(target error) bool { return target == ErrStateBroken }

// A StateFile is where the State is kept. Several windows may use one at once.
type StateFile struct {
	Path string // as StatePath gives it; "": every call returns ErrNoState
}

// Load reads what is remembered; a file that is not there is a State that
// remembers nothing. A broken file is set aside as "….bad", replacing an older
// one, and told by a *BrokenStateError; the State is then zero and of use.
func (f StateFile) Load() (State, error) {
	if f.Path == "" {
		return State{}, ErrNoState
	}
	s, err := f.read()
	if !errors.Is(err, ErrStateBroken) {
		return s, err
	}
	unlock, lerr := f.lock()
	if lerr != nil {
		return State{}, err
	}
	defer unlock()
	return f.readOrSetAside()
}

// Update changes what is remembered: it reads the file, lets change do its
// work, and replaces the file, while no other window does. It returns what is
// stored then. With a *BrokenStateError whose Kept is not empty the change is
// stored and what was remembered before is not; with any other error nothing
// was.
func (f StateFile) Update(change func(*State) error) (State, error) {
	if f.Path == "" {
		return State{}, ErrNoState
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return State{}, fmt.Errorf("make state folder: %w", err)
	}
	unlock, err := f.lock()
	if err != nil {
		return State{}, err
	}
	defer unlock()
	s, broken := f.readOrSetAside()
	if b, ok := errors.AsType[*BrokenStateError](broken); broken != nil && (!ok || b.Kept == "") {
		return State{}, broken
	}
	before := s.clone()
	if err := change(&s); err != nil {
		return before, errors.Join(err, broken)
	}
	s = s.checked()
	data, err := json.MarshalIndent(s.written(), "", "  ")
	if err != nil {
		return before, fmt.Errorf("write state: %w", err)
	}
	if len(data) >= maxFile {
		return before, errors.Join(ErrStateFull, broken)
	}
	if err := atomicfile.Write(f.Path, append(data, '\n'), 0o600); err != nil {
		return before, errors.Join(fmt.Errorf("write state: %w", err), broken)
	}
	return s, broken
}

func (s State) clone() State {
	s.OSC52 = maps.Clone(s.OSC52)
	return s
}

// stateJSON is the State as the file has it.
type stateJSON struct {
	Starts int                `json:"starts"`
	Dock   dockJSON           `json:"dock,omitzero"`
	OSC52  map[string]Consent `json:"osc52_write,omitempty"`
}

type dockJSON struct {
	Side   Side    `json:"side,omitempty"`
	Right  Percent `json:"right,omitempty"`
	Bottom Percent `json:"bottom,omitempty"`
}

func (s State) written() stateJSON {
	return stateJSON{s.Starts, dockJSON(s.Dock), s.OSC52}
}

// checked returns the State without values that cannot be. An answer that is
// neither yes nor no is dropped, so that the user is asked again.
func (s State) checked() State {
	s.Starts = max(s.Starts, 0)
	size := lookup("ui.dock.size").form.(share)
	for _, p := range []*Percent{&s.Dock.Right, &s.Dock.Bottom} {
		if !within(*p, size.low, size.high) {
			*p = 0
		}
	}
	if s.Dock.Side != SideRight && s.Dock.Side != SideBottom {
		s.Dock.Side = ""
	}
	s.OSC52 = maps.Clone(s.OSC52)
	maps.DeleteFunc(s.OSC52, func(program string, c Consent) bool {
		return c != ConsentAllow && c != ConsentDeny || len(program) > maxProgram
	})
	return s
}

// read reads the file as it is. A file that is not there is no error.
func (f StateFile) read() (State, error) {
	data, _, err := readFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, nil
	case errors.Is(err, errTooLarge):
		return State{}, &BrokenStateError{Path: f.Path, Cause: err}
	case err != nil:
		return State{}, fmt.Errorf("read state: %w", err)
	}
	var j stateJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return State{}, &BrokenStateError{Path: f.Path, Cause: err}
	}
	return State{j.Starts, DockState(j.Dock), j.OSC52}.checked(), nil
}

// readOrSetAside is read under the lock: a broken file is renamed.
func (f StateFile) readOrSetAside() (State, error) {
	s, err := f.read()
	broken, ok := errors.AsType[*BrokenStateError](err)
	if !ok {
		return s, err
	}
	kept := f.Path + ".bad"
	if err := os.Rename(f.Path, kept); err != nil {
		return State{}, errors.Join(broken, fmt.Errorf("set broken state aside: %w", err))
	}
	broken.Kept = kept
	return State{}, broken
}

// lock keeps other windows out until unlock. Where the file system has no
// locks (ENOLCK, ENOTSUP) it lets everybody in: a window more or less is then
// counted, nothing worse.
func (f StateFile) lock() (unlock func(), err error) {
	l, err := os.OpenFile(f.Path+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state: %w", err)
	}
	fd := int(l.Fd())
	for range lockTries {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOTSUP):
			return func() { l.Close() }, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			time.Sleep(lockPause)
		default:
			return nil, errors.Join(fmt.Errorf("lock state: %w", err), l.Close())
		}
	}
	return nil, errors.Join(ErrStateBusy, l.Close())
}
