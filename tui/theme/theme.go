package theme

import (
	"image/color"
	"slices"

	"charm.land/lipgloss/v2"

	"github.com/honestty/honestty/vt"
)

// Options say what the terminal shows and what the user chose.
type Options struct {
	Name   string // of Names; "" is the terminal's own palette
	Colors int    // 0, 16, 256 or 1<<24
	UTF8   bool
	// Back is the terminal's own background where it told one, else the zero
	// Color. The default theme's status bar is a shade of it.
	Back  vt.Color
	Plain bool // for screen readers: no lines, no sparkline, words for states
}

// A Theme is the styles by role. Roles without a colour of their own use the
// terminal's default, so the user's background shows through.
type Theme struct {
	Name   string
	Plain  bool
	Glyphs Glyphs

	Text       vt.Style // what is read
	Dim        vt.Style // what is there when looked for
	Accent     vt.Style // focus, and nothing else
	OK         vt.Style
	Attention  vt.Style
	Failure    vt.Style
	Border     vt.Style // between panes, and headers without focus
	Focus      vt.Style // border and header of the focused pane
	Bar        vt.Style // the status bar
	BarActive  vt.Style // the tab that is shown
	BarDim     vt.Style
	BarAlert   vt.Style // an alert that is a failure
	BarWarn    vt.Style // an alert that wants attention
	Selection  vt.Style // selected text
	Match      vt.Style // a search match
	MatchNow   vt.Style // the match the cursor is on
	Chosen     vt.Style // the entry of a list that Enter runs
	Disabled   vt.Style
	HintKey    vt.Style // a key that works here
	Background vt.Style // behind everything
}

// colors are the few colours a theme is made of. Zero is the terminal's own.
type colors struct {
	text, back, dim, accent, ok, attention, failure, bar, selection vt.Color
}

// rgb makes a colour from 0xRRGGBB.
func rgb(v uint32) vt.Color { return vt.RGB(uint8(v>>16), uint8(v>>8), uint8(v)) }

// themes are the palettes by name; the published values of the four well-known
// ones. The first is the default: palette entries only.
var themes = []struct {
	name string
	c    colors
}{
	{"terminal", colors{
		dim: vt.Indexed(8), accent: vt.Indexed(6), ok: vt.Indexed(2), attention: vt.Indexed(3), failure: vt.Indexed(1),
	}},
	{"light", colors{
		text: rgb(0x24292F), back: rgb(0xFFFFFF), dim: rgb(0x6E7781), accent: rgb(0x0969DA), ok: rgb(0x1A7F37),
		attention: rgb(0x9A6700), failure: rgb(0xCF222E), bar: rgb(0xEAEEF2), selection: rgb(0xCCE5FF),
	}},
	{"dark", colors{
		text: rgb(0xD0D7DE), back: rgb(0x16191D), dim: rgb(0x7D8590), accent: rgb(0x58A6FF), ok: rgb(0x57AB5A),
		attention: rgb(0xD4A72C), failure: rgb(0xF47067), bar: rgb(0x22272E), selection: rgb(0x2F4A6B),
	}},
	{"catppuccin", colors{
		text: rgb(0xCDD6F4), back: rgb(0x1E1E2E), dim: rgb(0x7F849C), accent: rgb(0x89B4FA), ok: rgb(0xA6E3A1),
		attention: rgb(0xF9E2AF), failure: rgb(0xF38BA8), bar: rgb(0x313244), selection: rgb(0x45475A),
	}},
	{"gruvbox", colors{
		text: rgb(0xEBDBB2), back: rgb(0x282828), dim: rgb(0x928374), accent: rgb(0x83A598), ok: rgb(0xB8BB26),
		attention: rgb(0xFABD2F), failure: rgb(0xFB4934), bar: rgb(0x3C3836), selection: rgb(0x504945),
	}},
	{"nord", colors{
		text: rgb(0xD8DEE9), back: rgb(0x2E3440), dim: rgb(0x7B88A1), accent: rgb(0x88C0D0), ok: rgb(0xA3BE8C),
		attention: rgb(0xEBCB8B), failure: rgb(0xBF616A), bar: rgb(0x3B4252), selection: rgb(0x434C5E),
	}},
	{"solarized", colors{
		text: rgb(0x93A1A1), back: rgb(0x002B36), dim: rgb(0x657B83), accent: rgb(0x268BD2), ok: rgb(0x859900),
		attention: rgb(0xB58900), failure: rgb(0xDC322F), bar: rgb(0x073642), selection: rgb(0x0F4656),
	}},
}

// Names returns the names of the themes, the default first.
func Names() []string {
	names := make([]string, 0, len(themes))
	for _, t := range themes {
		names = append(names, t.name)
	}
	return names
}

// New returns the theme for a terminal. An unknown name gives the default; its
// Name says so. With few colours the direct colours are brought down by the
// Screen; below 16 the default theme's attributes stand alone.
func New(o Options) Theme {
	i := slices.IndexFunc(themes, func(t struct {
		name string
		c    colors
	},
	) bool {
		return t.name == o.Name
	})
	i = max(i, 0)
	c := themes[i].c
	if o.Colors < 16 {
		c = colors{}
	}
	if i == 0 && light(o.Back) && c.accent == vt.Indexed(6) {
		c.accent = vt.Indexed(4) // cyan, which many terminals draw bright when bold, is not read on white
	}
	if c.bar.IsDefault() && c.back.IsDefault() && o.Colors >= 256 {
		c.bar = shade(o.Back)
	}
	t := Theme{Name: themes[i].name, Plain: o.Plain, Glyphs: ASCII}
	if o.UTF8 {
		t.Glyphs = Unicode
	}
	t.states(c, o.Colors)
	t.frame(c)
	return t
}

