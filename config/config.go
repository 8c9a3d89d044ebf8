package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Config is one set of settings in which every value is valid. It comes from
// Defaults, Load or a Store; the zero value is not valid settings.
type Config struct {
	Terminal  Terminal
	Keys      Keys
	UI        UI
	Meter     Meter
	Clipboard Clipboard
	Notify    Notify
	Tools     Tools
	Speech    Speech
	Send      Send

	marks map[string]mark // where values that are no default came from; not changed after Load
}

// Terminal is what a pane starts with.
type Terminal struct {
	Shell           string // "": $SHELL, else the login shell
	Scrollback      int    // lines of history a pane
	ScrollbackBytes Size   // memory of history a pane
	Term            string // TERM for children
}

// Keys say what reaches honestty and not the focused pane.
type Keys struct {
	Preset Preset
	Prefix string              // the key before a command, as in "ctrl+b"; "": the preset's own
	Bind   map[string][]string // action to keys, in place of the preset's; an empty list takes them away
}

// UI is how the window looks and what it listens to.
type UI struct {
	Theme string
	Color Color
	ASCII bool // ASCII glyphs also where the terminal could do more
	Plain bool // for screen readers
	Mouse bool
	Hints bool // the hint row of the first starts
	Dock  Dock
}

// Dock is where the panels live until the user moves or resizes them.
type Dock struct {
	Side Side
	Size Percent // of the window's columns at the right, of its rows at the bottom
}

// Meter is the live descriptor count.
type Meter struct {
	Interval time.Duration // between two readings
	Alert    Percent       // of the nearest line
}

// Clipboard says what may reach the clipboard and how.
type Clipboard struct {
	OSC52Write Consent // what a program in a pane may write by OSC 52; reads are always refused
	Copy       CopyVia // how a copy of the user's own leaves
}

// Notify says which events of a pane ask for attention.
type Notify struct {
	Children bool // notifications that programs send become alerts
	Bell     Bell
	Activity bool // a tab that is not shown is marked when it has new output
}

// A Preset is a set of default keys.
type Preset string

// The presets.
const (
	PresetTmux   Preset = "tmux"
	PresetZellij Preset = "zellij-like"
	PresetNone   Preset = "none"
)

// A Color says how many colours are used.
type Color string

// ColorAuto asks the terminal; the others are used as they are.
const (
	ColorAuto  Color = "auto"
	ColorNever Color = "never"
	Color16    Color = "16"
	Color256   Color = "256"
	ColorTrue  Color = "truecolor"
)

// A Side is where the dock is.
type Side string

// The sides.
const (
	SideRight  Side = "right"
	SideBottom Side = "bottom"
)

// A Consent is an answer to a program that wants the clipboard. The zero value
// is no answer.
type Consent string

// The answers.
const (
	ConsentAsk   Consent = "ask"
	ConsentAllow Consent = "allow"
	ConsentDeny  Consent = "deny"
)

// A CopyVia is the way of a copy out of the window.
type CopyVia string

// CopyAuto uses both ways where they exist.
const (
	CopyAuto    CopyVia = "auto"
	CopyOSC52   CopyVia = "osc52"
	CopyDesktop CopyVia = "desktop"
)

// A Bell is what the bell of a pane does.
type Bell string

// The answers to a bell.
const (
	BellMark  Bell = "mark"
	BellAlert Bell = "alert"
	BellOff   Bell = "off"
)

var defaults = sync.OnceValue(func() Config {
	c := Config{Keys: Keys{Bind: map[string][]string{}}}
	for _, k := range table {
		set(k.at(&c), k.def)
	}
	return c
})

// Defaults returns the settings of somebody who has no file.
func Defaults() Config { return defaults().Clone() }

// Clone returns a copy that shares nothing that can be changed.
func (c Config) Clone() Config {
	bind := make(map[string][]string, len(c.Keys.Bind))
	for action, keys := range c.Keys.Bind {
		bind[action] = slices.Clone(keys)
	}
	c.Keys.Bind = bind
	for _, k := range table {
		if list, ok := k.at(&c).(*[]string); ok {
			*list = slices.Clone(*list)
		}
	}
	return c
}

// A mark is the place that a value came from.
type mark struct {
	place
	env   string  // the variable, when no file
	items []place // of a list, one for each item
}

// OriginDefault is the origin of a value that nobody set.
const OriginDefault = "default"

// Origin says where the value of a key came from: "default", "file:line", or
// the name of an environment variable. A key is named as in the file, with its
// section: "ui.theme", "keys.bind.split-right". It is safe to show, and "" for
// a key that does not exist. A file keeps the action names it was checked
// with, so every name below keys.bind counts as a key.
func (c Config) Origin(key string) string {
	m, ok := c.marks[key]
	switch {
	case ok && m.env != "":
		return m.env
	case ok:
		return safe(m.file) + ":" + strconv.Itoa(m.line)
	case lookup(key) != nil, key == bindSection, strings.HasPrefix(key, bindSection+"."):
		return OriginDefault
	}
	return ""
}

// Value returns the value of a key as it is written in a file. It is false for
// a key that does not exist, and for an action without keys of its own.
func (c Config) Value(key string) (string, bool) {
	if k := lookup(key); k != nil {
		return k.form.text(get(k.at(&c))), true
	}
	for action, keys := range c.Keys.Bind {
		if BindKey(action) == key {
			return tomlList(keys), true
		}
	}
	return "", false
}

// Names returns every key in the order of the file, the bound actions last of
// their section.
func (c Config) Names() []string {
	var names []string
	for i, k := range table {
		names = append(names, k.name)
		if strings.HasPrefix(k.name, "keys.") && (i+1 == len(table) || !strings.HasPrefix(table[i+1].name, "keys.")) {
			for _, action := range slices.Sorted(maps.Keys(c.Keys.Bind)) {
				names = append(names, BindKey(action))
			}
		}
	}
	return names
}

func tomlList(items []string) string {
	words := make([]string, len(items))
	for i, s := range items {
		words[i] = tomlString(s)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
