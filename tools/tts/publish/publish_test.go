package publish

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
)

const oldText, newText = "the recording of this morning", "speech"

// keeper keeps what it is given in memory.
type keeper struct {
	kept [][]byte
	err  error
	then func() // runs after the content was read
}

func (k *keeper) keep(f *os.File, _ string) (string, error) {
	b, err := io.ReadAll(f)
	if err != nil || k.err != nil {
		return "", errors.Join(err, k.err)
	}
	k.kept = append(k.kept, b)
	if k.then != nil {
		k.then()
	}
	return "c1", nil
}

// put runs a whole publication.
func put(path string, opt Options, k *keeper) (Published, error) {
	t, err := Look(path, opt)
	if err != nil {
		return Published{}, err
	}
	w, err := t.Begin()
	if err != nil {
		return Published{}, err
	}
	p, err := fill(w, k)
	return p, errors.Join(err, w.Close())
}

func fill(w *Work, k *keeper) (Published, error) {
	f, err := w.Create("out")
	if err != nil {
		return Published{}, err
	}
	_, err = io.Copy(f, strings.NewReader(newText))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return Published{}, err
	}
	if k == nil {
		return w.Publish("out", nil)
	}
	return w.Publish("out", k.keep)
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// tree lists everything below dir with its content.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, dir) + " " + d.Type().String()
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(b)
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, what, dir string, before []string) {
	t.Helper()
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("%s: the folder changed\nbefore %q\nafter  %q", what, before, after)
	}
}

func TestNewPathGetsTheFileAndNothingElse(t *testing.T) {
	before := leak.Take(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "notes.wav")
	p, err := put(path, Options{}, nil)
	if err != nil || p.Replaced != nil || p.Size != int64(len(newText)) {
		t.Fatalf("%+v, %v", p, err)
	}
	same(t, "success", dir, []string{" d---------", "/a d---------", "/a/b d---------", "/a/b/notes.wav ---------- " + newText})
	before.Check(t)
}

func TestReplacedFileKeepsItsModeAndIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.wav")
	write(t, path, oldText, 0o640)
	k := &keeper{}
	p, err := put(path, Options{}, k)
	if err != nil || p.Replaced == nil || p.Replaced.Checkpoint != "c1" || p.Replaced.Size != int64(len(oldText)) {
		t.Fatalf("%+v, %v", p, err)
	}
	if len(k.kept) != 1 || string(k.kept[0]) != oldText {
		t.Errorf("kept %q", k.kept)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	same(t, "success", dir, []string{" d---------", "/notes.wav ---------- " + newText})
}

// steps are all the points at which a publication can be made to fail.
var steps = []string{
	"register the work folder", "create a folder", "create the work folder", "mark the work folder", "lock the marker",
	"create", "write", "short write", "close", "open", "sync", "keep the old content", "set the mode", "rename", "sync folder",
}

func TestFailureAtEveryStepLeavesTheFolderAsItWas(t *testing.T) {
	causes := []error{syscall.ENOSPC, syscall.EIO, syscall.EMFILE}
	for i, step := range steps {
		for _, exists := range []bool{true, false} {
			name := map[bool]string{true: "over an existing file", false: "on a new path"}[exists]
			t.Run(step+" "+name, func(t *testing.T) {
				dir, reached := t.TempDir(), false
				path := filepath.Join(dir, "new", "notes.wav")
				if exists {
					path = filepath.Join(dir, "notes.wav")
					write(t, path, oldText, 0o600)
				}
				before := tree(t, dir)
				_, err := put(path, Options{Registry: filepath.Join(t.TempDir(), "r"), Fault: func(s string) error {
					if s == step {
						reached = true
						return causes[i%len(causes)]
					}
					return nil
				}}, &keeper{})
				if !reached {
					only := map[string]bool{"create a folder": !exists, "keep the old content": exists, "set the mode": exists}
					if want, ok := only[step]; !ok || want {
						t.Fatal("the step was never reached")
					}
					return
				}
				if !errors.Is(err, causes[i%len(causes)]) {
					t.Errorf("error = %v", err)
				}
				same(t, step, dir, before)
			})
		}
	}
}

func TestTargetsThatMustNotBeReplacedAreRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("file"), oldText, 0o600)
	write(t, at("read-only"), oldText, 0o444)
	if err := errors.Join(os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("fifo"), 0o600), os.Symlink("file", at("link"))); err != nil {
		t.Fatal(err)
	}
	before := tree2(t, dir)
	for _, c := range []struct {
		path string
		opt  Options
		want error
	}{
		{at("file"), Options{NoClobber: true}, ErrExists},
		{at("file"), Options{NoClobber: true, Force: true}, ErrBothWays},
		{at("read-only"), Options{}, ErrReadOnly},
		{at("folder"), Options{Force: true}, ErrFolder},
		{at("file") + "/", Options{}, ErrFolder},
		{at("fifo"), Options{Force: true}, ErrSpecial},
		{at("link"), Options{}, ErrChanged},
		{at("file/below"), Options{}, ErrParentFile},
	} {
		if _, err := put(c.path, c.opt, &keeper{}); !errors.Is(err, c.want) || !errors.Is(err, outcome.ErrRefused) {
			t.Errorf("%s %+v: %v, want %v", c.path, c.opt, err, c.want)
		}
	}
	if after := tree2(t, dir); !slices.Equal(before, after) {
		t.Errorf("before %q\nafter  %q", before, after)
	}
}

// tree2 is tree without reading: a FIFO in it must not block.
func tree2(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name()+e.Type().String())
	}
	return out
}

