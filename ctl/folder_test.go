package ctl

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func linkOf(t testing.TB, s *Server) string {
	t.Helper()
	return latest(filepath.Dir(s.Path()))
}

func TestLatestLeadsToTheNewestWindowThatIsOpen(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	env := testEnv(dir)
	one := serve(t, env.withPID(4001), echo)
	two := serve(t, env.withPID(4002), echo)
	three := serve(t, env.withPID(4003), echo)
	for i, s := range []*Server{one, two, three} { // the clock of a file system is coarse
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(s.Path(), at, at); err != nil {
			t.Fatal(err)
		}
	}
	want := func(pid int) {
		t.Helper()
		name := pidName(pid)
		if got := linkOf(t, one); got != name {
			t.Errorf("link leads to %q, want %q", got, name)
		}
		if got := client(t, env, "").Window().PID; got != pid {
			t.Errorf("client found window %d, want %d", got, pid)
		}
	}
	want(4003)
	if err := one.Close(); err != nil { // the link is not its own
		t.Error(err)
	}
	want(4003)
	if err := three.Close(); err != nil {
		t.Error(err)
	}
	want(4002)
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	absent(t, filepath.Join(dir, folderName, Latest))
	left, err := os.ReadDir(filepath.Join(dir, folderName))
	if err != nil || len(left) != 1 || left[0].Name() != lockName {
		t.Errorf("the folder holds %v (%v), want the lock alone", left, err)
	}
	if _, err := Dial(env, ""); !errors.Is(err, ErrNoWindow) {
		t.Errorf("dial = %v, want ErrNoWindow", err)
	}
}

