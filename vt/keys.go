package vt

import (
	"slices"
	"strconv"
)

// kittyKeys is the stack of kitty keyboard flags of one screen.
type kittyKeys struct {
	now   uint8
	stack []uint8
}

func (k *kittyKeys) flags() uint8 { return k.now }

// kittyMask is the flags that the protocol defines.
const kittyMask = 1<<5 - 1

// kittyPush saves the flags and sets new ones. CSI > flags u.
func (t *Terminal) kittyPush(flags int) {
	k := &t.scr.kitty
	if len(k.stack) >= t.lim.KittyStack {
		t.drop(DropKittyStack)
		k.stack = slices.Delete(k.stack, 0, 1)
	}
	k.stack = append(k.stack, k.now)
	k.now = uint8(flags & kittyMask)
	t.modeEvent()
}

// kittyPop restores flags; popping more than there are resets them. CSI < n u.
func (t *Terminal) kittyPop(n int) {
	k := &t.scr.kitty
	if n > len(k.stack) {
		k.stack, k.now = k.stack[:0], 0
	} else {
		at := len(k.stack) - n
		k.now, k.stack = k.stack[at], k.stack[:at]
	}
	t.modeEvent()
}

// kittySet changes the flags in place: 1 replaces, 2 adds, 3 removes. CSI = flags ; how u.
func (t *Terminal) kittySet(flags, how int) {
	k := &t.scr.kitty
	f := uint8(flags & kittyMask)
	switch how {
	case 1:
		k.now = f
	case 2:
		k.now |= f
	case 3:
		k.now &^= f
	default:
		t.drop(DropUnknown)
		return
	}
	t.modeEvent()
}

func (t *Terminal) kittyQuery() {
	t.reply("\x1b[?" + strconv.Itoa(int(t.scr.kitty.now)) + "u")
}

// modifyKeys is XTMODKEYS, CSI > 4 ; level m. Other resources are not kept.
func (t *Terminal) modifyKeys() {
	q := &t.seq
	if q.given == 0 {
		t.otherKeys = 0
		t.modeEvent()
		return
	}
	if q.raw(0, 0) != 4 {
		t.drop(DropUnknown)
		return
	}
	level := q.raw(1, 0)
	if level > 3 {
		t.drop(DropUnknown)
		return
	}
	t.otherKeys = uint8(level)
	t.modeEvent()
}

// modifyOff is CSI > 4 n.
func (t *Terminal) modifyOff(n int) {
	if n != 4 {
		t.drop(DropUnknown)
		return
	}
	t.otherKeys = 0
	t.modeEvent()
}

// modifyQuery is XTQMODKEYS, CSI ? 4 m.
func (t *Terminal) modifyQuery(n int) {
	if n != 4 {
		t.drop(DropUnknown)
		return
	}
	t.reply("\x1b[>4;" + strconv.Itoa(int(t.otherKeys)) + "m")
}

// xtsave and xtrestore keep and bring back private modes. CSI ? n s and r.
func (t *Terminal) xtsave() {
	for i := range t.seq.n {
		n := t.seq.param[i]
		if v, ok := t.modeValue(n, true); ok {
			if t.saveModes == nil {
				t.saveModes = map[uint16]bool{}
			}
			t.saveModes[n] = v
		}
	}
}

func (t *Terminal) xtrestore() {
	for i := range t.seq.n {
		n := t.seq.param[i]
		if v, ok := t.saveModes[n]; ok {
			t.setPrivate(n, v)
		}
	}
	t.modeEvent()
}

// modeValue returns the state of a mode by its number.
func (t *Terminal) modeValue(n uint16, private bool) (on, known bool) {
	if private {
		switch n {
		case 9, 1000, 1002, 1003:
			return t.modes.mouse == MouseMode(n), true
		case 1005, 1006, 1015, 1016:
			return t.modes.encoding == MouseEncoding(n), true
		case 47, 1047, 1049:
			return t.modes.has(modeAlt), true
		}
		n |= decPrivate
	}
	m, ok := modeOf(n)
	return ok && t.modes.has(m), ok
}
