package hostbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
)

// Config says what is measured and how far it goes.
type Config struct {
	Poller  *fdwait.Poller
	Version string // of this program

	// Self is this program: the file to execute. Helper is the argv that makes
	// it hold descriptors and become the command that follows.
	Self   string
	Helper func(held int) []string

	Hosts    []string      // by name; empty: all
	Runs     int           // of each measure that is repeated
	Tails    []int         // lines of the quick commands; nil: Tails
	Limits   []int         // descriptors of the hosts that have few; nil: Limits
	Patience time.Duration // for one task of one host; 0: Patience

	// short is how long a host may take where many of them hang; 0: Short.
	short time.Duration

	dir string // where the private folder is made; empty: the folder for such

	// Progress is told what is measured next. It may be nil.
	Progress func(host, measure string)
}

// What is measured when nothing else is said.
const (
	Runs     = 5
	Patience = 20 * time.Second // far above any figure: what passes it is broken, not slow
	Short    = 4 * time.Second  // for what is asked of a host that may hang, many times over
	Held     = 1100             // the number that the founding failure was found with, and above 1024
)

var (
	// Tails are one line, 3 KB, 109 KB and 289 KB: below and above what a
	// terminal holds unread.
	Tails = []int{1, 770, 20_000, 50_000}

	// Limits meet every step in which a host opens something.
	Limits = []int{6, 7, 8, 10, 12, 16, 24, 32}
)

func (c Config) filled() Config {
	if c.Runs <= 0 {
		c.Runs = Runs
	}
	if c.Tails == nil {
		c.Tails = Tails
	}
	if c.Limits == nil {
		c.Limits = Limits
	}
	if c.Patience <= 0 {
		c.Patience = Patience
	}
	if c.short <= 0 {
		c.short = Short
	}
	c.short = min(c.short, c.Patience)
	return c
}

// A bed is the private world in which hosts run.
type bed struct {
	conf Config
	dir  string
	env  []string
	made int // folders for tasks
}

// longDir is the longest folder that sockets can lie below: the path of one has
// little more than a hundred bytes, and names below are up to 35 long.
const longDir = 70

// raceOptions tell a race build how to run: without any it takes a second to end,
// which would count as the host's.
const raceOptions = "GORACE"

// newBed makes the folders, with short names.
func newBed(c Config) (*bed, error) {
	if c.dir == "" && len(os.TempDir()) > longDir {
		c.dir = "/tmp"
	}
	dir, err := os.MkdirTemp(c.dir, "hb-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	b := &bed{conf: c, dir: dir}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "TMPDIR=" + dir,
		"HOME=" + b.at("home"), "XDG_CONFIG_HOME=" + b.at("config"), "XDG_STATE_HOME=" + b.at("state"),
		"XDG_CACHE_HOME=" + b.at("cache"), "XDG_RUNTIME_DIR=" + b.at("run"), "SCREENDIR=" + b.at("sc"),
	}
	if how, told := os.LookupEnv(raceOptions); told {
		b.env = append(b.env, raceOptions+"="+how)
	}
	for _, name := range []string{"home", "config", "state", "cache", "run", "sc"} {
		if err := os.Mkdir(b.at(name), 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make a folder: %w", err), b.close())
		}
	}
	return b, nil
}

func (b *bed) at(name string) string { return filepath.Join(b.dir, name) }

func (b *bed) close() error {
	if err := os.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("remove the folder of the hosts: %w", err)
	}
	return nil
}

// folder is a new folder for one task, and what removes it.
func (b *bed) folder() (dir string, remove func(), err error) {
	b.made++
	dir = b.at(strconv.Itoa(b.made))
	if err = os.Mkdir(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make a folder: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil // close removes what is left
}

func (b *bed) write(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write a file for the host: %w", err)
	}
	return nil
}

// ErrHard is why a host could not be given as many descriptors as a measure
// wants.
var ErrHard = errors.New("this machine does not allow so many descriptors")

// spare is how many descriptors a host may open besides those it inherits.
const spare = 500

