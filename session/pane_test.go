package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

func TestRerunKeepsTheHistoryAndDrawsASeam(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("seq 1 100; exit 7"), size)
	c.awaitState(p, StateEnded)
	p.Rerun()
	c.await(func() bool { i := p.Info(); return i.State == StateEnded && i.Runs == 2 })
	lines := strings.Split(text(p), "\n")
	var hundreds, seams []int
	for i, l := range lines {
		if l == "100" {
			hundreds = append(hundreds, i)
		}
		if strings.Contains(l, "run again at") && strings.Contains(l, "exit 7 before") {
			seams = append(seams, i)
		}
	}
	if lines[0] != "1" || len(hundreds) != 2 || len(seams) != 1 || seams[0] < hundreds[0] || seams[0] > hundreds[1] || lines[seams[0]+1] != "1" {
		t.Errorf("hundreds at %v, seams at %v, first %q", hundreds, seams, lines[0])
	}
	if i := p.Info(); i.Capture().Read != 392 { // of the last run alone
		t.Errorf("capture %+v", i.Capture())
	}
}

// TestRerunFindsATerminalAsANewOne leaves every mode on that a program can
// leave, and an unfinished string.
func TestRerunFindsATerminalAsANewOne(t *testing.T) {
	fresh := vt.New(size.Cols, size.Rows, vt.Options{}).Modes()
	for name, left := range map[string]string{
		"alternate screen": `\033[?1049h\033[2Jfull screen`,
		"old alternate":    `\033[?47hfull screen`,
		"mouse":            `\033[?1000h\033[?1003h\033[?1006h`,
		"old mouse":        `\033[?9h\033[?1005h`,
		"urxvt mouse":      `\033[?1002h\033[?1015h`,
		"kitty keyboard":   `\033[>31u\033[>5u\033[=9u`,
		"kitty, alternate": `\033[>1u\033[?1049h\033[>31u`,
		"other keys":       `\033[>4;2m`,
		"scroll region":    `\033[5;7r\033[?6h`,
		"left and right":   `\033[?69h\033[5;9s\033[?6h`,
		"reports":          `\033[?1004h\033[?2004h\033[?2031h\033[?2048h`,
		"sync":             `\033[?2026h`,
		"graphemes":        `\033[?2027h`,
		"cursor keys":      `\033[?1h\033=\033[?66h\033[?67h`,
		"insert, no wrap":  `\033[4h\033[?7l\033[20h`,
		"reverse wrap":     `\033[?45h\033[?1045h`,
		"reverse video":    `\033[?5h`,
		"no alt scroll":    `\033[?1007l`,
		"hidden cursor":    `\033[?25l\033[3 q`,
		"line drawing":     `\033(0\033)0\016`,
		"colours":          `\033[1;4;31;42m`,
		"palette":          `\033]4;1;rgb:00/00/ff\033\\\033]11;rgb:ff/ff/ff\033\\`,
		"link":             `\033]8;;http://example.com\033\\link`,
		"tab stops":        `\033[3g`,
		"protected":        `\033[1"q`,
		"unfinished OSC":   `\033]0;title`,
		"unfinished DCS":   `\033P$q`,
		"unfinished CSI":   `\033[?1`,
		"unfinished rune":  `\342\224`,
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, Config{})
			p := c.Open(sh(`if [ -e "$0.second" ]; then printf 'qqq'; else printf '`+left+`'; fi`), size)
			marker := t.TempDir() + "/run"
			p.spec.Command = append(p.spec.Command, marker)
			c.awaitState(p, StateEnded)
			p.Rerun() // the first time with its marker
			c.await(func() bool { i := p.Info(); return i.State == StateEnded && i.Runs == 2 })
			if err := os.WriteFile(marker+".second", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			p.Rerun()
			c.await(func() bool { i := p.Info(); return i.State == StateEnded && i.Runs == 3 })
			if got := p.Modes(); got != fresh {
				t.Errorf("modes %+v\nfresh %+v", got, fresh)
			}
			p.Look(func(term *vt.Terminal) {
				cur := term.Cursor()
				row := term.Line(cur.Row)
				if cur.Col != 3 || string(term.AppendText(term.AppendText(term.AppendText(nil, row[0]), row[1]), row[2])) != "qqq" {
					t.Errorf("cursor %+v", cur)
				}
				if s := term.StyleOf(row[0].Style()); s != term.StyleOf(0) {
					t.Errorf("style %+v", s)
				}
				if !cur.Visible {
					t.Error("the cursor is hidden")
				}
				if _, own := term.PaletteColor(1); own {
					t.Error("a colour of the palette is not the default")
				}
				if fg, bg, cu := term.DynamicColors(); fg != 0 || bg != 0 || cu != 0 {
					t.Errorf("colours %v %v %v", fg, bg, cu)
				}
				if err := term.Check(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// wide is a screen on which our own notices fit in one line.
var wide = ptybridge.Size{Cols: 200, Rows: 24}

func TestAnEngineThatPanicsIsContainedAndCounted(t *testing.T) {
	var fail atomic.Bool
	c := connect(t, Config{fault: func() {
		if fail.CompareAndSwap(true, false) {
			panic("injected")
		}
	}})
	p := c.Open(sh("stty -echo; echo one; read go; echo lost; read go; echo three"), wide)
	c.awaitText(p, "one")
	fail.Store(true)
	if err := p.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	c.awaitText(p, "the terminal engine failed here; what was on the screen and 6 bytes after it are not shown")
	if err := p.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	i := c.awaitState(p, StateEnded)
	c.awaitText(p, "three")
	if s := text(p); strings.Contains(s, "lost") || strings.Contains(s, "one") {
		t.Errorf("screen %q", s)
	}
	if i.Unshown != 6 || len(i.Notes) != 1 || !strings.Contains(i.Notes[0], "the terminal engine failed (injected)") {
		t.Errorf("unshown %d, notes %q", i.Unshown, i.Notes)
	}
	got := i.Capture()
	if got.Read != 18 || got.Shown != 12 || got.State() != outcome.StateTruncated || got.Empty() {
		t.Errorf("capture %+v", got)
	}
	if want := "truncated here: 12 B of 18 B shown"; got.Sentence() != want {
		t.Errorf("sentence %q, want %q", got.Sentence(), want)
	}
	p.Rerun()
	if i := p.Info(); i.Unshown != 0 || len(i.Notes) != 0 {
		t.Errorf("the next run inherits %d unshown, %q", i.Unshown, i.Notes)
	}
}

func TestAnEngineThatPanicsInAResizeLosesNoInput(t *testing.T) {
	var fail atomic.Bool
	c := connect(t, Config{fault: func() {
		if fail.CompareAndSwap(true, false) {
			panic("injected")
		}
	}})
	p := c.Open(sh("stty -echo; echo one; read go; stty size"), wide)
	c.awaitText(p, "one")
	fail.Store(true)
	p.Resize(ptybridge.Size{Cols: 100, Rows: 30})
	if err := p.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	c.awaitText(p, "30 100")
	if i := p.Info(); i.Unshown != 0 || len(i.Notes) != 1 {
		t.Errorf("%+v", i)
	}
}

// TestTwoOrdersToRerunStartOneProcess presses Enter many times at once.
func TestTwoOrdersToRerunStartOneProcess(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("exec sleep 100"), size)
	for round := range 10 {
		if err := p.bridgeForTest().Signal(9); err != nil {
			t.Fatal(err)
		}
		c.await(func() bool { i := p.Info(); return i.State == StateEnded && i.Runs == round+1 })
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(p.Rerun)
		}
		wg.Wait()
		if i := p.Info(); i.Runs != round+2 || i.State != StateRunning {
			t.Fatalf("round %d: %d runs, state %v", round, i.Runs, i.State)
		}
		if n := c.poller.Waiters(); n != 2 { // master and pidfd of one pane
			t.Fatalf("round %d: %d waiters, want 2", round, n)
		}
	}
	if n := strings.Count(text(p), "run again at"); n != 10 {
		t.Errorf("%d seams, want 10", n)
	}
}

func (p *Pane) bridgeForTest() *ptybridge.Bridge {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bridge
}

// TestCloseWhileStartingWaitsForTheEnd closes panes at every moment of their
// start.
func TestCloseWhileStartingWaitsForTheEnd(t *testing.T) {
	c := connect(t, Config{})
	for i := range 60 {
		p := c.Open(Spec{Command: []string{"/no/such/program"}}, size)
		p.spec.Command = []string{"sleep", "100"}
		started := make(chan struct{})
		go func() {
			defer close(started)
			p.Rerun()
		}()
		for isOpen(started) && !p.startingForTest() {
		}
		for range i * 100 { // a little later each time
			p.startingForTest()
		}
		info := p.Close()
		if n := c.poller.Waiters(); n != 0 {
			t.Fatalf("round %d: Close returned with %d waiters: something still runs", i, n)
		}
		if info.State == StateRunning || info.State == StateUnknown || info.PID != 0 {
			t.Fatalf("round %d: state %v, pid %d after Close", i, info.State, info.PID)
		}
		<-started
	}
}

func isOpen(c chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		return true
	}
}

func (p *Pane) startingForTest() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starting
}

// TestAResizeDuringTheStartStays resizes from several sides while the command
// starts, and then asks the command.
func TestAResizeDuringTheStartStays(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("stty -echo; echo; echo ready; read go; stty size"), size)
	for round := range 10 {
		c.awaitText(p, "ready")
		if err := p.Input([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		c.await(func() bool { i := p.Info(); return i.State == StateEnded && i.Runs == round+1 })
		p.mu.Lock()
		want := fmt.Sprintf("%d %d", p.size.Rows, p.size.Cols)
		p.mu.Unlock()
		p.Look(func(term *vt.Terminal) {
			if cols, rows := term.Size(); fmt.Sprintf("%d %d", rows, cols) != want {
				t.Errorf("round %d: the screen is %d %d, the pane %s", round, rows, cols, want)
			}
		})
		lines := strings.Split(strings.TrimSpace(text(p)), "\n")
		if got := lines[len(lines)-1]; got != want {
			t.Fatalf("round %d: the terminal is %s, the pane %s", round, got, want)
		}
		p.Look(func(term *vt.Terminal) { term.Write([]byte("\x1b[2J\x1b[3J\x1b[H")) })
		var wg sync.WaitGroup
		started := make(chan struct{})
		wg.Go(func() { p.Rerun(); close(started) })
		for isOpen(started) && !p.startingForTest() {
		}
		for i := range 4 {
			wg.Go(func() { p.Resize(ptybridge.Size{Cols: 90 + 5*round + i, Rows: 30}) })
		}
		wg.Wait()
	}
}

func TestRepliesOfTheEngineReachTheChild(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh(`stty raw -echo; printf '\033[c'; reply=$(dd bs=1 count=3 2>/dev/null | od -An -tx1); stty sane; echo got $reply`), size)
	c.awaitText(p, "got 1b 5b 3f") // CSI ? : the reply to DA1
}

// TestAChildThatNeverReadsDoesNotBlockItsScreen asks for far more replies than
// can wait for it.
func TestAChildThatNeverReadsDoesNotBlockItsScreen(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh(`stty raw -echo; yes "$(printf '\033[c')" | head -n 200000; echo; echo all asked; exec sleep 100`), size)
	c.awaitText(p, "all asked")
	c.await(func() bool { return p.Info().Refused > 0 })
	if i := p.Info(); i.State != StateRunning || i.Queued == 0 {
		t.Errorf("%+v", i)
	}
	if i := p.Close(); i.Refused == 0 {
		t.Error("what was refused is forgotten at the end")
	}
}