func TestLatestIsFoundWithoutItsLink(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	env := testEnv(dir)
	serve(t, env.withPID(4001), echo)
	link := filepath.Join(dir, folderName, Latest)
	for _, target := range []string{"", "4999.sock", "../4001.sock", "/etc/passwd"} {
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if target != "" {
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
		}
		if got := client(t, env, Latest).Window().PID; got != 4001 {
			t.Errorf("with the link on %q client found window %d", target, got)
		}
		if target == "" {
			if err := os.Symlink("x", link); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNewWindowRemovesStaleSocketsAndNothingElse(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	folder := mkdir(t, 0o700, dir, folderName)
	alive := serve(t, testEnv(dir).withPID(4001), echo)
	for _, name := range []string{"4002.sock", "mine.sock", pidName(os.Getpid())} {
		stale(t, filepath.Join(folder, name))
	}
	if err := os.WriteFile(filepath.Join(folder, "note.sock"), []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, testEnv(dir), echo)
	var names []string
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		names = append(names, e.Name())
	}
	want := []string{"4001.sock", Latest, lockName, "note.sock", filepath.Base(s.Path())}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
	client(t, testEnv(dir), alive.Path())
	client(t, testEnv(dir), s.Path())
}

func TestNamedSocketReplacesAStaleOneAndSitsBesideALiveOne(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	path := filepath.Join(mkdir(t, 0o700, dir, "mine"), "work") // no suffix: only named it is found
	stale(t, path)
	env := testEnv(dir, SocketVariable+"="+path)
	first := serve(t, env.withPID(4001), echo)
	if first.Path() != path || len(first.Notes()) != 0 {
		t.Errorf("first listens on %s, %q", first.Path(), first.Notes())
	}
	second := serve(t, env.withPID(4002), echo)
	if want := filepath.Join(dir, "mine", "4002.sock"); second.Path() != want {
		t.Errorf("second listens on %s, want %s", second.Path(), want)
	}
	if n := second.Notes(); len(n) != 1 || !strings.Contains(n[0], path) {
		t.Errorf("notes = %q", n)
	}
	if got := client(t, env, "").Window().PID; got != 4001 {
		t.Errorf("client found window %d, want 4001", got)
	}
}

func TestWhatIsInTheWayIsNotRemoved(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	path := filepath.Join(mkdir(t, 0o700, dir, folderName), "4001.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(testEnv(dir).withPID(4001)); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("listen = %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("the file reads %q, %v", b, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	serve(t, testEnv(dir).withPID(4001), echo)
	if _, err := Listen(testEnv(dir).withPID(4001)); !errors.Is(err, ErrInUse) {
		t.Errorf("listen twice = %v, want ErrInUse", err)
	}
	client(t, testEnv(dir), "4001")
}

func TestCloseLeavesASocketThatIsNotItsOwn(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := serve(t, testEnv(dir).withPID(4001), echo)
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.Path()); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
}

func TestCloseIsQuietWhenTheFolderIsGone(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := serve(t, testEnv(dir), echo)
	if err := os.RemoveAll(filepath.Dir(s.Path())); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestLockThatAnotherKeepsEndsTheWait(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	one, err := openFolder(dir, ownUID())
	if err != nil {
		t.Fatal(err)
	}
	defer one.close()
	two, err := openFolder(dir, ownUID())
	if err != nil {
		t.Fatal(err)
	}
	defer two.close()
	two.patience = 3 * lockRetry
	err = one.locked(func() error {
		return two.locked(func() error { return errors.New("both are in") })
	})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("second lock = %v, want ErrLocked", err)
	}
	if err := two.locked(func() error { return nil }); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

// TestWindowsThatOpenAtTheSameTimeNeverTakeEachOthersSocket lets many windows
// find the same stale socket under the name they all want.
func TestWindowsThatOpenAtTheSameTimeNeverTakeEachOthersSocket(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	path := filepath.Join(mkdir(t, 0o700, dir, "mine"), "work.sock")
	for range 5 {
		stale(t, path)
		servers := make([]*Server, 20)
		var opened sync.WaitGroup
		for i := range servers {
			opened.Go(func() {
				s, err := Listen(testEnv(dir, SocketVariable+"="+path).withPID(4001 + i))
				if err != nil {
					t.Errorf("window %d: %v", i, err)
					return
				}
				servers[i] = s
			})
		}
		opened.Wait()
		named := 0
		var closed sync.WaitGroup
		for _, s := range servers {
			if s == nil {
				continue
			}
			if s.Path() == path {
				named++
			}
			if probe(s.Path()) != alive {
				t.Errorf("nobody reaches %s", s.Path())
			}
		}
		if named != 1 {
			t.Errorf("%d windows have the named socket, want 1", named)
		}
		for _, s := range servers {
			if s != nil {
				closed.Go(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
		}
		closed.Wait()
		if left, err := filepath.Glob(filepath.Join(dir, "mine", "*.sock")); err != nil || len(left) > 0 {
			t.Errorf("sockets are left: %q, %v", left, err)
		}
	}
}

func TestMissingWindowIsNamedWithTheOpenOnes(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	env := testEnv(dir)
	if _, err := Dial(env, ""); !errors.Is(err, ErrNoWindow) ||
		!strings.HasPrefix(err.Error(), "no honestty window is open") || !strings.Contains(err.Error(), SocketVariable) {
		t.Errorf("without a window: %v", err)
	}
	serve(t, env.withPID(4001), echo)
	serve(t, env.withPID(4002), echo)
	_, err := Dial(env, "4999")
	if !errors.Is(err, ErrNoWindow) || !strings.Contains(err.Error(), "window 4999") || !strings.Contains(err.Error(), "open: 4002, 4001") {
		t.Errorf("dial 4999 = %v", err)
	}
	gone := filepath.Join(dir, folderName, "4998.sock")
	stale(t, gone)
	_, err = Dial(testEnv(dir, SocketVariable+"="+gone), "")
	if !errors.Is(err, ErrNoWindow) || !strings.Contains(err.Error(), gone) || !strings.Contains(err.Error(), SocketVariable) {
		t.Errorf("dial a window that died = %v", err)
	}
	if got := client(t, testEnv(dir, SocketVariable+"="+gone), Latest).Window().PID; got != 4002 {
		t.Errorf("latest = %d, want 4002 in spite of the variable", got)
	}
	if _, err := Dial(env, "work"); err == nil || errors.Is(err, ErrNoWindow) {
		t.Errorf("dial a word = %v", err)
	}
	open, skipped := Windows(env)
	if fmt.Sprint(len(open), skipped) != "2 []" || open[0].Name() != "4002" {
		t.Errorf("windows = %v, %v", open, skipped)
	}
}
