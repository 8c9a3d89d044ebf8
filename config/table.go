package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/tui/theme"
)

// A key is one setting: everything that is printed, checked or documented
// about it.
type key struct {
	name string // with its section, as in "ui.dock.side"
	form form
	def  any                 // of the type the form reads
	at   func(c *Config) any // a pointer to where the value lies
	doc  string              // sentences, one paragraph
}

// A section is a heading of the file.
type section struct{ name, doc string }

// bindSection has no keys of its own: its names are actions.
const bindSection = "keys.bind"

// sections are the headings in the order of the file.
var sections = []section{
	{"terminal", "What a pane starts with."},
	{"keys", "What reaches honestty; every other key goes to the focused pane."},
	{bindSection, "Keys of single actions in place of the preset's, as in zoom = [\"prefix z\", \"alt+z\"]. An empty list " +
		"takes the keys of an action away. `honestty keys` prints every action with its keys."},
	{"ui", "How the window looks and what it listens to."},
	{"ui.dock", "Where the panels live. A place or a size that you choose in the window is remembered and wins."},
	{"meter", "The live count of open descriptors."},
	{"clipboard", "What may reach the clipboard, and how. Reading it is always refused to programs."},
	{"notify", "Which events of a pane ask for attention."},
	{"tools", "What agents and commands may do through the tools, and what a person is asked about."},
	{"speech", "What speaks, and how. Keys of servers come from the environment or the secrets file, never from here."},
	{"send", "Where messages go. Tokens come from the environment or the secrets file, never from here."},
}

