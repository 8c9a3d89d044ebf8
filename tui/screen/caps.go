package screen

import (
	"slices"
	"strconv"
	"strings"
)

// A Depth says how many colours the terminal shows. The zero value is none,
// so a terminal nobody asked about gets no colour.
type Depth uint8

// The depths, in the order of what they can show.
const (
	NoColor   Depth = iota // attributes only
	Color16                // the palette's first 16 entries
	Color256               // the xterm palette
	TrueColor              // 24-bit RGB
)

// Colors returns the number of colours of d, 0 for none.
func (d Depth) Colors() int {
	return [...]int{0, 16, 256, 1 << 24}[min(d, TrueColor)]
}

// Caps is what the outer terminal can do. Detect fills it from the environment,
// Reply corrects it from what the terminal says. Caps are comparable; a Screen
// takes new ones with SetCaps.
type Caps struct {
	Name       string // as XTVERSION gave it, else TERM_PROGRAM, else TERM
	Depth      Depth
	UTF8       bool // false: ASCII glyphs only
	Sync       bool // synchronized output, mode 2026
	Graphemes  bool // grapheme clusters, mode 2027, are on or can be switched on
	Underlines bool // underline kinds, SGR 4:n
	ULColor    bool // underline colour, SGR 58
	Links      bool // OSC 8
	Kitty      bool // kitty keyboard protocol
	BCE        bool // erasing is known to use the current background

	Background [3]uint8 // red, green, blue of OSC 11; valid when HasBG
	HasBG      bool
	ClustersOn bool // mode 2027 was on when asked: it is not ours to switch off
	Answered   bool // DA1 arrived: every earlier query that is unanswered stays so

	term   string
	frozen bool // the user asked for no colour; replies do not change that
}

// Dark reports whether the background is known and dark.
func (c *Caps) Dark() bool {
	return c.HasBG && labOf(c.Background[0], c.Background[1], c.Background[2]).l < 0.5
}

// A family is what is known of the terminals whose name begins with prefix.
type family struct {
	prefix                         string
	depth                          Depth
	underlines, ulColor, link, bce bool
}

// families is tried in order against TERM, TERM_PROGRAM and XTVERSION, all in
// lower case. A name that is not here gets nothing beyond what TERM says.
var families = []family{
	{"xterm-kitty", TrueColor, true, true, true, true},
	{"kitty", TrueColor, true, true, true, true},
	{"xterm-ghostty", TrueColor, true, true, true, true},
	{"ghostty", TrueColor, true, true, true, true},
	{"wezterm", TrueColor, true, true, true, true},
	{"foot", TrueColor, true, true, true, true},
	{"contour", TrueColor, true, true, true, true},
	{"iterm", TrueColor, true, true, true, true},
	{"vte", TrueColor, true, true, true, true},
	{"alacritty", TrueColor, true, true, true, true},
	{"konsole", TrueColor, false, false, true, true},
	{"vscode", TrueColor, true, true, true, true},
	{"tmux", Color256, true, true, true, false},
	{"honestty", TrueColor, true, true, true, true},
	{"xterm(", Color256, false, false, false, true},
	{"apple_terminal", Color256, false, false, false, true},
	{"linux", Color16, false, false, false, true},
}

// find returns the family of a name.
func find(name string) (family, bool) {
	name = strings.ToLower(name)
	i := slices.IndexFunc(families, func(f family) bool { return strings.HasPrefix(name, f.prefix) })
	if i < 0 {
		return family{}, false
	}
	return families[i], true
}

// learn adds what is known of a family; it takes nothing away.
func (c *Caps) learn(f family) {
	c.raise(f.depth)
	c.Underlines = c.Underlines || f.underlines
	c.ULColor = c.ULColor || f.ulColor
	c.Links = c.Links || f.link
	c.BCE = c.BCE || f.bce
}

// raise lifts the depth to d unless the user asked for no colour.
func (c *Caps) raise(d Depth) {
	if !c.frozen {
		c.Depth = max(c.Depth, d)
	}
}

// Detect reads the environment. NO_COLOR (any value but the empty one) means no
// colour whatever else is set; so does CLICOLOR=0 unless CLICOLOR_FORCE says
// otherwise. TERM gives the least, COLORTERM and the names of known terminals
// raise it. Without a UTF-8 locale the glyphs are ASCII.
func Detect(env func(string) string) Caps {
	term := env("TERM")
	c := Caps{Name: term, term: term, UTF8: utf8Locale(env)}
	c.frozen = env("NO_COLOR") != "" || env("CLICOLOR") == "0" && !isSet(env("CLICOLOR_FORCE"))
	c.raise(termDepth(term))
	if f, ok := find(term); ok {
		c.learn(f)
	}
	if strings.HasPrefix(term, "screen") && env("TMUX") == "" {
		// GNU screen passes COLORTERM of the terminal around it on to its
		// windows and shows 256 colours at most.
		return c
	}
	if ct := env("COLORTERM"); ct == "truecolor" || ct == "24bit" {
		c.raise(TrueColor)
	}
	if env("TMUX") != "" {
		// TERM_PROGRAM and its like speak of the terminal around tmux.
		f, _ := find("tmux")
		c.learn(f)
		return c
	}
	if program := env("TERM_PROGRAM"); program != "" {
		c.Name = program
		if f, ok := find(program); ok {
			c.learn(f)
		}
	}
	if env("WT_SESSION") != "" || env("KONSOLE_VERSION") != "" {
		c.raise(TrueColor)
		c.Links = true
	}
	if v, err := strconv.Atoi(env("VTE_VERSION")); err == nil && v >= 5200 {
		f, _ := find("vte")
		c.learn(f)
	}
	return c
}

// isSet reads a flag of the environment in which "" and "0" mean no.
func isSet(v string) bool { return v != "" && v != "0" }

// termDepth is what TERM alone promises.
func termDepth(term string) Depth {
	switch {
	case term == "" || term == "dumb" || strings.HasPrefix(term, "vt1") || strings.HasPrefix(term, "vt2"):
		return NoColor
	case strings.Contains(term, "-direct"):
		return TrueColor
	case strings.Contains(term, "256color"):
		return Color256
	}
	if strings.HasSuffix(term, "-mono") || strings.HasSuffix(term, "-m") {
		return NoColor
	}
	return Color16
}

// utf8Locale applies POSIX' order: the first of the three that is set decides.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Queries returns the bytes that ask the terminal what it can do, DA1 last:
// terminals answer in order, so its reply ends the waiting. The Linux console
// and dumb terminals would print some of the queries and are not asked them.
func (c *Caps) Queries() []byte {
	switch {
	case c.term == "dumb" || c.term == "":
		return nil
	case c.term == "linux" || strings.HasPrefix(c.term, "vt"):
		return []byte("\x1b[c")
	}
	q := "\x1b[>0q\x1b[?u"
	if !strings.HasPrefix(strings.ToLower(c.Name), "apple_terminal") {
		q += "\x1b[?2026$p\x1b[?2027$p"
	}
	return []byte(q + "\x1b]11;?\x1b\\\x1b[c")
}
