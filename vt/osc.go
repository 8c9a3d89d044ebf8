package vt

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// oscDispatch carries out a complete OSC string. bel tells how it ended, so that
// an answer can end the same way.
func (t *Terminal) oscDispatch(s []byte, bel bool) {
	num, rest, _ := bytes.Cut(s, []byte{';'})
	n, err := strconv.Atoi(string(num))
	if err != nil || len(num) > 5 || num[0] < '0' {
		t.drop(DropUnknown)
		return
	}
	switch n {
	case 0:
		t.setTitle(rest, true, true)
	case 1:
		t.setTitle(rest, true, false)
	case 2:
		t.setTitle(rest, false, true)
	case 4:
		t.oscPalette(rest, bel)
	case 7:
		t.cwd = t.clean(rest, t.lim.LinkBytes)
		t.event(EventCwd, t.cwd, 0)
	case 8:
		t.oscLink(rest)
	case 9:
		t.oscNine(rest)
	case 10, 11, 12:
		t.oscDynamic(n, rest, bel)
	case 50:
		t.drop(DropFont)
	case 52:
		t.oscClipboard(rest)
	case 104:
		t.oscResetPalette(rest)
	case 110, 111, 112:
		t.palette.dynamic[n-110] = dynamicColor{}
		t.event(EventPalette, strconv.Itoa(n-100), 0)
	case 133:
		t.oscMark(rest)
	case 777:
		t.oscNotify(rest)
	case 1337:
		if bytes.HasPrefix(rest, []byte("File=")) || bytes.HasPrefix(rest, []byte("MultipartFile=")) {
			t.drop(DropImage)
		} else {
			t.drop(DropUnknown)
		}
	default:
		t.drop(DropUnknown)
	}
}

// clean returns s as text that is safe to show: valid UTF-8, without C0, DEL and
// C1, and at most limit runes.
func (t *Terminal) clean(s []byte, limit int) string {
	var b strings.Builder
	n := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		s = s[size:]
		if r < 0x20 || r >= 0x7F && r < 0xA0 {
			continue
		}
		if n == limit {
			t.drop(DropTitle)
			break
		}
		n++
		b.WriteRune(r)
	}
	return b.String()
}

func (t *Terminal) setTitle(s []byte, icon, title bool) {
	text := t.clean(s, t.lim.TitleRunes)
	if icon {
		t.icon = text
		t.event(EventIcon, text, 0)
	}
	if title {
		t.title = text
		t.event(EventTitle, text, 0)
	}
}

// oscLink opens or closes a hyperlink. OSC 8 ; params ; target.
func (t *Terminal) oscLink(s []byte) {
	params, uri, ok := bytes.Cut(s, []byte{';'})
	if !ok {
		t.drop(DropBadString)
		return
	}
	t.penOK = false
	t.pen.Link = 0
	if len(uri) == 0 {
		return
	}
	k := link{uri: t.clean(uri, t.lim.LinkBytes)}
	if len(uri) > t.lim.LinkBytes || len(k.uri) != len(uri) {
		t.drop(DropLink)
		return
	}
	for p := range bytes.SplitSeq(params, []byte{':'}) {
		if id, ok := bytes.CutPrefix(p, []byte("id=")); ok && len(id) <= 250 {
			k.id = t.clean(id, 250)
		}
	}
	if t.pen.Link = t.openLink(k); t.pen.Link == 0 {
		t.drop(DropLink)
	}
}

// oscNine is progress, OSC 9 ; 4 ; state ; percent, or a notification, OSC 9 ; text.
func (t *Terminal) oscNine(s []byte) {
	if rest, ok := bytes.CutPrefix(s, []byte("4;")); ok {
		st, pc, _ := strings.Cut(string(rest), ";")
		n, _ := strconv.Atoi(pc)
		if len(st) != 1 || st[0] < '0' || st[0] > '4' {
			t.drop(DropBadString)
			return
		}
		t.event(EventProgress, st, min(max(n, 0), 100))
		return
	}
	t.event(EventNotify, t.clean(s, t.lim.TitleRunes), 0)
}

// oscNotify is OSC 777 ; notify ; title ; body.
func (t *Terminal) oscNotify(s []byte) {
	rest, ok := bytes.CutPrefix(s, []byte("notify;"))
	if !ok {
		t.drop(DropUnknown)
		return
	}
	title, body, _ := bytes.Cut(rest, []byte{';'})
	t.event(EventNotify, t.clean(title, t.lim.TitleRunes)+"\n"+t.clean(body, t.lim.TitleRunes), 0)
}

// oscClipboard is OSC 52 ; selections ; base64. A write is the host's to decide
// on. A read is refused: it would hand the user's clipboard to the program.
func (t *Terminal) oscClipboard(s []byte) {
	sel, data, ok := bytes.Cut(s, []byte{';'})
	if !ok {
		t.drop(DropBadString)
		return
	}
	if string(data) == "?" {
		t.drop(DropClipboard)
		return
	}
	text, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		if text, err = base64.RawStdEncoding.DecodeString(string(data)); err != nil {
			t.drop(DropBadString)
			return
		}
	}
	primary := 0
	if len(sel) > 0 && !bytes.ContainsAny(sel, "cs") && bytes.IndexByte(sel, 'p') >= 0 {
		primary = 1
	}
	t.event(EventOSC52, string(text), primary)
}

// oscMark is OSC 133, which shells send around prompts: A prompt, B input, C
// output, D end with the exit code.
func (t *Terminal) oscMark(s []byte) {
	kind, rest, _ := strings.Cut(string(s), ";")
	m := t.scr.metaOf(t.row)
	exit := -1
	switch kind {
	case "A", "N", "P":
		m.marks |= markPrompt
		t.sem = semBits(SemanticPrompt)
	case "B", "I":
		m.marks |= markInput
		t.sem = semBits(SemanticInput)
	case "C":
		m.marks |= markOutput
		t.sem = semBits(SemanticOutput)
	case "D":
		code, _, _ := strings.Cut(rest, ";")
		if n, err := strconv.ParseInt(code, 10, 32); err == nil {
			exit = int(n)
		}
		m.marks |= markEnd
		m.exit = int32(exit)
		t.sem = 0
	case "L":
		if t.col > 0 {
			t.carriageReturn()
			t.index()
		}
		return
	default:
		t.drop(DropUnknown)
		return
	}
	t.penOK = false
	t.event(EventMark, kind, exit)
}
