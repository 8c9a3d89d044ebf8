package keymap

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Use says that a program does something with a key.
type Use struct{ Program, Does string }

// String returns the use as one phrase: "Claude Code (to the background)".
func (u Use) String() string { return u.Program + " (" + u.Does + ")" }

// uses are the keys that well-known programs are known to want, by their
// defaults. Shell means readline and zsh's line editor. The list is what users
// of terminal hosts complain about, not all that there is.
var uses = map[string][]Use{
	"ctrl+space": {{"Emacs", "set the mark"}},
	"ctrl+a":     {{"shell", "start of the line"}, {"screen", "its prefix"}},
	"ctrl+b":     {{"Claude Code", "to the background"}, {"tmux", "its prefix"}, {"vim", "page up"}, {"shell", "back one character"}},
	"ctrl+c":     {{"every program", "interrupt"}},
	"ctrl+d":     {{"shell", "end of input"}, {"vim", "half a page down"}},
	"ctrl+e":     {{"shell", "end of the line"}},
	"ctrl+f":     {{"vim", "page down"}, {"shell", "forward one character"}},
	"ctrl+g":     {{"Emacs", "cancel"}, {"nano", "help"}},
	"ctrl+h":     {{"shell", "backspace"}},
	"ctrl+j":     {{"shell", "enter"}},
	"ctrl+k":     {{"shell", "delete to the end of the line"}, {"nano", "cut a line"}},
	"ctrl+l":     {{"shell", "clear the screen"}},
	"ctrl+n":     {{"shell", "next in the history"}, {"vim", "complete"}},
	"ctrl+o":     {{"Claude Code", "expand output"}, {"nano", "save"}, {"vim", "jump back"}},
	"ctrl+p":     {{"shell", "previous in the history"}, {"vim", "complete"}},
	"ctrl+q":     {{"shell", "go on after Ctrl+s"}},
	"ctrl+r":     {{"shell", "search the history"}, {"vim", "redo"}},
	"ctrl+s":     {{"shell", "search forward, or stop output"}, {"many editors", "save"}},
	"ctrl+t":     {{"shell", "exchange characters, or fzf's files"}},
	"ctrl+u":     {{"shell", "delete the line"}, {"vim", "half a page up"}},
	"ctrl+v":     {{"shell", "next key literally"}, {"vim", "select a block"}},
	"ctrl+w":     {{"shell", "delete a word"}, {"vim", "its windows"}},
	"ctrl+x":     {{"Emacs", "its prefix"}, {"nano", "exit"}},
	"ctrl+y":     {{"shell", "paste what was deleted"}},
	"ctrl+z":     {{"every program", "suspend"}},

	"alt+b":         {{"shell", "back one word"}},
	"alt+f":         {{"shell", "forward one word"}},
	"alt+d":         {{"shell", "delete a word"}},
	"alt+.":         {{"shell", "last argument"}},
	"alt+backspace": {{"shell", "delete a word"}},
	"alt+left":      {{"shell", "back one word, in some setups"}},
	"alt+right":     {{"shell", "forward one word, in some setups"}},
	"alt+c":         {{"shell", "capitalize, or fzf's folders"}},
	"alt+h":         {{"zsh", "help for the command"}},
	"alt+l":         {{"shell", "lower case"}},
	"alt+u":         {{"shell", "upper case"}},
	"alt+t":         {{"shell", "exchange words"}},
	"alt+n":         {{"shell", "search the history forward"}},
	"alt+p":         {{"shell", "search the history"}},
	"alt+q":         {{"zsh", "put the line aside"}},
	"alt+r":         {{"shell", "revert the line"}},
	"alt+v":         {{"Emacs", "page up"}},
	"alt+x":         {{"Emacs", "its commands"}},
	"alt+y":         {{"shell", "older deleted text"}},
	"alt+?":         {{"shell", "list completions"}},
	"alt+/":         {{"Emacs", "complete"}},
	"alt+-":         {{"shell", "numeric argument"}},
	"alt+enter":     {{"many terminals", "full screen"}},
	"alt+space":     {{"many desktops", "the window's menu"}},
	"alt+tab":       {{"many desktops", "switch windows"}},
	"shift+pgup":    {{"many terminals", "their own scrollback"}},
	"shift+pgdown":  {{"many terminals", "their own scrollback"}},
	"f1":            {{"many terminals", "help"}},
	"f10":           {{"many terminals", "menu"}, {"htop", "quit"}},
	"f11":           {{"many terminals", "full screen"}},
}

// Uses returns which programs want a key, spelled as tui/input does.
func Uses(key string) []Use {
	if rest, ok := strings.CutPrefix(key, "alt+"); ok && len(rest) == 1 && rest[0] >= '0' && rest[0] <= '9' {
		return []Use{{"shell", "numeric argument"}, {"terminals", "tabs"}}
	}
	return slices.Clone(uses[key])
}

