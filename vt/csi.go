package vt

// execute carries out a C0 control.
func (t *Terminal) execute(b byte) {
	switch b {
	case '\n', '\v', '\f':
		t.lineFeed()
	case '\r':
		t.carriageReturn()
	case '\b':
		t.cub(1)
	case '\t':
		t.tabForward(1)
		t.joinOK = false
	case 0x07:
		t.bells++
		return
	case 0x0E: // SO, LS1
		t.cs.gl = 1
	case 0x0F: // SI, LS0
		t.cs.gl = 0
	case 0x05: // ENQ
		t.drop(DropAnswerback)
		return
	default:
		return
	}
	t.last = 0
}

// csiDispatch carries out a complete CSI sequence.
func (t *Terminal) csiDispatch(final byte) {
	q := &t.seq
	if q.tooMany {
		t.drop(DropParams)
		return
	}
	if q.broken {
		t.drop(DropUnknown)
		return
	}
	if q.n == 0 {
		q.n, q.param[0] = 1, 0
	}
	last := t.last // REP looks at what came right before it
	t.last = 0
	switch {
	case q.prefix == 0 && q.nInter == 0:
		if final == 'b' {
			t.rep(last, q.arg(0, 1))
		} else {
			t.csiPlain(final)
		}
	case q.nInter == 0:
		t.csiPrefixed(q.prefix, final)
	case q.nInter == 1:
		t.csiInter(q.prefix, q.inter[0], final)
	default:
		t.drop(DropUnknown)
	}
}

// csiPlain is CSI without prefix and intermediates.
func (t *Terminal) csiPlain(final byte) {
	q := &t.seq
	switch final {
	case 'm':
		t.sgr()
	case 'H', 'f': // CUP, HVP
		t.moveTo(Row(q.arg(0, 1)-1), Col(q.arg(1, 1)-1))
	case 'A':
		t.cuu(q.arg(0, 1))
	case 'B':
		t.cud(q.arg(0, 1))
	case 'e': // VPR
		t.vpr(q.arg(0, 1))
	case 'C':
		t.cuf(q.arg(0, 1))
	case 'a': // HPR
		t.hpr(q.arg(0, 1))
	case 'D':
		t.cub(q.arg(0, 1))
	case 'E': // CNL
		t.cud(q.arg(0, 1))
		t.carriageReturn()
	case 'F': // CPL
		t.cuu(q.arg(0, 1))
		t.carriageReturn()
	case 'G', '`': // CHA, HPA
		t.cha(q.arg(0, 1))
	case 'd': // VPA
		t.vpa(q.arg(0, 1))
	case 'J':
		t.ed(q.raw(0, 0), false)
	case 'K':
		t.el(q.raw(0, 0), false)
	case 'X':
		t.ech(q.arg(0, 1))
	case '@':
		t.ich(q.arg(0, 1))
	case 'P':
		t.dch(q.arg(0, 1))
	case 'L':
		t.il(q.arg(0, 1))
	case 'M':
		t.dl(q.arg(0, 1))
	case 'S': // SU
		t.joinOK = false
		t.scrollUp(t.m.top, t.m.bot, q.arg(0, 1), true)
	case 'T', '^': // SD
		t.joinOK = false
		if q.n > 1 { // highlight tracking
			t.drop(DropUnknown)
			return
		}
		t.scrollDown(t.m.top, t.m.bot, q.arg(0, 1))
	case 'I':
		t.tabForward(q.arg(0, 1))
	case 'Z':
		t.tabBack(q.arg(0, 1))
	default:
		t.csiRare(final)
	}
}

// csiRare is the part of csiPlain that programs send seldom.
func (t *Terminal) csiRare(final byte) {
	q := &t.seq
	switch final {
	case 'h':
		t.sm(false, true)
	case 'l':
		t.sm(false, false)
	case 'r':
		t.decstbm(q.arg(0, 1), q.arg(1, int(t.rows)))
	case 's': // DECSLRM, or SCOSC
		if t.modes.has(modeMargins) {
			t.decslrm(q.arg(0, 1), q.arg(1, int(t.cols)))
		} else {
			t.decsc()
		}
	case 'u':
		t.decrc()
	case 'g':
		t.tbc(q.raw(0, 0))
	case 'c':
		t.da1()
	case 'n':
		t.dsr(q.raw(0, 0))
	case 't':
		t.xtwinops()
	case 'x':
		t.decreqtparm(q.raw(0, 0))
	case 'i': // MC
		t.drop(DropMedia)
	case 'q': // DECLL
	default:
		t.drop(DropUnknown)
	}
}

