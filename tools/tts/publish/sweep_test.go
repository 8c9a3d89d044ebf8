package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSweepTakesOnlyWhatIsOursAndWhoseMakerIsGone(t *testing.T) {
	dir := t.TempDir()
	alive, err := (&Target{Path: filepath.Join(dir, "a.wav")}).Begin()
	if err != nil {
		t.Fatal(err)
	}
	dead := abandoned(t, dir, "dead")
	write(t, filepath.Join(dead, "part-1"), "half a chunk", 0o600)
	// A marker that is empty still: its maker is about to lock it, or was killed
	// a long time ago.
	making, halfDead := abandoned(t, dir, "making"), abandoned(t, dir, "half-dead")
	for _, d := range []string{making, halfDead} {
		if err := os.Truncate(filepath.Join(d, markerName), 0); err != nil {
			t.Fatal(err)
		}
	}
	foreign := filepath.Join(dir, Prefix+"foreign")
	open := filepath.Join(dir, Prefix+"open")
	bare, young := filepath.Join(dir, Prefix+"bare"), filepath.Join(dir, Prefix+"young")
	for _, d := range []string{foreign, open, bare, young} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(foreign, markerName), `{"kind":"something else"}`, 0o600)
	write(t, filepath.Join(open, markerName), `{"kind":"`+markerKind+`"}`, 0o600)
	write(t, filepath.Join(dir, Prefix+"file"), "mine", 0o600)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * bareAge)
	if err := errors.Join(os.Chtimes(bare, old, old), os.Chtimes(halfDead, old, old)); err != nil {
		t.Fatal(err)
	}
	got, err := Sweep(dir)
	if want := (Swept{Removed: 3, Busy: 3, Foreign: 3}); err != nil || got != want {
		t.Errorf("Sweep = %+v, %v; want %+v", got, err, want)
	}
	for _, d := range []string{dead, bare, halfDead} {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", filepath.Base(d))
		}
	}
	if _, err := os.Lstat(making); err != nil {
		t.Errorf("a folder in the making was swept: %v", err)
	}
	if err := alive.Close(); err != nil {
		t.Error(err)
	}
}

func TestMakerWaitsForASweepThatHasItsMarker(t *testing.T) {
	dir := t.TempDir()
	w, err := (&Target{Path: filepath.Join(dir, "a.wav")}).Begin()
	if err != nil {
		t.Fatal(err)
	}
	// As right after the making of the marker, with a sweep that was quicker.
	marker := filepath.Join(w.Dir(), markerName)
	if err := errors.Join(w.mark.Close(), os.Remove(marker)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	w.t.opt.Fault = func(step string) error {
		if step != "lock the marker" {
			return nil
		}
		sweep, err := os.OpenFile(marker, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := flock(sweep, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return err
		}
		wg.Go(func() {
			runtime.Gosched()
			_ = sweep.Close()
		})
		return nil
	}
	if err := w.writeMarker(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if got, err := Sweep(dir); err != nil || got != (Swept{Busy: 1}) {
		t.Errorf("Sweep of a living call = %+v, %v", got, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// abandoned makes a work folder as a killed process leaves it.
func abandoned(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, Prefix+name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(path, markerName), `{"kind":"`+markerKind+`","pid":1}`, 0o600)
	return path
}

func TestRegistryFindsFoldersThatNobodyLooksAt(t *testing.T) {
	dir, registry := t.TempDir(), t.TempDir()
	dead := abandoned(t, dir, "dead")
	write(t, filepath.Join(registry, "dead"), dead, 0o600)
	write(t, filepath.Join(registry, "other"), filepath.Join(dir, "not-ours"), 0o600)
	// Killed before the marker: the folder is bare, and so are its parents. A
	// parent that is somebody else's is not touched.
	bare := filepath.Join(dir, "a", "b", Prefix+"bare")
	if err := errors.Join(os.MkdirAll(bare, 0o700), os.Mkdir(filepath.Join(dir, "mine"), 0o700)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(registry, "bare"), strings.Join([]string{bare, filepath.Join(dir, "mine"), filepath.Join(dir, "a"), filepath.Join(dir, "a", "b"), ""}, "\n"), 0o600)
	alive, err := (&Target{Path: filepath.Join(dir, "new", "a.wav"), opt: Options{Registry: registry}}).Begin()
	if err != nil {
		t.Fatal(err)
	}
	got, err := SweepRegistered(registry)
	if err != nil || got.Removed != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a parent that was made is still there")
	}
	for _, path := range []string{filepath.Join(dir, "mine"), alive.Dir()} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if err := alive.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(registry); len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left in the registry: %v", left)
	}
	if _, err := os.Lstat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder is still there")
	}
}
