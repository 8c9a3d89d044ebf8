package hostbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// A State is what is known of one measure of one host.
type State string

// The states. The zero value reads "unknown".
const (
	StateUnknown      State = ""
	StateKept         State = "kept"               // it did all of it
	StateShort        State = "short"              // it did less; the cell says how much
	StateNotInstalled State = "not installed"      // nothing was run
	StateNotMeasured  State = "cannot be measured" // the cell says why
	StateNotAsked     State = "does not apply"     // it has nothing of the kind
)

// MarshalText writes the word, "unknown" where nobody filled it in.
func (s State) MarshalText() ([]byte, error) {
	if s == StateUnknown {
		return []byte("unknown"), nil
	}
	return []byte(s), nil
}

// A Cell is one measure of one host. The zero value claims nothing.
type Cell struct {
	State  State  `json:"state"`
	Good   int    `json:"good"`   // runs in which it did all of it
	Runs   int    `json:"runs"`   // runs that were made
	Figure string `json:"figure"` // the counts, short enough for a table
	Says   string `json:"says"`   // what it said and what was missing, in words
}

// A measure asks the same of every host.
type measure struct {
	name  string // for tables
	asks  string // what is asked, for people
	judge func(ctx context.Context, b *bed, h host) (Cell, error)
}

// A host is a program that runs a command on a terminal and keeps what it put
// out.
type host interface {
	name() string
	program() string // as it is looked up; empty: this program
	version(ctx context.Context, b *bed) (string, error)

	// run starts the host with the task, waits for the command's end, takes
	// what the host has of it, and ends the host. Nothing is left when it
	// returns. An error says that the host could not be driven; what went wrong
	// in the host itself is in Kept.
	run(ctx context.Context, b *bed, t Task) (Kept, error)
}

func measures(c Config) []measure {
	var list []measure
	for _, n := range c.Tails {
		list = append(list, tailOf(n))
	}
	return append(list,
		measure{fmt.Sprintf("%s inherited", count(Held)), fmt.Sprintf("the host is started with %s descriptors open; `seq 1 %d`", count(Held), heldLines), held},
		measure{"few descriptors", "the host is started with room for " + limitsText(c.Limits) + " descriptors; `seq 1 3`: whole, or does it say why", few},
		measure{"none left", fmt.Sprintf("the host runs with room for %d descriptors and opens commands until one fails: does it say why, and does the first command live", fullLimit), full},
		measure{"cut history", fmt.Sprintf("`seq 1 %d` with a history of %d lines: does anything say that lines are gone", cutLines, cutHistory), cut},
		measure{"exit code", "exit 7, and a SIGKILL: what does the host report", ends},
		measure{"hostile bytes", "REP, SU and IL of 2147483647, a title of 2 MB, title and clipboard asked for: is what follows shown, is anything answered", hostile},
	)
}

// give runs one task within the host's patience.
func give(ctx context.Context, b *bed, h host, t Task, patience time.Duration) (Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return h.run(ctx, b, t)
}

// tailOf is a quick command whose end has to be kept.
func tailOf(last int) measure {
	return measure{
		name: "tail of " + count(last), asks: fmt.Sprintf("`seq 1 %d`, which ends at once", last),
		judge: func(ctx context.Context, b *bed, h host) (Cell, error) {
			c := Cell{State: StateKept, Runs: b.conf.Runs}
			worst, at, missing := last, Kept{}, 0
			for range c.Runs {
				k, err := give(ctx, b, h, Task{Command: seq(last), History: last + 1000}, b.conf.Patience)
				if err != nil {
					return c, err
				}
				n := Numbers(k.Text, last)
				missing += last - n
				if n == last {
					c.Good++
				}
				if n < worst || at.Text == "" {
					worst, at = min(worst, n), k
				}
			}
			c.Figure = fmt.Sprintf("%d of %d", c.Good, c.Runs)
			if c.Good < c.Runs {
				c.State = StateShort
				c.Says = fmt.Sprintf("worst run: %s of %s lines; %s missing in all; it says %s", count(worst), count(last), count(missing), said(at))
			}
			return c, nil
		},
	}
}