// csiPrefixed is CSI with one of < = > ?.
func (t *Terminal) csiPrefixed(prefix, final byte) {
	q := &t.seq
	switch uint16(prefix)<<8 | uint16(final) {
	case '?'<<8 | 'h':
		t.sm(true, true)
	case '?'<<8 | 'l':
		t.sm(true, false)
	case '?'<<8 | 'J':
		t.ed(q.raw(0, 0), true)
	case '?'<<8 | 'K':
		t.el(q.raw(0, 0), true)
	case '?'<<8 | 'n':
		t.dsrPrivate(q.raw(0, 0))
	case '?'<<8 | 'u':
		t.kittyQuery()
	case '?'<<8 | 'm':
		t.modifyQuery(q.raw(0, 0))
	case '?'<<8 | 's':
		t.xtsave()
	case '?'<<8 | 'r':
		t.xtrestore()
	case '?'<<8 | 'W': // DECST8C
		if q.raw(0, 0) == 5 {
			t.tabs = defaultTabs(t.tabs[:0], t.cols)
		} else {
			t.drop(DropUnknown)
		}
	case '?'<<8 | 'i':
		t.drop(DropMedia)
	case '?'<<8 | 'S': // XTSMGRAPHICS
		t.drop(DropImage)
	case '>'<<8 | 'c':
		t.da2()
	case '='<<8 | 'c':
		t.da3()
	case '>'<<8 | 'u':
		t.kittyPush(q.raw(0, 0))
	case '<'<<8 | 'u':
		t.kittyPop(q.arg(0, 1))
	case '='<<8 | 'u':
		t.kittySet(q.raw(0, 0), q.arg(1, 1))
	case '>'<<8 | 'm':
		t.modifyKeys()
	case '>'<<8 | 'n':
		t.modifyOff(q.raw(0, 0))
	case '>'<<8 | 'q':
		t.xtversion(q.raw(0, 0))
	default:
		t.drop(DropUnknown)
	}
}

// csiInter is CSI with one intermediate byte.
func (t *Terminal) csiInter(prefix, inter, final byte) {
	q := &t.seq
	if prefix != 0 {
		if prefix == '?' && inter == '$' && final == 'p' {
			t.decrqm(q.param[0], true)
		} else {
			t.drop(DropUnknown)
		}
		return
	}
	switch uint16(inter)<<8 | uint16(final) {
	case '!'<<8 | 'p':
		t.decstr()
	case ' '<<8 | 'q':
		t.decscusr(q.raw(0, 0))
	case ' '<<8 | '@':
		t.sl(q.arg(0, 1))
	case ' '<<8 | 'A':
		t.sl(-q.arg(0, 1))
	case '"'<<8 | 'q':
		t.decsca(q.raw(0, 0))
	case '"'<<8 | 'p':
		t.decscl(q.raw(0, 0))
	case '$'<<8 | 'p':
		t.decrqm(q.param[0], false)
	case '$'<<8 | 'w':
		t.decrqpsr(q.raw(0, 0))
	case '$'<<8 | 'v':
		t.deccra()
	case '$'<<8 | 'x':
		t.decfra()
	case '$'<<8 | 'z':
		t.decera(false)
	case '$'<<8 | '{':
		t.decera(true)
	case '$'<<8 | 'r':
		t.deccara(false)
	case '$'<<8 | 't':
		t.deccara(true)
	case '*'<<8 | 'x':
		t.decsace(q.raw(0, 0))
	case '*'<<8 | 'y':
		t.decrqcra()
	case '\''<<8 | '}':
		t.decic(q.arg(0, 1))
	case '\''<<8 | '~':
		t.decdc(q.arg(0, 1))
	case '$'<<8 | '|', '*'<<8 | '|': // DECSCPP, DECSNLS
		t.drop(DropColumns)
	default:
		t.drop(DropUnknown)
	}
}

