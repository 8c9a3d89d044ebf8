package publish

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Prefix begins the name of every work folder. The rest is random.
	Prefix = ".honestty-speech-"

	// markerName is the file that says whose folder it is. Its maker holds a
	// lock on it for as long as it lives.
	markerName = "honestty-work.json"
	markerKind = "honestty speech work folder"
)

// A marker is what a later start needs to know.
type marker struct {
	Kind string    `json:"kind"`
	PID  int       `json:"pid"`
	Call string    `json:"call"`
	At   time.Time `json:"at"`
	Made []string  `json:"made_folders"` // parents that this call made, outermost first
}

// A Work is a private folder beside a target, made by one call.
//
// It owns descriptors until Close: two of the target's folder, two of its own,
// its locked marker, and its locked entry in the registry.
type Work struct {
	t       *Target
	name    string
	dir     *os.Root // the target's folder
	dirFile *os.File // the same, for sync and rename
	own     *os.Root
	ownFile *os.File
	mark    *os.File
	made    []madeFolder // parents, outermost first
	entry   *os.File     // our file in the registry, locked; nil: there is no registry
	done    bool         // published: the parents are needed
}

type madeFolder struct {
	path string
	id   identity
}

func (t *Target) step(name string, do func() error) error {
	if t.opt.Fault != nil {
		if err := t.opt.Fault(name); err != nil {
			return &StepError{name, err}
		}
	}
	if err := do(); err != nil {
		return &StepError{name, err}
	}
	return nil
}

