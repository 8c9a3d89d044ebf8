package input

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Translate appends what the child gets for a token: the bytes exactly as they
// came, re-encoded only where the child's modes differ from the outer
// terminal's. It appends nothing for what the child did not ask for (focus,
// mouse, releases, paste markers), for a key its modes cannot spell, and for
// any reply of the outer terminal.
//
// A paste is one thing: from PasteStart to PasteEnd all tokens go to the same
// child under the modes it had at PasteStart, or it sees half a marker pair.
func Translate(dst []byte, t Token, outer OuterModes, child ChildModes) []byte {
	switch t.Kind {
	case KindReply:
		return dst
	case KindFocusIn, KindFocusOut:
		if !child.Focus {
			return dst
		}
	case KindPasteStart, KindPasteEnd:
		if !child.BracketedPaste {
			return dst
		}
	case KindMouse:
		a := child.Area
		return EncodeMouse(dst, t.Mouse, child, a.X, a.Y, a.W, a.H)
	case KindText:
		if child.KittyFlags&KittyAllKeys == 0 {
			break
		}
		for key := range t.Keys() {
			dst = translateKey(dst, key, outer, child)
		}
		return dst
	case KindKey:
		return translateKey(dst, t, outer, child)
	}
	return append(dst, t.Bytes...)
}

// translateKey re-encodes a key when a terminal in the child's modes would
// spell it otherwise than one in the outer modes, or when the spelling that
// came is one the child never asked for.
func translateKey(dst []byte, t Token, outer OuterModes, child ChildModes) []byte {
	k := t.Key
	if k.Event == Release && child.KittyFlags&KittyEvents == 0 {
		return dst
	}
	foreign := k.Form == FormKitty && child.KittyFlags == 0 ||
		k.Form == FormOther && child.KittyFlags == 0 && child.ModifyOtherKeys == 0
	if !foreign {
		var a, b [128]byte
		if bytes.Equal(EncodeKey(a[:0], k, child), EncodeKey(b[:0], k, outer.keys())) {
			return append(dst, t.Bytes...)
		}
	}
	return EncodeKey(dst, k, child)
}

// EncodeMouse appends the report of a mouse event for a child whose pane of
// paneW × paneH cells begins at cell offX, offY of the outer screen. It returns
// dst as it was, so nil for nil, when the child did not ask for the event, its
// encoding cannot say it, or the event lies outside. Mouse.Clamp brings a drag
// that left the pane back to its edge.
func EncodeMouse(dst []byte, ev Mouse, m ChildModes, offX, offY, paneW, paneH int) []byte {
	px, py, inPixels := ev.X-offX*m.CellW, ev.Y-offY*m.CellH, ev.Pixels
	ev = ev.Cells(m.CellW, m.CellH)
	x, y := ev.X-offX, ev.Y-offY
	if ev.Pixels || x < 0 || y < 0 || x >= paneW || y >= paneH || !wants(m.Mouse, ev) {
		return dst
	}
	if m.Mouse == MouseX10 {
		ev.Mods = 0
	}
	switch m.MouseEncoding {
	case MousePixels:
		if m.CellW <= 0 || m.CellH <= 0 {
			return dst
		}
		if !inPixels { // the middle of the cell is the best guess
			px, py = x*m.CellW+m.CellW/2, y*m.CellH+m.CellH/2
		}
		return appendSGR(dst, ev, px, py)
	case MouseSGR:
		return appendSGR(dst, ev, x, y)
	case MouseURXVT:
		dst = appendNumbers(dst, "\x1b[", ev.number(true)+wireOffset)
		dst = appendNumbers(dst, ";", x+1)
		return append(appendNumbers(dst, ";", y+1), 'M')
	}
	return appendMouseBytes(dst, ev.number(true), x, y, m.MouseEncoding == MouseUTF8)
}

// wants reports whether a mode reports the event.
func wants(mode MouseMode, ev Mouse) bool {
	switch ev.Action {
	case ActionPress:
		return mode >= MouseClicks || mode == MouseX10 && ev.Button >= ButtonLeft && ev.Button <= ButtonRight
	case ActionRelease:
		return mode >= MouseClicks
	case ActionMotion:
		return mode == MouseAll || mode == MouseDrags && ev.Button != ButtonNone
	}
	return false
}

func appendSGR(dst []byte, ev Mouse, x, y int) []byte {
	final := byte('M')
	if ev.Action == ActionRelease {
		final = 'm'
	}
	dst = appendNumbers(dst, "\x1b[<", ev.number(false))
	dst = strconv.AppendInt(append(dst, ';'), int64(x)+1, 10)
	dst = strconv.AppendInt(append(dst, ';'), int64(y)+1, 10)
	return append(dst, final)
}

// appendMouseBytes writes CSI M and three numbers plus 32, as bytes or as
// UTF-8. Positions that do not fit are not reported, as in xterm.
func appendMouseBytes(dst []byte, b, x, y int, wide bool) []byte {
	limit := 0xFF
	if wide {
		limit = 0x7FF
	}
	nums := [...]int{b + wireOffset, x + 1 + wireOffset, y + 1 + wireOffset}
	if max(nums[0], nums[1], nums[2]) > limit {
		return dst
	}
	dst = append(dst, "\x1b[M"...)
	for _, n := range nums {
		if wide {
			dst = utf8.AppendRune(dst, rune(n))
		} else {
			dst = append(dst, byte(n))
		}
	}
	return dst
}
