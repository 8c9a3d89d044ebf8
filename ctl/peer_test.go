package ctl

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnotherUserCannotReachTheSocket(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil { // so that only our own folder stands between
		t.Fatal(err)
	}
	s := serve(t, testEnv(dir), echo)
	out, err := asNobody(t, "connect", s.Path()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "permission denied") {
		t.Errorf("connect as another user: %q, %v", out, err)
	}
	if got := s.Stats(); got.Foreign != 0 || got.Accepted != 0 {
		t.Errorf("stats = %+v, want that nobody came", got)
	}
}

func TestAnotherUserThatReachesTheSocketIsRefusedAndCounted(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := serve(t, testEnv(dir), handlerFunc(nil)) // a call would panic and be counted
	for path, mode := range map[string]os.FileMode{dir: 0o755, filepath.Dir(s.Path()): 0o755, s.Path(): 0o666} {
		if err := os.Chmod(path, mode); err != nil { // the doors are open: only the kernel's word is left
			t.Fatal(err)
		}
	}
	out, err := asNobody(t, "connect", s.Path()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"code":"not_permitted"`) || !strings.Contains(string(out), `"id":null`) {
		t.Errorf("connect as another user: %q, %v", out, err)
	}
	if got := s.Stats(); got.Foreign != 1 || got.Accepted != 0 || got.Panics != 0 {
		t.Errorf("stats = %+v, want one foreign connection and nothing else", got)
	}
	client(t, testEnv(dir), s.Path()) // our own still comes in
}

func TestWindowOfAnotherUserIsNotTalkedTo(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "trap.sock")
	cmd := asNobody(t, "listen", path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stdout)
	if line, err := said.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other user's window says %q, %v", line, err)
	}
	_, err = Dial(testEnv(dir), path)
	if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "uid 65534") {
		t.Errorf("dial = %v, want ErrForeign", err)
	}
	_ = stdin.Close()
	_, _ = io.Copy(io.Discard, said)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