// said is what a host said of a run, in quotes, or that it said nothing.
func said(k Kept) string {
	var parts []string
	for _, s := range []string{k.End.Words, k.CutSays, k.Trouble, k.Said} {
		if s != "" {
			parts = append(parts, "“"+s+"”")
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

const heldLines = 770

// slowly is a command that ends half a second after its output, where the tail
// is not what is asked for.
func slowly(last int) []string {
	return []string{"sh", "-c", "seq 1 " + itoa(last) + "; sleep 0.5"}
}

// held starts the host above the 1024 that select() can wait for.
func held(ctx context.Context, b *bed, h host) (Cell, error) {
	k, err := give(ctx, b, h, Task{Command: slowly(heldLines), History: 2000, Held: Held}, b.conf.Patience)
	if err != nil {
		return Cell{}, err
	}
	n := Numbers(k.Text, heldLines)
	c := Cell{State: StateKept, Good: 1, Runs: 1, Figure: fmt.Sprintf("%s of %s lines", count(n), count(heldLines))}
	if n < heldLines {
		c.State, c.Good, c.Says = StateShort, 0, "it says "+said(k)
	}
	return c, nil
}

// A part is a count of one kind.
type part struct {
	n    int
	what string
}

// parts are the counts above zero.
func parts(of ...part) string {
	var out []string
	for _, p := range of {
		if p.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(out, ", ")
}

// hung is in Kept.Trouble of a host that had to be killed.
const hung = "it hung"

// few starts the host under every limit. Whole is right, and so is to say what
// lacks; to be silent or to die of it is not.
func few(ctx context.Context, b *bed, h host) (Cell, error) {
	const lines = 3
	c := Cell{Runs: len(b.conf.Limits)}
	var whole, why, silent, died int
	var wrong []string
	for _, limit := range b.conf.Limits {
		k, err := give(ctx, b, h, Task{Command: slowly(lines), History: 100, Limit: limit}, b.conf.short)
		if errors.Is(err, ErrSlow) && ctx.Err() == nil {
			k.Trouble, err = hung, nil
		}
		if err != nil {
			return c, err
		}
		switch {
		case Numbers(k.Text, lines) == lines:
			whole++
			continue
		case strings.HasPrefix(k.Trouble, "SIG") || k.Trouble == crashed || k.Trouble == hung:
			died++
		case tells(k.Said) || tells(k.Text):
			why++
			continue
		default:
			silent++
		}
		wrong = append(wrong, fmt.Sprintf("%d: %s", limit, said(k)))
	}
	if len(wrong) > 0 {
		c.Says = "with room for " + strings.Join(wrong, "; ")
	}
	c.Good = whole + why
	c.Figure = parts(part{whole, "whole"}, part{why, "said why"}, part{silent, "said nothing"}, part{died, "died or hung"})
	c.State = StateKept
	if c.Good < c.Runs {
		c.State = StateShort
	}
	return c, nil
}

func limitsText(limits []int) string {
	if len(limits) == 0 {
		return "no"
	}
	return fmt.Sprintf("%d to %d", limits[0], limits[len(limits)-1])
}

const (
	cutLines   = 5000
	cutHistory = 500
)

// cut asks for more lines than the host keeps. To give up lines is right; not
// to say so is not.
func cut(ctx context.Context, b *bed, h host) (Cell, error) {
	k, err := give(ctx, b, h, Task{Command: slowly(cutLines), History: cutHistory}, b.conf.Patience)
	if err != nil {
		return Cell{}, err
	}
	n := Numbers(k.Text, cutLines)
	c := Cell{State: StateShort, Runs: 1, Figure: fmt.Sprintf("%s of %s kept, says nothing", count(n), count(cutLines))}
	switch {
	case n == cutLines:
		c.State, c.Good, c.Figure = StateKept, 1, fmt.Sprintf("keeps all %s", count(n))
	case k.Cut == int64(cutLines-n):
		c.State, c.Good, c.Says = StateKept, 1, "it says “"+k.CutSays+"”"
		c.Figure = fmt.Sprintf("%s kept, says %s are gone", count(n), count(int(k.Cut)))
	case k.Cut != 0:
		c.Figure = fmt.Sprintf("%s kept, says %s are gone", count(n), count(int(k.Cut)))
		c.Says = "the number is not right"
	default:
		c.Says = "it says " + said(k)
	}
	return c, nil
}

// endRuns bounds how often an end is asked for.
const endRuns = 5

// ends asks how a command ended: by a code, by a signal.
func ends(ctx context.Context, b *bed, h host) (Cell, error) {
	runs := min(b.conf.Runs, endRuns)
	c := Cell{State: StateShort, Runs: 2 * runs}
	var words []string
	for _, one := range []struct {
		command string
		right   func(e End) bool
	}{
		{"exit 7", func(e End) bool { return e.Code != nil && *e.Code == 7 && e.Signal == "" }},
		{"kill -KILL $$", func(e End) bool { return strings.TrimPrefix(e.Signal, "SIG") == "KILL" }},
	} {
		said, wrong := "", false // what it says when it is wrong, if it ever is
		for range runs {
			k, err := give(ctx, b, h, Task{Command: []string{"sh", "-c", one.command}, History: 100}, b.conf.Patience)
			if err != nil {
				return c, err
			}
			right := one.right(k.End)
			if right {
				c.Good++
			}
			if said == "" || !right && !wrong {
				said, wrong = firstOf(k.End.Words, "nothing"), !right
			}
		}
		words = append(words, said)
	}
	if c.Good == c.Runs {
		c.State = StateKept
	}
	c.Figure = fmt.Sprintf("%d of %d", c.Good, c.Runs)
	c.Says = fmt.Sprintf("for exit 7 “%s”, for a SIGKILL “%s”", words[0], words[1])
	return c, nil
}

// bigString is how long the hostile title is.
const bigString = 2 << 20

// hostileBytes ask for more than any screen has, and for what a program must
// not be told: an answer would stand in its input as if it were typed.
func hostileBytes() string {
	const most = "2147483647"
	return "\x1b]52;c;aG9uZXN0dHk=\a\x1b]52;c;?\a" + // clipboard: set, asked for
		"\x1b]2;rm -rf\a\x1b[21t" + // title: set, asked for
		"X\x1b[" + most + "b\x1b[" + most + "S\x1b[" + most + "L\x1b[" + most + "M" +
		"\x1b]2;" + strings.Repeat("A", bigString) + "\a" +
		"\x1b[" + most + "I\x1b[m\r\n"
}

// marker is what follows. The command holds it in two parts, so that a host
// that shows the command does not show the marker.
const marker = "what follows is shown"

func hostile(ctx context.Context, b *bed, h host) (Cell, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Cell{}, err
	}
	defer remove()
	bytes, answer := dir+"/bytes", dir+"/answer"
	if err := b.write(bytes, hostileBytes()); err != nil {
		return Cell{}, err
	}
	// What comes within 0.3 s counts as an answer.
	command := "stty -echo -icanon min 0 time 3; cat " + quote([]string{bytes}) + "; dd bs=4096 count=1 of=" + quote([]string{answer}) +
		" 2>/dev/null; printf '\\r\\nwhat follows %s\\r\\n' 'is shown'; sleep 0.5"
	k, err := give(ctx, b, h, Task{Command: []string{"sh", "-c", command}, History: 2000}, b.conf.Patience)
	c := Cell{State: StateShort, Runs: 1}
	if errors.Is(err, ErrSlow) && ctx.Err() == nil {
		c.Figure, c.Says = "hung", fmt.Sprintf("nothing after %s", b.conf.Patience)
		return c, nil
	}
	if err != nil {
		return c, err
	}
	raw, err := os.ReadFile(answer)
	answers := strings.Count(string(raw), "\x1b")
	switch shown := strings.Contains(k.Text, marker); {
	case !shown:
		c.Figure, c.Says = "what follows is not shown", "it says "+said(k)
	case err != nil:
		return c, fmt.Errorf("read what was answered: %w", err)
	case answers > 0:
		c.Figure, c.Says = fmt.Sprintf("shown, %d answered", answers), "the program was sent "+strings.ToValidUTF8(fmt.Sprintf("%.80q", raw), "?")
	default:
		c.State, c.Good, c.Figure = StateKept, 1, "shown, 0 answered"
	}
	return c, nil
}
