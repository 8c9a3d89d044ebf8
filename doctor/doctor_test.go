package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A machine is a folder laid out like /proc, and what else an Env holds.
type machine struct {
	t    *testing.T
	root string
	vars map[string]string
}

func newMachine(t *testing.T) *machine {
	m := &machine{t, t.TempDir(), map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}}
	m.write("stat", "cpu 1\nbtime 1700000000\n")
	m.write("sys/fs/file-nr", "1408\t0\t2466193\n")
	m.write("sys/fs/nr_open", "1048576\n")
	m.write("sys/kernel/pty/nr", "2\n")
	m.write("sys/kernel/pty/max", "4096\n")
	m.write("sys/kernel/pty/reserve", "1024\n")
	return m
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		m.t.Fatal(err)
	}
}

// process adds a process whose descriptors have these numbers.
func (m *machine) process(pid int, name, command string, soft int, fds ...int) {
	m.t.Helper()
	m.write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (%s) S 1 %d %d 0 100 4194304 1 2 3 4 5 6 7 8 20 0 1 0 77 99 100 18\n", pid, name, pid, pid))
	m.write(fmt.Sprintf("%d/cmdline", pid), strings.ReplaceAll(command, " ", "\x00")+"\x00")
	m.write(fmt.Sprintf("%d/limits", pid), fmt.Sprintf("Max open files            %d                524288               files     \n", soft))
	folder := filepath.Join(m.root, fmt.Sprint(pid), "fd")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		m.t.Fatal(err)
	}
	for _, fd := range fds {
		if err := os.Symlink("/dev/null", filepath.Join(folder, fmt.Sprint(fd))); err != nil {
			m.t.Fatal(err)
		}
	}
}

// thread says what a thread is in; wchan is "" where it is not shown.
func (m *machine) thread(pid, tid int, call, wchan string) {
	if call != "" {
		m.write(fmt.Sprintf("%d/task/%d/syscall", pid, tid), call+"\n")
	}
	m.write(fmt.Sprintf("%d/task/%d/wchan", pid, tid), wchan)
}

func (m *machine) env(pids ...int) Env {
	return Env{
		Proc: m.root, PIDs: pids, Temp: m.t.TempDir(), State: m.t.TempDir(), HermesHome: m.t.TempDir(),
		Getenv: func(name string) string { return m.vars[name] },
		Look:   func(string) (string, error) { return "", os.ErrNotExist },
		Statfs: func(string) (Room, error) { return Room{1 << 40, 1 << 41, 1 << 20, 1 << 21}, nil },
		Now:    time.Unix(1_700_001_000, 0),
	}
}

