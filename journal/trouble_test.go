package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

func TestPartOfALineOfSomebodyElseIsEndedAndMarked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	open(t, dir, Options{}).Begin(begin("a"))
	whole, err := os.ReadFile(filepath.Join(dir, currentName))
	if err != nil {
		t.Fatal(err)
	}
	second := strings.Replace(string(whole), `"seq":1`, `"seq":2`, 1)
	for _, n := range []int{1, 7, 9, len(second) / 2, len(second) - 3, len(second) - 2} {
		if err := os.WriteFile(filepath.Join(dir, currentName), []byte(string(whole)+second[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := brief(read(t, dir)); got != "1+a 2?1 torn" {
			t.Errorf("%d bytes: reading gives %q", n, got)
		}
		j := open(t, dir, Options{})
		j.Begin(begin("b"))
		trouble(t, j)
		if got := brief(read(t, dir)); got != "1+a 2?1 torn 3+b" {
			t.Errorf("%d bytes: reading gives %q", n, got)
		}
		back, f, err := OpenTail(dir)
		if err != nil {
			t.Fatal(err)
		}
		events, more, err := back.Chunk(1 << 20)
		if slices.Reverse(events); brief(events) != "1+a 2?1 torn 3+b" || more || err != nil {
			t.Errorf("%d bytes: backward gives %q, %v, %v", n, brief(events), more, err)
		}
		back.Close()
		f.Close()
	}
}

func TestWholeEventWithoutTheEndOfItsLineIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	open(t, dir, Options{}).Begin(begin("a"))
	if err := os.Truncate(filepath.Join(dir, currentName), int64(len(lines(t, dir)[0]))); err != nil {
		t.Fatal(err)
	}
	if got := brief(read(t, dir)); got != "1+a" {
		t.Errorf("reading gives %q", got)
	}
	j := open(t, dir, Options{MaxFile: 1})
	j.Begin(begin("b"))
	trouble(t, j)
	if got := brief(read(t, dir)); got != "1+a 2+b" {
		t.Errorf("reading gives %q", got)
	}
}

// A breaking device fails writes while it is broken, after some bytes.
type breaking struct {
	err  error
	part int // bytes that are written before
}

func (b *breaking) write(fd int, p []byte) (int, error) {
	if b.err == nil {
		return unix.Write(fd, p)
	}
	if b.part == 0 {
		return -1, b.err
	}
	n, _ := unix.Write(fd, p[:min(b.part, len(p))])
	return n, nil // a full disk takes a part and says no more than that
}

func TestFullDiskIsToldNowAndLaterAndLosesNothingElse(t *testing.T) {
	for _, part := range []int{0, 1, 40} {
		dir := filepath.Join(t.TempDir(), "journal")
		device := &breaking{part: part}
		j := open(t, dir, Options{fault: fault{write: device.write}})
		j.Begin(begin("a"))
		trouble(t, j)
		before := lines(t, dir)
		device.err = unix.ENOSPC
		j.Begin(begin("b"))
		j.End(end("b", outcome.Complete))
		var te *TroubleError
		if err := j.Trouble(); !errors.As(err, &te) || te.Lost != 2 || !errors.Is(err, unix.ENOSPC) {
			t.Errorf("part %d: trouble = %v", part, err)
		}
		if got := lines(t, dir); !slices.Equal(got, before) {
			t.Errorf("part %d: the file changed: %q", part, got)
		}
		device.err = nil
		j.Begin(begin("c"))
		trouble(t, j)
		events := read(t, dir)
		if got := brief(events); got != "1+a 2?2 3+c" {
			t.Errorf("part %d: reading gives %q", part, got)
		}
		if why := events[1].Gap.Why; !strings.Contains(why, "ENOSPC") {
			t.Errorf("part %d: the gap says %q", part, why)
		}
	}
}

func TestPartThatCannotBeTakenBackIsMarkedAsTorn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	device := &breaking{part: 25}
	o := Options{fault: fault{write: device.write, truncate: func(int, int64) error { return unix.EIO }}}
	j := open(t, dir, o)
	j.Begin(begin("a"))
	device.err = unix.ENOSPC
	j.Begin(begin("b"))
	if err := j.Trouble(); !errors.Is(err, unix.EIO) || !errors.Is(err, unix.ENOSPC) {
		t.Errorf("trouble = %v", err)
	}
	device.err = nil
	j.Begin(begin("c"))
	trouble(t, j)
	if got := brief(read(t, dir)); got != "1+a 2?1 torn 3?1 4+c" {
		t.Errorf("reading gives %q", got)
	}
}

func TestGapThatIsOwedIsWrittenByClose(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	device := &breaking{err: unix.EDQUOT}
	j := open(t, dir, Options{fault: fault{write: device.write}})
	j.Begin(begin("a"))
	device.err = nil
	if err := j.Close(); err != nil {
		t.Errorf("close = %v", err)
	}
	j.Begin(begin("late"))
	if got := brief(read(t, dir)); got != "1?1" {
		t.Errorf("reading gives %q", got)
	}
	if err := j.Trouble(); !errors.Is(err, ErrClosed) {
		t.Errorf("trouble of a closed journal = %v", err)
	}
}

