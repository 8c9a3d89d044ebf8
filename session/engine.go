package session

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/vt"
)

// contain runs the engine on n bytes. An engine that panics must not take the
// host with it: the pane goes on with a new engine and says what it could not
// show. mu is held.
func (p *Pane) contain(n int, run func()) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		missing := "what was on the screen is not shown"
		if n > 0 {
			missing = "what was on the screen and " + outcome.CountBytes(int64(n)) + " after it are not shown"
		}
		p.unshown += int64(n)
		p.notes = append(p.notes, fmt.Sprintf("the terminal engine failed (%v): %s", cause, missing))
		p.term = p.s.newTerminal(p.size)
		p.term.Write([]byte("\x1b[7m" + "the terminal engine failed here; " + missing + "\x1b[0m\r\n"))
		engineFailed(debug.Stack())
	}()
	if p.s.conf.fault != nil {
		p.s.conf.fault()
	}
	run()
}

// feed writes to the engine and returns a copy of its replies, and whether the
// program called for something.
func (p *Pane) feed(data []byte) (reply []byte, called bool) {
	p.contain(len(data), func() {
		fx := p.term.Write(data)
		if len(fx.Reply) > 0 {
			reply = append(reply, fx.Reply...)
		}
		called = p.calls(fx)
	})
	return reply, called
}

// calls keeps what the program asks of people, and reports whether it asked.
func (p *Pane) calls(fx *vt.Effects) (called bool) {
	for _, e := range fx.Events {
		switch e.Kind {
		case vt.EventMark:
			p.times.mark(e.Data, p.term)
			continue
		case vt.EventBell:
			p.bells += e.N
		case vt.EventNotify:
			p.noticed++
			p.notices = append(p.notices, Notice{p.noticed, time.Now(), e.Data})
			p.notices = p.notices[max(0, len(p.notices)-noticesKept):]
		case vt.EventOSC52:
			p.clip = &Clip{Text: e.Data, Primary: e.N == 1}
		default:
			continue
		}
		called = true
	}
	return called
}

// TakeClip returns what the program wants in the clipboard and forgets it; nil
// when it wants nothing. Only the last request counts. Whether it is honoured
// is the client's to decide.
func (p *Pane) TakeClip() *Clip {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.clip
	p.clip = nil
	return c
}

// ClearHistory forgets the lines above the screen (as ED 3 does).
func (p *Pane) ClearHistory() {
	p.mu.Lock()
	p.term.ClearHistory()
	p.mu.Unlock()
	p.changed()
}

// SetColors tells the engine the colours of the outer terminal, so that a
// program that asks for them gets the truth.
func (p *Pane) SetColors(fg, bg, cursor vt.Color) {
	p.mu.Lock()
	reply := append([]byte(nil), p.term.SetHostColors(fg, bg, cursor).Reply...)
	bridge := p.bridge
	p.mu.Unlock()
	if bridge != nil && len(reply) > 0 {
		_, _ = bridge.Write(reply)
	}
}

// engineFailed is where tests look for a failed engine.
var engineFailed = func(stack []byte) {}

// belowAll moves the cursor to a new line below all that was written.
func belowAll(t *vt.Terminal) string {
	used := UsedRows(t)
	if _, rows := t.Size(); used >= rows {
		return fmt.Sprintf("\x1b[%d;1H\r\n", rows)
	}
	return fmt.Sprintf("\x1b[%d;1H", used+1)
}

// leaveModes brings the engine back to a state a new program may expect.
const leaveModes = "\x18" + // CAN ends a sequence that was left unfinished
	"\x1b[?1049l\x1b[?47l" + // main screen
	"\x1b[!p" + // DECSTR: style, region, origin, insert, charsets, cursor keys and keypad
	"\x1b[?5;9;45;66;67;69;1000;1002;1003;1004;1005;1006;1015;1016;1045;2004;2026;2027;2031;2048l" +
	"\x1b[20l\x1b[?7;25;1007h" + // newline mode; wrap, cursor, wheel on the alternate screen
	"\x1b[<99u\x1b[>4m" + // kitty keyboard flags, modifyOtherKeys
	"\x1b[0 q\x1b[?5W" + // the cursor's shape, tab stops
	"\x1b]8;;\x1b\\\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\" + // link, palette, colours
	"\x1b[r"

// Look lets a client read the engine while it stands still. The client must
// not keep anything of it.
func (p *Pane) Look(look func(t *vt.Terminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = false
	look(p.term)
}

// Peek is Look for somebody who does not show the pane: the client is told of
// the next change as if nobody had looked.
func (p *Pane) Peek(look func(t *vt.Terminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	look(p.term)
}

// Modes returns the engine's modes, which input is encoded by.
func (p *Pane) Modes() vt.Modes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term.Modes()
}

// UsedRows counts the rows of a screen up to the last one with something on
// it, or the cursor's.
func UsedRows(t *vt.Terminal) int {
	_, rows := t.Size()
	c := t.Cursor()
	last := int(c.Row)
	if c.Col > 0 {
		last++
	}
	for r := rows - 1; r >= last; r-- {
		for _, cell := range t.Line(vt.Row(r)) {
			if !cell.Blank() {
				return r + 1
			}
		}
	}
	return last
}
