package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

var errBroken = errors.New("broken on purpose")

func anyPolicy() safepath.Policy { return safepath.Policy{Home: "/home/nobody-here"} }

// A bench is a store and a folder of user files beside it.
type bench struct {
	*Store
	t    *testing.T
	work string
}

func newBench(t *testing.T, limits Limits) bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(root, "state/checkpoints"), limits)
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	return bench{s, t, work}
}

func (b bench) file(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.work, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b bench) keep(path string) Entry {
	b.t.Helper()
	e, err := b.tryKeep(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func (b bench) tryKeep(path string) (Entry, error) {
	b.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	return b.Keep(f, path, "call-1")
}

func (b bench) content(path string) string {
	b.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

// names lists every file of the store and of the work folder.
func (b bench) names(dir string) []string {
	b.t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func TestKeptContentIsListedShownAndRestored(t *testing.T) {
	before := leak.Take(t)
	b := newBench(t, Limits{})
	path := b.file("notes.md", "first\nsecond\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	e := b.keep(path)
	if e.Size != 13 || e.Mode != 0o640 || e.Path != path || e.Call != "call-1" || len(e.ID) != 2*idBytes || e.Shared {
		t.Errorf("entry = %+v", e)
	}
	b.file("notes.md", "first\nSECOND\n")
	r, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID[:minID], Call: "call-2"})
	if err != nil {
		t.Fatal(err)
	}
	if b.content(path) != "first\nsecond\n" || !r.Existed || r.Kept == nil || r.Kept.Call != "call-2" {
		t.Errorf("restored = %+v, content %q", r, b.content(path))
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
	back, err := b.Restore(anyPolicy(), RestoreOrder{ID: r.Kept.ID})
	if err != nil || b.content(path) != "first\nSECOND\n" || back.Kept == nil || !back.Kept.Shared {
		t.Errorf("restoring what the restore replaced: %+v, %v", back, err)
	}
	shown, err := b.Show(anyPolicy(), e.ID)
	if err != nil || shown.Text != "first\nsecond\n" || !shown.Intact || shown.Binary || shown.Truncated {
		t.Errorf("shown = %+v, %v", shown, err)
	}
	l, err := b.List()
	if err != nil || len(l.Entries) != 3 || l.Damaged != 0 || l.Bytes != 26 {
		t.Errorf("list = %+v, %v", l, err)
	}
	if got := b.names(b.work); !slices.Equal(got, []string{"notes.md"}) {
		t.Errorf("beside the file: %q", got)
	}
	before.Check(t)
}

func TestStoreIsPrivate(t *testing.T) {
	b := newBench(t, Limits{})
	b.keep(b.file("a", "secret"))
	err := filepath.WalkDir(b.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(b.Dir(), Limits{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(b.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("an open folder stays open: %v, %v", info.Mode(), err)
	}
}

func TestSameContentIsStoredOnceAndOffsetStays(t *testing.T) {
	b := newBench(t, Limits{})
	path := b.file("a", strings.Repeat("x", 100_000))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(17, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	first, err1 := b.Keep(f, path, "")
	second, err2 := b.Keep(f, filepath.Join(b.work, "copy"), "")
	if err1 != nil || err2 != nil || first.Shared || !second.Shared || first.SHA256 != second.SHA256 || first.ID == second.ID {
		t.Errorf("%+v %v\n%+v %v", first, err1, second, err2)
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 17 {
		t.Errorf("offset = %d, %v", at, err)
	}
	if got := b.names(b.at(blobsName)); len(got) != 1 {
		t.Errorf("contents: %q", got)
	}
	if got := b.names(b.at(tempsName)); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func TestTooLargeIsSaidAndNothingIsKept(t *testing.T) {
	b := newBench(t, Limits{File: 10, Total: 100})
	_, err := b.tryKeep(b.file("big", "12345678901"))
	tooLarge, ok := errors.AsType[*TooLargeError](err)
	if !ok || !errors.Is(err, ErrTooLarge) || tooLarge.Size != 11 || tooLarge.Limit != 10 {
		t.Errorf("error = %v", err)
	}
	if got := b.names(b.Dir()); slices.ContainsFunc(got, func(n string) bool { return n != lockName }) {
		t.Errorf("store holds %q", got)
	}
}

func TestLimitsCostTheOldestAndSayWhich(t *testing.T) {
	b := newBench(t, Limits{File: 100, Total: 100, Age: time.Hour})
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	b.now = func() time.Time { return now }
	first := b.keep(b.file("1", strings.Repeat("1", 40)))
	now = now.Add(time.Minute)
	second := b.keep(b.file("2", strings.Repeat("2", 40)))
	now = now.Add(time.Minute)
	third := b.keep(b.file("3", strings.Repeat("3", 40)))
	if len(third.Dropped) != 1 || third.Dropped[0].ID != first.ID || third.Dropped[0].Why != "the store is full" {
		t.Errorf("dropped = %+v", third.Dropped)
	}
	if _, err := b.Find(first.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("find = %v", err)
	}
	now = now.Add(59*time.Minute + time.Second)
	fourth := b.keep(b.file("4", "4"))
	if len(fourth.Dropped) != 1 || fourth.Dropped[0].ID != second.ID || fourth.Dropped[0].Why != "older than the limit" {
		t.Errorf("dropped = %+v", fourth.Dropped)
	}
	if got := b.names(b.at(blobsName)); len(got) != 2 {
		t.Errorf("contents: %q", got)
	}
	if got := fourth.Cost(); !slices.Equal(got, []string{"1 older checkpoint (40 B) was dropped: older than the limit"}) {
		t.Errorf("cost = %q", got)
	}
	several := Entry{Dropped: []Drop{{Size: 1, Why: whyFull}, {Size: 2, Why: whyAge}, {Size: 1023, Why: whyFull}}}
	if got := several.Cost(); !slices.Equal(got, []string{"1 older checkpoint (2 B) was dropped: older than the limit", "2 older checkpoints (1.0 KB) were dropped: the store is full"}) {
		t.Errorf("cost = %q", got)
	}
	// What is being kept is not the price of keeping it.
	again := b.keep(b.file("3", strings.Repeat("3", 40)))
	if len(again.Dropped) != 0 || !again.Shared {
		t.Errorf("again = %+v", again)
	}
}

func TestFileThatChangesWhileItIsKeptIsSaid(t *testing.T) {
	b := newBench(t, Limits{})
	path := b.file("busy", "0")
	n := 0
	b.step = func(name string) error {
		if name == "verify" {
			n++
			return os.WriteFile(path, []byte(fmt.Sprint(n)), 0o644)
		}
		return nil
	}
	_, err := b.tryKeep(path)
	if !errors.Is(err, ErrChanged) || n != keepTries {
		t.Errorf("error = %v after %d tries", err, n)
	}
	once := 0
	b.step = func(name string) error {
		if name == "verify" && once == 0 {
			once++
			return os.WriteFile(path, []byte("settled"), 0o644)
		}
		return nil
	}
	e, err := b.tryKeep(path)
	if err != nil || e.Size != int64(len("settled")) {
		t.Errorf("a file that settles: %+v, %v", e, err)
	}
	if got := b.names(b.at(tempsName)); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func TestLineThatNamesAnotherPlaceIsDamaged(t *testing.T) {
	b := newBench(t, Limits{})
	line := `{"id":"abcd1234","path":"/x","sha256":"../../../../../../etc/passwd","size":1}`
	if err := os.WriteFile(b.at(indexName), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := b.List(); err != nil || len(l.Entries) != 0 || l.Damaged != 1 {
		t.Errorf("list = %+v, %v", l, err)
	}
}

func TestDamagedContentIsNeverRestoredAndIsReplacedWhenKeptAgain(t *testing.T) {
	b := newBench(t, Limits{})
	path := b.file("a", "good")
	e := b.keep(path)
	if err := os.WriteFile(b.blob(e.SHA256), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.file("a", "now")
	_, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID})
	if !errors.Is(err, ErrDamaged) || b.content(path) != "now" {
		t.Errorf("restore = %v, content %q", err, b.content(path))
	}
	if _, err := b.Show(anyPolicy(), e.ID); !errors.Is(err, ErrDamaged) {
		t.Errorf("show = %v", err)
	}
	if got := b.names(b.work); len(got) != 1 {
		t.Errorf("beside the file: %q", got)
	}
	again := b.keep(b.file("a", "good"))
	if again.Shared || b.intact(e) != nil {
		t.Errorf("kept again: %+v, %v", again, b.intact(e))
	}
}

func TestManyAtOnceLoseNothing(t *testing.T) {
	before := leak.Take(t)
	b := newBench(t, Limits{})
	other, err := Open(b.Dir(), Limits{}) // as another process has it
	if err != nil {
		t.Fatal(err)
	}
	const workers, each = 8, 6
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			s := b.Store
			if w%2 == 1 {
				s = other
			}
			for i := range each {
				path := filepath.Join(b.work, fmt.Sprintf("%d-%d", w, i))
				if err := os.WriteFile(path, []byte(fmt.Sprintf("content %d", i)), 0o600); err != nil {
					t.Error(err)
					return
				}
				f, err := os.Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Keep(f, path, ""); err != nil {
					t.Error(err)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				if i == each/2 {
					if _, err := s.Prune(Limits{}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	l, err := b.List()
	if err != nil || len(l.Entries) != workers*each || l.Damaged != 0 {
		t.Errorf("%d entries, %d damaged, %v", len(l.Entries), l.Damaged, err)
	}
	for _, e := range l.Entries {
		if err := b.intact(e); err != nil {
			t.Errorf("%s: %v", e.Path, err)
		}
	}
	if got := b.names(b.at(blobsName)); len(got) != each {
		t.Errorf("contents: %d, want %d", len(got), each)
	}
	before.Check(t)
}

func TestFindWantsEnoughAndOnlyOne(t *testing.T) {
	b := newBench(t, Limits{})
	e := b.keep(b.file("a", "a"))
	twin := e
	twin.ID = e.ID[:minID] + "ffff"
	if twin.ID == e.ID {
		twin.ID = e.ID[:minID] + "0000"
	}
	if err := b.append(twin); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]error{e.ID[:3]: ErrNotFound, "": ErrNotFound, "zzzz": ErrNotFound, e.ID[:minID]: ErrAmbiguous, strings.ToUpper(e.ID): nil} {
		if _, err := b.Find(id); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("find %q = %v, want %v", id, err, want)
		}
	}
}

func TestOnlyRegularFilesWithAbsolutePathsAreKept(t *testing.T) {
	b := newBench(t, Limits{})
	d, err := os.Open(b.work)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := b.Keep(d, b.work, ""); err == nil {
		t.Error("a folder was kept")
	}
	f, err := os.Open(b.file("a", "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, path := range []string{"relative", "", "/x\xff"} {
		if _, err := b.Keep(f, path, ""); err == nil {
			t.Errorf("path %q was taken", path)
		}
	}
	if _, err := Open("relative", Limits{}); err == nil {
		t.Error("a relative store was opened")
	}
}

func TestCopyToWritesExactBytesAndPolicyGuardsSecrets(t *testing.T) {
	b := newBench(t, Limits{})
	raw := string([]byte{0, 1, 2, 255, '\n'})
	e := b.keep(b.file("bin", raw))
	var got bytes.Buffer
	if _, err := b.CopyTo(anyPolicy(), e.ID, &got); err != nil || got.String() != raw {
		t.Errorf("copy = %q, %v", got.String(), err)
	}
	if shown, err := b.Show(anyPolicy(), e.ID); err != nil || !shown.Binary || shown.Text != "" {
		t.Errorf("shown = %+v, %v", shown, err)
	}
	secret := b.keep(b.file(".env", "TOKEN=1"))
	_, err1 := b.Show(anyPolicy(), secret.ID)
	_, err2 := b.Diff(anyPolicy(), secret.ID)
	_, err3 := b.CopyTo(anyPolicy(), secret.ID, io.Discard)
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, outcome.ErrRefused) {
			t.Errorf("a copy of a secret: %v", err)
		}
	}
}
