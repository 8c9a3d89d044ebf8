package ctl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
)

// nobody is a uid that is not ours.
const nobody = 65534

// childVariable makes this binary another program: one that runs as another
// user, or under another umask.
const childVariable = "HONESTTY_CTL_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childVariable); role != "" {
		os.Exit(child(role, os.Args[1]))
	}
	os.Exit(m.Run())
}

// child plays one role on a path and tells its story on stdout.
func child(role, path string) int {
	switch role {
	case "connect": // and print the first line that comes
		c, err := net.Dial("unix", path)
		if err != nil {
			fmt.Println("error:", err)
			return 0
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		fmt.Print(line)
		if err != nil {
			fmt.Println("error:", err)
		}
	case "listen": // until stdin ends
		ln, err := net.Listen("unix", path)
		if err != nil {
			fmt.Println("error:", err)
			return 0
		}
		if err := os.Chmod(path, 0o666); err != nil {
			fmt.Println("error:", err)
			return 0
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = ln.Close()
	case "modes": // of what Listen makes
		s, err := Listen(testEnv(path))
		if err != nil {
			fmt.Println("error:", err)
			return 0
		}
		for _, p := range []string{filepath.Dir(s.Path()), s.Path(), filepath.Join(filepath.Dir(s.Path()), lockName)} {
			info, err := os.Lstat(p)
			if err != nil {
				fmt.Println("error:", err)
				return 0
			}
			fmt.Printf("%04o ", info.Mode().Perm())
		}
		if err := s.Close(); err != nil {
			fmt.Println("error:", err)
		}
	}
	return 0
}

// program copies this binary to where every user can run it.
func program(t *testing.T) string {
	t.Helper()
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(dir, "ctl.test")
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(to.Chmod(0o755), to.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// asNobody is a child with another uid.
func asNobody(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	cmd := exec.CommandContext(t.Context(), program(t), path)
	cmd.Env = []string{childVariable + "=" + role}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// shortDir is a private folder whose path leaves room for a socket's name.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// testEnv has one place, below dir. Further variables are given as NAME=value.
func testEnv(dir string, vars ...string) Env {
	return Env{
		Getenv: func(name string) string {
			for _, v := range vars {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			if name == "XDG_RUNTIME_DIR" {
				return dir
			}
			return ""
		},
		Version: "test",
		runUser: filepath.Join(dir, "no", "run"),
		temp:    filepath.Join(dir, "no", "temp"),
	}
}

func (e Env) withPID(pid int) Env {
	e.pid = pid
	return e
}

// checkLeaks is called first: it checks when all other cleaning was done.
func checkLeaks(t *testing.T) {
	t.Helper()
	before := leak.Take(t)
	t.Cleanup(func() { before.Check(t) })
}

type handlerFunc func(ctx context.Context, method string, params json.RawMessage) (any, error)

func (f handlerFunc) Call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return f(ctx, method, params)
}

// echo answers with what it got.
var echo = handlerFunc(func(_ context.Context, method string, params json.RawMessage) (any, error) {
	return map[string]any{"method": method, "params": params}, nil
})

func listen(t testing.TB, env Env) *Server {
	t.Helper()
	s, err := Listen(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
	})
	return s
}

// serve runs a server until the test ends. set changes it before.
func serve(t testing.TB, env Env, h Handler, set ...func(*Server)) *Server {
	t.Helper()
	s := listen(t, env)
	for _, f := range set {
		f(s)
	}
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.Serve(h); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		_ = s.Close() // its error is told by listen
		served.Wait()
	})
	return s
}

func client(t testing.TB, env Env, which string) *Client {
	t.Helper()
	c, err := Dial(env, which)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A raw is a client that writes what it wants.
type raw struct {
	t testing.TB
	*net.UnixConn
	r *bufio.Reader
}

func connect(t testing.TB, path string) *raw {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second)) // so that a fault ends the test
	return &raw{t, c, bufio.NewReader(c)}
}

func (r *raw) say(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.UnixConn, line); err != nil {
		r.t.Fatalf("write request: %v", err)
	}
}

// answer reads one answer.
func (r *raw) answer() response {
	r.t.Helper()
	line, err := r.r.ReadBytes('\n')
	if err != nil {
		r.t.Fatalf("read answer: %v (after %q)", err, line)
	}
	var a response
	if err := json.Unmarshal(line, &a); err != nil {
		r.t.Fatalf("answer %q: %v", line, err)
	}
	return a
}

// code is the code of the next answer, "" for a result.
func (r *raw) code() Code {
	r.t.Helper()
	a := r.answer()
	if a.Error == nil {
		return ""
	}
	if a.Error.Message == "" {
		r.t.Errorf("error %s says nothing", a.Error.Code)
	}
	return a.Error.Code
}

// ends reports that the server closes the connection without a word more.
func (r *raw) ends() {
	r.t.Helper()
	rest, err := io.ReadAll(r.r)
	if len(rest) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		r.t.Errorf("read to the end: %q, %v; want nothing", rest, err)
	}
}

// eventually waits for a fact that nobody announces.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(20 * time.Second)
	defer end.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("it never came that %s", what)
		}
	}
}

// stale makes a socket on which nobody listens.
func stale(t testing.TB, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

func absent(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", path, err)
	}
}
