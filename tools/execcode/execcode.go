package execcode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

const (
	// DefaultTimeout and MaxTimeout are those of the terminal tool.
	DefaultTimeout = 180 * time.Second
	MaxTimeout     = 600 * time.Second

	// maxCode bounds a script: what is longer is data and belongs in a file.
	maxCode = 4 << 20
)

// A Spec is the command that runs a script.
type Spec struct {
	Argv    []string
	Dir     string
	Env     []string
	Stdin   *string // nil: /dev/null
	Timeout time.Duration
	Script  string // the code where it is a shell's, for the meaning of its exit code
	Notes   []string

	// NotRun is why nothing is to be run: the Runner only answers the call. The
	// error matches outcome.ErrRefused, or context.Canceled where the caller
	// took the call back; any other error is one of starting.
	NotRun error
}

// A Runner runs a command under the contract of the terminal tool, or answers
// that it was not run. Its result marshals to a JSON object.
type Runner func(ctx context.Context, c *tools.Call, s Spec) tools.Answer

// Deps is what the tool needs of the program around it.
type Deps struct {
	Run     Runner
	Dir     string        // private folder for scripts; it is made 0700
	Env     []string      // nil: our own environment
	Default time.Duration // 0: DefaultTimeout
	Max     time.Duration // 0: MaxTimeout

	// Check looks at a script before it runs. An error that matches
	// outcome.ErrRefused refuses it; a rule in ask has the person asked. Nil:
	// no rule asks.
	Check func(language, code string) (ask string, err error)

	// CheckDir returns the directory to use for workdir, which the caller
	// meant from dir. Nil: only control characters are refused.
	CheckDir func(workdir, dir string) (string, error)
}

// Params are the parameters of the tool.
type Params struct {
	Language string   `json:"language" jsonschema:"bash, sh, python, node, go, ruby or perl, where its interpreter is found"`
	Code     string   `json:"code" jsonschema:"the whole script"`
	Timeout  *float64 `json:"timeout,omitempty" jsonschema:"seconds, above 0 and at most 600; 180 when not given"`
	Workdir  string   `json:"workdir,omitempty" jsonschema:"directory to run in; the caller's when not given"`
	Args     []string `json:"args,omitempty" jsonschema:"arguments of the script"`
	Stdin    *string  `json:"stdin,omitempty" jsonschema:"text for standard input; /dev/null when not given"`
}

var known = []string{"language", "code", "timeout", "workdir", "args", "stdin"}

// Result is the Runner's result with two keys more, Language and Interpreter.
// The other keys and their meaning are those of the terminal tool.
type Result struct {
	Language         string   `json:"language"`
	Interpreter      string   `json:"interpreter" jsonschema:"path of the program that ran the script; empty when none was found"`
	Output           string   `json:"output" jsonschema:"both streams in their true order, without terminal control sequences, secrets masked"`
	ExitCode         *int     `json:"exit_code" jsonschema:"as the system gave it; null when there is none"`
	Error            *string  `json:"error" jsonschema:"null only when status is complete"`
	Status           string   `json:"status" jsonschema:"complete, partial, failed, refused, cancelled or unknown"`
	ExitCodeMeaning  *string  `json:"exit_code_meaning" jsonschema:"what the code means where it would mislead; null where that is not known"`
	Signal           *string  `json:"signal" jsonschema:"the signal that ended it"`
	PID              *int     `json:"pid"`
	DurationMS       int64    `json:"duration_ms"`
	Capture          any      `json:"capture" jsonschema:"what is known of the output: state, bytes_read, bytes_shown, bytes_lost (-1: uncounted), end, cause, spill, holders"`
	OutputTotalBytes int64    `json:"output_total_bytes" jsonschema:"bytes that were read"`
	ControlBytes     int64    `json:"control_bytes" jsonschema:"of these, bytes of terminal control sequences"`
	Omitted          any      `json:"omitted" jsonschema:"bytes and lines left out of the middle of output"`
	FullOutputPath   *string  `json:"full_output_path" jsonschema:"private file with every byte as it came, where output does not show it so"`
	Partial          any      `json:"partial_output" jsonschema:"private file with the beginning, when its limit was reached: path, bytes, not_kept"`
	Redactions       int      `json:"redactions" jsonschema:"secrets that were masked in output"`
	Waiting          string   `json:"waiting" jsonschema:"the mechanism that waited for the output: epoll, kqueue, poll"`
	Notes            []string `json:"notes" jsonschema:"every fallback and limit that shaped the result"`
}

