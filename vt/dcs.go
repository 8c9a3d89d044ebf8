package vt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// dcsDispatch carries out a complete DCS string.
func (t *Terminal) dcsDispatch(final byte, s []byte) {
	q := &t.seq
	if q.tooMany {
		t.drop(DropParams)
		return
	}
	inter := byte(0)
	if q.nInter == 1 {
		inter = q.inter[0]
	}
	switch {
	case q.broken || q.nInter > 1:
		t.drop(DropUnknown)
	case inter == '$' && final == 'q':
		t.decrqss(string(s))
	case inter == '+' && final == 'q':
		t.xtgettcap(s)
	case inter == '$' && final == 't':
		t.decrsps(s)
	case inter == 0 && (final == 'q' || final == 'p'):
		t.drop(DropImage) // sixel, ReGIS
	case inter == 0 && (final == '|' || final == '{'), inter == '!' && final == 'z':
		t.drop(DropUserKeys) // DECUDK, DECDLD, DECDMAC
	default:
		t.drop(DropUnknown)
	}
}

// decrqss answers DECRQSS, DCS $ q setting ST. An unknown setting gets the fixed
// negative answer; nothing of the request is repeated.
func (t *Terminal) decrqss(what string) {
	var v string
	switch what {
	case "m":
		v = string(appendSGR(nil, t.pen))
	case "r":
		v = fmt.Sprintf("%d;%d", t.m.top+1, t.m.bot+1)
	case "s":
		if !t.modes.has(modeMargins) {
			t.reply("\x1bP0$r\x1b\\")
			return
		}
		v = fmt.Sprintf("%d;%d", t.m.left+1, t.m.right+1)
	case " q":
		v = strconv.Itoa(int(t.shape.Param))
	case "\"q":
		v = "0"
		if t.protect.on && t.protect.dec {
			v = "1"
		}
	case "\"p":
		v = strconv.Itoa(int(t.level)) + ";1"
	case "t", "*|":
		v = strconv.Itoa(int(t.rows))
	case "$|":
		v = strconv.Itoa(int(t.cols))
	case "*x":
		v = "1"
		if t.rectExact {
			v = "2"
		}
	default:
		t.reply("\x1bP0$r\x1b\\")
		return
	}
	t.reply("\x1bP1$r" + v + what + "\x1b\\")
}

// capabilities are what XTGETTCAP tells, beside the counts of colours.
var capabilities = map[string]string{
	"TN":     "xterm-256color",
	"name":   "xterm-256color",
	"Co":     "256",
	"colors": "256",
	"RGB":    "8",
	"Tc":     "",
	"Su":     "",
	"Smulx":  "\x1b[4:%p1%dm",
	"Setulc": "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%dm",
	"Ss":     "\x1b[%p1%d q",
	"Se":     "\x1b[0 q",
	"Sync":   "\x1b[?2026%?%p1%{1}%-%tl%eh%;",
	"BE":     "\x1b[?2004h",
	"BD":     "\x1b[?2004l",
	"smcup":  "\x1b[?1049h",
	"rmcup":  "\x1b[?1049l",
}

// maxCapabilities bounds the names that one XTGETTCAP can ask.
const maxCapabilities = 64

// xtgettcap answers XTGETTCAP, DCS + q hex;hex ST: each known name with its value,
// both written by us. The first unknown one ends it with a negative answer.
func (t *Terminal) xtgettcap(s []byte) {
	for i, f := range bytes.Split(s, []byte{';'}) {
		name, err := hex.DecodeString(string(f))
		v, ok := capabilities[string(name)]
		if err != nil || !ok || i >= maxCapabilities {
			t.reply("\x1bP0+r\x1b\\")
			return
		}
		answer := hex.EncodeToString(name)
		if v != "" {
			answer += "=" + hex.EncodeToString([]byte(v))
		}
		t.reply("\x1bP1+r" + strings.ToUpper(answer) + "\x1b\\")
	}
}

// decrsps restores tab stops from a DECTABSR report. DECRSPS, DCS 2 $ t ... ST.
func (t *Terminal) decrsps(s []byte) {
	if t.seq.raw(0, 0) != 2 {
		t.drop(DropUnknown)
		return
	}
	clear(t.tabs)
	for f := range bytes.SplitSeq(s, []byte{'/'}) {
		if n, err := strconv.Atoi(string(f)); err == nil && n >= 1 && n <= len(t.tabs) {
			t.tabs[n-1] = true
		}
	}
}
