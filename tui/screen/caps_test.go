package screen

import (
	"regexp"
	"strings"
	"testing"

	"github.com/honestty/honestty/vt"
)

// environ makes a lookup out of NAME=value words.
func environ(words string) func(string) string {
	vars := make(map[string]string)
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		vars[name] = value
	}
	return func(name string) string { return vars[name] }
}

func TestDetectReadsTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		env   string
		depth Depth
		utf8  bool
		links bool
		bce   bool
	}{
		{"", NoColor, false, false, false},
		{"TERM=dumb LANG=en_US.UTF-8", NoColor, true, false, false},
		{"TERM=xterm LANG=de_DE.utf8", Color16, true, false, false},
		{"TERM=xterm-256color LC_ALL=C LANG=en_US.UTF-8", Color256, false, false, false},
		{"TERM=xterm-256color LC_CTYPE=C.UTF-8 COLORTERM=truecolor", TrueColor, true, false, false},
		{"TERM=xterm-kitty LANG=C.UTF-8", TrueColor, true, true, true},
		{"TERM=linux LANG=C.UTF-8", Color16, true, false, true},
		{"TERM=xterm-mono", NoColor, false, false, false},
		{"TERM=screen.xterm-256color COLORTERM=truecolor", Color256, false, false, false},
		{"TERM=screen-256color TMUX=/tmp/s,1,0 TERM_PROGRAM=tmux", Color256, false, true, false},
		{"TERM=tmux-256color TMUX=/tmp/s,1,0 COLORTERM=truecolor", TrueColor, false, true, false},
		{"TERM=xterm-256color TERM_PROGRAM=iTerm.app", TrueColor, false, true, true},
		{"TERM=xterm-256color TERM_PROGRAM=Apple_Terminal", Color256, false, false, true},
		{"TERM=xterm-256color VTE_VERSION=7006", TrueColor, false, true, true},
		{"TERM=xterm-256color VTE_VERSION=4600", Color256, false, false, false},
		{"TERM=xterm-direct", TrueColor, false, false, false},
		{"TERM=xterm-kitty COLORTERM=truecolor NO_COLOR=1", NoColor, false, true, true},
		{"TERM=xterm NO_COLOR=", Color16, false, false, false},
		{"TERM=xterm CLICOLOR=0", NoColor, false, false, false},
		{"TERM=xterm CLICOLOR=0 CLICOLOR_FORCE=1", Color16, false, false, false},
		{"TERM=xterm NO_COLOR=1 CLICOLOR_FORCE=1", NoColor, false, false, false},
	} {
		c := Detect(environ(tt.env))
		if c.Depth != tt.depth || c.UTF8 != tt.utf8 || c.Links != tt.links || c.BCE != tt.bce {
			t.Errorf("%q gave %+v", tt.env, c)
		}
		if c.Sync || c.Kitty || c.Graphemes || c.HasBG {
			t.Errorf("%q assumes what only a reply can say: %+v", tt.env, c)
		}
	}
}

