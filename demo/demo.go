package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/hostbench"
)

// A Config is what the demo needs of the program around it.
type Config struct {
	Poller  *fdwait.Poller
	Version string

	// Helper is this program as a helper of the demo: Help with a role.
	Helper func(args ...string) *exec.Cmd

	Lines int // of a quick command; 0: Lines
	Runs  int // of a quick command; 0: Runs
	Held  int // descriptors; 0: hostbench.Held

	// spoil lets a test damage what a part found of ours, by its name. Nil in
	// the product.
	spoil func(part string, text string) string
}

// What is shown when nothing else is said.
const (
	Lines = 20_000
	Runs  = 5
)

// limit bounds one part. All of them together take less.
const limit = 30 * time.Second

// A Verdict says what became of our side. The zero value reads "unknown".
type Verdict string

// The verdicts.
const (
	Kept   Verdict = "kept"    // ours did what it promises
	Failed Verdict = "failed"  // ours did not
	NotRun Verdict = "not run" // nobody can tell; Part.Why says why
)

// MarshalText writes the word, "unknown" where nobody filled it in.
func (v Verdict) MarshalText() ([]byte, error) {
	if v == "" {
		return []byte("unknown"), nil
	}
	return []byte(v), nil
}

// A Part is one failure, shown.
type Part struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	Done    string  `json:"done"` // what was done, in plain words
	Rows    []Row   `json:"rows"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"` // the verdict in a sentence
	TookMS  int64   `json:"took_ms"`
}

// A Row is one way of doing it.
type Row struct {
	Ours   bool   `json:"ours"`
	Who    string `json:"who"`
	Count  *int64 `json:"count"` // of what the part counts; null: not counted
	Of     *int64 `json:"of"`
	Shows  string `json:"shows"`             // what a person sees
	NotRun string `json:"not_run,omitempty"` // why there is nothing to see
}

// counted makes a row with counts.
func counted(ours bool, who string, n, of int64, shows string) Row {
	return Row{Ours: ours, Who: who, Count: &n, Of: &of, Shows: shows}
}

// A stage is what a part works with.
type stage struct {
	conf Config
	dir  string // private, removed afterwards
	part *Part
}

func (s *stage) add(r Row) { s.part.Rows = append(s.part.Rows, r) }

// found passes what was found of ours through the test's hand.
func (s *stage) found(text string) string {
	if s.conf.spoil == nil {
		return text
	}
	return s.conf.spoil(s.part.Name, text)
}

// judge fills in the verdict.
func (s *stage) judge(kept bool, why, not string) {
	s.part.Verdict, s.part.Why = Kept, why
	if !kept {
		s.part.Verdict, s.part.Why = Failed, not
	}
}

type act struct {
	name, title string
	run         func(ctx context.Context, s *stage) error
}

// acts are the parts in their order.
var acts = []act{
	{"descriptors", "a command's output while many descriptors are open", descriptors},
	{"tail", "the end of what a quick command puts out", tail},
	{"speech", "a speech call that fails, over a file that exists", speech},
	{"attachment", "an attachment that is not there", attachment},
	{"path", "a path that was made to look like an order to send a file", forged},
	{"hostile", "bytes that ask for too much, or for an answer", hostile},
}

// Names are the parts that can be asked for.
func Names() []string {
	names := make([]string, len(acts))
	for i, a := range acts {
		names[i] = a.name
	}
	return names
}

// ErrPart matches the error of a name that is no part.
var ErrPart = errors.New("not a part of the demo")

// Run runs the parts that are named, or all, and gives each to show as it is
// done. It reports whether ours kept its word in every one of them; a part that
// could not be run leaves that open, so it is false then. The error is that of
// a wrong name, of our own folders or of ctx.
func Run(ctx context.Context, c Config, names []string, show func(Part) error) (kept bool, err error) {
	for _, n := range names {
		if !slices.Contains(Names(), n) {
			return false, fmt.Errorf("%q: %w; they are %s", n, ErrPart, strings.Join(Names(), ", "))
		}
	}
	if c.Lines <= 0 {
		c.Lines = Lines
	}
	if c.Runs <= 0 {
		c.Runs = Runs
	}
	if c.Held <= 0 {
		c.Held = hostbench.Held
	}
	kept = true
	for _, a := range acts {
		if len(names) > 0 && !slices.Contains(names, a.name) {
			continue
		}
		p, err := play(ctx, c, a)
		if err != nil {
			return false, err
		}
		kept = kept && p.Verdict == Kept
		if err := show(p); err != nil {
			return false, err
		}
	}
	return kept, nil
}

func play(ctx context.Context, c Config, a act) (p Part, err error) {
	began := time.Now()
	p = Part{Name: a.name, Title: a.title, Rows: []Row{}}
	dir, err := os.MkdirTemp("", "honestty-demo-")
	if err != nil {
		return p, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = a.run(short, &stage{conf: c, dir: dir, part: &p})
	p.TookMS = time.Since(began).Milliseconds()
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	if err != nil { // ours was not tried, or not to its end
		p.Verdict, p.Why = NotRun, strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return p, nil
}