// check runs everything and returns one check.
func check(t *testing.T, env Env, name string) Check {
	t.Helper()
	for _, c := range Run(t.Context(), env) {
		if len(c.Evidence) == 0 || c.Why == "" || (c.Remedy == "") != (c.Verdict == OK) {
			t.Errorf("%s: evidence, reason or remedy is missing: %+v", c.Name, c)
		}
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %q", name)
	return Check{}
}

func wants(t *testing.T, c Check, v Verdict, evidence ...string) {
	t.Helper()
	if c.Verdict != v {
		t.Errorf("%s: %v, want %v; %s\n%s", c.Name, c.Verdict, v, c.Why, strings.Join(c.Evidence, "\n"))
	}
	all := strings.Join(c.Evidence, "\n") + "\n" + c.Why
	for _, e := range evidence {
		if !strings.Contains(all, e) {
			t.Errorf("%s: %q is missing in\n%s", c.Name, e, all)
		}
	}
}

func upTo(n int) []int {
	fds := make([]int, n)
	for i := range fds {
		fds[i] = i
	}
	return fds
}

func TestALimitIsJudgedByWhatIsLeft(t *testing.T) {
	m := newMachine(t)
	m.process(10, "calm", "calm", 4096, upTo(12)...)
	m.process(11, "near", "near", 10, upTo(8)...)
	m.process(12, "full", "full", 8, upTo(8)...)
	m.process(13, "low", "low", 256, upTo(8)...)
	wants(t, check(t, m.env(10), "limits"), OK, "calm (10): 12 open (by listing), highest number 11, soft limit 4", "by limits file", "1,048,576")
	wants(t, check(t, m.env(10, 13), "limits"), Attention, "soft limit of low (13) is 256")
	wants(t, check(t, m.env(10, 11, 13), "limits"), Attention, "80 % of its soft limit")
	wants(t, check(t, m.env(11, 12), "limits"), Failure, "EMFILE")
	for _, name := range []string{"limits", "select"} {
		gone := check(t, m.env(99), name)
		wants(t, gone, Unknown, "process is gone")
		if !strings.Contains(gone.Remedy, "honestty fds --all") {
			t.Errorf("%s: remedy %q", name, gone.Remedy)
		}
	}
}

// select6 is pselect6 as the kernel shows it here; these tests look at numbers
// of the machine they run on.
var select6 = map[string]string{"amd64": "270 0x5dc 0x7ffc 0x0 0x0 0x7ffc 0x0 0x7ffc 0x7f61", "arm64": "72 0x5dc 0x7ffc 0x0 0x0 0x7ffc 0x0 0x7ffc 0x7f61"}

func TestOnlyAThreadInSelectProvesExposure(t *testing.T) {
	inSelect, known := select6[goarch]
	if !known {
		t.Skip("no numbers for this architecture")
	}
	m := newMachine(t)
	m.process(10, "below", "below", 4096, 1023)
	m.thread(10, 10, inSelect, "poll_schedule_timeout")
	m.process(11, "selects", "selects", 4096, 0, 1500)
	m.thread(11, 11, inSelect, "poll_schedule_timeout")
	m.thread(11, 12, "running", "0")
	m.process(12, "polls", "polls", 4096, 1500)
	m.thread(12, 12, map[string]string{"amd64": "7 0x7f 0x1", "arm64": "73 0x7f 0x1"}[goarch], "poll_schedule_timeout")
	m.process(13, "hidden", "hidden", 4096, 1500)
	m.thread(13, 13, "", "poll_schedule_timeout.constprop.0")
	m.process(14, "shut", "shut", 4096, 1500)
	m.thread(14, 14, "", "0")
	wants(t, check(t, m.env(10), "select"), OK, "highest number 1,023")
	wants(t, check(t, m.env(11), "select"), Failure, "1 in select", "select asks for numbers below 1500", "is lost")
	wants(t, check(t, m.env(12), "select"), Unknown, "1 in poll", "does not prove")
	wants(t, check(t, m.env(13), "select"), Unknown, "1 in select or poll", "does not show")
	wants(t, check(t, m.env(14), "select"), Unknown, "1 not shown")
	wants(t, check(t, m.env(), "select"), Failure, "5 processes looked at, 4 past 1024, 0 not looked at")
	ours := m.env(14)
	ours.NoSelect = func(pid int) bool { return pid == 14 }
	wants(t, check(t, ours, "select"), OK, "highest number 1,500; it runs this program, which never calls select()")
}

func TestTheTerminalPoolIsCountedAndGhostsAreNamed(t *testing.T) {
	m := newMachine(t)
	m.process(10, "host", "host", 4096, 0)
	wants(t, check(t, m.env(10), "terminal pool"), OK, "2 pseudo-terminals in use, limit 4")
	if err := os.Symlink("/dev/ptmx", filepath.Join(m.root, "10/fd/9")); err != nil {
		t.Fatal(err)
	}
	m.write("10/fdinfo/9", "pos:\t0\nflags:\t02\ntty-index:\t3\n")
	wants(t, check(t, m.env(10), "terminal pool"), Attention, "host (10) holds the master of /dev/pts/3 as descriptor 9; nobody has")
	m.write("sys/kernel/pty/nr", "2900\n")
	wants(t, check(t, m.env(10), "terminal pool"), Attention, "94 %")
	m.write("sys/kernel/pty/nr", "3072\n")
	wants(t, check(t, m.env(10), "terminal pool"), Failure, "used up")
	if err := os.Remove(filepath.Join(m.root, "sys/kernel/pty/nr")); err != nil {
		t.Fatal(err)
	}
	c := check(t, m.env(10), "terminal pool")
	if c.Verdict == OK {
		t.Errorf("a pool that was not read is ok: %+v", c)
	}
}

func TestSpaceIsMeasuredAndWrittenTo(t *testing.T) {
	m := newMachine(t)
	env := m.env(10)
	wants(t, check(t, env, "space"), OK, "wrote and removed a file")
	if entries, err := os.ReadDir(env.Temp); err != nil || len(entries) != 0 {
		t.Errorf("the check left %v behind", entries)
	}
	for _, c := range []struct {
		room Room
		want Verdict
	}{
		{Room{100 << 20, 1 << 40, 1 << 20, 1 << 21}, Attention},
		{Room{1 << 20, 1 << 40, 1 << 20, 1 << 21}, Failure},
		{Room{1 << 40, 1 << 41, 5, 1 << 21}, Failure},
		{Room{1 << 40, 1 << 41, 0, 0}, OK}, // no fixed number of inodes
	} {
		env.Statfs = func(string) (Room, error) { return c.room, nil }
		wants(t, check(t, env, "space"), c.want)
	}
	env.Statfs = func(string) (Room, error) { return Room{}, syscall.EIO }
	wants(t, check(t, env, "space"), Unknown, "EIO")
	env = m.env(10)
	env.State = filepath.Join(env.State, "not", "made")
	wants(t, check(t, env, "space"), OK, "is not there yet")
	env.Temp = "/proc/self" // the folder of a file system that takes no files
	if _, err := os.Stat(env.Temp); err == nil {
		wants(t, check(t, env, "space"), Failure, "could not be written")
	}
}

func TestAClipboardIsAProgramOrTheTerminal(t *testing.T) {
	m := newMachine(t)
	env := m.env(10)
	wants(t, check(t, env, "clipboard"), Unknown, "no program to copy with")
	env.Terminal.Clipboard = No
	wants(t, check(t, env, "clipboard"), Attention)
	env.Terminal.Clipboard = Yes
	wants(t, check(t, env, "clipboard"), OK)
	env.Terminal.Clipboard = NotKnown
	env.Look = func(name string) (string, error) {
		if name == "xclip" {
			return "/usr/bin/xclip", nil
		}
		return "", os.ErrNotExist
	}
	wants(t, check(t, env, "clipboard"), Unknown, "DISPLAY is not set")
	m.vars["DISPLAY"] = ":0"
	wants(t, check(t, env, "clipboard"), OK, "/usr/bin/xclip")
}

func TestTheTerminalIsJudgedByWhatItSays(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		term Terminal
		want Verdict
	}{
		{nil, Terminal{}, OK},
		{map[string]string{"TERM": ""}, Terminal{}, Failure},
		{map[string]string{"TERM": "dumb"}, Terminal{}, Failure},
		{map[string]string{"COLORTERM": ""}, Terminal{}, Attention},
		{map[string]string{"COLORTERM": ""}, Terminal{TrueColor: Yes}, OK},
		{map[string]string{"COLORTERM": "", "NO_COLOR": "1"}, Terminal{}, OK},
		{map[string]string{"LANG": "C"}, Terminal{}, Attention},
		{map[string]string{"TMUX": "/tmp/t,1,0", "TERM": "tmux-256color"}, Terminal{}, Unknown},
		{map[string]string{"TMUX": "/tmp/t,1,0", "TERM": "tmux-256color"}, Terminal{Passthrough: No}, Attention},
		{map[string]string{"TMUX": "/tmp/t,1,0", "TERM": "tmux-256color"}, Terminal{Passthrough: Yes}, OK},
		{map[string]string{"TMUX": "/tmp/t,1,0"}, Terminal{Passthrough: Yes}, Attention},
	} {
		m := newMachine(t)
		for name, value := range c.set {
			m.vars[name] = value
		}
		env := m.env(10)
		env.Terminal = c.term
		if got := check(t, env, "terminal"); got.Verdict != c.want {
			t.Errorf("%v, %+v: %v, want %v: %s", c.set, c.term, got.Verdict, c.want, got.Why)
		}
	}
}