var (
	// plainText is text without control characters, and may be empty.
	plainText = regexp.MustCompile(`^[^\x00-\x1f\x7f-\x9f]*$`)

	// terminfoName is what terminfo takes as the name of a terminal.
	terminfoName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$`)
)

// table is every key, in the order of the file.
var table = slices.Concat(windowKeys, toolKeys)

// windowKeys are those of the window and its panes.
var windowKeys = []key{
	{
		"terminal.shell",
		words{"the path or the name of a program, without control characters", plainText},
		"",
		func(c *Config) any { return &c.Terminal.Shell },
		"The program that a new pane runs. Empty: $SHELL, or the login shell where that is not set.",
	},
	{
		"terminal.scrollback",
		whole{1, 1_000_000},
		10_000,
		func(c *Config) any { return &c.Terminal.Scrollback },
		"Lines of history that a pane keeps. Where history was cut, a line in it says how much.",
	},
	{
		"terminal.scrollback_bytes",
		amount{64 << 10, 4 << 30},
		Size(32 << 20),
		func(c *Config) any { return &c.Terminal.ScrollbackBytes },
		"Memory that the history of one pane may take. Whichever limit is reached first holds.",
	},
	{
		"terminal.term",
		words{"the name of a terminal in terminfo", terminfoName},
		"xterm-256color",
		func(c *Config) any { return &c.Terminal.Term },
		"TERM for the programs in a pane.",
	},

	{
		"keys.preset",
		oneOf{string(PresetTmux), string(PresetZellij), string(PresetNone)},
		string(PresetTmux),
		func(c *Config) any { return (*string)(&c.Keys.Preset) },
		"The keys to begin with: tmux has tmux's keys after the prefix, zellij-like has Alt chords, " +
			"none has only what [keys.bind] names.",
	},
	{
		"keys.prefix",
		words{"a key, or none", plainText},
		"",
		func(c *Config) any { return &c.Keys.Prefix },
		"The key before a command; pressed twice it goes to the program in the pane. Empty: the preset's own, " +
			"which is ctrl+b for tmux and none for the others.",
	},

	{
		"ui.theme", oneOf(theme.Names()), theme.Names()[0],
		func(c *Config) any { return &c.UI.Theme },
		"terminal uses the colours of the terminal around honestty.",
	},
	{
		"ui.color",
		oneOf{string(ColorAuto), string(ColorNever), string(Color16), string(Color256), string(ColorTrue)},
		string(ColorAuto),
		func(c *Config) any { return (*string)(&c.UI.Color) },
		"How many colours are used. auto asks the terminal. NO_COLOR in the environment means never, whatever stands here.",
	},
	{
		"ui.ascii",
		flag{},
		false,
		func(c *Config) any { return &c.UI.ASCII },
		"Draw with ASCII characters only. false: only where the terminal has no UTF-8.",
	},
	{
		"ui.plain",
		flag{},
		false,
		func(c *Config) any { return &c.UI.Plain },
		"For screen readers: no lines, no spinners, words for states.",
	},
	{
		"ui.mouse",
		flag{},
		true,
		func(c *Config) any { return &c.UI.Mouse },
		"Listen to the mouse: click, drag, wheel. With Shift it stays with the terminal around honestty.",
	},
	{
		"ui.hints",
		flag{},
		true,
		func(c *Config) any { return &c.UI.Hints },
		"Show a row of hints on the first three starts.",
	},
	{
		"ui.dock.side",
		oneOf{string(SideRight), string(SideBottom)},
		string(SideRight),
		func(c *Config) any { return (*string)(&c.UI.Dock.Side) },
		"The side of the window where the dock opens.",
	},
	{
		"ui.dock.size",
		share{10, 80},
		Percent(40),
		func(c *Config) any { return &c.UI.Dock.Size },
		"The share of the window that the dock takes.",
	},

	{
		"meter.interval",
		span{100 * time.Millisecond, time.Minute},
		time.Second,
		func(c *Config) any { return &c.Meter.Interval },
		"The time between two counts.",
	},
	{
		"meter.alert",
		share{10, 100},
		Percent(80),
		func(c *Config) any { return &c.Meter.Alert },
		"The share of the nearest line from which the meter asks for attention.",
	},

	{
		"clipboard.osc52_write",
		oneOf{string(ConsentAsk), string(ConsentAllow), string(ConsentDeny)},
		string(ConsentAsk),
		func(c *Config) any { return (*string)(&c.Clipboard.OSC52Write) },
		"What happens when a program in a pane writes to the clipboard (OSC 52). ask asks once for each program and remembers.",
	},
	{
		"clipboard.copy",
		oneOf{string(CopyAuto), string(CopyOSC52), string(CopyDesktop)},
		string(CopyAuto),
		func(c *Config) any { return (*string)(&c.Clipboard.Copy) },
		"How text that you copy leaves: osc52 through the terminal, desktop through the desktop's own tool, auto by both where they exist.",
	},

	{
		"notify.children",
		flag{},
		true,
		func(c *Config) any { return &c.Notify.Children },
		"Notifications that programs send become alerts in the status bar.",
	},
	{
		"notify.bell",
		oneOf{string(BellMark), string(BellAlert), string(BellOff)},
		string(BellMark),
		func(c *Config) any { return (*string)(&c.Notify.Bell) },
		"What the bell of a pane does: mark its tab, raise an alert, or nothing.",
	},
	{
		"notify.activity",
		flag{},
		true,
		func(c *Config) any { return &c.Notify.Activity },
		"Mark a tab that has new output and is not shown.",
	},
}

// examples are shown for keys whose default is empty.
var examples = map[string]any{
	"terminal.shell": "/bin/sh", "keys.prefix": "ctrl+a",
	"tools.allow": []string{"git push --force-with-lease*"}, "tools.deny": []string{"*kubectl*--context=prod*"},
	"speech.language": "de", "speech.voice": "en-us", "speech.piper_program": "piper",
	"speech.piper_model": "/usr/share/piper/en_US-lessac-medium.onnx", "speech.piper_url": "http://127.0.0.1:5000",
	"speech.openai_url": "http://127.0.0.1:8880/v1", "speech.openai_model": "gpt-4o-mini-tts",
	"speech.elevenlabs_model": "eleven_multilingual_v2", "speech.wyoming": "127.0.0.1:10200",
	"speech.command": []string{"say-it", "{input_path}", "{output_path}"}, "speech.format": "mp3",
	"send.default": "telegram", "send.outbox": "/home/me/outbox", "send.homes": []string{"telegram=-1001234567890"},
	"send.names": []string{"slack:#ops=C0123456789"}, "send.paths": []string{"/data=/home/me/agent/data"},
	"send.allow": []string{"/var/log/app"}, "send.deny": []string{"/home/me/private"},
	"send.matrix_server": "https://matrix.example.org", "send.email_host": "smtp.example.org", "send.email_from": "me@example.org",
}

// lookup returns the key of that name, nil when there is none.
func lookup(name string) *key {
	if i := slices.IndexFunc(table, func(k key) bool { return k.name == name }); i >= 0 {
		return &table[i]
	}
	return nil
}

// isSection reports whether name is a heading.
func isSection(name string) bool {
	return slices.ContainsFunc(sections, func(s section) bool { return s.name == name })
}

// sectionOf returns the heading of a key, and its name below that.
func (k key) sectionOf() (heading, name string) {
	i := strings.LastIndexByte(k.name, '.')
	return k.name[:i], k.name[i+1:]
}

// line returns the key with a value as a line of a file, below its heading.
func (k key) line(v any) string {
	_, name := k.sectionOf()
	return name + " = " + k.form.text(v)
}

// A Setting describes a key for people.
type Setting struct {
	Name    string // with its section
	Want    string // what a value is, as in "true or false"
	Default string // as written in a file
	Doc     string
}

// Settings returns every key in the order of the file.
func Settings() []Setting {
	out := make([]Setting, len(table))
	for i, k := range table {
		out[i] = Setting{k.name, k.form.want(), k.form.text(k.def), k.doc}
	}
	return out
}
