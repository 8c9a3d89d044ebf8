package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/terminal"
)

// runTarget is what a run may not fall below, as a part of the plain reader.
const runTarget = "≥ 0.80"

// calls measures what it costs to run commands and to read their output.
func calls(o options) error {
	b, err := newBed()
	if err != nil {
		return err
	}
	defer b.close()
	h, err := newRunHost(b)
	if err != nil {
		return err
	}
	defer h.close()
	for _, measure := range []func(*runHost, options) error{manyCalls, lonelyCalls, muchOutput} {
		if err := measure(h, o); err != nil {
			return err
		}
	}
	return nil
}

// A runHost holds what the rivals of calls share.
type runHost struct {
	bed     *bed
	poller  *fdwait.Poller
	journal *journal.Journal
	caller  tools.Caller
	python  *pythonPeer // nil where it cannot be had
}

func newRunHost(b *bed) (*runHost, error) {
	p, err := fdwait.New()
	if err != nil {
		return nil, err
	}
	h := &runHost{bed: b, poller: p}
	if h.journal, err = journal.Open(filepath.Join(b.dir, "journal"), journal.Options{}); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	h.caller = tools.Caller{Log: h.journal, LiveDir: filepath.Join(b.dir, "live")}
	if h.python, err = startPython(b.env); err != nil {
		fmt.Printf("Python: skipped: %v\n", err)
	}
	return h, nil
}

func (h *runHost) close() {
	if h.python != nil {
		_ = h.python.close() // what it had to say came with its answers
	}
	_ = h.journal.Close()
	_ = h.poller.Close()
}

