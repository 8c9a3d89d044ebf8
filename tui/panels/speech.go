package panels

import (
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// The tool whose calls the Speech panel shows.
const speechTool = "text_to_speech"

// Speech is the panel of what was spoken: where it went, what it replaced, what
// is known of the audio. The zero value has read nothing.
//
// After each Show, TakeCall and Draw the window asks Wants what has to be read.
type Speech struct {
	feed feed[spoken]

	playing string // the call whose audio plays
	failed  string // the call whose audio did not play
	why     string
}

// Name returns the name on the tab.
func (p *Speech) Name() string { return "Speech" }

// Badge counts what is being spoken and points at what failed.
func (p *Speech) Badge() Badge { return p.feed.badge() }

// Show takes the book after events were added to it, and the time.
func (p *Speech) Show(b *journal.Book, now time.Time) { p.feed.show(p, speechTool, b, now) }

// Wants is what has to be read for what is shown; nil when nothing has.
func (p *Speech) Wants() Action { return p.feed.wants() }

// TakeCall takes the answer to a ReadCall.
func (p *Speech) TakeCall(call string, start journal.Start, end *journal.End, err error) {
	if start.Tool != speechTool {
		return // another panel asked
	}
	p.feed.take(p, call, detail[spoken]{start: start, end: end, err: err, data: speechOf(start, end)})
}

// Playing says which call's audio plays, "" for none, or why it does not.
func (p *Speech) Playing(call string, err error) {
	p.playing, p.failed, p.why = call, "", ""
	if err != nil {
		p.playing, p.failed, p.why = "", call, err.Error()
	}
	if err != nil && call == "" {
		p.feed.note = "the player failed: " + displayLine(p.why)
	}
}

// Typing reports that a text is typed here: keys that mean something elsewhere
// belong to it.
func (p *Speech) Typing() bool { return p.feed.typing() }

// Paste takes pasted text while one is typed, and reports whether it did.
func (p *Speech) Paste(text string) bool { return p.feed.paste(p, text) }

// Key takes one key; see hints for those that are shown.
func (p *Speech) Key(name string) (Action, bool) {
	if p.feed.key(p, name) {
		return several(p.feed.wants(), p.feed.look()), true
	}
	a, ok := p.order(name)
	return several(a, p.feed.look()), ok
}

// order carries out the keys that are about a call.
func (p *Speech) order(name string) (Action, bool) {
	f := &p.feed
	if !strings.Contains("psycRor", name) || len(name) != 1 {
		return nil, false
	}
	if name == "s" || name == "p" && p.playing != "" {
		if p.playing == "" {
			f.note = "nothing plays"
			return nil, true
		}
		return StopAudio{}, true
	}
	sure := name == "r" || name == "R"
	r, ok := f.aim(p, sure, name+" again "+map[string]string{"r": "goes on with it", "R": "restores"}[name])
	if !ok {
		return nil, true
	}
	f.note = ""
	d := f.of(r)
	if d == nil {
		f.note = "the record of this call is still being read"
		return nil, true
	}
	switch name {
	case "p", "y", "o":
		return p.withFile(name, r, &d.data), true
	case "c", "R":
		return p.withCheckpoint(name, &d.data), true
	}
	if token := d.data.Resume.is(); token != "" {
		return RunCommand{Args: []string{"speak", "--resume", token}}, true
	}
	f.note = "there is nothing to go on with"
	return nil, true
}

// withFile does something with the file that was made.
func (p *Speech) withFile(name string, r journal.Record, s *spoken) Action {
	path := s.path()
	switch {
	case r.End == nil:
		p.feed.note = "the file is not finished"
	case path == "":
		p.feed.note = "no file is known of this call"
	case !usable(path):
		p.feed.note = "its path is not a whole one, or has characters that cannot be seen: left alone"
	case name == "p":
		return PlayAudio{Call: r.Start.Call, Path: path}
	case name == "o":
		return RevealPath{Path: path}
	default:
		return CopyText{Text: path, What: "the path"}
	}
	return nil
}

// usable reports a path from outside that may be handed on: a whole one, all of
// which can be seen.
func usable(path string) bool {
	return strings.HasPrefix(path, "/") && screen.Visible(path) == path && strings.ToValidUTF8(path, "") == path
}

// withCheckpoint does something with what was kept of the file before.
func (p *Speech) withCheckpoint(name string, s *spoken) Action {
	id, path := s.checkpoint(), s.Replaced.is().Path.is()
	switch {
	case id == "":
		p.feed.note = "there is no checkpoint of this call"
		return nil
	case name == "R":
		return RestoreCheckpoint{ID: id, Path: path}
	}
	return ShowCheckpoint{ID: id}
}

// Click selects the call under it; a click on the selected one shows it whole.
func (p *Speech) Click(x, y int) (Action, bool) {
	ok := p.feed.click(p, x, y)
	return several(p.feed.wants(), p.feed.look()), ok
}

// Wheel scrolls what is shown and leaves the selection alone.
func (p *Speech) Wheel(lines int) { p.feed.wheel(p, lines) }

// Draw draws the list, or the call that is shown whole.
func (p *Speech) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	p.feed.draw(s, p, x, y, w, h, focused, th)
}

func (p *Speech) length() int         { return p.feed.length() }
func (p *Speech) cardID(i int) string { return p.feed.cardID(i) }
func (p *Speech) cardRows(i int) int  { return 1 + len(p.card(p.feed.at(i), p.feed.width)) }
func (p *Speech) noun() string        { return "call" }
func (p *Speech) nothing() string {
	return `nothing was spoken yet: honestty speak -o FILE "TEXT" does`
}

// Keys are those of the list, or of the call that is open.
func (p *Speech) Keys() []KeyHelp {
	out := helpFor("j", "the call below", "k", "the call above", "enter", "the call whole: text, notes, sha256", "/", "only calls with a text")
	if p.feed.whole {
		out = helpText(&p.feed.reader)
	}
	return append(out, helpFor("p", "play the audio, or stop it", "s", "stop it", "y", "copy the path of the file", "o", "open its folder",
		"c", "show the checkpoint of the file before", "R", "restore the file before", "r", "go on with a call that is partial", "esc", "back")...)
}

// hints are the keys that do something now, the most needed first.
func (p *Speech) hints() []piece {
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	f := &p.feed
	var out []piece
	r, ok := f.subject()
	if d := f.of(r); ok && d != nil {
		s, ended := &d.data, r.End != nil
		if ended && s.Resume.is() != "" {
			out = append(out, hint("r", "goes on"))
		}
		switch file := ended && usable(s.path()); {
		case p.playing != "":
			out = append(out, hint("p", "stops"))
		case file:
			out = append(out, hint("p", "plays"))
		}
		if s.checkpoint() != "" {
			out = append(out, hint("R", "restores"), hint("c", "checkpoint"))
		}
		if ended && usable(s.path()) {
			out = append(out, hint("y", "copies path"), hint("o", "folder"))
		}
	}
	if f.whole {
		return append(out, hint("/", "find"))
	}
	if !f.unfiltered() {
		out = append([]piece{hint("Esc", "shows all")}, out...)
	}
	if ok {
		out = append(out, hint("Enter", "whole"))
	}
	return append(out, hint("/", "filter"))
}
