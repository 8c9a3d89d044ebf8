package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

const (
	// DefaultTimeout is how long a command may take when the call names no
	// time, and MaxTimeout is the most that a call may name: an agent that
	// waits longer should have asked for a background process.
	DefaultTimeout = 180 * time.Second
	MaxTimeout     = 600 * time.Second

	// DefaultShown is how many bytes of text a result of the tool carries.
	DefaultShown = 50_000
)

// Deps is what the tool needs of the program around it.
type Deps struct {
	Poller   *fdwait.Poller
	SpillDir string        // private folder for whole outputs; it is made 0700
	SpillMax int64         // bytes of one output in it; 0: DefaultSpill
	Shown    int64         // bytes of text in a result; 0: DefaultShown
	Default  time.Duration // 0: DefaultTimeout
	Max      time.Duration // 0: MaxTimeout
	Env      []string      // nil: our own environment

	// Check looks at a command before it runs. An error that matches
	// outcome.ErrRefused refuses it; a rule in ask has the person asked. Nil:
	// no rule asks.
	Check func(command string) (ask string, err error)

	// CheckDir returns the directory to use for workdir, which the caller
	// meant from dir. Nil: only control characters are refused.
	CheckDir func(workdir, dir string) (string, error)

	// Background starts what a call wants in the background. Nil: refused.
	Background Starter
}

// A Starter starts a command that the caller does not wait for.
type Starter interface {
	StartBackground(ctx context.Context, c *tools.Call, b Background) tools.Answer
}

// A Background is a command for a Starter, after all checks.
type Background struct {
	Command          string   // as the caller wrote it
	Argv             []string // the shell and the command
	Dir              string
	PTY              bool
	NotifyOnComplete bool
	WatchPatterns    []string
}

// Params are the parameters of the tool, named as agents know them.
type Params struct {
	Command          string   `json:"command" jsonschema:"the shell command; run by bash, or sh where there is none"`
	Timeout          *float64 `json:"timeout,omitempty" jsonschema:"seconds, above 0 and at most 600; 180 when not given"`
	Workdir          string   `json:"workdir,omitempty" jsonschema:"directory to run in; the caller's when not given"`
	Background       bool     `json:"background,omitempty" jsonschema:"start it as a process and return at once"`
	PTY              bool     `json:"pty,omitempty" jsonschema:"give it a terminal of 80x24 instead of pipes; it gets no input then"`
	Stdin            *string  `json:"stdin,omitempty" jsonschema:"text for standard input; /dev/null when not given"`
	NotifyOnComplete bool     `json:"notify_on_complete,omitempty" jsonschema:"with background: tell when it ends"`
	WatchPatterns    []string `json:"watch_patterns,omitempty" jsonschema:"with background: tell when a line contains one of these"`
}

// known are the names of Params in JSON, to tell the caller of others.
var known = []string{"command", "timeout", "workdir", "background", "pty", "stdin", "notify_on_complete", "watch_patterns"}

// Tool is the tool that runs shell commands.
func Tool(d Deps) tools.Tool {
	return tools.Tool{
		Name:   "terminal",
		Short:  "Run a shell command to its end and say whether all of its output was read",
		Params: Params{}, Result: Result{},
		Title: title,
		Run: func(ctx context.Context, c *tools.Call, params json.RawMessage) tools.Answer {
			return d.call(ctx, c, params)
		},
	}
}