func TestReadOnlyFolderIsTroubleAndNoError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	broken := error(unix.EROFS)
	j := open(t, dir, Options{fault: fault{open: func(string) error { return broken }}})
	for range 3 {
		j.Begin(begin("a"))
	}
	var te *TroubleError
	if err := j.Trouble(); !errors.As(err, &te) || te.Lost != 3 || !errors.Is(err, unix.EROFS) {
		t.Errorf("trouble = %v", err)
	}
	broken = nil
	j.Begin(begin("b"))
	trouble(t, j)
	if got := brief(read(t, dir)); got != "1?3 2+b" {
		t.Errorf("reading gives %q", got)
	}
}

func TestFolderThatCannotBeMadeIsTroubleAndNoError(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	parent := t.TempDir()
	if err := os.Chmod(parent, 0o500); err != nil {
		t.Fatal(err)
	}
	j, err := Open(filepath.Join(parent, "journal"), Options{})
	if err != nil || !errors.Is(j.Trouble(), os.ErrPermission) {
		t.Errorf("open = %v, trouble = %v", err, j.Trouble())
	}
}

func TestWhatIsNotOursIsRefused(t *testing.T) {
	parent := t.TempDir()
	real := filepath.Join(parent, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(parent, "link"), filepath.Join(parent, "file")
	if err := errors.Join(os.Symlink(real, link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{link, file} {
		j, err := Open(dir, Options{})
		if !errors.Is(err, ErrNotOurs) {
			t.Errorf("open %s = %v", filepath.Base(dir), err)
		}
		j.Begin(begin("a"))
		if !errors.Is(j.Trouble(), ErrNotOurs) {
			t.Errorf("trouble of %s = %v", filepath.Base(dir), j.Trouble())
		}
	}
	if names, _ := os.ReadDir(real); len(names) != 0 {
		t.Errorf("something was written behind a link: %v", names)
	}
	for _, name := range []string{currentName, lockName} {
		dir := filepath.Join(parent, "dir-"+name)
		target := filepath.Join(parent, "target-"+name)
		j := open(t, dir, Options{})
		if err := errors.Join(os.WriteFile(target, []byte("mine"), 0o600), os.Symlink(target, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		j.Begin(begin("a"))
		if !errors.Is(j.Trouble(), ErrNotOurs) {
			t.Errorf("trouble with a link for %s = %v", name, j.Trouble())
		}
		if raw, err := os.ReadFile(target); err != nil || string(raw) != "mine" {
			t.Errorf("the file behind %s was changed: %q, %v", name, raw, err)
		}
	}
}

func TestFolderAndFilesAreClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, currentName), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir, Options{MaxInline: 10})
	j.Begin(begin("a"))
	trouble(t, j)
	for path, want := range map[string]os.FileMode{
		".": 0o700, currentName: 0o600, lockName: 0o600, resultsName: 0o700, resultsName + "/a.args.json": 0o600,
	} {
		info, err := os.Lstat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestFolderThatWasDeletedIsMadeAgainAndThatIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	j.Begin(begin("a"))
	j.Begin(begin("b"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	j.Begin(begin("c"))
	trouble(t, j)
	events := read(t, dir)
	if got := brief(events); got != "1?2 3?-1 4+c" {
		t.Errorf("reading gives %q", got)
	}
	if why := events[1].Gap.Why; !strings.Contains(why, "removed or replaced") {
		t.Errorf("the gap says %q", why)
	}
}

func TestJournalThatWasReplacedOrCutIsTold(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 0) },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("something else\n"), 0o600), os.Rename(path+".new", path))
		},
	} {
		dir := filepath.Join(t.TempDir(), "journal")
		j := open(t, dir, Options{})
		j.Begin(begin("a"))
		j.Begin(begin("b"))
		if err := change(filepath.Join(dir, currentName)); err != nil {
			t.Fatal(err)
		}
		j.Begin(begin("c"))
		trouble(t, j)
		if got := brief(read(t, dir)); got != "1?2 3?-1 4+c" {
			t.Errorf("%s: reading gives %q", name, got)
		}
	}
}

func TestStoppedWriterMakesOthersWaitAndThenSayWhy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{Patience: 5 * time.Millisecond})
	held := lock{fd: -1}
	if err := held.try(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	j.Begin(begin("a"))
	if err := j.Trouble(); !errors.Is(err, errHeld) {
		t.Errorf("trouble = %v", err)
	}
	held.close()
	j.Begin(begin("b"))
	trouble(t, j)
	if got := brief(read(t, dir)); got != "1?1 2+b" {
		t.Errorf("reading gives %q", got)
	}
}

func TestRenamingThatFailsLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	broken := error(unix.EACCES)
	j := open(t, dir, Options{MaxFile: 1, fault: fault{rename: func(from, to string) error {
		if broken != nil {
			return broken
		}
		return os.Rename(from, to)
	}}})
	for _, id := range []string{"a", "b"} {
		j.Begin(begin(id))
	}
	broken = nil
	j.Begin(begin("c"))
	trouble(t, j)
	if got := brief(read(t, dir)); got != "1+a 2+b 3+c" {
		t.Errorf("reading gives %q", got)
	}
	if firsts, _ := olds(dir); !slices.Equal(firsts, []int64{1}) {
		t.Errorf("renamed files: %v", firsts)
	}
}

func TestArgumentsThatAreNoJSONAreKeptAsText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, Options{})
	s := begin("a")
	s.Args = []byte("{not json")
	j.Begin(s)
	trouble(t, j)
	if got := string(read(t, dir)[0].Start.Args); got != `"{not json"` {
		t.Errorf("arguments = %s", got)
	}
}
