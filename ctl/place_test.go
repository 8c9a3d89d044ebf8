package ctl

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func mkdir(t testing.TB, mode fs.FileMode, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheFirstUsablePlaceIsTaken(t *testing.T) {
	checkLeaks(t)
	uid := strconv.Itoa(os.Geteuid())
	for _, c := range []struct {
		name string
		have []string // folders that exist
		xdg  string
		want string
	}{
		{"XDG_RUNTIME_DIR before all", []string{"xdg", "run/" + uid, "temp"}, "xdg", "xdg/honestty"},
		{"without the variable", []string{"xdg", "run/" + uid, "temp"}, "", "run/" + uid + "/honestty"},
		{"the variable's folder is not there", []string{"run/" + uid, "temp"}, "xdg", "run/" + uid + "/honestty"},
		{"the variable is relative", []string{"run/" + uid, "temp"}, "./xdg", "run/" + uid + "/honestty"},
		{"only the folder for temporary files", []string{"temp"}, "xdg", "temp/honestty-" + uid},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := shortDir(t)
			for _, d := range c.have {
				mkdir(t, 0o700, dir, d)
			}
			xdg := c.xdg
			if xdg != "" && !strings.HasPrefix(xdg, ".") {
				xdg = filepath.Join(dir, xdg)
			}
			env := testEnv(xdg)
			env.runUser, env.temp = filepath.Join(dir, "run"), filepath.Join(dir, "temp")
			s := serve(t, env, echo)
			if want := filepath.Join(dir, c.want, pidName(os.Getpid())); s.Path() != want {
				t.Errorf("socket = %s, want %s", s.Path(), want)
			}
			if got := client(t, env, "").Path(); got != s.Path() {
				t.Errorf("client found %s, want %s", got, s.Path())
			}
		})
	}
}

func TestFolderSocketAndLockAreTheOwnersAloneUnderAnyUmask(t *testing.T) {
	for _, umask := range []string{"000", "022", "077", "777"} {
		dir := shortDir(t)
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `umask "$1"; exec "$2" "$3"`, "sh", umask, os.Args[0], dir)
		cmd.Env = append(os.Environ(), childVariable+"=modes")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "0700 0600 0600" {
			t.Errorf("umask %s: folder, socket and lock have %q (%v), want 0700 0600 0600", umask, got, err)
		}
	}
}

func TestUnsafeFolderIsRefusedAndSaysWhy(t *testing.T) {
	checkLeaks(t)
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir, folder string)
		says string
	}{
		{"symbolic link", func(t *testing.T, dir, folder string) {
			if err := os.Symlink(mkdir(t, 0o700, dir, "elsewhere"), folder); err != nil {
				t.Fatal(err)
			}
		}, "symbolic link"},
		{"dangling link", func(t *testing.T, dir, folder string) {
			if err := os.Symlink(filepath.Join(dir, "nowhere"), folder); err != nil {
				t.Fatal(err)
			}
		}, "symbolic link"},
		{"file", func(t *testing.T, dir, folder string) {
			if err := os.WriteFile(folder, nil, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a folder"},
		{"open to others", func(t *testing.T, dir, folder string) { mkdir(t, 0o755, folder) }, "mode 0755"},
		{"open to the group", func(t *testing.T, dir, folder string) { mkdir(t, 0o770, folder) }, "mode 0770"},
		{"another owner", func(t *testing.T, dir, folder string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			if err := os.Chown(mkdir(t, 0o700, folder), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}, "uid 65534"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := shortDir(t)
			folder := filepath.Join(dir, folderName)
			c.make(t, dir, folder)
			env := testEnv(dir)
			for what, err := range map[string]error{
				"listen": func() error { _, err := Listen(env); return err }(),
				"dial":   func() error { _, err := Dial(env, ""); return err }(),
				"named":  func() error { _, err := Listen(testEnv(dir, SocketVariable+"="+folder+"/x.sock")); return err }(),
			} {
				if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), folder) {
					t.Errorf("%s: %v; want it to name %s and say %q", what, err, folder, c.says)
				}
			}
		})
	}
}