// title is the command on one line.
func title(params json.RawMessage) string {
	var p struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(params, &p) != nil || p.Command == "" {
		return "a command that cannot be read"
	}
	const most = 200 // characters: a line of a list
	line := []rune(strings.Join(strings.FieldsFunc(p.Command, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}

func (d Deps) call(ctx context.Context, c *tools.Call, params json.RawMessage) tools.Answer {
	p, notes, err := read(params)
	if err != nil {
		return notRun(err)
	}
	timeout, err := d.timeout(p)
	if err != nil {
		return notRun(err)
	}
	dir, err := d.workdir(p.Workdir, c.Dir)
	if err != nil {
		return notRun(err)
	}
	if p.Background && d.Background == nil {
		return notRun(rule("background processes are not available here"))
	}
	if err := d.approve(ctx, c, p.Command); err != nil {
		return notRun(err)
	}
	argv, note := shell(p.Command, d.environ())
	if p.Background {
		return d.Background.StartBackground(ctx, c, Background{
			Command: p.Command, Argv: argv, Dir: dir, PTY: p.PTY,
			NotifyOnComplete: p.NotifyOnComplete, WatchPatterns: p.WatchPatterns,
		})
	}
	notes = append(notes, note...)
	if how := startsBackground(p.Command); how != "" {
		notes = append(notes, fmt.Sprintf("the command starts something in the background (%s): what that does after the command's end is not in the output; background: true follows such a process", how))
	}
	return d.Answer(ctx, c, Job{
		Argv: argv, Dir: dir, Env: d.Env, Stdin: p.Stdin, PTY: p.PTY,
		Timeout: timeout, Script: p.Command, Notes: notes,
	})
}

// read reads the parameters. Names that are not known are a note: the caller
// meant something by them that does not happen.
func read(params json.RawMessage) (Params, []string, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && slices.Contains(known, te.Field) {
			return p, nil, rule(te.Field + " is of the wrong type")
		}
		return p, nil, rule("the parameters are no JSON object of this tool")
	}
	switch {
	case strings.TrimSpace(p.Command) == "":
		return p, nil, rule("command is missing or empty")
	case strings.IndexByte(p.Command, 0) >= 0:
		return p, nil, rule("a NUL byte in the command: no program can be given one")
	case p.PTY && p.Stdin != nil && !p.Background:
		return p, nil, rule("pty and stdin exclude each other: a command on this terminal gets no input")
	case p.Background && p.Stdin != nil:
		return p, nil, rule("background and stdin exclude each other: write to the process once it runs")
	}
	var notes []string
	if !p.Background && (p.NotifyOnComplete || len(p.WatchPatterns) > 0) {
		notes = append(notes, "notify_on_complete and watch_patterns work only with background: they were not used")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(params, &all); err != nil {
		return p, nil, rule("the parameters are no JSON object of this tool")
	}
	for name := range all {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			notes = append(notes, fmt.Sprintf("parameter %q is not known here and was not used", name))
		}
	}
	slices.Sort(notes)
	return p, notes, nil
}

func rule(s string) error { return &outcome.RefusedError{Rule: s} }

func (d Deps) timeout(p Params) (time.Duration, error) {
	most := orElse(d.Max, MaxTimeout)
	if p.Timeout == nil {
		return min(orElse(d.Default, DefaultTimeout), most), nil
	}
	switch s := *p.Timeout; {
	case s <= 0:
		return 0, rule("timeout must be above 0 seconds")
	case s > most.Seconds():
		return 0, rule(fmt.Sprintf("timeout is at most %g seconds here: start longer work with background: true", most.Seconds()))
	default:
		return max(time.Duration(s*float64(time.Second)), 1), nil
	}
}

func (d Deps) workdir(workdir, dir string) (string, error) {
	for _, r := range workdir {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return "", rule("a control character or a broken character in workdir")
		}
	}
	if d.CheckDir != nil {
		return d.CheckDir(workdir, dir)
	}
	switch {
	case workdir == "":
		return dir, nil
	case workdir[0] == '/' || dir == "":
		return workdir, nil
	}
	return dir + "/" + workdir, nil
}

// approve asks the rules, and the person where a rule wants that.
func (d Deps) approve(ctx context.Context, c *tools.Call, command string) error {
	if d.Check == nil {
		return nil
	}
	ask, err := d.Check(command)
	if err != nil || ask == "" {
		return err
	}
	return c.Ask(ctx, tools.Question{Rule: ask, Detail: command})
}

func (d Deps) environ() []string {
	if d.Env == nil {
		return os.Environ()
	}
	return d.Env
}

// shell is how the command is run: by bash where there is one, because that is
// what agents write for.
func shell(command string, env []string) (argv []string, notes []string) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := proc.LookPath(name, "", env); err == nil {
			if name == "sh" {
				notes = []string{"bash was not found: sh ran the command"}
			}
			return []string{path, "-c", command}, notes
		}
	}
	return []string{"/bin/sh", "-c", command}, []string{"bash and sh were not found in PATH: /bin/sh ran the command"}
}

// notRun answers a call that nothing was run for.
func notRun(err error) tools.Answer {
	r := &outcome.Result{Err: err}
	var stopped error
	if !errors.Is(err, outcome.ErrNotStarted) {
		r.Err = errors.Join(err, outcome.ErrNotStarted)
		if errors.Is(err, context.Canceled) {
			stopped = ErrInterrupted
		}
	}
	r.Judge(stopped)
	res := newResult(r, nil)
	return tools.Answer{Status: r.Status, Err: r.Err, Result: res, Summary: *res.Error}
}

// oneLine puts joined errors on one line.
func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
