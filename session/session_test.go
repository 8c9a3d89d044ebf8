package session

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

// TestMain lets the test binary be the program under a descriptor limit.
func TestMain(m *testing.M) {
	if err := proc.SealInherited(); err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
	if os.Getenv("HONESTTY_TEST_EMFILE") != "" {
		if err := opensUnderALimit(); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		fmt.Println("opened")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var size = ptybridge.Size{Cols: 80, Rows: 24}

// A client takes the facts of a session and lets a test wait for what they
// lead to.
type client struct {
	*Session
	poller *fdwait.Poller

	mu    sync.Mutex
	cond  *sync.Cond
	facts []Fact
}

// connect starts a session. Its end is checked when the test ends.
func connect(t testing.TB, c Config) *client {
	t.Helper()
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	cl := &client{poller: p}
	cl.cond = sync.NewCond(&cl.mu)
	c.Poller, c.Version, c.Publish = p, "test", cl.take
	cl.Session = New(c)
	t.Cleanup(func() {
		cl.Close()
		if n := p.Waiters(); n != 0 {
			t.Errorf("%d waiters left", n)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return cl
}

func (c *client) take(f Fact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.facts = append(c.facts, f)
	c.cond.Broadcast()
}

// await returns when true holds; it is asked again after every fact. The test
// binary's own timeout is the only clock.
func (c *client) await(holds func() bool) {
	for {
		c.mu.Lock()
		n := len(c.facts)
		c.mu.Unlock()
		if holds() {
			return
		}
		c.mu.Lock()
		for len(c.facts) == n {
			c.cond.Wait()
		}
		c.mu.Unlock()
	}
}

func (c *client) awaitText(p *Pane, want string) {
	c.await(func() bool { return strings.Contains(text(p), want) })
}

func (c *client) awaitState(p *Pane, want State) Info {
	c.await(func() bool { return p.Info().State == want })
	return p.Info()
}

// count is how many facts of this kind and pane were published.
func (c *client) count(f Fact) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, have := range c.facts {
		if _, ok := have.(MeterRead); !ok && have == f {
			n++
		}
	}
	return n
}

// flush waits until every fact that was put before has come. No pane has the
// number that it uses.
func (c *client) flush() {
	mark := PaneCalled{-1}
	n := c.count(mark)
	c.Session.facts.put(mark)
	c.await(func() bool { return c.count(mark) > n })
}

// text is everything a pane holds, history first, a line each.
func text(p *Pane) string {
	var b []byte
	p.Look(func(t *vt.Terminal) {
		var cells []vt.Cell
		add := func(line []vt.Cell) {
			at := len(b)
			for _, c := range line {
				if c.Blank() {
					b = append(b, ' ')
				}
				b = t.AppendText(b, c)
			}
			b = append(b[:at], strings.TrimRight(string(b[at:]), " ")...)
			b = append(b, '\n')
		}
		for i := range t.HistoryLen() {
			cells = t.HistoryLine(i, cells[:0])
			add(cells)
		}
		_, rows := t.Size()
		for r := range rows {
			add(t.Line(vt.Row(r)))
		}
	})
	return string(b)
}

func sh(script string) Spec { return Spec{Command: []string{"/bin/sh", "-c", script}} }

func TestAPaneRunsToItsEnd(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("echo hello; exit 3"), size)
	i := c.awaitState(p, StateEnded)
	if i.Exit.Code != 3 || i.Err != nil || i.PID != 0 || i.Runs != 1 || i.Capture().State() != outcome.StateComplete || i.Capture().Read != 7 {
		t.Errorf("%+v", i)
	}
	if !strings.HasPrefix(text(p), "hello\n") {
		t.Errorf("screen %q", text(p))
	}
	c.await(func() bool { return c.count(PaneEnded{p.ID()}) == 1 })
}

func TestChangesAreToldOnceUntilSomebodyLooks(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("stty -echo; echo one; read go; echo two; read go; echo three; read go; echo four"), size)
	changed := PaneChanged{p.ID()}
	bytesRead := func() int64 {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.bridge == nil {
			return -1
		}
		return p.bridge.BytesRead()
	}
	awaitBytes := func(n int64) {
		for bytesRead() < n { // no fact comes, and that is what is tested
		}
	}
	awaitBytes(int64(len("one\r\n")))
	c.await(func() bool { return p.Info().Where.PID != 0 }) // who runs there is told however often nobody looks
	c.flush()
	told := c.count(changed)
	for i, step := range []int64{10, 17} {
		if err := p.Input([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		awaitBytes(step)
		c.flush()
		if n := c.count(changed); n != told {
			t.Fatalf("step %d: told %d times more although nobody looked", i, n-told)
		}
	}
	p.Look(func(*vt.Terminal) {})
	if err := p.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	c.awaitState(p, StateEnded)
	c.await(func() bool { return c.count(PaneEnded{p.ID()}) == 1 })
	if n := c.count(changed) - told; n < 1 || n > 2 { // the look itself races with the last change
		t.Errorf("told %d times more in all", n)
	}
}

// TestATitleIsToldAlthoughNobodyLooks is the tab of a hidden pane: its name
// follows the program.
func TestATitleIsToldAlthoughNobodyLooks(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh(`printf '\033]0;first\033\\'; read go; printf '\033]0;second\033\\'; read go`), size)
	c.await(func() bool { return p.Info().Title == "first" && p.Info().Where.PID != 0 })
	c.flush()
	told := c.count(PaneChanged{p.ID()})
	if err := p.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	c.await(func() bool { return p.Info().Title == "second" && c.count(PaneChanged{p.ID()}) > told })
}

func TestInboxHoldsOneFactOfAKind(t *testing.T) {
	var b inbox
	b.init()
	for range 1000 {
		b.put(PaneChanged{1})
		b.put(PaneChanged{2})
		b.put(PaneEnded{1})
		b.put(PaneCalled{1})
		b.put(MeterRead{})
	}
	want := []Fact{PaneChanged{1}, PaneChanged{2}, PaneEnded{1}, PaneCalled{1}}
	for _, w := range want {
		if f, ok := b.take(); !ok || f != w {
			t.Errorf("took %#v, %v; want %#v", f, ok, w)
		}
	}
	if f, ok := b.take(); !ok {
		t.Error("no meter")
	} else if _, ok := f.(MeterRead); !ok {
		t.Errorf("took %#v", f)
	}
	if len(b.queue) != 0 {
		t.Errorf("%d more", len(b.queue))
	}
	b.close()
	if _, ok := b.take(); ok {
		t.Error("a closed inbox gave a fact")
	}
}

func TestAFailedStartIsAStateAndCanBeTriedAgain(t *testing.T) {
	c := connect(t, Config{})
	tool := t.TempDir() + "/tool"
	p := c.Open(Spec{Command: []string{tool, "x"}}, size)
	i := p.Info()
	if i.State != StateNotStarted || i.PID != 0 || i.Runs != 1 || !os.IsNotExist(unwrapped(i.Err)) {
		t.Fatalf("%+v", i)
	}
	if i.Capture().State() != outcome.StateUnknown || i.Capture().Empty() {
		t.Errorf("the output of what never ran is called %v", i.Capture().State())
	}
	if err := p.Input([]byte("x")); err == nil {
		t.Error("input was taken by nobody")
	}
	p.Rerun() // fails again
	if i := p.Info(); i.State != StateNotStarted || i.Runs != 2 {
		t.Fatalf("%+v", i)
	}
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho it runs $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Rerun()
	i = c.awaitState(p, StateEnded)
	if i.Err != nil || i.Runs != 3 || i.Exit.Code != 0 {
		t.Errorf("%+v", i)
	}
	if s := text(p); !strings.Contains(s, "it runs x") || strings.Count(s, "not started before") != 2 {
		t.Errorf("screen %q", s)
	}
}

func unwrapped(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

func TestNothingStartsAfterClose(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("exec sleep 100"), size)
	if infos := c.Close(); len(infos) != 1 || infos[0].State != StateEnded || infos[0].ID != p.ID() {
		t.Errorf("%+v", infos)
	}
	if c.Close() != nil {
		t.Error("a second Close found panes")
	}
	late := c.Open(sh("exit 0"), size)
	if i := late.Info(); i.State != StateNotStarted || i.Err != ErrClosed || i.Runs != 0 {
		t.Errorf("%+v", i)
	}
	late.Rerun()
	p.Rerun()
	if n := c.poller.Waiters(); n != 0 {
		t.Errorf("%d waiters: something runs", n)
	}
}
