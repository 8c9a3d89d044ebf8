package theme

import (
	"reflect"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/honestty/honestty/vt"
)

// roles returns every style of a theme by the name of its field.
func roles(t Theme) map[string]vt.Style {
	out := make(map[string]vt.Style)
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		if st, ok := v.Field(i).Interface().(vt.Style); ok {
			out[v.Type().Field(i).Name] = st
		}
	}
	return out
}

func TestNoColourMeansNoColour(t *testing.T) {
	for _, name := range Names() {
		for role, st := range roles(New(Options{Name: name, Colors: 0, UTF8: true})) {
			if st.FG != 0 || st.BG != 0 || st.UL != 0 {
				t.Errorf("%s: %s has the colours %x %x %x", name, role, st.FG, st.BG, st.UL)
			}
		}
	}
}

func TestTheDefaultThemeIsTheTerminalsOwnPalette(t *testing.T) {
	th := New(Options{Colors: 1 << 24})
	if th.Name != "terminal" || Names()[0] != "terminal" {
		t.Errorf("the default is %q", th.Name)
	}
	for role, st := range roles(th) {
		for _, c := range []vt.Color{st.FG, st.BG, st.UL} {
			if i, ok := c.Index(); !c.IsDefault() && (!ok || i > 15) {
				t.Errorf("%s uses %x, which the user's palette does not rule", role, c)
			}
		}
		if st.BG != 0 {
			t.Errorf("%s paints the background", role)
		}
	}
}

func TestTheBarIsAShadeOfAKnownBackground(t *testing.T) {
	for _, c := range []struct{ back, bar vt.Color }{
		{vt.RGB(0, 0, 0), vt.RGB(26, 26, 26)},
		{vt.RGB(255, 255, 255), vt.RGB(229, 229, 229)},
		{0, 0},
	} {
		th := New(Options{Colors: 1 << 24, Back: c.back})
		if th.Bar.BG != c.bar || (th.Bar.Attrs&vt.Inverse != 0) != (c.bar == 0) {
			t.Errorf("on %x the bar is %+v", c.back, th.Bar)
		}
	}
	if th := New(Options{Colors: 16, Back: vt.RGB(0, 0, 0)}); th.Bar.BG != 0 {
		t.Error("16 colours have no shades")
	}
}

func TestRolesThatMustDifferDoAtEveryDepth(t *testing.T) {
	pairs := [][2]string{
		{"Focus", "Border"},
		{"OK", "Failure"},
		{"Attention", "Failure"},
		{"OK", "Attention"},
		{"Bar", "Text"},
		{"BarActive", "Bar"},
		{"BarAlert", "Bar"},
		{"BarWarn", "Bar"},
		{"BarAlert", "BarWarn"},
		{"Selection", "Text"},
		{"Match", "MatchNow"},
		{"Match", "Text"},
		{"Dim", "Text"},
		{"Chosen", "Text"},
		{"HintKey", "Text"},
	}
	for _, name := range Names() {
		for _, depth := range []int{0, 16, 256, 1 << 24} {
			r := roles(New(Options{Name: name, Colors: depth}))
			for _, p := range pairs {
				if r[p[0]] == r[p[1]] {
					t.Errorf("%s at %d colours: %s looks like %s", name, depth, p[0], p[1])
				}
			}
		}
	}
}

func TestTheAccentIsForFocusOnly(t *testing.T) {
	for _, name := range Names() {
		th := New(Options{Name: name, Colors: 1 << 24})
		for role, st := range roles(th) {
			focus := role == "Accent" || role == "Focus" || role == "BarActive"
			if st.FG == th.Accent.FG && !focus {
				t.Errorf("%s: %s has the accent", name, role)
			}
		}
	}
}

func TestStatesAreGlyphAndWord(t *testing.T) {
	want := map[State][3]string{
		Running:   {"●", "*", "running"},
		Complete:  {"✓", "+", "ok"},
		Partial:   {"!", "!", "partial"},
		Truncated: {"!", "!", "truncated"},
		Detached:  {"!", "!", "detached"},
		Lost:      {"✗", "x", "lost"},
		Failed:    {"✗", "x", "failed"},
		Refused:   {"✗", "x", "refused"},
		Dropped:   {"✗", "x", "dropped"},
		Unknown:   {"?", "?", "unknown"},
		Stale:     {"?", "?", "stale"},
	}
	uni, ascii := New(Options{UTF8: true}), New(Options{})
	plain := New(Options{UTF8: true, Plain: true})
	for s := range numStates {
		w, ok := want[s]
		if !ok {
			t.Errorf("state %d is not in the table", s)
		}
		if uni.Label(s) != w[0]+" "+w[2] || ascii.Label(s) != w[1]+" "+w[2] || plain.Label(s) != w[2] {
			t.Errorf("state %s shows as %q, %q and %q", w[2], uni.Label(s), ascii.Label(s), plain.Label(s))
		}
	}
	if s := State(200); s.Word() != "unknown" || uni.State(s) != uni.Dim {
		t.Error("a number that is no state claims something")
	}
	if got := uni.State(Lost); got != uni.Failure {
		t.Errorf("lost is drawn in %+v", got)
	}
}

func TestEveryGlyphIsOneColumnAndASCIIWhereItMustBe(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": Unicode, "ascii": ASCII} {
		all := append(g.state[:], g.ramp...)
		v := reflect.ValueOf(g)
		for i := range v.NumField() {
			if v.Field(i).Kind() == reflect.String {
				all = append(all, v.Field(i).String())
			}
		}
		for _, s := range all {
			if displaywidth.String(s) != 1 {
				t.Errorf("%s: %q is not one column", name, s)
			}
			if name == "ascii" && (len(s) != 1 || s[0] < 0x20 || s[0] > 0x7E) {
				t.Errorf("%q is not ASCII", s)
			}
		}
	}
}

func TestSparkline(t *testing.T) {
	for _, tt := range []struct {
		values     []int
		top, width int
		want       string
	}{
		{[]int{0, 128, 256, 384, 512, 640, 768, 896, 1024}, 1024, 9, "▁▂▃▄▅▆▇██"},
		{[]int{1, 2, 3, 4}, 1024, 2, "▁▁"},
		{[]int{5, Missing, 10}, 0, 9, "▅?█"},
		{[]int{0, 0}, 0, 9, "▁▁"},
		{[]int{9999}, 1024, 9, "█"},
		{[]int{1, 2}, 2, 0, ""},
		{nil, 10, 4, ""},
	} {
		if got := Unicode.Sparkline(tt.values, tt.top, tt.width); got != tt.want {
			t.Errorf("%v of %d in %d columns: %q, want %q", tt.values, tt.top, tt.width, got, tt.want)
		}
	}
	if got := ASCII.Sparkline([]int{0, 4, 8}, 8, 3); got != "_+#" {
		t.Errorf("ASCII sparkline %q", got)
	}
}

func TestLipGlossGetsTheSameStyle(t *testing.T) {
	st := vt.Style{FG: vt.Indexed(6), BG: vt.RGB(1, 2, 3), Attrs: vt.Bold | vt.Inverse, Underline: vt.UnderlineSingle}
	got := Lip(st).Render("x")
	for _, part := range []string{"38;5;6", "48;2;1;2;3", "1;", "7", "4"} {
		if !strings.Contains(got, part) {
			t.Errorf("rendered %q without %q", got, part)
		}
	}
	if got := Lip(vt.Style{}).Render("x"); got != "x" {
		t.Errorf("the default style rendered %q", got)
	}
}
