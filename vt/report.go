package vt

import (
	"fmt"
	"strconv"
)

// da1 answers DA, CSI c: a VT500 with selective erase (6), horizontal scrolling
// (21), colour (22) and rectangular editing (28).
func (t *Terminal) da1() { t.reply("\x1b[?65;6;21;22;28c") }

// da2 answers DA2, CSI > c. Programs read the second number as an xterm version;
// from 277 on they use SGR mouse reports.
func (t *Terminal) da2() { t.reply("\x1b[>65;400;0c") }

// da3 answers DA3, CSI = c, with a unit id that spells hnst.
func (t *Terminal) da3() { t.reply("\x1bP!|686E7374\x1b\\") }

// xtversion answers XTVERSION, CSI > q.
func (t *Terminal) xtversion(n int) {
	if n != 0 {
		t.drop(DropUnknown)
		return
	}
	t.reply("\x1bP>|honestty(" + t.opt.Version + ")\x1b\\")
}

// dsr answers DSR, CSI n n.
func (t *Terminal) dsr(n int) {
	switch n {
	case 5:
		t.reply("\x1b[0n")
	case 6:
		r, c := t.reported()
		b := strconv.AppendInt(append(t.scratch[:0], "\x1b["...), int64(r), 10)
		b = strconv.AppendInt(append(b, ';'), int64(c), 10)
		t.scratch = append(b, 'R')
		t.replyBytes(t.scratch)
	default:
		t.drop(DropUnknown)
	}
}

// reported is the cursor as CPR tells it: from 1, in origin mode from the margins.
func (t *Terminal) reported() (r, c int) {
	r, c = int(t.row)+1, int(t.col)+1
	if t.modes.has(modeOrigin) {
		r -= int(t.m.top)
		c -= int(t.m.left)
	}
	return r, c
}

// dsrPrivate answers DSR, CSI ? n n. There is no printer, locator or macro here,
// and the reports say so.
func (t *Terminal) dsrPrivate(n int) {
	switch n {
	case 6:
		r, c := t.reported()
		t.reply(fmt.Sprintf("\x1b[?%d;%d;1R", r, c))
	case 15:
		t.reply("\x1b[?13n") // no printer
	case 25:
		t.reply("\x1b[?21n") // user keys locked
	case 26:
		t.reply("\x1b[?27;1;0;0n") // North American keyboard
	case 53, 55:
		t.reply("\x1b[?53n") // no locator
	case 56:
		t.reply("\x1b[?57;0n") // cannot identify a locator
	case 62:
		t.reply("\x1b[0*{") // no macro space
	case 63:
		t.reply(fmt.Sprintf("\x1bP%d!~0000\x1b\\", t.seq.raw(1, 0))) // no macros
	case 75:
		t.reply("\x1b[?70n") // data integrity: ready
	case 85:
		t.reply("\x1b[?83n") // not configured for sessions
	case 996:
		t.reportScheme()
	default:
		t.drop(DropUnknown)
	}
}

// decreqtparm answers DECREQTPARM, CSI n x, with the fixed values of a terminal
// that has no line speed.
func (t *Terminal) decreqtparm(n int) {
	if n > 1 {
		t.drop(DropUnknown)
		return
	}
	t.reply(fmt.Sprintf("\x1b[%d;1;1;128;128;1;0x", n+2))
}

// decrqm answers DECRQM: 1 set, 2 reset, 0 not known, 4 permanently reset.
func (t *Terminal) decrqm(n uint16, private bool) {
	if t.level < 63 {
		t.drop(DropUnknown)
		return
	}
	v := 0
	if on, ok := t.modeValue(n, private); ok {
		v = 2
		if on {
			v = 1
		}
	} else if !private && (n == 1 || n == 5 || n == 7 || n >= 10 && n <= 19) {
		v = 4 // ECMA-48 modes that no terminal implements
	}
	q := ""
	if private {
		q = "?"
	}
	t.reply(fmt.Sprintf("\x1b[%s%d;%d$y", q, n, v))
}

// decrqpsr answers DECRQPSR, CSI n $ w: 1 the cursor (DECCIR), 2 the tab stops
// (DECTABSR).
func (t *Terminal) decrqpsr(n int) {
	switch n {
	case 1:
		t.reply(t.deccir())
	case 2:
		b := []byte("\x1bP2$u")
		sep := false
		for c, on := range t.tabs {
			if !on {
				continue
			}
			if sep {
				b = append(b, '/')
			}
			sep = true
			b = strconv.AppendInt(b, int64(c)+1, 10)
		}
		t.reply(string(b) + "\x1b\\")
	default:
		t.drop(DropUnknown)
	}
}

// deccir describes the cursor as DEC STD 070 does.
func (t *Terminal) deccir() string {
	bit := func(b byte, on bool) byte {
		if on {
			return b
		}
		return 0
	}
	r, c := t.reported()
	sgr := '@' + bit(1, t.pen.Attrs&Bold != 0) + bit(2, t.pen.Underline != 0) +
		bit(4, t.pen.Attrs&Blink != 0) + bit(8, t.pen.Attrs&Inverse != 0)
	flags := '@' + bit(1, t.modes.has(modeOrigin)) + bit(2, t.cs.single == 2) +
		bit(4, t.cs.single == 3) + bit(8, t.pending)
	size := byte('@')
	sets := make([]byte, 0, 4)
	for i, g := range t.cs.g {
		size += bit(1<<i, g == csLatin1)
		sets = append(sets, g.designator()...)
	}
	return fmt.Sprintf("\x1bP1$u%d;%d;1;%c;%c;%c;%d;%d;%c;%s\x1b\\",
		r, c, sgr, '@'+bit(1, t.protect.on), flags, t.cs.gl, t.cs.gr, size, sets)
}

// xtwinops is XTWINOPS, CSI n ; ... t. Geometry is told where it is real, titles
// are stacked, and everything that would move, resize or reveal is refused.
func (t *Terminal) xtwinops() {
	q := &t.seq
	px := t.opt.CellPixels
	real := px.Width > 0 && px.Height > 0
	switch n := q.raw(0, 0); {
	case n == 14 && real:
		t.reply(fmt.Sprintf("\x1b[4;%d;%dt", px.Height*int(t.rows), px.Width*int(t.cols)))
	case n == 16 && real:
		t.reply(fmt.Sprintf("\x1b[6;%d;%dt", px.Height, px.Width))
	case n == 18:
		t.reply(fmt.Sprintf("\x1b[8;%d;%dt", t.rows, t.cols))
	case n == 20 || n == 21:
		t.drop(DropTitleReport)
	case n == 22:
		t.pushTitle()
	case n == 23:
		t.popTitle(q.raw(1, 0))
	default:
		t.drop(DropWindowOp)
	}
}

// reportSize is the report of mode 2048: rows, columns, and pixels where known.
func (t *Terminal) reportSize() {
	px := t.opt.CellPixels
	t.reply(fmt.Sprintf("\x1b[48;%d;%d;%d;%dt", t.rows, t.cols, px.Height*int(t.rows), px.Width*int(t.cols)))
}

// SetCellPixels tells the size of a cell. Under mode 2048 the change is reported.
func (t *Terminal) SetCellPixels(p Pixels) *Effects {
	t.begin()
	if p != t.opt.CellPixels {
		t.opt.CellPixels = p
		if t.modes.has(modeResize) {
			t.reportSize()
		}
	}
	return t.end()
}