func TestPlaceWhereOthersCouldReplaceTheFolderIsNotUsed(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	open := mkdir(t, 0o777, dir, "open")
	env := testEnv(open)

	env.temp = open
	if _, err := Listen(env); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "mode 0777") {
		t.Errorf("listen below an open folder: %v", err)
	}
	absent(t, filepath.Join(open, folderName))

	// A sticky one, like /tmp, keeps others from replacing what is ours.
	env.temp = mkdir(t, 0o777|fs.ModeSticky, dir, "sticky")
	s := serve(t, env, echo)
	if filepath.Dir(filepath.Dir(s.Path())) != env.temp {
		t.Errorf("socket = %s, want it below %s", s.Path(), env.temp)
	}
	if n := s.Notes(); len(n) != 1 || !strings.Contains(n[0], "XDG_RUNTIME_DIR was passed over") {
		t.Errorf("notes = %q, want the place that was passed over", n)
	}
	if got := client(t, env, "").Path(); got != s.Path() {
		t.Errorf("client found %s, want %s", got, s.Path())
	}
}

func TestForeignRuntimeFolderIsPassedOverAndNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	checkLeaks(t)
	dir := shortDir(t)
	foreign := mkdir(t, 0o700, dir, "foreign")
	if err := os.Chown(foreign, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	env := testEnv(foreign)
	env.temp = mkdir(t, 0o700, dir, "temp")
	s := serve(t, env, echo)
	if n := s.Notes(); len(n) != 1 || !strings.Contains(n[0], "uid 65534") {
		t.Errorf("notes = %q", n)
	}
	absent(t, filepath.Join(foreign, folderName))
}

func TestLongPathIsRefusedBeforeTheSystemDoes(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	fill := maxPath - len(filepath.Join(dir, "x", folderName, pidName(os.Getpid()))) + 1
	fits := mkdir(t, 0o700, dir, strings.Repeat("d", fill))
	s := serve(t, testEnv(fits), echo)
	if len(s.Path()) != maxPath {
		t.Fatalf("path has %d bytes, want the longest that fits, %d", len(s.Path()), maxPath)
	}
	if got := client(t, testEnv(fits), "").Path(); got != s.Path() {
		t.Errorf("client found %s, want %s", got, s.Path())
	}

	long := mkdir(t, 0o700, dir, strings.Repeat("d", fill+1))
	path := filepath.Join(long, folderName, pidName(os.Getpid()))
	for what, err := range map[string]error{
		"listen":       func() error { _, err := Listen(testEnv(long)); return err }(),
		"listen named": func() error { _, err := Listen(testEnv(dir, SocketVariable+"="+path)); return err }(),
		"dial named":   func() error { _, err := Dial(testEnv(dir, SocketVariable+"="+path), ""); return err }(),
		"dial":         func() error { _, err := Dial(testEnv(dir), path); return err }(),
	} {
		if !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), strconv.Itoa(maxPath)) {
			t.Errorf("%s: %v; want ErrTooLong with the limit", what, err)
		}
	}
}

func TestNamedSocketMustBeAnAbsolutePath(t *testing.T) {
	env := testEnv(shortDir(t), SocketVariable+"=x.sock")
	if _, err := Listen(env); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("listen: %v", err)
	}
	if _, err := Dial(env, ""); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("dial: %v", err)
	}
	for _, taken := range []string{lockName, Latest} {
		env := testEnv("", SocketVariable+"="+filepath.Join(shortDir(t), "f", taken))
		if _, err := Listen(env); err == nil || !strings.Contains(err.Error(), "taken") {
			t.Errorf("listen on %s: %v", taken, err)
		}
	}
}

func TestNestedWindowListensBesideItsOuterOne(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	outer := serve(t, testEnv(dir).withPID(4001), echo)
	inner := serve(t, testEnv("", SocketVariable+"="+outer.Path()).withPID(4002), echo)
	if filepath.Dir(inner.Path()) != filepath.Dir(outer.Path()) || filepath.Base(inner.Path()) != "4002.sock" {
		t.Errorf("inner = %s beside %s", inner.Path(), outer.Path())
	}
	if n := inner.Notes(); len(n) != 1 || !strings.Contains(n[0], "window 4001") {
		t.Errorf("notes = %q", n)
	}
	for _, s := range []*Server{outer, inner} { // each pane finds its own window
		if got := client(t, testEnv(dir, SocketVariable+"="+s.Path()), "").Path(); got != s.Path() {
			t.Errorf("client found %s, want %s", got, s.Path())
		}
	}
}
