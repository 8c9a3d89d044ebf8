// Package outer is the outer terminal of tests: a program runs in a pair of
// ours, our engine is behind it, and a test looks at what the program shows.
//
//	test ──Type──▶ pair ──▶ program
//	     ◀──See── engine ◀──┘
//
// Rules:
//   - A test waits for what is shown and never for time to pass. Patience only
//     bounds a wait, so that a failure prints the screen it is stuck on.
//   - For tests only: no package of the product imports it.
package outer

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

// Patience is how long a test waits for one thing.
const Patience = 20 * time.Second

// A Config says what runs. Env is the whole environment.
type Config struct {
	Cols, Rows int // 0: 80×24
	Env        []string
	Command    []string
}

// A Terminal is the outer terminal of one program. It ends with its test.
type Terminal struct {
	t      testing.TB
	bridge *ptybridge.Bridge

	mu    sync.Mutex
	cond  *sync.Cond
	term  *vt.Terminal
	raw   []byte // everything the program wrote
	ended bool
}

// Open starts the program of c.
func Open(t testing.TB, c Config) *Terminal {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	if c.Cols == 0 {
		c.Cols, c.Rows = 80, 24
	}
	o := &Terminal{t: t, term: vt.New(c.Cols, c.Rows, vt.Options{})}
	o.cond = sync.NewCond(&o.mu)
	o.bridge, err = ptybridge.Start(ptybridge.Config{
		Command: c.Command, Env: c.Env, Poller: p,
		Size:   ptybridge.Size{Cols: c.Cols, Rows: c.Rows},
		Output: o.take,
	})
	if err != nil {
		t.Fatal(err)
	}
	var told sync.WaitGroup
	told.Go(func() {
		o.bridge.Exit()
		o.mu.Lock()
		o.ended = true
		o.cond.Broadcast()
		o.mu.Unlock()
	})
	t.Cleanup(func() {
		o.bridge.Close()
		told.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func (o *Terminal) take(p []byte) {
	o.mu.Lock()
	reply := append([]byte(nil), o.term.Write(p).Reply...)
	o.raw = append(o.raw, p...)
	o.cond.Broadcast()
	o.mu.Unlock()
	if len(reply) > 0 {
		_, _ = o.bridge.Write(reply) // a program that is gone needs no reply
	}
}

// Bridge is the pair, for its size, its pid and its end.
func (o *Terminal) Bridge() *ptybridge.Bridge { return o.bridge }

// Raw is everything that the program wrote.
func (o *Terminal) Raw() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.raw)
}

// Modes are those that the program has set.
func (o *Terminal) Modes() vt.Modes {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.term.Modes()
}

// Resize makes the terminal that large and tells the program.
func (o *Terminal) Resize(cols, rows int) {
	o.t.Helper()
	o.mu.Lock()
	o.term.Resize(cols, rows)
	o.mu.Unlock()
	if _, err := o.bridge.Resize(ptybridge.Size{Cols: cols, Rows: rows}); err != nil {
		o.t.Fatal(err)
	}
}

// Await waits until the screen satisfies ok and returns it.
func (o *Terminal) Await(what string, ok func(screen string) bool) string {
	o.t.Helper()
	return o.await(what, ok)
}

// AwaitRaw waits until what the program wrote satisfies ok.
func (o *Terminal) AwaitRaw(what string, ok func(raw string) bool) {
	o.t.Helper()
	o.await(what, func(string) bool { return ok(string(o.raw)) })
}

func (o *Terminal) await(what string, ok func(screen string) bool) string {
	o.t.Helper()
	deadline := time.Now().Add(Patience)
	late := time.AfterFunc(Patience+time.Millisecond, o.cond.Broadcast)
	defer late.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		s := o.screen()
		if ok(s) {
			return s
		}
		if o.ended || time.Now().After(deadline) {
			o.t.Fatalf("no %s; ended %v; the screen is\n%s", what, o.ended, s)
		}
		o.cond.Wait()
	}
}

// See waits until the screen has the text and returns the screen.
func (o *Terminal) See(text string) string {
	o.t.Helper()
	return o.Await(strconv.Quote(text), func(s string) bool { return strings.Contains(s, text) })
}

// Screen is what is shown now, a line each row.
func (o *Terminal) Screen() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.screen()
}

func (o *Terminal) screen() string {
	var b []byte
	_, rows := o.term.Size()
	for r := range rows {
		start := len(b)
		for _, c := range o.term.Line(vt.Row(r)) {
			if c.Blank() {
				b = append(b, ' ')
			}
			b = o.term.AppendText(b, c)
		}
		for len(b) > start && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
		b = append(b, '\n')
	}
	return string(b)
}

// Type sends what a person types.
func (o *Terminal) Type(s string) {
	o.t.Helper()
	if _, err := o.bridge.WriteWait([]byte(s), 10*time.Second); err != nil {
		o.t.Fatal(err)
	}
}

// End waits for the program's end and checks that the terminal is as a shell
// expects it.
func (o *Terminal) End() ptybridge.Exit {
	o.t.Helper()
	e := o.bridge.Exit()
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.term.Modes()
	if m.AltScreen || m.BracketedPaste || m.FocusEvents || m.Mouse != vt.MouseOff || m.KittyFlags != 0 || m.AppCursor || m.AppKeypad || m.SyncOutput {
		o.t.Errorf("modes left behind: %+v", m)
	}
	if !o.term.Cursor().Visible {
		o.t.Error("the cursor is still hidden")
	}
	return e
}