func TestWaitingIsWhatTheCallerSaysAndTries(t *testing.T) {
	m := newMachine(t)
	env := m.env(10)
	wants(t, check(t, env, "waiting"), Unknown)
	env.Waiting, env.WaitingCause = "poll", "too many open files"
	wants(t, check(t, env, "waiting"), Attention, "too many open files")
	env.Waiting = "epoll"
	wants(t, check(t, env, "waiting"), OK)
	env.TryWait = func() (int, error) { return 1111, nil }
	wants(t, check(t, env, "waiting"), OK, "waited for descriptor 1111")
	env.TryWait = func() (int, error) { return 60, nil }
	wants(t, check(t, env, "waiting"), Unknown, "no higher number")
	env.TryWait = func() (int, error) { return 0, errors.New("bad") }
	wants(t, check(t, env, "waiting"), Failure, "bad")
	env.TryWait = func() (int, error) { return 0, fmt.Errorf("make a pipe: %w", syscall.EMFILE) }
	c := check(t, env, "waiting")
	wants(t, c, Unknown, "no descriptor was free to try it with", "was not tried")
	if !strings.Contains(c.Remedy, "ulimit -n") {
		t.Errorf("remedy %q", c.Remedy)
	}
}

func TestLeftoversAreCountedAndNothingIsRemoved(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	live, err := net.Listen("unix", filepath.Join(dir, "live.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "dead.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	env := m.env(10)
	wants(t, check(t, env, "leftovers"), Unknown, "no folder")
	sockets := Leftover{What: "sockets", Folder: dir, Pattern: "*.sock", Dead: SocketDead}
	env.Leftovers = []Leftover{sockets}
	wants(t, check(t, env, "leftovers"), Attention, "1 left over", "1 in use", "dead.sock")
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("%d entries are left of 2", len(entries))
	}
	if err := os.Remove(filepath.Join(dir, "dead.sock")); err != nil {
		t.Fatal(err)
	}
	wants(t, check(t, env, "leftovers"), OK, "0 left over")
	if err := os.WriteFile(filepath.Join(dir, "x.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, check(t, env, "leftovers"), Unknown, "1 unknown")

	spills := t.TempDir()
	for name, age := range map[string]time.Duration{"old": 100 * time.Hour, "new": time.Minute} {
		path := filepath.Join(spills, name)
		at := env.Now.Add(-age)
		if err := errors.Join(os.WriteFile(path, make([]byte, 2048), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	env.Leftovers = []Leftover{{What: "spill files", Folder: spills, Age: 24 * time.Hour}, {What: "job records", Folder: filepath.Join(spills, "none")}}
	wants(t, check(t, env, "leftovers"), Attention, "1 left over (2.0 KB)", "left over: old", "is not there, so there are none")
}

func TestARunningHermesIsJudgedByItsNumbersAndItsVersion(t *testing.T) {
	m := newMachine(t)
	m.process(5, "vim", "vim hermes.md", 1024, 0)
	wants(t, check(t, m.env(5), "hermes"), OK, "no process with hermes")
	prefix := t.TempDir()
	serve := filepath.Join(prefix, "bin", "python3") + " -m hermes_cli.main serve"
	m.process(7, "python3", serve, 4096, upTo(20)...)
	wants(t, check(t, m.env(5), "hermes"), OK, "20 open", "version not told")
	m.process(8, "hermes", "/usr/local/bin/hermes gateway", 4096, 0, 1409)
	wants(t, check(t, m.env(5), "hermes"), Attention, "past 1024", "highest number 1,409")
	for release, want := range map[string]Verdict{"0.22.2": Failure, "0.20.4": Failure, "0.22.3": OK, "1.0": OK} {
		home := filepath.Join(prefix, "lib", "python3.12", "site-packages", "hermes_agent-"+release+".dist-info")
		if err := os.MkdirAll(home, 0o755); err != nil {
			t.Fatal(err)
		}
		n := newMachine(t)
		n.process(9, "python3", serve, 4096, 0, 1500)
		c := check(t, n.env(5), "hermes")
		wants(t, c, want, "version "+release)
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAProjectFileOfAnotherProjectTellsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pyproject.toml")
	for text, want := range map[string]bool{
		"[project]\nname = \"hermes-agent\"\nversion = \"0.21.0\"\n": true,
		"[project]\nname = \"other\"\nversion = \"0.21.0\"\n":        false,
		"[project]\nname = \"hermes-agent\"\n":                       false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, ok := projectVersion(path); ok != want || ok && v != (version{0, 21, 0}) {
			t.Errorf("%q: %v, %v", text, v, ok)
		}
	}
}

func TestAnEndedRunIsUnknownNotOK(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checks := Run(ctx, newMachine(t).env(10))
	for _, c := range checks {
		if c.Verdict != Unknown || len(c.Evidence) == 0 {
			t.Errorf("%s: %v, %v", c.Name, c.Verdict, c.Evidence)
		}
	}
	if Worst(checks) != Unknown || Worst(nil) != Unknown {
		t.Errorf("worst %v, of none %v", Worst(checks), Worst(nil))
	}
}

func TestTheWorstFindingGivesTheVerdict(t *testing.T) {
	var c Check
	c.finds(OK, "fine", "")
	c.finds(Unknown, "unknown", "look")
	c.finds(Attention, "near", "act")
	c.finds(Unknown, "again unknown", "look")
	if c.Verdict != Attention || c.Why != "near" || c.Remedy != "act" {
		t.Errorf("check %+v", c)
	}
	if Worst([]Check{{Verdict: OK}, {Verdict: Unknown}}) != Unknown || Worst([]Check{{Verdict: Failure}, {Verdict: Attention}}) != Failure {
		t.Error("the worst verdict is wrong")
	}
	if (Check{}).Verdict != Unknown {
		t.Error("a check that nobody filled in claims something")
	}
}

func TestChecksAreRenderedAsTextAndJSON(t *testing.T) {
	m := newMachine(t)
	m.process(10, "a\x1b[31mb", "x", 4096, 0)
	checks := Run(t.Context(), m.env(10))
	text := strings.Join(Lines(checks), "\n")
	if strings.ContainsRune(text, '\x1b') || !strings.Contains(text, "saw: ") || !strings.Contains(text, "do:  ") || !strings.Contains(text, fmt.Sprintf("%d checks: ", len(checks))) {
		t.Errorf("text\n%s", text)
	}
	raw, err := JSON(checks)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Verdict string
		Checks  []struct {
			Name, Verdict, Why, Remedy string
			Evidence                   []string
		}
	}
	if err := json.Unmarshal(raw, &back); err != nil || len(back.Checks) != len(checks) || back.Verdict != Worst(checks).String() {
		t.Errorf("JSON %s, %v", raw, err)
	}
	if raw, err := JSON(nil); err != nil || string(raw) != `{"verdict":"unknown","checks":[]}` {
		t.Errorf("no checks: %s, %v", raw, err)
	}
	names := []string{}
	for _, c := range checks {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(checks) {
		t.Errorf("two checks of one name: %v", names)
	}
}

func TestWhatOutlivedItsWindowIsNamedAndNotSignalled(t *testing.T) {
	m := newMachine(t)
	uid := os.Geteuid()
	add := func(pid int, name, command, environ string) {
		m.process(pid, name, command, 4096, 0, 1)
		m.write(fmt.Sprintf("%d/status", pid), fmt.Sprintf("Name:\t%s\nUid:\t%d\t%d\t%d\t%d\n", name, uid, uid, uid, uid))
		if environ != "none" {
			m.write(fmt.Sprintf("%d/environ", pid), environ)
		}
	}
	const variable = "HONESTTY_SOCKET"
	env := m.env()
	wants(t, check(t, env, "outlived"), Unknown, "no variable was given")
	env.SocketVariable = variable
	env.SocketDead = func(path string) (bool, error) {
		switch path {
		case "/run/dead.sock":
			return true, nil
		case "/run/open.sock":
			return false, nil
		case "/run/odd.sock":
			return false, errors.New("odd")
		}
		return false, os.ErrNotExist
	}
	without := env.filled()
	without.Proc = filepath.Join(m.root, "none")
	var unseen Check
	outlived(t.Context(), without, &unseen)
	wants(t, unseen, Unknown, "is not shown")
	add(20, "outside", "outside", "PATH=/bin\x00")
	add(21, "inside", "inside", "A=1\x00"+variable+"=/run/open.sock\x00")
	wants(t, check(t, env, "outlived"), OK, "2 processes of this user looked at: 1 in windows that are open, 0 of windows that are gone, 0 cannot be told")
	add(22, "shut", "shut", "none")
	wants(t, check(t, env, "outlived"), OK) // as one that has ended
	m.write("22/environ", variable+"=/run/odd.sock\x00")
	wants(t, check(t, env, "outlived"), Unknown, "1 cannot be told", "shut (22) cannot be told: odd", "Whether 1 process outlived a window cannot be told")
	add(23, "stays", "stays --here", variable+"=/run/dead.sock\x00")
	add(24, "removed", "removed", variable+"=/run/removed.sock\x00")
	add(25, "hon", "/bin/hon\x00job\x00host", variable+"=/run/dead.sock\x00")
	add(26, "job", "job", variable+"=/run/dead.sock\x00")
	m.write("26/stat", "26 (job) S 25 26 26 0 100 4194304 1 2 3 4 5 6 7 8 20 0 1 0 77 99 100 18\n")
	c := check(t, env, "outlived")
	wants(t, c, Attention, "stays (23): stays --here, since 20", "2 descriptors; its window was /run/dead.sock", "removed (24)", "2 of windows that are gone, 1 cannot be told")
	if all := strings.Join(c.Evidence, "\n"); strings.Contains(all, "(25)") || strings.Contains(all, "(26)") {
		t.Errorf("jobs are meant to outlive their window:\n%s", all)
	}
}
