package safepath

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
)

func TestOpenGivesTheCheckedFile(t *testing.T) {
	before := leak.Take(t)
	w := newWorld(t)
	write(t, filepath.Join(w.dir, "a.txt"), "content")
	link(t, "a.txt", filepath.Join(w.dir, "b.txt"))
	for _, use := range []Use{Read, Write} {
		f, path, err := w.Open("b.txt", w.dir, use)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || string(got) != "content" || filepath.Base(path.Real) != "a.txt" || filepath.Base(path.Abs) != "b.txt" {
			t.Errorf("%v: %q, %+v, %v", use, got, path, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	before.Check(t)
}

func TestOnlyRegularFilesAreOpenedAndNothingBlocks(t *testing.T) {
	before := leak.Take(t)
	w := newWorld(t)
	fifo := filepath.Join(w.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: sock}); err != nil {
		t.Fatal(err)
	}
	for path, rule := range map[string]string{
		fifo:         RuleKind + "a named pipe",
		sock:         RuleKind + "a socket",
		w.dir:        RuleKind + "a folder",
		"/dev/null":  RuleProtected + "devices",
		"/dev/zero":  RuleProtected + "devices",
		"/dev/stdin": RuleProtected + "devices",
		"/dev/fd/0":  RuleProtected + "devices",
		link(t, "/dev/zero", filepath.Join(w.dir, "zero")): RuleProtected + "devices",
	} {
		_, _, err := w.Open(path, "", Read)
		refused(t, path, err, rule, path)
	}
	if err := syscall.Close(fd); err != nil {
		t.Fatal(err)
	}
	fd = -1
	before.Check(t)
}

func TestPipeThatTookThePlaceOfAFileDoesNotBlock(t *testing.T) {
	fifo := filepath.Join(newWorld(t).dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if openFlags&syscall.O_NONBLOCK == 0 {
		t.Fatal("opening it would block")
	}
	f, err := openNoLinks(fifo, openFlags)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestSecretsOfProcessesAreRefusedByEveryName(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc here")
	}
	w := newWorld(t)
	f, err := os.Open(write(t, filepath.Join(w.Home, ".netrc"), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, path := range []string{
		"/proc/self/environ", "/proc/thread-self/environ", fmt.Sprintf("/proc/%d/mem", os.Getpid()),
		fmt.Sprintf("/proc/%d/task/%d/environ", os.Getpid(), os.Getpid()), "/proc/self/maps", "/proc/self/cmdline",
		fmt.Sprintf("/proc/self/fd/%d", f.Fd()), "/proc/kcore",
		link(t, "/proc/self/environ", filepath.Join(w.dir, "env")),
		"/proc/self/root/proc/self/environ",
		"/proc/self/cwd/../" + "x",
	} {
		_, _, err := w.Open(path, "", Read)
		if !errors.Is(err, outcome.ErrRefused) {
			t.Errorf("%s: error = %v", path, err)
		}
	}
	_, _, err = w.Open("/proc/self/root"+filepath.Join(w.Home, ".netrc"), "", Read)
	refused(t, "round by the root of a process", err, RuleProtected+"network credentials", "")
	for _, path := range []string{"/proc/meminfo", "/proc/self/status", "/proc/cmdline"} {
		f, _, err := w.Open(path, "", Read)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLinkOnTheWayIsRefusedAtTheOpening(t *testing.T) {
	before := leak.Take(t)
	w := newWorld(t)
	write(t, filepath.Join(w.dir, "real/f"), "x")
	link(t, "real", filepath.Join(w.dir, "way"))
	link(t, "real/f", filepath.Join(w.dir, "last"))
	for _, path := range []string{filepath.Join(w.dir, "way/f"), filepath.Join(w.dir, "last")} {
		_, err := openNoLinks(path, syscall.O_RDONLY)
		refused(t, path, opened(err), RuleChanged, path)
	}
	f, err := openNoLinks(filepath.Join(w.dir, "real/f"), syscall.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenFolder(Path{Real: filepath.Join(w.dir, "way/f")}); RuleOf(err) != RuleChanged {
		t.Errorf("folder behind a link: %v", err)
	}
	d, err := OpenFolder(Path{Real: filepath.Join(w.dir, "real/f")})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	before.Check(t)
}

// One goroutine swaps a folder for a link to secrets as fast as it can. No
// opening may ever give the secret.
func TestSwappedLinkNeverGivesWhatWasNotChecked(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.Home, ".ssh/f"), "secret")
	write(t, filepath.Join(w.dir, "good/f"), "public")
	way := filepath.Join(w.dir, "way")
	other := filepath.Join(w.dir, "other")
	link(t, "good", way)
	link(t, filepath.Join(w.Home, ".ssh"), other)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			temp := filepath.Join(w.dir, "temp")
			for _, step := range [][2]string{{way, temp}, {other, way}, {temp, other}} {
				if err := os.Rename(step[0], step[1]); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	opened := 0
	for range 1500 {
		f, _, err := w.Open(filepath.Join(way, "f"), "", Read)
		if err != nil {
			continue // refused, or away for the moment
		}
		got, err := io.ReadAll(f)
		if err != nil || string(got) != "public" {
			t.Errorf("content = %q, %v", got, err)
		}
		opened++
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if opened == 0 {
		t.Error("no opening succeeded: the test shows nothing")
	}
}

func TestStrictDeliveryWantsAllowedFolderOrRecentChange(t *testing.T) {
	w := newWorld(t)
	w.Strict = true
	w.Allow = []string{filepath.Join(w.dir, "out")}
	fresh := write(t, filepath.Join(w.dir, "fresh.pdf"), "x")
	old := write(t, filepath.Join(w.dir, "old.pdf"), "x")
	future := write(t, filepath.Join(w.dir, "future.pdf"), "x")
	allowed := write(t, filepath.Join(w.dir, "out/old.pdf"), "x")
	for path, at := range map[string]time.Time{
		old: time.Now().Add(-DefaultRecency - time.Minute), allowed: time.Unix(0, 0), future: time.Now().Add(48 * time.Hour),
	} {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for path, rule := range map[string]string{fresh: "", old: RuleStrict, future: RuleStrict, allowed: ""} {
		if _, err := w.Check(path, "", Deliver); RuleOf(err) != rule || rule == "" && err != nil {
			t.Errorf("%s: %v, want rule %q", filepath.Base(path), err, rule)
		}
	}
	w.Recency = 24 * time.Hour
	if _, err := w.Check(old, "", Deliver); err != nil {
		t.Errorf("within the configured time: %v", err)
	}
	w.Strict = false
	if _, err := w.Check(future, "", Deliver); err != nil {
		t.Errorf("not strict: %v", err)
	}
}

func TestDeliveryWantsAbsoluteRegularFile(t *testing.T) {
	w := newWorld(t)
	_, err := w.Check("a.pdf", w.dir, Deliver)
	refused(t, "relative", err, RuleRelative, "a.pdf")
	_, err = w.Check(w.dir, "", Deliver)
	refused(t, "folder", err, RuleKind+"a folder", w.dir)
	file := write(t, filepath.Join(w.Home, "a.pdf"), "x")
	for _, path := range []string{file, "~/a.pdf", link(t, file, filepath.Join(w.dir, "l.pdf"))} {
		got, err := w.Check(path, "", Deliver)
		if err != nil || got.Real != file {
			t.Errorf("%s = %+v, %v", path, got, err)
		}
	}
}

func TestOwnHomeIsNoDeniedPlaceOnlyWhenItIsOne(t *testing.T) {
	judged := func(home, path string) verdict {
		p := Policy{Home: home}
		return p.judge(Path{Abs: path, Real: path}, Deliver, newLook()).verdict
	}
	for _, c := range []struct {
		home, path string
		want       verdict
	}{
		{"/root", "/root/report.pdf", silent},
		{"/root", "/root/.ssh/x", denied},
		{"/root", "/root/.config/x", denied},
		{"/root/inner", "/root/report.pdf", denied},
		{"/root/inner", "/root/inner/report.pdf", denied},
		{"/home/u", "/root/report.pdf", denied},
		{"/var/lib/svc", "/var/lib/svc/report.pdf", denied},
	} {
		if got := judged(c.home, c.path); got != c.want {
			t.Errorf("home %s, %s: %c, want %c", c.home, c.path, got, c.want)
		}
	}
}

func TestMountedFolderIsTranslatedAndNotLeft(t *testing.T) {
	w := newWorld(t)
	box := filepath.Join(w.dir, "box")
	w.Mounts = []Mount{{Inside: "/data", Here: box}}
	report := write(t, filepath.Join(box, "out/report.html"), "x")
	outside := write(t, filepath.Join(w.dir, "diary.txt"), "x")
	got, err := w.Check("/data/out/report.html", "", Deliver)
	if err != nil || got.Real != report || got.Mount != "/data" {
		t.Errorf("translated = %+v, %v", got, err)
	}
	link(t, outside, filepath.Join(box, "out/leak.txt"))
	_, err = w.Check("/data/out/leak.txt", "", Deliver)
	refused(t, "link out of the folder", err, RuleMount, outside)
	if _, err := w.Check("/data/out/gone.html", "", Deliver); !errors.Is(err, ErrNotFound) {
		t.Errorf("missing = %v", err)
	}
	if _, err := w.Check("/database/x", "", Deliver); !errors.Is(err, ErrNotFound) {
		t.Errorf("a folder of another name = %v", err)
	}
	if got, err := w.Check("/data/x", "", Write); err != nil || strings.HasPrefix(got.Abs, box) {
		t.Errorf("writing is not translated: %+v, %v", got, err)
	}
}

func TestFoldingComparesAsTheLooseFileSystemsDo(t *testing.T) {
	for a, b := range map[string]string{
		"/Users/U/.SSH": "/users/u/.ssh", ".\u017f\u017fh": ".ssh", ".s\u200csh": ".ssh", ".ßh": ".ssh", "\u212aeys": "keys",
	} {
		if foldCase(a) != foldCase(b) {
			t.Errorf("%q and %q fold to %q and %q", a, b, foldCase(a), foldCase(b))
		}
	}
	if foldCase("/a/b") == foldCase("/a/c") {
		t.Error("different names fold to one")
	}
}