// cha sets the column. CHA, CSI n G, and HPA.
func (t *Terminal) cha(n int) {
	c := Col(n - 1)
	if t.modes.has(modeOrigin) {
		c = min(c+t.m.left, t.m.right)
	}
	t.setPos(t.row, c)
}

// vpa sets the row. VPA, CSI n d.
func (t *Terminal) vpa(n int) {
	r := Row(n - 1)
	if t.modes.has(modeOrigin) {
		r = min(r+t.m.top, t.m.bot)
	}
	t.setPos(r, t.col)
}

// hpr and vpr move without regard to the margins. HPR, CSI n a. VPR, CSI n e.
func (t *Terminal) hpr(n int) { t.setPos(t.row, t.col+Col(n)) }
func (t *Terminal) vpr(n int) { t.setPos(t.row+Row(n), t.col) }

// decstbm sets the top and bottom margins and homes the cursor. DECSTBM, CSI t ; b r.
// A region of fewer than two rows is ignored.
func (t *Terminal) decstbm(top, bot int) {
	b := min(Row(bot-1), t.rows-1)
	a := Row(top - 1)
	if a >= b {
		return
	}
	t.m.top, t.m.bot = a, b
	t.moveTo(0, 0)
}

// decslrm sets the left and right margins and homes the cursor. DECSLRM, CSI l ; r s.
func (t *Terminal) decslrm(left, right int) {
	r := min(Col(right-1), t.cols-1)
	l := Col(left - 1)
	if l >= r {
		return
	}
	t.m.left, t.m.right = l, r
	t.moveTo(0, 0)
}

// sl moves the columns of the region left by n, or right by -n. SL, CSI n SP @.
// SR, CSI n SP A.
func (t *Terminal) sl(n int) {
	if t.inRegion() {
		t.shiftColumns(t.m.left, -n)
	}
}

// decsca turns protection of new characters on and off. DECSCA, CSI n " q.
func (t *Terminal) decsca(n int) {
	switch n {
	case 0, 2:
		t.protect.on = false
	case 1:
		t.protect = protection{on: true, dec: true}
	default:
		t.drop(DropUnknown)
		return
	}
	t.penOK = false
}

// decscusr sets the cursor's shape. DECSCUSR, CSI n SP q.
func (t *Terminal) decscusr(n int) {
	if n > 6 {
		t.drop(DropUnknown)
		return
	}
	t.shape.Param = uint8(n)
	t.shape.Blink = n == 0 || n%2 == 1
	t.modes.set(modeBlink, t.shape.Blink)
	t.shape.Shape = [...]Shape{ShapeBlock, ShapeBlock, ShapeBlock, ShapeUnderline, ShapeUnderline, ShapeBar, ShapeBar}[n]
}

// decstr resets modes and margins, and leaves the screen alone. DECSTR, CSI ! p.
func (t *Terminal) decstr() {
	for _, m := range []mode{
		modeInsert, modeOrigin, modeAppCursor, modeAppKeypad, modeMargins,
		modeRevWrap, modeRevWrapExt, modeNational,
	} {
		t.modes.set(m, false)
	}
	t.modes.set(modeCursor, true)
	t.modes.set(modeWrap, true)
	t.m = margins{0, t.rows - 1, 0, t.cols - 1}
	t.pen, t.protect = Style{}, protectOff
	t.cs = charsets{}
	t.penChanged()
	t.scr.saved = savedCursor{}
	t.scr.kitty = kittyKeys{}
	t.otherKeys = 0
	t.pending, t.joinOK = false, false
	t.modeEvent()
}

// decscl sets the conformance level. DECSCL, CSI n " p. It resets as DECSTR does.
// Below 63 there is no DECRQM, below 64 no DECLRMM, below 65 no DECNCSM.
func (t *Terminal) decscl(n int) {
	if n < 61 || n > 65 {
		t.drop(DropUnknown)
		return
	}
	t.decstr()
	t.level = uint8(n)
}
