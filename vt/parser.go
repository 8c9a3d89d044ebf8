package vt

// maxParams is the number of parameters a CSI or DCS can carry. xterm keeps 30,
// libvterm 16; nothing in use sends more than 20.
const maxParams = 32

// A sequence is the ESC, CSI or DCS being collected.
type sequence struct {
	param   [maxParams]uint16 // clamped to 65535; 0 when empty
	given   uint32            // bit i: parameter i has at least one digit
	colon   uint32            // bit i: parameter i follows a colon, so it is part of the one before
	n       int               // parameters, the one being collected included; 0 when none began
	prefix  byte              // one of < = > ?, or 0
	inter   [2]byte           // intermediate bytes
	nInter  int
	tooMany bool // more than maxParams parameters
	broken  bool // more than two intermediates
}

func (q *sequence) clear() {
	// param is not cleared: entries at and past n are never read.
	q.given, q.colon, q.n, q.prefix, q.nInter = 0, 0, 0, 0, 0
	q.inter = [2]byte{}
	q.tooMany, q.broken = false, false
}

// add takes one byte of a parameter list: a digit, a semicolon or a colon.
func (q *sequence) add(b byte) {
	if q.n == 0 {
		q.n, q.param[0] = 1, 0
	}
	if b >= ';' || b == ':' {
		if q.n == maxParams {
			q.tooMany = true
			return
		}
		q.param[q.n] = 0
		if b == ':' {
			q.colon |= 1 << q.n
		}
		q.n++
		return
	}
	if q.tooMany {
		return
	}
	i := q.n - 1
	q.given |= 1 << i
	q.param[i] = uint16(min(uint32(q.param[i])*10+uint32(b-'0'), 65535))
}

func (q *sequence) collect(b byte) {
	if q.nInter == len(q.inter) {
		q.broken = true
		return
	}
	q.inter[q.nInter] = b
	q.nInter++
}

// arg returns parameter i, or def when it is absent or 0. Most counts read 0 as 1.
func (q *sequence) arg(i, def int) int {
	if i >= q.n || q.param[i] == 0 {
		return def
	}
	return int(q.param[i])
}

// raw returns parameter i, or def when it is absent. 0 stays 0.
func (q *sequence) raw(i, def int) int {
	if i >= q.n || q.given&(1<<i) == 0 {
		return def
	}
	return int(q.param[i])
}

// A parser is the part of a Terminal that turns bytes into actions.
type parser struct {
	state  state
	seq    sequence
	str    []byte // body of the string being collected, bounded by Limits.StringBytes
	strIn  state  // the state a string was in when ESC arrived
	strTop byte   // which string: ']' OSC, 'P' DCS, 'X' SOS, '^' PM, '_' APC
	final  byte   // final byte of a DCS header
	long   bool   // the string passed its limit and will be dropped

	carry  [4]byte // start of a UTF-8 character that the last Write ended in
	nCarry int

	bytewise bool // tests only: take every byte through the table
}

// Write feeds bytes to the terminal and returns what the host has to do. It
// never fails: input that means nothing is counted, and the rest goes on.
func (t *Terminal) Write(p []byte) *Effects {
	t.begin()
	t.feed(p)
	return t.end()
}

func (t *Terminal) feed(p []byte) {
	i := 0
	if t.nCarry > 0 {
		i = t.resumeRune(p)
	}
	for i < len(p) {
		if t.bytewise && t.state != ground {
			i = t.step(p, i)
			continue
		}
		switch t.state {
		case ground:
			i = t.feedGround(p, i)
		case csiEntry, csiParam:
			i = t.feedCSI(p, i)
		case oscString, dcsPass, sosString:
			i = t.feedString(p, i)
		default:
			i = t.step(p, i)
		}
	}
}

// step takes the byte p[i] through the table and returns the next index.
func (t *Terminal) step(p []byte, i int) int {
	b := p[i]
	e := table[t.state][b]
	was := t.state
	t.state = e.next
	switch e.do {
	case actPrint:
		return t.printFrom(p, i)
	case actExecute:
		t.execute(b)
	case actClear:
		t.seq.clear()
		if b == 'P' {
			t.startString('P')
		}
	case actCollect:
		t.seq.collect(b)
	case actPrefix:
		t.seq.prefix = b
	case actParam:
		t.seq.add(b)
	case actEscDispatch:
		t.escDispatch(b)
	case actCsiDispatch:
		t.csiDispatch(b)
	case actCsiBroken:
		t.drop(DropUnknown)
	case actAbort:
		if was != csiIgnore {
			t.drop(DropUnknown)
		}
		return i
	case actCancel:
		if was >= oscString {
			t.abortString()
		}
	case actOscStart, actSosStart:
		t.startString(b)
	case actDcsStart:
		t.final = b
	case actPut:
		t.put(p[i : i+1])
	case actStringEnd:
		t.endString(true)
	case actStringEsc:
		t.strIn = was
	case actStringST:
		t.endString(false)
	case actStringBreak:
		t.abortString()
		t.seq.clear()
		return i
	}
	return i + 1
}

