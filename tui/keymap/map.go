package keymap

import (
	"errors"
	"slices"
	"strings"
)

// A Preset is a set of keys to begin with.
type Preset string

// The presets. PresetTmux is the default.
const (
	PresetTmux   Preset = "tmux"        // tmux's keys behind a prefix, Ctrl+b
	PresetZellij Preset = "zellij-like" // Alt chords; with a prefix also tmux's keys behind it
	PresetNone   Preset = "none"        // no key but those that are bound
)

// Presets are the presets in the order in which they are offered.
var Presets = []Preset{PresetTmux, PresetZellij, PresetNone}

const (
	// DefaultPrefix is the prefix of PresetTmux.
	DefaultPrefix = "ctrl+b"
	// NoPrefix is what stands in the settings for no prefix.
	NoPrefix = "none"
	// behind stands before a key that comes after the prefix: "prefix %".
	behind = "prefix "
)

// A Binding is one way to reach an action.
type Binding struct {
	Prefixed bool // the prefix comes before the key
	Key      string
}

// String returns the binding as it stands in the settings.
func (b Binding) String() string {
	if b.Prefixed {
		return behind + b.Key
	}
	return b.Key
}

// Options are the settings of a Map. The zero value is the tmux preset.
type Options struct {
	Preset Preset // "" is PresetTmux
	Prefix string // "" is the preset's own, NoPrefix is none
	// Bind has the keys of single actions; they replace those of the preset. No
	// key takes an action from the keyboard and leaves it in the palette.
	Bind map[string][]string
}

// A Map says what each key does. It does not change.
type Map struct {
	preset Preset
	prefix string // "" without one
	keys   map[Binding]Action
	ways   map[Action][]Binding
	taken  []taken
}

// taken is a key of the preset that went to another action.
type taken struct {
	way      Binding
	from, by Action
}

// New makes a map. Where settings are wrong it returns every mistake, each a
// BindError, and no map.
func New(o Options) (*Map, error) {
	m := &Map{preset: o.Preset, keys: map[Binding]Action{}, ways: map[Action][]Binding{}}
	if m.preset == "" {
		m.preset = PresetTmux
	}
	if !slices.Contains(Presets, m.preset) {
		names := []string{string(PresetTmux), string(PresetZellij), string(PresetNone)}
		cause := &UnknownError{"preset", string(o.Preset), nearest(string(o.Preset), names)}
		return nil, &BindError{"preset", string(o.Preset), cause}
	}
	if err := m.setPrefix(o.Prefix); err != nil {
		return nil, err
	}
	own, err := m.parse(o.Bind)
	if err != nil {
		return nil, err
	}
	if m.prefix != "" {
		m.bind(SendPrefix, Binding{true, m.prefix})
	}
	for _, info := range actions { // what the user binds comes first
		for _, way := range own[info.Action] {
			m.bind(info.Action, way)
		}
	}
	for _, info := range actions {
		if _, replaced := own[info.Action]; replaced {
			continue
		}
		for _, way := range m.defaults(info) {
			m.bind(info.Action, way)
		}
	}
	return m, nil
}

// bind gives a key to an action unless it is another one's already.
func (m *Map) bind(a Action, way Binding) {
	if by, ok := m.keys[way]; ok {
		if by != a {
			m.taken = append(m.taken, taken{way, a, by})
		}
		return
	}
	m.keys[way] = a
	m.ways[a] = append(m.ways[a], way)
}

// defaults returns the keys of an action in the preset.
func (m *Map) defaults(info Info) []Binding {
	var out []Binding
	if m.preset == PresetZellij {
		for _, key := range info.alt {
			out = append(out, Binding{false, key})
		}
	}
	if m.preset != PresetNone && m.prefix != "" {
		for _, key := range info.keys {
			out = append(out, Binding{true, key})
		}
	}
	return out
}

func (m *Map) setPrefix(text string) error {
	fail := func(cause error) error { return &BindError{"prefix", text, cause} }
	switch {
	case text == "" && m.preset == PresetTmux:
		m.prefix = DefaultPrefix
		return nil
	case text == "":
		return nil
	case strings.EqualFold(strings.TrimSpace(text), NoPrefix):
		if m.preset == PresetTmux {
			return fail(errors.New(`the preset "tmux" has all its keys behind a prefix; without one, take the preset "zellij-like" or "none"`))
		}
		return nil
	}
	key, err := ParseKey(text)
	if err != nil {
		return fail(err)
	}
	mods, base := parts(key)
	letter := len(base) == 1 && base[0] >= 'a' && base[0] <= 'z'
	switch {
	case len(mods) != 1 || mods[0] != "ctrl" || !letter && base != "space":
		return fail(&KeyError{text, "a prefix is Ctrl with a letter, ctrl+space, or none"})
	case base == "i" || base == "m":
		same := map[string]string{"i": "Tab", "m": "Enter"}[base]
		return fail(&KeyError{text, "most terminals send the same for it as for " + same})
	}
	m.prefix = key
	return nil
}