func TestInputThatIsRefusedIsCounted(t *testing.T) {
	c := connect(t, Config{})
	p := c.Open(sh("stty raw -echo; echo ready; exec sleep 100"), size)
	c.awaitText(p, "ready")
	err := p.Input(make([]byte, 2*ptybridge.QueueLimit))
	if i := p.Info(); !errors.Is(err, ptybridge.ErrFull) || i.Refused == 0 || i.Queued == 0 {
		t.Errorf("%v: refused %d, queued %d", err, i.Refused, i.Queued)
	}
	before := p.Info().Refused
	p.Post([]byte("more"))
	if got := p.Info().Refused; got != before+4 {
		t.Errorf("refused %d, then %d", before, got)
	}
}

func TestARemovedDirectoryMeansHomeAndIsSaid(t *testing.T) {
	home := t.TempDir()
	gone := t.TempDir() + "/gone"
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	c := connect(t, Config{})
	p := c.Open(sh("pwd -P"), ptybridge.Size{Cols: 300, Rows: 5})
	i := c.awaitState(p, StateEnded)
	if i.Dir != home || len(i.Notes) != 1 || i.Notes[0] != "the directory "+gone+" is gone: started in "+home {
		t.Errorf("dir %q, notes %q, %v", i.Dir, i.Notes, i.Err)
	}
	if !strings.HasPrefix(text(p), home+"\n") {
		t.Errorf("screen %q", text(p))
	}
	// A directory that was asked for is not replaced by another.
	p = c.Open(Spec{Command: []string{"true"}, Dir: gone}, size)
	if i := p.Info(); i.State != StateNotStarted || len(i.Notes) != 0 {
		t.Errorf("%+v", i)
	}
	t.Setenv("HOME", gone)
	p = c.Open(sh("exit 0"), size)
	if i := c.awaitState(p, StateEnded); i.Dir != "/" {
		t.Errorf("dir %q with no home either", i.Dir)
	}
}