// feedGround takes text and controls until a sequence begins or p ends.
func (t *Terminal) feedGround(p []byte, i int) int {
	for i < len(p) {
		switch b := p[i]; {
		case b == 0x1B:
			t.seq.clear()
			t.state = escape
			i++
			if i == len(p) || p[i] != '[' || t.bytewise {
				return i
			}
			t.state = csiEntry
			if i = t.feedCSI(p, i+1); t.state != ground {
				return i
			}
		case b == '\n': // as execute, for what every line ends in
			t.lineFeed()
			t.last = 0
			i++
		case b == '\r':
			t.carriageReturn()
			t.last = 0
			i++
		case b < 0x20:
			t.execute(b)
			i++
		case b == 0x7F:
			i++
		default:
			i = t.printFrom(p, i)
		}
	}
	return i
}

// printFrom prints the text at p[i] and returns the index after it: a run of
// ASCII, or one character of several bytes.
func (t *Terminal) printFrom(p []byte, i int) int {
	if p[i] < 0x80 {
		if t.bytewise {
			p = p[:i+1]
		}
		return t.printASCII(p, i)
	}
	return t.printUTF8(p, i)
}

// feedCSI is the table's csiEntry and csiParam. A sequence that lies whole in p
// and holds only a prefix, parameters and a final byte, as nearly all do, is read
// at once; any other goes byte by byte through the table.
func (t *Terminal) feedCSI(p []byte, i int) int {
	if t.state != csiEntry {
		return t.step(p, i)
	}
	q := &t.seq
	j, n := i, 0
	if j < len(p) && p[j] >= '<' && p[j] <= '?' {
		q.prefix = p[j]
		j++
	}
	var given, colon uint32
	bit := uint32(1) // of parameter n
	for j < len(p) {
		v, start := uint32(0), j
		for ; j < len(p) && p[j]-'0' <= 9; j++ {
			v = v*10 + uint32(p[j]-'0')
		}
		if j == len(p) || j-start > 4 {
			break
		}
		if j > start {
			given |= bit
		}
		q.param[n] = uint16(v)
		b := p[j]
		j++
		if b == ';' || b == ':' {
			bit <<= 1
			if n++; n == maxParams {
				break
			}
			if b == ':' {
				colon |= bit
			}
			continue
		}
		if b < 0x40 || b >= 0x7F {
			break
		}
		q.n, q.given, q.colon = n+1, given, colon
		t.state = ground
		if b == 'm' && q.prefix == 0 {
			t.last = 0
			t.sgr()
		} else {
			t.csiDispatch(b)
		}
		return j
	}
	return t.stepCSI(p, i)
}

// stepCSI takes a sequence through the table, from the byte after CSI on, until
// it ends or p does.
func (t *Terminal) stepCSI(p []byte, i int) int {
	t.seq.clear()
	for i < len(p) && (t.state == csiEntry || t.state == csiParam) {
		i = t.step(p, i)
	}
	return i
}

// feedString collects a run of string bytes at once.
func (t *Terminal) feedString(p []byte, i int) int {
	n := i
	if t.state == oscString {
		for n < len(p) && p[n] >= 0x20 {
			n++
		}
	} else {
		for n < len(p) && p[n] != 0x1B && p[n] != 0x18 && p[n] != 0x1A {
			n++
		}
	}
	if n == i {
		return t.step(p, i)
	}
	t.put(p[i:n])
	return n
}

func (t *Terminal) startString(top byte) {
	t.str = t.str[:0]
	t.strTop, t.long, t.final = top, false, 0
}

func (t *Terminal) put(b []byte) {
	if t.long {
		return
	}
	if len(t.str)+len(b) > t.lim.StringBytes {
		t.long = true
		t.str = nil
		return
	}
	t.str = append(t.str, b...)
}

// abortString drops a string that was cut off.
func (t *Terminal) abortString() {
	t.drop(DropAborted)
	t.freeString()
}

// endString hands a complete string to its handler. bel tells that BEL ended it,
// so that an answer can end the same way.
func (t *Terminal) endString(bel bool) {
	switch {
	case t.long:
		t.drop(DropString)
	case t.strTop == ']':
		t.oscDispatch(t.str, bel)
	case t.strTop == 'P' && t.final != 0:
		t.dcsDispatch(t.final, t.str)
	case t.strTop == 'P':
		if t.strIn != dcsIgnore { // counted when it broke
			t.drop(DropUnknown)
		}
	case t.strTop == '_' && len(t.str) > 0 && t.str[0] == 'G':
		t.drop(DropImage)
	default:
		t.drop(DropUnknown)
	}
	t.freeString()
}

// freeString keeps a small buffer for the next string and gives a large one back.
func (t *Terminal) freeString() {
	t.str = t.str[:0]
	if cap(t.str) > 64<<10 {
		t.str = nil
	}
}