// parse reads the user's bindings. It goes through the actions by name, so that
// the same settings give the same mistakes in the same order.
func (m *Map) parse(bind map[string][]string) (map[Action][]Binding, error) {
	own := map[Action][]Binding{}
	owner := map[Binding]Action{}
	var mistakes []error
	names := make([]string, 0, len(bind))
	for name := range bind {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		action, err := ParseAction(name)
		if err != nil {
			mistakes = append(mistakes, &BindError{Setting: name, Cause: err})
			continue
		}
		own[action] = []Binding{}
		for _, text := range bind[name] {
			way, err := m.parseBinding(text, action)
			if other, ok := owner[way]; err == nil && ok && other != action {
				err = &KeyError{text, "it is given to " + string(other) + " too"}
			}
			if err != nil {
				mistakes = append(mistakes, &BindError{name, text, err})
				continue
			}
			owner[way] = action
			own[action] = append(own[action], way)
		}
	}
	return own, errors.Join(mistakes...)
}

// parseBinding reads "prefix %" or "alt+n".
func (m *Map) parseBinding(text string, a Action) (Binding, error) {
	rest, prefixed := cutPrefixWord(text)
	key, err := ParseKey(rest)
	if err != nil {
		return Binding{}, err
	}
	way := Binding{prefixed, key}
	switch {
	case a == SendPrefix && way != Binding{true, m.prefix}:
		return way, &KeyError{text, "the prefix pressed twice sends the prefix; to change it, set prefix"}
	case a == SendPrefix:
		return way, nil
	case prefixed && m.prefix == "":
		return way, &KeyError{text, "there is no prefix; set prefix, or bind a chord such as alt+" + lastLetter(key)}
	case prefixed && key == m.prefix:
		return way, &KeyError{text, "the prefix pressed twice sends the prefix to the program"}
	case !prefixed && key == m.prefix:
		return way, &KeyError{text, "it is the prefix"}
	case !prefixed && types(key):
		if m.prefix == "" {
			return way, &KeyError{text, "it would take the key from every program; bind a chord such as alt+" + lastLetter(key)}
		}
		return way, &KeyError{text, `it would take the key from every program; "prefix ` + key + `" is the key behind the prefix`}
	}
	return way, nil
}

// cutPrefixWord takes the word prefix from the beginning of a binding.
func cutPrefixWord(text string) (rest string, prefixed bool) {
	trimmed := strings.TrimLeft(text, " \t")
	if len(trimmed) > len(behind) && strings.EqualFold(trimmed[:len(behind)], behind) {
		return trimmed[len(behind):], true
	}
	return text, false
}

// lastLetter is an example for a message: the key's own letter where it has one.
func lastLetter(key string) string {
	if _, base := parts(key); len(base) == 1 && strings.ToLower(base) >= "a" && strings.ToLower(base) <= "z" {
		return strings.ToLower(base)
	}
	return "n"
}

// Preset returns the preset the map began with.
func (m *Map) Preset() Preset { return m.preset }

// Prefix returns the prefix as tui/input spells it, "" when there is none.
func (m *Map) Prefix() string { return m.prefix }

// IsPrefix reports whether the key, spelled as tui/input does, is the prefix.
func (m *Map) IsPrefix(key string) bool { return m.prefix != "" && key == m.prefix }

// Resolve returns what a key does, behind the prefix or by itself. The prefix
// behind itself is SendPrefix; by itself it is no action.
func (m *Map) Resolve(prefixed bool, key string) (Action, bool) {
	a, ok := m.keys[Binding{prefixed, key}]
	return a, ok
}

// Repeats reports whether a key behind the prefix does something that is often
// wanted several times in a row.
func (m *Map) Repeats(key string) bool {
	a, ok := m.Resolve(true, key)
	if !ok {
		return false
	}
	info, _ := Lookup(a)
	return info.Repeat
}

// Ways returns every binding of an action, the one to be shown first in front.
func (m *Map) Ways(a Action) []Binding { return slices.Clone(m.ways[a]) }

// Label returns a binding as people read it: ^B %, Alt+n.
func (m *Map) Label(b Binding) string {
	if b.Prefixed {
		return Label(m.prefix) + " " + Label(b.Key)
	}
	return Label(b.Key)
}

// Hint returns the key of an action as people read it, "" when it has none.
func (m *Map) Hint(a Action) string {
	if len(m.ways[a]) == 0 {
		return ""
	}
	return m.Label(m.ways[a][0])
}

// A Choice is one answer to the question which key is honestty's.
type Choice struct {
	Options Options
	Label   string
	Says    string
}

// Choices returns the answers that ChoosePrefix offers.
func Choices() []Choice {
	return []Choice{
		{Options{Preset: PresetTmux, Prefix: DefaultPrefix}, "Ctrl+b", "as in tmux (Claude Code also uses it; press twice to send it)"},
		{Options{Preset: PresetTmux, Prefix: "ctrl+a"}, "Ctrl+a", "as in screen (shells go to the start of the line with it)"},
		{Options{Preset: PresetTmux, Prefix: "ctrl+space"}, "Ctrl+Space", "few programs use it (Emacs sets the mark with it)"},
		{Options{Preset: PresetZellij}, "Alt", "chords without a prefix, as in zellij"},
	}
}
