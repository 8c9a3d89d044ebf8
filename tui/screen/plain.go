package screen

// lookalikes are characters in lists, each after the ASCII character that
// comes nearest to it: what programs draw frames and figures with.
var lookalikes = []string{
	"-─━┄┅┈┉╌╍═‐‑‒–—―−⎯‾",
	"|│┃┆┇┊┋╎╏║❘▏▕",
	"+┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╒╓╕╖╘╙╛╜╞╟╡╢╤╥╧╨╪╫",
	"#█▉▊▋▌▍▎▐▓▒░▀▄■▮",
	"_▁▂",
	"=▃▅▆▇",
	"*•●◦○∙◆◇★☆✶✱❖",
	".·…⋅",
	">→▶▸►❯›»⟩⇒➜➤",
	"<←◀◂◄❮‹«⟨⇐",
	"^↑▲▴⇑",
	"v↓▼▾⇓",
	"x✗✘×✕✖❌",
	"v✓✔√",
	"'‘’‚′",
	"\"“”„″",
	"/⁄∕╱",
	"\\╲",
	" \u00a0\u2002\u2003\u2007\u2009\u202f",
}

var lookalike = func() map[rune]byte {
	m := map[rune]byte{}
	for _, l := range lookalikes {
		for _, r := range l[1:] {
			if _, twice := m[r]; !twice {
				m[r] = l[0]
			}
		}
	}
	return m
}()

// latin folds the letters of U+00C0 to U+00FF to their base.
const latin = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty"

// plain is the ASCII character that comes nearest to a character, '?' where
// none does.
func plain(r rune) byte {
	switch {
	case r < 0x7F:
		return byte(r)
	case r >= 0xC0 && r <= 0xFF:
		return latin[r-0xC0]
	}
	if b, ok := lookalike[r]; ok {
		return b
	}
	return '?'
}