// plainReader starts a command with os/exec and counts what it writes, the way
// that programs read commands.
func plainReader(env, argv []string) (int64, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	buf, total := make([]byte, readSize), int64(0)
	for err == nil {
		var n int
		n, err = out.Read(buf)
		total += int64(n)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return total, errors.Join(err, cmd.Wait())
}

// A counter drops what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// run is terminal.Run with its output counted and dropped, which is what
// `honestty run` does with it.
func (h *runHost) run(argv []string) (int64, error) {
	var c counter
	err := complete(terminal.Run(context.Background(), terminal.Spec{Command: argv, Env: h.bed.env, Stdout: &c, Poller: h.poller}))
	return int64(c), err
}

// keep is terminal.Run with its output in the result, whose beginning and end
// it carries.
func (h *runHost) keep(argv []string) (int64, error) {
	r := terminal.Run(context.Background(), terminal.Spec{Command: argv, Env: h.bed.env, Poller: h.poller})
	return r.Output.Capture.Read, complete(r)
}

// call is run as a call of a tool: it stands in the journal, and a file takes
// its output for those who watch.
func (h *runHost) call(argv []string) (int64, error) {
	var c counter
	params, err := json.Marshal(map[string]any{"command": strings.Join(argv, " "), "argv": argv})
	if err != nil {
		return 0, err
	}
	_, a := h.caller.Call(context.Background(), tools.Tool{
		Name: "terminal", Streams: true,
		Title: func(json.RawMessage) string { return strings.Join(argv, " ") },
		Run: func(ctx context.Context, call *tools.Call, _ json.RawMessage) tools.Answer {
			r := terminal.Run(ctx, terminal.Spec{Command: argv, Env: h.bed.env, Stdout: &c, Live: call.Live, Poller: h.poller})
			return tools.Answer{Status: r.Status, Err: r.Err, Result: r, Summary: r.Summary()}
		},
	}, tools.Request{Source: journal.Source{Kind: "cli"}, Dir: h.bed.dir, Params: params})
	return int64(c), a.Err
}

func complete(r *outcome.Result) error {
	if r.Status == outcome.Complete {
		return nil
	}
	return fmt.Errorf("the run is %s: %w", r.Status, r.Err)
}

// again is a rival that does one thing n times in this process.
func again(name, target string, once func() (int64, error)) rival {
	return rival{name, target, func(n int) (lap, error) {
		return timed(func() (total int64, err error) {
			for range n {
				read, err := once()
				if err != nil {
					return 0, err
				}
				total += read
			}
			return total, nil
		})
	}}
}

// elsewhere is a rival that spends its CPU time in another process.
func elsewhere(v rival) rival {
	run := v.run
	v.run = func(n int) (lap, error) {
		l, err := run(n)
		l.cpu = 0
		return l, err
	}
	return v
}

// manyCalls lets one program make many calls.
func manyCalls(h *runHost, o options) error {
	rounds, n := pick(o, 15, 5), pick(o, 40, 20)
	argv := []string{"sh", "-c", "true"}
	fmt.Printf("\nCalls: sh -c true, one after another, %d rounds in turns of %d, load %s\n", rounds, n, loadAverage())
	rivals := []rival{
		again("plain reader", "", func() (int64, error) { return plainReader(h.bed.env, argv) }),
		again("terminal.Run", runTarget, func() (int64, error) { return h.run(argv) }),
		again("  as a call of a tool", runTarget, func() (int64, error) { return h.call(argv) }),
	}
	if h.python != nil {
		rivals = append(rivals, rival{"Python subprocess.run", "", func(n int) (lap, error) { return h.python.do("calls", argv, n) }})
	}
	r, err := takeLaps(rivals, rounds, n, 1)
	if err != nil {
		return err
	}
	r.print("calls")
	fmt.Println("a CPU-second: of the program that calls, without the commands it starts; a call of a tool stands in the journal")
	return nil
}

// lonelyCalls starts a program for each call.
func lonelyCalls(h *runHost, o options) error {
	rounds, n := pick(o, 12, 5), pick(o, 3, 2)
	fmt.Printf("\nCalls: a program started for each, which starts true, %d rounds in turns of %d, load %s\n", rounds, n, loadAverage())
	started := func(name string, argv ...string) rival {
		return elsewhere(again(name, "", func() (int64, error) { return plainReader(h.bed.env, argv) }))
	}
	rivals := []rival{
		started("sh -c true", "sh", "-c", "true"),
		started("honestty run -- true", h.bed.binary, "run", "--", "true"),
		started("honestty --version", h.bed.binary, "--version"),
	}
	if h.python != nil {
		rivals = append(rivals, started("python3, subprocess.run", h.python.interpreter, h.python.script, "once", "true"))
	}
	r, err := takeLaps(rivals, rounds, n, 1)
	if err != nil {
		return err
	}
	r.print("calls")
	fmt.Println("honestty --version is what the start of honestty alone costs")
	return recorded(h.bed, n*(rounds+1))
}

// muchOutput reads one command's output that is long.
func muchOutput(h *runHost, o options) error {
	size, rounds := pick(o, 500_000_000, 100_000_000), pick(o, 5, 3)
	argv := []string{"head", "-c", strconv.Itoa(size), "/dev/zero"}
	binary := append([]string{h.bed.binary, "run", "--"}, argv...)
	fmt.Printf("\nOutput: head -c %d /dev/zero, read %d KiB at a time and dropped, %d rounds in turns, load %s\n", size, readSize>>10, rounds, loadAverage())
	rivals := []rival{
		again("plain reader", "", func() (int64, error) { return plainReader(h.bed.env, argv) }),
		again("terminal.Run, into a writer", runTarget, func() (int64, error) { return h.run(argv) }),
		again("  as a call of a tool", runTarget, func() (int64, error) { return h.call(argv) }),
		again("terminal.Run, into its result", runTarget, func() (int64, error) { return h.keep(argv) }),
		elsewhere(again("honestty run >/dev/null", runTarget, func() (int64, error) { return int64(size), dropped(h.bed.env, binary) })),
		elsewhere(again("honestty run, through a pipe", "", func() (int64, error) { return plainReader(h.bed.env, binary) })),
	}
	if h.python != nil {
		rivals = append(rivals, rival{"Python subprocess.Popen", "", func(n int) (lap, error) { return h.python.do("bytes", argv, n) }})
	}
	for i, v := range rivals {
		rivals[i].run = func(n int) (lap, error) {
			l, err := v.run(n)
			return l, errors.Join(err, whole(l.bytes, int64(n*size)))
		}
	}
	r, err := takeLaps(rivals, rounds, 1, float64(size)/1e6)
	if err != nil {
		return err
	}
	r.print("MB")
	fmt.Println("a call of a tool stands in the journal, and the beginning of its output in a file for those who watch; a result keeps the first and the last part, 8 MiB together; through a pipe everything is read a second time, by the plain reader")
	return nil
}

// errShort says that a rival did not read all there was.
var errShort = errors.New("it did not read everything")

func whole(read, want int64) error {
	if read == want {
		return nil
	}
	return fmt.Errorf("%w: %d of %d bytes", errShort, read, want)
}

// dropped runs a program that itself reads the output of a command and writes
// it to /dev/null, where nobody can count it: its exit code says that it is whole.
func dropped(env, argv []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout = env, null
	return errors.Join(cmd.Run(), null.Close())
}