// start is the argv that starts a host under the conditions of the task.
func (b *bed) start(t Task, argv ...string) ([]string, error) {
	const under = `ulimit "$0" "$1" && shift && exec "$@"`
	switch {
	case t.Limit > 0:
		return append([]string{"/bin/sh", "-c", under, "-n", strconv.Itoa(t.Limit)}, argv...), nil
	case t.Held > 0:
		var lim unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
			return nil, fmt.Errorf("read the limit of descriptors: %w", err)
		}
		if lim.Max < uint64(t.Held+spare) {
			return nil, fmt.Errorf("%w: %d, of %d", ErrHard, lim.Max, t.Held+spare)
		}
		path, err := exec.LookPath(argv[0])
		if err != nil {
			return nil, err
		}
		argv = append(append(b.conf.Helper(t.Held), path), argv[1:]...)
		return append([]string{"/bin/sh", "-c", under, "-Sn", strconv.Itoa(t.Held + spare)}, argv...), nil
	}
	return argv, nil
}

// A ran is a program that was run to its end.
type ran struct {
	out, err string
	code     int
	signal   syscall.Signal
}

func (r ran) ok() bool { return r.code == 0 && r.signal == 0 }

// trouble says how a program that should have gone well ended.
func (r ran) trouble() string {
	switch {
	case r.signal != 0:
		return outcome.SignalName(r.signal)
	case r.code != 0:
		return "exit " + strconv.Itoa(r.code)
	}
	return ""
}

// said is what it wrote about it.
func (r ran) said() string {
	if l := firstLine(r.err); l != "" {
		return l
	}
	return firstLine(r.out)
}

// A program is one that runs. Its output goes to files, so that nothing waits
// for what it leaves behind.
//
//	goroutine  started by  ends on              joined by
//	Wait       launch      the program's end    end
type program struct {
	cmd      *exec.Cmd
	out, err *os.File
	done     chan struct{}
	waited   error
}

// launch starts a program in a session of its own.
func (b *bed) launch(dir string, argv ...string) (*program, error) {
	p := &program{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	var err error
	if p.out, err = os.CreateTemp(dir, "out"); err != nil {
		return nil, fmt.Errorf("make a file for the output: %w", err)
	}
	if p.err, err = os.CreateTemp(dir, "err"); err != nil {
		return nil, errors.Join(fmt.Errorf("make a file for the output: %w", err), p.out.Close())
	}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, b.env, p.out, p.err
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, p.out.Close(), p.err.Close())
	}
	go func() {
		p.waited = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop asks the program to end, and kills it when it does not within stopTime.
func (p *program) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if !p.gone() {
		_ = unix.Kill(p.cmd.Process.Pid, unix.SIGTERM)
	}
	_, _ = p.end(ctx)
}

// stopTime is how long a host may take to end before it is killed.
const stopTime = 2 * time.Second

// gone reports whether the program has ended.
func (p *program) gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the program and what is in its group.
func (p *program) kill() {
	if !p.gone() { // else its number may be somebody else's by now
		_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	}
}

// end waits for the end, kills the program when ctx ends first, and reads what
// it wrote.
func (p *program) end(ctx context.Context) (ran, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		<-p.done
	}
	var r ran
	var errs []error
	for _, f := range []*os.File{p.out, p.err} {
		raw, err := os.ReadFile(f.Name())
		errs = append(errs, err, f.Close())
		if f == p.out {
			r.out = string(raw)
		} else {
			r.err = string(raw)
		}
	}
	if ctx.Err() != nil {
		errs = append(errs, slow(ctx, p.cmd.Args[0]))
	}
	switch e, isExit := errors.AsType[*exec.ExitError](p.waited); {
	case isExit:
		ws := e.Sys().(syscall.WaitStatus)
		r.code = ws.ExitStatus()
		if ws.Signaled() {
			r.signal = ws.Signal()
		}
	case p.waited != nil:
		errs = append(errs, p.waited)
	}
	return r, errors.Join(errs...)
}

// ErrSlow matches the error of a host that did not come to an end in its time.
var ErrSlow = errors.New("it did not come to an end in its time")

// slow is why ctx ended a wait for what.
func slow(ctx context.Context, what string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", filepath.Base(what), ErrSlow)
	}
	return fmt.Errorf("%s: %w", filepath.Base(what), ctx.Err())
}

// do runs a program to its end.
func (b *bed) do(ctx context.Context, dir string, argv ...string) (ran, error) {
	p, err := b.launch(dir, argv...)
	if err != nil {
		return ran{}, err
	}
	return p.end(ctx)
}

// tick is how often a host is asked whether its command has ended.
const tick = 15 * time.Millisecond

// until asks again and again until it is true, fails, or ctx ends.
func until(ctx context.Context, what string, ask func() (bool, error)) error {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return slow(ctx, what)
		case <-t.C:
		}
		if ok, err := ask(); ok || err != nil {
			return err
		}
		t.Reset(tick)
	}
}