// Begin makes the missing parents and the private folder. After an error
// nothing is left of either.
func (t *Target) Begin() (*Work, error) {
	w := &Work{t: t, name: Prefix + strings.ToLower(rand.Text()[:16])}
	if err := w.begin(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *Work) begin() error {
	if err := w.register(); err != nil {
		return err
	}
	// Another call may remove a parent that it made and found empty, just when
	// we have seen it: then it is made again.
	const tries = 8
	var err error
	for range tries {
		if err = w.makeParents(); err != nil {
			return err
		}
		err = w.t.step("create the work folder", w.makeFolder)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	return w.t.step("mark the work folder", w.writeMarker)
}

// register writes down, before anything is made, where the work folder will be
// and which parents will be made for it: one path a line, the parents outermost
// first. The entry is locked as long as we live, so that a sweep knows what is
// left of us however far we came.
func (w *Work) register() error {
	if w.t.opt.Registry == "" {
		return nil
	}
	return w.t.step("register the work folder", func() error {
		missing, err := missingParents(w.t.Path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(w.t.opt.Registry, 0o700); err != nil {
			return err
		}
		name := filepath.Join(w.t.opt.Registry, strings.TrimPrefix(w.name, Prefix))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		w.entry = f
		_ = flock(f, unix.LOCK_EX) // where there are no locks no sweep gets one either
		lines := append([]string{filepath.Join(filepath.Dir(w.t.Path), w.name)}, missing...)
		_, err = io.WriteString(f, strings.Join(lines, "\n")+"\n")
		return err
	})
}

// missingParents lists the folders above path that are not there, outermost
// first.
func missingParents(path string) ([]string, error) {
	var missing []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if err == nil {
			slices.Reverse(missing)
			return missing, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, dir)
	}
}

// makeParents makes what is missing above the target, one by one, so that it
// knows which of them it made.
func (w *Work) makeParents() error {
	missing, err := missingParents(w.t.Path)
	if err != nil {
		return &StepError{"look at the folder", err}
	}
	for _, dir := range missing {
		err := w.t.step("create a folder", func() error {
			err := os.Mkdir(dir, 0o777)
			if errors.Is(err, fs.ErrExist) {
				return nil // somebody else made it, so it is not ours
			}
			if err != nil {
				return err
			}
			st, err := os.Lstat(dir)
			if err != nil {
				return err
			}
			w.made = append(w.made, madeFolder{dir, identify(st)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Work) makeFolder() (err error) {
	if w.dir != nil { // a try before this one
		_ = w.dir.Close()
		_ = w.dirFile.Close()
		w.dir, w.dirFile = nil, nil
	}
	dir, err := os.OpenRoot(filepath.Dir(w.t.Path))
	if err != nil {
		return err
	}
	dirFile, err := dir.Open(".")
	if err != nil {
		_ = dir.Close()
		return err
	}
	w.dir, w.dirFile = dir, dirFile
	if err := dir.Mkdir(w.name, 0o700); err != nil {
		return err
	}
	own, err := dir.OpenRoot(w.name)
	if err != nil {
		_ = dir.Remove(w.name) // empty, or not the folder that was just made
		return err
	}
	w.own = own
	if w.ownFile, err = own.Open("."); err != nil {
		return err
	}
	st, err := w.ownFile.Stat()
	if err != nil {
		return err
	}
	seen, err := dir.Lstat(w.name)
	if err != nil {
		return err
	}
	if !os.SameFile(st, seen) || st.Mode().Perm()&0o077 != 0 || identify(st).uid != uint32(os.Geteuid()) {
		return errors.New("another folder is in the place of the new one")
	}
	return nil
}

func (w *Work) writeMarker() error {
	f, err := w.own.OpenFile(markerName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w.mark = f
	err = w.t.step("lock the marker", func() error {
		// A Sweep that looks into the folder just now has the lock for a moment
		// and leaves an empty marker alone, so it is waited for. Where the file
		// system has no locks Sweep finds none either and leaves the folder alone.
		_ = flock(f, unix.LOCK_EX)
		return nil
	})
	if err != nil {
		return err
	}
	m := marker{Kind: markerKind, PID: os.Getpid(), Call: w.t.opt.Call, At: time.Now().UTC()}
	for _, d := range w.made {
		m.Made = append(m.Made, d.path)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return err
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Path is the path of a name in the private folder.
func (w *Work) Path(name string) string {
	return filepath.Join(filepath.Dir(w.t.Path), w.name, name)
}

// Dir is the private folder.
func (w *Work) Dir() string { return w.Path("") }

// Open opens a file of the private folder for reading, by descriptor: also when
// the folder has been moved.
func (w *Work) Open(name string) (*os.File, error) { return w.own.Open(name) }

// A File is a new file in the private folder. It has no way of writing but
// Write, so that a failure can be put into each.
type File struct {
	f *os.File
	t *Target
}

// Create makes a new file with the mode that any new file of the user gets.
func (w *Work) Create(name string) (*File, error) {
	var f *os.File
	err := w.t.step("create", func() (err error) {
		f, err = w.own.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &File{f, w.t}, nil
}

// Write writes p. The injected step "short write" writes half of it.
func (f *File) Write(p []byte) (n int, err error) {
	err = f.t.step("write", func() error { n, err = f.f.Write(p); return err })
	if err != nil {
		return n, err
	}
	err = f.t.step("short write", func() error { return nil })
	if err != nil {
		return n / 2, err
	}
	return n, nil
}

// Close closes the file; an error may be that of a write that came late.
func (f *File) Close() error {
	err := f.f.Close()
	return f.t.step("close", func() error { return err })
}

// Close removes the private folder, and, when nothing was published, the
// parents that this call made. It is idempotent.
func (w *Work) Close() error {
	var errs []error
	if w.own != nil {
		errs = append(errs, w.empty())
		_ = w.own.Close()
	}
	for _, f := range []*os.File{w.ownFile, w.mark} {
		if f != nil {
			_ = f.Close()
		}
	}
	if w.dir != nil {
		_ = w.dir.Close()
		_ = w.dirFile.Close()
	}
	if !w.done {
		removeMade(w.made)
	}
	if w.entry != nil {
		errs = append(errs, os.Remove(w.entry.Name()), w.entry.Close())
	}
	*w = Work{t: w.t, done: w.done}
	return errors.Join(errs...)
}

// empty removes everything in the private folder through its descriptor, the
// marker last, and then the folder if it still has its name.
func (w *Work) empty() error {
	if w.ownFile == nil {
		return w.dir.Remove(w.name)
	}
	if err := emptyRoot(w.own); err != nil {
		return &StepError{"remove the work folder", err}
	}
	st, err := w.ownFile.Stat()
	if err != nil {
		return &StepError{"remove the work folder", err}
	}
	seen, err := w.dir.Lstat(w.name)
	if err != nil || !os.SameFile(st, seen) {
		return nil // moved away by somebody; what was in it is gone
	}
	if err := w.dir.Remove(w.name); err != nil {
		return &StepError{"remove the work folder", err}
	}
	return nil
}

// emptyRoot removes what is in a folder. The marker goes last: as long as
// anything is left a later Sweep knows the folder.
func emptyRoot(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == markerName {
			continue
		}
		if err := root.RemoveAll(n); err != nil {
			return err
		}
	}
	if err := root.Remove(markerName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeMade removes folders that a call made, innermost first, as long as
// they are the same folders and empty.
func removeMade(made []madeFolder) {
	for i := len(made) - 1; i >= 0; i-- {
		st, err := os.Lstat(made[i].path)
		if err != nil || !identify(st).sameFile(made[i].id) {
			return
		}
		if syscall.Rmdir(made[i].path) != nil { // never Remove: it would take a file
			return
		}
	}
}