func TestAShellThatCannotBeExecutedIsReplacedAndNamed(t *testing.T) {
	dir := t.TempDir()
	plain := dir + "/shell"
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t, Config{})
	for _, want := range []string{plain, dir, "/no/such/shell"} {
		t.Setenv("SHELL", want)
		p := c.Open(Spec{}, size)
		i := p.Info()
		if i.State != StateRunning || len(i.Notes) != 1 || i.Notes[0] != "SHELL is "+want+", which cannot be executed: started "+i.Running[0] {
			t.Errorf("%s: state %v, notes %q, %v", want, i.State, i.Notes, i.Err)
		}
		p.Close()
	}
	t.Setenv("SHELL", "/bin/sh")
	p := c.Open(Spec{}, size)
	if i := p.Info(); i.Running[0] != "/bin/sh" || len(i.Notes) != 0 {
		t.Errorf("%+v", i)
	}
}

func TestFiveHundredPanesLeaveNothingBehind(t *testing.T) {
	c := connect(t, Config{})
	c.Open(sh("exit 0"), size).Close() // lets the runtime open what it keeps
	c.await(func() bool {              // the meter has opened what it keeps
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(c.facts, func(f Fact) bool { _, ok := f.(MeterRead); return ok })
	})
	before := leak.Take(t)
	for range 10 {
		var panes []*Pane
		for i := range 50 {
			spec := sh("echo hello; exec sleep 100")
			switch i % 3 {
			case 0:
				spec = Spec{Command: []string{"true"}}
			case 1:
				spec = Spec{Command: []string{"/no/such/program"}}
			}
			panes = append(panes, c.Open(spec, size))
		}
		var wg sync.WaitGroup
		for _, p := range panes {
			wg.Go(func() { p.Close() })
		}
		wg.Wait()
	}
	if n := len(c.all()); n != 0 {
		t.Errorf("%d panes left", n)
	}
	if n := c.poller.Waiters(); n != 0 {
		t.Errorf("%d waiters left", n)
	}
	if left, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())); err == nil && len(left) != 0 {
		t.Errorf("children left: %s", left)
	}
	before.Check(t)
}

func TestASeamFitsInOneRow(t *testing.T) {
	at := time.Date(2026, 3, 14, 9, 5, 0, 0, time.UTC)
	for _, ended := range []string{"exit 1", "SIGSEGV (core dumped)", "not started"} {
		for cols := 2; cols <= 80; cols++ {
			s := seam(cols, at, ended)
			if n := utf8.RuneCountInString(s); n == 0 || n > cols {
				t.Errorf("%d columns of %d: %q", n, cols, s)
			}
		}
		if s := seam(60, at, ended); !strings.Contains(s, "run again at 09:05, "+ended+" before") {
			t.Errorf("at 60 columns: %q", s)
		}
	}
}
