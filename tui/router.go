package tui

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/keymap"
	"github.com/honestty/honestty/vt"
)

// A target says who gets what is typed. The Model sets it; the router reads it
// for every token.
type target struct {
	pane  *session.Pane // nil: every key is the Model's, because a dialog is open or the process has ended
	noted bool          // the bar says something until the next key
	keys  *keymap.Map
	outer input.OuterModes
	area  input.Area
	cell  vt.Pixels // size of a cell, zero when not known
}

// A router takes the tokens of the outer terminal and gives each to the pane
// or to the Model. It runs in the reader's goroutine: a pane that reads slowly
// holds the reader back, and so the outer terminal, and nothing is lost.
type router struct {
	send   func(ordered, chan<- struct{}) // takes a message to the Model, which closes the channel when it has acted
	target atomic.Pointer[target]

	typed    atomic.Int64 // when a pane was last given input, in ns of the wall clock
	prefixed bool         // the prefix was pressed; the next key is the Model's
	again    time.Time    // until when a key that repeats needs no prefix
	now      func() time.Time
	paste    *session.Pane // who gets the paste that is under way
	pasteIn  input.ChildModes
	pasted   []byte        // of a paste that no pane gets
	dragged  *session.Pane // who got the press of the mouse button that is down

	// held are the keys whose press was ours. Terminals that report releases
	// (kitty protocol) report each once; the others never fill it beyond the
	// keys there are.
	held map[rune]bool

	to  *session.Pane // who gets buf
	buf []byte

	stopping chan struct{}
	stopOnce sync.Once
}

// repeatTime is how long a key that repeats works without another prefix: tmux's
// repeat-time.
const repeatTime = 500 * time.Millisecond

// pasteKept is how much of a paste into a dialog is kept: many times what fits
// in one of its lines.
const pasteKept = 64 << 10

func newRouter(send func(ordered, chan<- struct{})) *router {
	r := &router{send: send, held: map[rune]bool{}, now: time.Now, stopping: make(chan struct{})}
	keys, err := keymap.New(keymap.Options{})
	if err != nil {
		panic(err) // the preset is ours
	}
	r.target.Store(&target{keys: keys})
	return r
}

// stop lets a router that waits for the Model go.
func (r *router) stop() { r.stopOnce.Do(func() { close(r.stopping) }) }

// take is the reader's sink. What one read brought for a pane is written to it
// at once.
func (r *router) take(tokens []input.Token) {
	for _, t := range tokens {
		r.route(t)
	}
	r.flush()
}

func (r *router) route(t input.Token) {
	tg := r.target.Load()
	switch t.Kind {
	case input.KindReply:
		r.ask(replyMsg{append([]byte(nil), t.Bytes...)})
	case input.KindPasteStart:
		// From here to its end a paste belongs to one pane, under the modes
		// that the pane has now.
		r.paste = tg.pane
		if r.paste != nil {
			r.pasteIn = childModes(r.paste.Modes(), tg.area, tg.cell)
		}
		r.pass(r.paste, t, tg.outer, r.pasteIn)
	case input.KindPasteData:
		if r.paste == nil {
			r.pasted = append(r.pasted, t.Bytes[:min(len(t.Bytes), pasteKept-len(r.pasted))]...)
			return
		}
		r.pass(r.paste, t, tg.outer, r.pasteIn)
	case input.KindPasteEnd:
		r.pass(r.paste, t, tg.outer, r.pasteIn)
		if r.paste == nil {
			// In one piece: the pieces of a paste may end inside a character.
			r.ask(pasteMsg{string(r.pasted)})
		}
		r.paste, r.pasted = nil, r.pasted[:0]
	case input.KindText:
		if tg.pane != nil && !r.prefixed {
			r.toPane(t, tg)
			return
		}
		for one := range t.Keys() {
			r.key(one, r.target.Load())
		}
	case input.KindKey:
		r.key(t, tg)
	case input.KindMouse:
		r.mouse(t, tg)
	case input.KindFocusIn, input.KindFocusOut:
		r.ask(focusMsg{t.Kind == input.KindFocusIn})
	default:
		r.toPane(t, tg)
	}
}