func TestForceReplacesAReadOnlyFileAndKeepsItsMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.wav")
	write(t, path, oldText, 0o444)
	p, err := put(path, Options{Force: true}, nil)
	if err != nil || p.Mode != 0o444 || p.Replaced == nil || p.Replaced.Checkpoint != "" || len(p.Notes) == 0 {
		t.Fatalf("%+v, %v", p, err)
	}
}

func TestWithoutACheckpointNothingIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.wav")
	write(t, path, oldText, 0o600)
	before := tree(t, dir)
	if _, err := put(path, Options{}, nil); !errors.Is(err, ErrNoKeeper) {
		t.Errorf("no keeper: %v", err)
	}
	if _, err := put(path, Options{}, &keeper{err: syscall.EDQUOT}); !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("a keeper that fails: %v", err)
	}
	same(t, "no checkpoint", dir, before)
}

func TestHardLinkIsNotedAndKeepsItsContent(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "notes.wav"), filepath.Join(dir, "other.wav")
	write(t, path, oldText, 0o600)
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	p, err := put(path, Options{}, &keeper{})
	if err != nil || len(p.Notes) != 1 || p.Notes[0] != hardLinkNote(2) {
		t.Fatalf("%+v, %v", p, err)
	}
	same(t, "success", dir, []string{" d---------", "/notes.wav ---------- " + newText, "/other.wav ---------- " + oldText})
}

func TestFileThatChangedMeanwhileIsLeftAlone(t *testing.T) {
	path := func(t *testing.T) string {
		p := filepath.Join(t.TempDir(), "notes.wav")
		write(t, p, oldText, 0o600)
		return p
	}
	begin := func(t *testing.T, path string) *Work {
		tg, err := Look(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := tg.Begin()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Run("before it was kept", func(t *testing.T) {
		p := path(t)
		w := begin(t, p)
		write(t, p, "changed by its owner!", 0o600)
		if _, err := fill(w, &keeper{}); !errors.Is(err, ErrChanged) {
			t.Errorf("error = %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		same(t, "changed", filepath.Dir(p), []string{" d---------", "/notes.wav ---------- changed by its owner!"})
	})
	t.Run("between keeping and renaming", func(t *testing.T) {
		p := path(t)
		w := begin(t, p)
		k := &keeper{then: func() {
			write(t, p+".new", "a newer one", 0o600)
			if err := os.Rename(p+".new", p); err != nil {
				t.Fatal(err)
			}
		}}
		if _, err := fill(w, k); !errors.Is(err, ErrChanged) {
			t.Errorf("error = %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		same(t, "put back", filepath.Dir(p), []string{" d---------", "/notes.wav ---------- a newer one"})
	})
	t.Run("removed", func(t *testing.T) {
		p := path(t)
		w := begin(t, p)
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
		pub, err := fill(w, &keeper{})
		if err != nil || pub.Replaced != nil || len(pub.Notes) != 1 {
			t.Errorf("%+v, %v", pub, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOfRacingWritersOneGetsTheNewPath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "notes.wav")
	const writers = 12
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { _, errs[i] = put(path, Options{}, &keeper{}) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, outcome.ErrRefused):
			t.Errorf("a loser's error: %v", err)
		}
	}
	// Who looks only after the first has published finds an existing file and
	// replaces it, with a checkpoint; so more than one may win, one after the
	// other.
	if won == 0 {
		t.Error("nobody got the path")
	}
	same(t, "race", dir, []string{" d---------", "/deep d---------", "/deep/notes.wav ---------- " + newText})
}

func TestTwoWritersThatBothSawNothingEndWithOneFileAndOneRefusal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.wav")
	var works []*Work
	for range 2 {
		tg, err := Look(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := tg.Begin()
		if err != nil {
			t.Fatal(err)
		}
		works = append(works, w)
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, w := range works {
		wg.Go(func() {
			_, err := fill(w, &keeper{})
			errs[i] = err
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), ErrAppeared) {
		t.Errorf("errors = %v", errs)
	}
	same(t, "race", dir, []string{" d---------", "/notes.wav ---------- " + newText})
}

func TestFileThatAppearsAtTheLastMomentIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.wav")
	_, err := put(path, Options{Fault: func(step string) error {
		if step == "rename" {
			write(t, path, oldText, 0o600)
		}
		return nil
	}}, &keeper{})
	if !errors.Is(err, ErrAppeared) {
		t.Errorf("error = %v", err)
	}
	same(t, "appeared", dir, []string{" d---------", "/notes.wav ---------- " + oldText})
}

func TestWorkFolderIsPrivateAndMarked(t *testing.T) {
	dir := t.TempDir()
	w, err := (&Target{Path: filepath.Join(dir, "a.wav"), opt: Options{Call: "call-7"}}).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	st, err := os.Stat(w.Dir())
	if err != nil || st.Mode().Perm() != 0o700 || !strings.HasPrefix(st.Name(), Prefix) {
		t.Errorf("%v, %v", st, err)
	}
	raw, err := os.ReadFile(w.Path(markerName))
	if err != nil || !bytes.Contains(raw, []byte("call-7")) {
		t.Errorf("marker %s, %v", raw, err)
	}
	if f, err := w.Create("x"); err != nil || f.Close() != nil {
		t.Error(err)
	}
	if _, err := w.Create("x"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second create of one name: %v", err)
	}
}

func TestCloseLeavesAFolderThatTookThePlaceOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	w, err := (&Target{Path: filepath.Join(dir, "a.wav")}).Begin()
	if err != nil {
		t.Fatal(err)
	}
	own := strings.TrimSuffix(w.Dir(), "/")
	if err := errors.Join(os.Rename(own, own+"-moved"), os.Mkdir(own, 0o700)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(own, "precious"), oldText, 0o600)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(own, "precious")); err != nil || string(b) != oldText {
		t.Errorf("%q, %v", b, err)
	}
}