// shadeStep is how far a bar stands from the background, of 255: enough to be
// seen beside it, too little to be looked at.
const shadeStep = 26

// shade moves a known background towards the middle, and returns the default
// for one that is not known.
func shade(back vt.Color) vt.Color {
	r, g, b, ok := back.RGB()
	if !ok {
		return 0
	}
	move := func(v uint8) uint8 { return uint8(min(int(v)+shadeStep, 255)) }
	if light(back) {
		move = func(v uint8) uint8 { return uint8(max(int(v)-shadeStep, 0)) }
	}
	return vt.RGB(move(r), move(g), move(b))
}

// light reports a background that is known and nearer to white than to black.
func light(back vt.Color) bool {
	r, g, b, ok := back.RGB()
	return ok && int(r)*3+int(g)*6+int(b) > 10*255/2 // about the weights of luma
}

// states fills the roles of text. Without colour, weight and underline tell
// attention from failure at a glance; glyph and word say it anyway.
func (t *Theme) states(c colors, depth int) {
	t.Background = vt.Style{FG: c.text, BG: c.back}
	t.Text = t.Background
	t.Dim = t.on(c.dim, 0)
	t.Accent = t.on(c.accent, vt.Bold)
	t.OK = t.on(c.ok, 0)
	t.Attention = t.on(c.attention, 0)
	t.Failure = t.on(c.failure, vt.Bold)
	if depth < 16 {
		t.Dim.Attrs |= vt.Faint
		t.Attention.Attrs |= vt.Bold
		t.Failure.Underline = vt.UnderlineSingle
	}
	t.Disabled = t.Dim
	t.HintKey = t.on(c.text, vt.Bold)
	t.Match = t.on(c.text, 0)
	t.Match.Underline = vt.UnderlineSingle
	t.MatchNow = vt.Style{FG: c.text, BG: c.back, Attrs: vt.Inverse | vt.Bold}
	t.Selection = vt.Style{FG: c.text, BG: c.selection}
	if c.selection.IsDefault() {
		t.Selection = vt.Style{FG: c.text, BG: c.back, Attrs: vt.Inverse}
	}
	t.Chosen = t.Selection
}

// frame fills the roles of borders and the status bar. The bar is set off by
// its background, or by the inverse where there is none to choose.
func (t *Theme) frame(c colors) {
	t.Border = t.Dim
	t.Focus = t.Accent
	bar := vt.Style{FG: c.text, BG: c.bar}
	if c.bar.IsDefault() {
		bar.Attrs = vt.Inverse
	}
	t.Bar, t.BarActive, t.BarDim = bar, bar, bar
	t.BarActive.Attrs |= vt.Bold
	if bar.Attrs&vt.Inverse != 0 {
		// In an inverse bar the shown tab is the part that is not inverse. State
		// colours stay off: inverted they would be glaring blocks.
		t.BarActive.Attrs &^= vt.Inverse
		t.BarAlert, t.BarWarn = bar, bar
		t.BarAlert.Attrs |= vt.Bold
		t.BarAlert.Underline = vt.UnderlineSingle
		t.BarWarn.Attrs |= vt.Bold
		return
	}
	t.BarActive.FG = c.accent
	t.BarDim.FG = c.dim
	t.BarAlert = vt.Style{FG: c.failure, BG: c.bar, Attrs: vt.Bold}
	t.BarWarn = vt.Style{FG: c.attention, BG: c.bar}
}

// on returns a style on the theme's background.
func (t *Theme) on(fg vt.Color, a vt.Attr) vt.Style {
	return vt.Style{FG: fg, BG: t.Background.BG, Attrs: a}
}

// State returns the style of a state.
func (t *Theme) State(s State) vt.Style {
	switch states[s.known()].kind {
	case kindOK:
		return t.OK
	case kindAttention:
		return t.Attention
	case kindFailure:
		return t.Failure
	case kindRunning:
		return t.Text
	}
	return t.Dim
}

// Label returns glyph and word of a state, the word alone in a plain theme.
func (t *Theme) Label(s State) string {
	if t.Plain {
		return s.Word()
	}
	return t.Glyphs.State(s) + " " + s.Word()
}

// Lip returns a style for Lip Gloss. What it renders is meant for
// screen.DrawANSI, which knows the terminal's colours; it must not be printed.
func Lip(st vt.Style) lipgloss.Style {
	l := lipgloss.NewStyle()
	if c := lipColor(st.FG); c != nil {
		l = l.Foreground(c)
	}
	if c := lipColor(st.BG); c != nil {
		l = l.Background(c)
	}
	for _, a := range []struct {
		attr vt.Attr
		set  func(lipgloss.Style, bool) lipgloss.Style
	}{
		{vt.Bold, lipgloss.Style.Bold},
		{vt.Faint, lipgloss.Style.Faint},
		{vt.Italic, lipgloss.Style.Italic},
		{vt.Blink, lipgloss.Style.Blink},
		{vt.Inverse, lipgloss.Style.Reverse},
		{vt.Strike, lipgloss.Style.Strikethrough},
	} {
		if st.Attrs&a.attr != 0 {
			l = a.set(l, true)
		}
	}
	return l.Underline(st.Underline != vt.UnderlineNone)
}

// lipColor returns a colour for Lip Gloss, nil for the terminal's own.
func lipColor(c vt.Color) color.Color {
	if i, ok := c.Index(); ok {
		return lipgloss.ANSIColor(i)
	}
	if r, g, b, ok := c.RGB(); ok {
		return lipgloss.RGBColor{R: r, G: g, B: b}
	}
	return nil
}
