package hostbench

import (
	"context"
	"strings"
)

// ownRun is our `run`, which has no terminal and so no history to cut.
type ownRun struct{}

func (ownRun) name() string    { return "honestty run" }
func (ownRun) program() string { return "" }

func (ownRun) version(_ context.Context, b *bed) (string, error) { return b.conf.Version, nil }

// runJSON is the part of the JSON of run that is read.
type runJSON struct {
	Output   string  `json:"output"`
	ExitCode *int    `json:"exit_code"`
	Signal   *string `json:"signal"`
	Error    *string `json:"error"`
	Capture  struct {
		State string `json:"state"`
	} `json:"capture"`
}

func (ownRun) run(ctx context.Context, b *bed, t Task) (Kept, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Kept{}, err
	}
	defer remove()
	argv, err := b.start(t, append([]string{b.conf.Self, "run", "--json", "--pty", "--"}, t.Command...)...)
	if err != nil {
		return Kept{}, err
	}
	r, err := b.do(ctx, dir, argv...)
	if err != nil {
		return Kept{}, err
	}
	return parseRun(r)
}

// parseRun reads the JSON of run. Without any, run itself had trouble.
func parseRun(r ran) (Kept, error) {
	if strings.TrimSpace(r.out) == "" {
		return Kept{Trouble: firstOf(r.trouble(), "no result"), Said: r.said()}, nil
	}
	var j runJSON
	if err := parseJSON(r.out, &j); err != nil {
		return Kept{}, err
	}
	k := Kept{Text: j.Output}
	if j.Error != nil {
		k.Said = firstLine(*j.Error)
	}
	switch state := ", output " + j.Capture.State; {
	case j.Signal != nil:
		k.End = End{Signal: *j.Signal, Words: *j.Signal + state}
	case j.ExitCode != nil:
		k.End = End{Code: j.ExitCode, Words: "exit " + itoa(*j.ExitCode) + state}
	default:
		k.Trouble = j.Capture.State
	}
	return k, nil
}