func (r *router) key(t input.Token, tg *target) {
	if t.Kind == input.KindKey && t.Key.Event == input.Release && r.held[t.Key.Code] {
		delete(r.held, t.Key.Code) // its press was ours, so its release is too
		return
	}
	if t.Kind != input.KindKey || t.Key.Event == input.Release || t.Key.IsModifier() {
		r.toPane(t, tg) // Shift on its way to a key must not end the prefix
		return
	}
	name := t.Key.String()
	isPrefix := tg.keys.IsPrefix(name)
	repeats := tg.keys.Repeats(name)
	again := repeats && r.now().Before(r.again)
	r.again = time.Time{}
	switch {
	case isPrefix && r.prefixed && tg.pane != nil:
		r.prefixed = false
		r.ask(prefixMsg{false})
		delete(r.held, t.Key.Code)
		r.toPane(t, tg)
		return
	case isPrefix && !r.prefixed:
		r.prefixed = true
		r.ask(prefixMsg{true})
	case r.prefixed, again, tg.pane == nil:
		prefixed := r.prefixed || again
		r.prefixed = false
		if prefixed && repeats {
			r.again = r.now().Add(repeatTime)
		}
		r.ask(keyMsg{Key: t.Key, Prefixed: prefixed})
	default:
		if _, ours := tg.keys.Resolve(false, name); !ours {
			delete(r.held, t.Key.Code)
			r.toPane(t, tg)
			return
		}
		r.ask(keyMsg{Key: t.Key})
	}
	r.held[t.Key.Code] = true
}

// mouse gives a report to the program in the focused pane when that asked for
// it, and to the Model otherwise. Shift always means the Model. Whoever got the
// press of a button gets what follows until its release.
func (r *router) mouse(t input.Token, tg *target) {
	ev := t.Mouse.Cells(tg.cell.Width, tg.cell.Height)
	switch {
	case r.dragged != nil && ev.Action != input.ActionPress:
		pane := r.dragged
		if ev.Action == input.ActionRelease {
			r.dragged = nil
		}
		if pane == tg.pane {
			t.Mouse = ev.Clamp(tg.area)
			r.toPane(t, tg)
		}
		return
	case tg.pane == nil, ev.Mods&input.ModShift != 0, !inside(ev, tg.area):
	case tg.pane.Modes().Mouse == vt.MouseOff:
	default:
		if ev.Action == input.ActionPress && !ev.Button.Wheel() {
			r.dragged = tg.pane
		}
		r.toPane(t, tg)
		return
	}
	r.ask(mouseMsg{ev})
}

func inside(m input.Mouse, a input.Area) bool {
	return m.X >= a.X && m.X < a.X+a.W && m.Y >= a.Y && m.Y < a.Y+a.H
}

func (r *router) toPane(t input.Token, tg *target) {
	if tg.noted && (t.Kind == input.KindKey && t.Key.Event != input.Release && !t.Key.IsModifier() || t.Kind == input.KindText) {
		r.ask(typedMsg{})
	}
	if tg.pane != nil {
		r.pass(tg.pane, t, tg.outer, childModes(tg.pane.Modes(), tg.area, tg.cell))
	}
}

// pass appends the bytes a pane gets for a token.
func (r *router) pass(pane *session.Pane, t input.Token, outer input.OuterModes, child input.ChildModes) {
	if pane == nil {
		return
	}
	if pane != r.to {
		r.flush()
		r.to = pane
	}
	r.buf = input.Translate(r.buf, t, outer, child)
}

func (r *router) flush() {
	if r.to != nil && len(r.buf) > 0 {
		r.typed.Store(time.Now().UnixNano())
		_ = r.to.Input(r.buf) // a refusal is counted by the pane and shown by the Model
	}
	r.to, r.buf = nil, r.buf[:0]
}

// ask gives the Model a message and waits until it has acted on it, so that
// what was typed behind a key of ours meets the state that the key made.
func (r *router) ask(m ordered) {
	r.flush()
	done := make(chan struct{})
	r.send(m, done)
	select {
	case <-done:
	case <-r.stopping:
	}
}

// childModes are what a pane's modes mean for the encoding of input.
func childModes(m vt.Modes, area input.Area, cell vt.Pixels) input.ChildModes {
	return input.ChildModes{
		AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, BackspaceBS: m.BackspaceSendsBS,
		Newline: m.LineFeedNewline, BracketedPaste: m.BracketedPaste, Focus: m.FocusEvents,
		KittyFlags: int(m.KittyFlags), ModifyOtherKeys: int(m.ModifyOtherKeys),
		Mouse: mouseModes[m.Mouse], MouseEncoding: mouseEncodings[m.MouseEncoding],
		Area: area, CellW: cell.Width, CellH: cell.Height,
	}
}

var mouseModes = map[vt.MouseMode]input.MouseMode{
	vt.MouseX10: input.MouseX10, vt.MouseNormal: input.MouseClicks,
	vt.MouseButton: input.MouseDrags, vt.MouseAny: input.MouseAll,
}

var mouseEncodings = map[vt.MouseEncoding]input.MouseEncoding{
	vt.EncodingUTF8: input.MouseUTF8, vt.EncodingSGR: input.MouseSGR,
	vt.EncodingURXVT: input.MouseURXVT, vt.EncodingSGRPixels: input.MousePixels,
}