// alsoUsedBy says in one phrase which programs want a key, "" when none is known.
func alsoUsedBy(key string) string {
	var phrases []string
	for _, u := range Uses(key) {
		phrases = append(phrases, u.String())
	}
	if phrases == nil {
		return ""
	}
	return "also " + strings.Join(phrases, ", ")
}

// limits says why a key may not arrive, "" when every terminal sends it. What
// a terminal without the kitty keyboard protocol can send is a character, that
// with Alt, Ctrl with a letter or @ [ \ ] ^ _, and the named keys with modifiers.
func limits(key string) string {
	const kitty = "needs the kitty keyboard protocol"
	mods, base := parts(key)
	has := func(m string) bool { return slices.Contains(mods, m) }
	switch {
	case has("super") || has("hyper") || has("meta"):
		return kitty
	case key == "alt+[" || key == "alt+]" || key == "alt+_" || key == "alt+shift+o" || key == "alt+shift+p":
		return "ambiguous without the kitty keyboard protocol"
	case has("ctrl") && utf8.RuneCountInString(base) == 1:
		letter := base[0] >= 'a' && base[0] <= 'z'
		if base == "i" || base == "m" || has("shift") || !letter && !strings.Contains(`\]^_`, base) {
			return kitty
		}
	case (base == "enter" || base == "esc" || base == "backspace" || base == "space" && !has("ctrl")) && (has("ctrl") || has("shift")), base == "tab" && has("ctrl"):
		return kitty
	case base == "capslock" || base == "scrolllock" || base == "numlock" || base == "print" || base == "pause" || base == "menu":
		return kitty
	}
	return ""
}

// A Kind says what a conflict is about.
type Kind string

// The kinds of conflict.
const (
	KindProgram  Kind = "program"  // a program wants a key that is ours
	KindTerminal Kind = "terminal" // a key may not arrive
	KindTaken    Kind = "taken"    // an action lost a key of the preset to another
)

// A Conflict is something to know about a key.
type Conflict struct {
	Kind   Kind   `json:"kind"`
	Key    string `json:"key"` // as people read it
	Action Action `json:"action"`
	Note   string `json:"note"`
}

// Conflicts returns what is to be known about the keys of the map: first the
// prefix, then the actions in their order.
func (m *Map) Conflicts() []Conflict {
	var out []Conflict
	if m.prefix != "" {
		if also := alsoUsedBy(m.prefix); also != "" {
			out = append(out, Conflict{KindProgram, Label(m.prefix), SendPrefix, also})
		}
	}
	for _, info := range actions {
		out = append(out, m.conflicts(info.Action)...)
	}
	return out
}

func (m *Map) conflicts(a Action) []Conflict {
	var out []Conflict
	for _, way := range m.ways[a] {
		if a == SendPrefix {
			break
		}
		if !way.Prefixed {
			if also := alsoUsedBy(way.Key); also != "" {
				out = append(out, Conflict{KindProgram, m.Label(way), a, also})
			}
		}
		if why := limits(way.Key); why != "" {
			out = append(out, Conflict{KindTerminal, m.Label(way), a, why})
		}
	}
	for _, t := range m.taken {
		if t.from == a {
			out = append(out, Conflict{KindTaken, m.Label(t.way), a, "now " + string(t.by)})
		}
	}
	return out
}

// tmuxOnly are keys that people know from tmux and that are no action here.
var tmuxOnly = map[string]string{
	"d":      "tmux detaches with it; honestty cannot detach",
	"s":      "tmux chooses a session with it; there are none to choose from here",
	"$":      "tmux renames the session with it; here tabs have names",
	"t":      "tmux shows a clock with it",
	"i":      "tmux shows the window with it; w lists every pane here",
	"ctrl+o": "tmux rotates the panes with it; { and } swap here",
	".":      "tmux moves the window with it; Shift+Left and Shift+Right move the tab here",
	"'":      "tmux asks for a window's number with it; w finds a pane here",
	"0":      "tmux counts windows from 0; the first tab is 1 here",
	"~":      "tmux shows its messages with it; a shows alerts here",
	"L":      "tmux goes to the last session with it; there is one here",
	"#":      "tmux lists its paste buffers with it; here only the last copy is kept",
	"=":      "tmux chooses a paste buffer with it; here only the last copy is kept",
}

// Unbound says, for a key that resolves to nothing, why it does nothing.
func (m *Map) Unbound(prefixed bool, key string) string {
	name := m.Label(Binding{prefixed, key})
	if why := tmuxOnly[key]; prefixed && why != "" {
		return name + " does nothing here: " + why
	}
	if help := m.Hint(Help); help != "" {
		return name + " does nothing here; " + help + " shows the keys"
	}
	return name + " does nothing here"
}