func TestRepliesCorrectCaps(t *testing.T) {
	c := Detect(environ("TERM=xterm-256color LANG=C.UTF-8"))
	for _, reply := range []string{
		"\x1bP>|WezTerm 20240203\x1b\\", "\x1b[?0u", "\x1b[?2026;2$y", "\x1b[?2027;1$y",
		"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "\x1b[?62;22;52c",
	} {
		if !c.Reply([]byte(reply)) {
			t.Errorf("%q was not understood", reply)
		}
	}
	want := Caps{
		Name: "WezTerm 20240203", Depth: TrueColor, UTF8: true, Sync: true, Graphemes: true, ClustersOn: true,
		Underlines: true, ULColor: true, Links: true, Kitty: true, BCE: true,
		Background: [3]uint8{0x1e, 0x1e, 0x2e}, HasBG: true, Answered: true, term: "xterm-256color",
	}
	if c != want {
		t.Errorf("caps %+v, want %+v", c, want)
	}
	if !c.Dark() {
		t.Error("a dark background is not dark")
	}
}

func TestARefusedModeIsNotUsed(t *testing.T) {
	for _, state := range []string{"0", "3", "4"} {
		var c Caps
		if !c.Reply([]byte("\x1b[?2026;"+state+"$y")) || c.Sync {
			t.Errorf("state %s: %+v", state, c)
		}
	}
}

func TestACutOrForeignReplyChangesNothing(t *testing.T) {
	whole := []string{
		"\x1bP>|foot(1.16)\x1b\\", "\x1b[?5u", "\x1b[?2026;2$y", "\x1b]11;rgb:ff/ff/ff\a", "\x1b[?62;22c",
	}
	for _, reply := range whole {
		for n := range len(reply) {
			var c Caps
			if c.Reply([]byte(reply[:n])) || c != (Caps{}) {
				t.Errorf("the cut reply %q gave %+v", reply[:n], c)
			}
		}
	}
	for _, reply := range []string{"a", "\x1b[A", "\x1b[?1;2R", "\x1b]11;?\a", "\x1b]11;rgb:1/2\a", "\x1b]10;rgb:1/2/3\a", "\x1b[?2004;1$y", "\x1b[?2026$y", "\x1bP>|\x1b\\"} {
		var c Caps
		if c.Reply([]byte(reply)) || c != (Caps{}) {
			t.Errorf("%q gave %+v", reply, c)
		}
	}
}

func TestBackgroundChannelsAreScaled(t *testing.T) {
	for reply, want := range map[string][3]uint8{
		"\x1b]11;rgb:f/0/8\a":                  {255, 0, 136},
		"\x1b]11;rgb:ff/00/80\x1b\\":           {255, 0, 128},
		"\x1b]11;rgba:ffff/0000/8080/ffff\x07": {255, 0, 128},
		"\x1b]11;#ff0080\a":                    {255, 0, 128},
	} {
		var c Caps
		if !c.Reply([]byte(reply)) || c.Background != want {
			t.Errorf("%q gave %v, want %v", reply, c.Background, want)
		}
	}
}

func TestQueriesEndWithDA1AndSpareTheConsole(t *testing.T) {
	c := Detect(environ("TERM=xterm-256color"))
	if q := string(c.Queries()); !strings.HasSuffix(q, "\x1b[c") || !strings.Contains(q, "?2026$p") {
		t.Errorf("queries %q", q)
	}
	c = Detect(environ("TERM=linux"))
	if q := string(c.Queries()); q != "\x1b[c" {
		t.Errorf("the console is asked %q", q)
	}
	c = Detect(environ("TERM=dumb"))
	if q := c.Queries(); len(q) != 0 {
		t.Errorf("a dumb terminal is asked %q", q)
	}
	c = Detect(environ("TERM=xterm-256color TERM_PROGRAM=Apple_Terminal"))
	if q := string(c.Queries()); strings.Contains(q, "$p") {
		t.Errorf("Terminal.app, which prints DECRQM, is asked %q", q)
	}
}

// sgrColor matches any SGR that sets a colour.
var sgrColor = regexp.MustCompile(`\x1b\[[0-9;:]*\b(3[0-8]|4[0-8]|58|9[0-7]|10[0-7])\b[0-9;:]*m`)

func TestNoColorEmitsNoColourAtAll(t *testing.T) {
	s := New(40, 3, Detect(environ("TERM=xterm-kitty COLORTERM=truecolor NO_COLOR=1")))
	s.SetText(0, 0, 40, "styled", vt.Style{
		FG: vt.RGB(1, 2, 3), BG: vt.Indexed(200), UL: vt.Indexed(9),
		Underline: vt.UnderlineCurly, Attrs: vt.Bold | vt.Inverse,
	})
	s.DrawANSI(0, 1, 40, "\x1b[38;2;9;8;7;41mchrome\x1b[m")
	out := string(s.Diff(nil))
	if m := sgrColor.FindString(out); m != "" {
		t.Errorf("wrote the colour %q", m)
	}
	if !strings.Contains(out, "\x1b[1;7;4:3m") {
		t.Errorf("attributes are missing in %q", out)
	}
}

func TestSixteenColoursAreNearestAndReadable(t *testing.T) {
	var p converter
	for _, tt := range []struct {
		rgb  [3]uint8
		want uint8
	}{
		{[3]uint8{250, 5, 5}, 9},
		{[3]uint8{200, 10, 10}, 1},
		{[3]uint8{0, 0, 0}, 0},
		{[3]uint8{255, 255, 250}, 15},
		{[3]uint8{0, 200, 0}, 2},
		{[3]uint8{130, 128, 125}, 8},
	} {
		for range 2 { // found, then remembered
			if got := p.nearest(tt.rgb[0], tt.rgb[1], tt.rgb[2], Color16); got != tt.want {
				t.Errorf("%v became %d, want %d", tt.rgb, got, tt.want)
			}
		}
	}
	caps := Caps{Depth: Color16}
	st := p.style(vt.Style{FG: vt.RGB(40, 42, 44), BG: vt.RGB(8, 8, 8)}, &caps)
	if st.FG == st.BG {
		t.Errorf("text became invisible: %x on %x", st.FG, st.BG)
	}
	if got := p.color(vt.Indexed(196), Color16); got != vt.Indexed(9) {
		t.Errorf("palette entry 196 became %x", got)
	}
}

func TestEveryPaletteEntryIsItsOwnNearest(t *testing.T) {
	var p converter
	for i := 16; i < 256; i++ {
		r, g, b := xtermRGB(uint8(i))
		n := p.nearest(r, g, b, Color256)
		if r2, g2, b2 := xtermRGB(n); r != r2 || g != g2 || b != b2 {
			t.Errorf("entry %d became %d", i, n)
		}
	}
	if got := p.color(vt.RGB(95, 135, 175), TrueColor); got != vt.RGB(95, 135, 175) {
		t.Errorf("true colour was changed to %x", got)
	}
}

func TestUnderlineKindsAndLinksFallBack(t *testing.T) {
	var p converter
	caps := Caps{Depth: TrueColor}
	st := p.style(vt.Style{Underline: vt.UnderlineCurly, UL: vt.RGB(1, 2, 3), Link: 4}, &caps)
	if st != (vt.Style{Underline: vt.UnderlineSingle}) {
		t.Errorf("a plain terminal is given %+v", st)
	}
}
