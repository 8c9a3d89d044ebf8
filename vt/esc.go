package vt

// escDispatch carries out a complete ESC sequence.
func (t *Terminal) escDispatch(final byte) {
	q := &t.seq
	t.last = 0
	if q.broken {
		t.drop(DropUnknown)
		return
	}
	if q.nInter > 0 {
		t.escInter(final)
		return
	}
	switch final {
	case '7':
		t.decsc()
	case '8':
		t.decrc()
	case 'D': // IND
		t.pending, t.joinOK = false, false
		t.index()
	case 'M':
		t.reverseIndex()
	case 'E': // NEL
		t.pending = false
		t.index()
		t.carriageReturn()
	case 'H': // HTS
		t.tabs[t.col] = true
	case 'c':
		t.ris()
	case '=': // DECKPAM
		t.modes.set(modeAppKeypad, true)
		t.modeEvent()
	case '>': // DECKPNM
		t.modes.set(modeAppKeypad, false)
		t.modeEvent()
	case '6':
		t.decbi()
	case '9':
		t.decfi()
	case 'N': // SS2
		t.cs.single = 2
	case 'O': // SS3
		t.cs.single = 3
	case 'n': // LS2
		t.cs.gl = 2
	case 'o': // LS3
		t.cs.gl = 3
	case '~': // LS1R
		t.cs.gr = 1
	case '}': // LS2R
		t.cs.gr = 2
	case '|': // LS3R
		t.cs.gr = 3
	case 'V': // SPA
		t.protect = protection{on: true, iso: true}
		t.penOK = false
	case 'W': // EPA
		t.protect.on = false
		t.penOK = false
	case 'Z': // DECID
		t.da1()
	case '\\': // ST without a string
	default:
		t.drop(DropUnknown)
	}
}

// escInter is ESC with one or two intermediate bytes.
func (t *Terminal) escInter(final byte) {
	q := &t.seq
	switch q.inter[0] {
	case '#': // DECDHL, DECSWL and DECDWL are not known: all lines are single
		if final == '8' {
			t.decaln()
		} else {
			t.drop(DropUnknown)
		}
	case '%': // DOCS: the encoding is always UTF-8
	case ' ': // S7C1T, S8C1T, ANSI levels: replies are always 7-bit
	default:
		if !t.designate(q.inter, final) {
			t.drop(DropUnknown)
		}
	}
}

// ris resets everything that the program can set. RIS, ESC c. The history and
// the titles the host shows are the user's and stay.
func (t *Terminal) ris() {
	wasAlt := t.modes.has(modeAlt)
	t.hardReset()
	t.eraseRows(0, t.rows-1, false)
	if wasAlt {
		s := t.alt
		for r := range t.rows {
			s.wipe(r, 0)
		}
	}
	t.scr.dirtyRows(0, t.rows-1)
	t.modeEvent()
}
