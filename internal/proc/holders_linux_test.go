package proc

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/honestty/honestty/outcome"
	"golang.org/x/sys/unix"
)

// odd is a legal name of a program, as proc(5) shows it in parentheses.
const odd = "a) S 1 (b c"

// oddProgram copies sleep under that name.
func oddProgram(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	src, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	at := filepath.Join(t.TempDir(), odd)
	dst, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
	return at
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestInSessionNamesTheLivingWithoutTheLeader(t *testing.T) {
	c := script(t, newPoller(t), `"`+oddProgram(t)+`" 100 & odd=$!; sleep 0 & setsid sleep 0.001 & echo $odd; read wait; wait`)
	pid := atoi(t, c.line(t))
	want := outcome.Process{PID: pid, Name: odd}
	for { // until the shell's own short-lived children are gone and odd was executed
		found, err := InSession(c.PID)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(found, []outcome.Process{want}) {
			break
		}
		for _, p := range found {
			if p.PID == c.PID {
				t.Fatalf("the leader is in %v", found)
			}
		}
	}
	if err := c.SignalGroup(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Exited()
	if _, err := io.Copy(io.Discard, c.out); err != nil { // nobody holds it any more
		t.Fatal(err)
	}
	for {
		found, err := InSession(c.PID)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return // the leader is a zombie and counts as nobody
		}
	}
}

func TestStatSurvivesANameWithParentheses(t *testing.T) {
	c := script(t, newPoller(t), `exec "`+oddProgram(t)+`" 100`)
	for {
		s, err := readStat(c.PID)
		if err != nil {
			t.Fatal(err)
		}
		if s.name != odd {
			continue // not executed yet
		}
		if s.session != c.PID || !s.alive() || s.start == 0 {
			t.Errorf("%+v, want session %d", s, c.PID)
		}
		return
	}
}

func TestHoldersAreThoseWhoCanWrite(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	target, err := Target(int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	start := func(stdin, stdout *os.File) *exec.Cmd {
		cmd := exec.Command(oddProgram(t), "100")
		cmd.Stdin, cmd.Stdout = stdin, stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	reader := start(r, nil)
	writer := start(nil, w)
	found, err := Holders(target)
	if err != nil {
		t.Fatal(err)
	}
	if want := []outcome.Process{{PID: writer.Process.Pid, Name: odd}}; !slices.Equal(found, want) {
		t.Errorf("holders = %v, want %v without the reader %d and without us", found, want, reader.Process.Pid)
	}
	_ = writer.Process.Kill()
	_ = writer.Wait()
	if found, err := Holders(target); len(found) != 0 || err != nil {
		t.Errorf("holders = %v, %v; want none", found, err)
	}
}

func TestFlagsThatCannotBeReadCountAsWriting(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]bool{
		"pos:\t0\nflags:\t0100000\nmnt_id:\t1\n":  false, // O_RDONLY
		"pos:\t0\nflags:\t0100001\nmnt_id:\t1\n":  true,  // O_WRONLY
		"pos:\t0\nflags:\t02100002\nmnt_id:\t1\n": true,  // O_RDWR, O_CLOEXEC
		"pos:\t0\n":          true,
		"flags:\t\n":         true,
		"flags:\tnonsense\n": true,
	} {
		at := filepath.Join(dir, "fdinfo")
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := opensForWriting(at); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if !opensForWriting(filepath.Join(dir, "none")) {
		t.Error("a file that is gone must count as open for writing")
	}
}