// named adds the language to the Runner's answer. A result that is not of the
// contract stays as it is: nothing of it is lost.
func named(a tools.Answer, language, interpreter string) tools.Answer {
	raw, err := json.Marshal(a.Result)
	if err != nil {
		return a
	}
	r := &Result{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if dec.Decode(r) != nil {
		return a
	}
	r.Language, r.Interpreter = language, interpreter
	a.Result = r
	return a
}

// Tool is the tool that runs scripts.
func Tool(d Deps) tools.Tool {
	return tools.Tool{
		Name:   "execute_code",
		Short:  "Run a script in bash, python, node or go and say whether all of its output was read",
		Params: Params{}, Result: Result{},
		Title: title,
		Run:   d.call,
	}
}

// title is the language and the first line of the code.
func title(params json.RawMessage) string {
	var p struct {
		Language string `json:"language"`
		Code     string `json:"code"`
	}
	if json.Unmarshal(params, &p) != nil || p.Code == "" {
		return "a script that cannot be read"
	}
	const most = 120 // characters: a line of a list
	line := []rune(p.Language + ": " + strings.TrimSpace(p.Code))
	for i, r := range line {
		if r == '\n' || i >= most {
			line = append(line[:i:i], '…')
			break
		}
		if unicode.IsControl(r) {
			line[i] = ' '
		}
	}
	return string(line)
}

func (d Deps) call(ctx context.Context, c *tools.Call, params json.RawMessage) tools.Answer {
	p, notes, err := read(params)
	if err != nil {
		return d.notRun(ctx, c, "", "", err)
	}
	l, err := find(p.Language)
	if err != nil {
		return d.notRun(ctx, c, "", "", err)
	}
	s := Spec{Env: d.Env, Stdin: p.Stdin, Notes: notes}
	if s.Timeout, err = d.timeout(p.Timeout); err != nil {
		return d.notRun(ctx, c, l.name, "", err)
	}
	if s.Dir, err = d.workdir(p.Workdir, c.Dir); err != nil {
		return d.notRun(ctx, c, l.name, "", err)
	}
	env := d.Env
	if env == nil {
		env = os.Environ()
	}
	interpreter, err := l.interpreter(env)
	if err != nil {
		return d.notRun(ctx, c, l.name, "", err)
	}
	if err := d.approve(ctx, c, l, p.Code); err != nil {
		return d.notRun(ctx, c, l.name, interpreter, err)
	}
	return d.run(ctx, c, l, interpreter, p, s)
}

// run runs the script from a file of its own.
func (d Deps) run(ctx context.Context, c *tools.Call, l language, interpreter string, p Params, s Spec) tools.Answer {
	f, script, err := newFolder(d.Dir, l.file, p.Code)
	if err != nil {
		return d.notRun(ctx, c, l.name, interpreter, &outcome.StartError{Step: "keep the script", Err: err})
	}
	s.Argv = slices.Concat([]string{interpreter}, l.args, []string{script}, p.Args)
	if l.name == "bash" || l.name == "sh" {
		s.Script = p.Code
	}
	if l.note != "" {
		s.Notes = append(s.Notes, l.note)
	}
	a := named(d.Run(ctx, c, s), l.name, interpreter)
	if err := f.remove(); err != nil {
		a.Summary += "; the script was not removed: " + outcome.Errno(err)
	}
	return a
}

func read(params json.RawMessage) (Params, []string, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && slices.Contains(known, te.Field) {
			return Params{}, nil, rule(te.Field + " is of the wrong type")
		}
		return Params{}, nil, rule("the parameters are no JSON object of this tool")
	}
	switch {
	case strings.TrimSpace(p.Code) == "":
		return p, nil, rule("code is missing or empty")
	case len(p.Code) > maxCode:
		return p, nil, rule("code is longer than " + outcome.Size(maxCode))
	case slices.ContainsFunc(p.Args, func(a string) bool { return strings.IndexByte(a, 0) >= 0 }):
		return p, nil, rule("a NUL byte in args: no program can be given one")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(params, &all); err != nil {
		return p, nil, rule("the parameters are no JSON object of this tool")
	}
	var notes []string
	for name := range all {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			notes = append(notes, fmt.Sprintf("parameter %q is not known here and was not used", name))
		}
	}
	slices.Sort(notes)
	return p, notes, nil
}

func rule(s string) error { return &outcome.RefusedError{Rule: s} }

func (d Deps) timeout(seconds *float64) (time.Duration, error) {
	most, usual := d.Max, d.Default
	if most == 0 {
		most = MaxTimeout
	}
	if usual == 0 {
		usual = DefaultTimeout
	}
	switch {
	case seconds == nil:
		return min(usual, most), nil
	case *seconds <= 0:
		return 0, rule("timeout must be above 0 seconds")
	case *seconds > most.Seconds():
		return 0, rule(fmt.Sprintf("timeout is at most %g seconds here", most.Seconds()))
	}
	return max(time.Duration(*seconds*float64(time.Second)), 1), nil
}

func (d Deps) workdir(workdir, dir string) (string, error) {
	for _, r := range workdir {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return "", rule("a control character or a broken character in workdir")
		}
	}
	switch {
	case d.CheckDir != nil:
		return d.CheckDir(workdir, dir)
	case workdir == "":
		return dir, nil
	case workdir[0] == '/' || dir == "":
		return workdir, nil
	}
	return dir + "/" + workdir, nil
}

// approve asks the rules, and the person where a rule wants that.
func (d Deps) approve(ctx context.Context, c *tools.Call, l language, code string) error {
	if d.Check == nil {
		return nil
	}
	ask, err := d.Check(l.name, code)
	if err != nil || ask == "" {
		return err
	}
	return c.Ask(ctx, tools.Question{Rule: ask, Detail: code})
}

// notRun answers a call whose script never ran.
func (d Deps) notRun(ctx context.Context, c *tools.Call, language, interpreter string, err error) tools.Answer {
	return named(d.Run(ctx, c, Spec{NotRun: err}), language, interpreter)
}
