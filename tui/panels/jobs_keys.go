package panels

import (
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
)

// Typing reports that a text is typed here: keys that mean something elsewhere
// belong to it.
func (p *Jobs) Typing() bool {
	return p.prompt.on || p.open != nil && p.open.text.prompt.on
}

// Paste takes pasted text while one is typed, and reports whether it did.
func (p *Jobs) Paste(text string) bool {
	switch {
	case p.prompt.on:
		p.typed(p.prompt.insert(text))
	case p.Typing():
		p.open.text.typed(p.open.text.prompt.insert(text))
	default:
		return false
	}
	return true
}

// Key takes one key; see hints for those that are shown.
func (p *Jobs) Key(name string) (Action, bool) {
	switch {
	case p.prompt.on:
		if !p.list.arrow(p, name) {
			p.typed(p.prompt.key(name))
		}
		return nil, true
	case p.open != nil && p.open.text.prompt.on:
		p.open.text.typing(name)
		return nil, true
	case p.open != nil && p.open.key(name):
		return p.Wants(), true
	case p.open == nil && p.list.key(p, name):
		p.note = ""
		return nil, true
	}
	switch name {
	case "enter", "ctrl+o":
		return p.enter(name), true
	case "/":
		p.note = ""
		p.prompt = textPrompt{on: true, text: p.filter}
	case "x":
		return p.kill(), true
	case "o":
		return p.attach(false), true
	case "O", "t":
		return p.attach(true), true
	case "y":
		return p.copy("the job's id", func(j jobhost.Job) string { return j.ID }), true
	case "c":
		return p.copy("the command", func(j jobhost.Job) string { return j.Command }), true
	case "Y":
		return p.copyTail(), true
	case "esc":
		return nil, p.back()
	default:
		return nil, false
	}
	return nil, true
}

func (p *Jobs) typed(what typed) {
	if what == typedNothing || p.filter == p.prompt.text {
		return
	}
	p.filter = p.prompt.text
	p.filtered(true)
}

// back leaves a note, a search, the output, the filter, then the selection. It
// reports whether there was something to leave.
func (p *Jobs) back() bool {
	switch {
	case p.note != "":
		p.note = ""
	case p.open != nil && p.open.text.query != "":
		p.open.text.query = ""
	case p.open != nil:
		p.close()
	case p.filter != "":
		p.filter = ""
		p.filtered(true)
	case p.list.picked:
		p.list.follow()
	default:
		return false
	}
	return true
}

func (p *Jobs) close() {
	p.open = nil
	if p.list.picked && p.list.at < len(p.rows) {
		p.list.see(p)
	}
}

// enter shows the output of the selected job, or of the one at the top, and
// goes back from there.
func (p *Jobs) enter(name string) Action {
	switch {
	case p.open != nil && name == "ctrl+o":
		p.close()
		return nil
	case p.open != nil:
		p.note = "Esc goes back to the jobs"
		return nil
	case len(p.rows) == 0:
		p.note = "there is no job to open"
		return nil
	}
	if !p.list.picked {
		p.list.pick(p, min(p.list.top, len(p.rows)-1))
	}
	j, _ := p.selected()
	p.note = ""
	p.looked[j.ID] = true
	p.open = openTail(j)
	return p.Wants()
}

// Wants is what has to be read next for what is shown; nil when nothing has.
func (p *Jobs) Wants() Action {
	if p.open == nil {
		return nil
	}
	return p.open.wants()
}

// noJob is what every key says that needs a job.
const noJob = "no job is selected"

func (p *Jobs) kill() Action {
	j, ok := p.selected()
	switch {
	case !ok:
		p.note = noJob
	case !j.Running:
		p.note = "it has ended already"
	default:
		p.note = ""
		return KillJob{j.ID}
	}
	return nil
}

// takes reports a job that can be given keys.
func takes(j jobhost.Job) bool { return j.Running && !j.Detached && (j.TakesKeys || j.TakesLines) }

func (p *Jobs) attach(take bool) Action {
	j, ok := p.selected()
	switch {
	case !ok:
		p.note = noJob
	case take && !j.Running:
		p.note = "it has ended and takes no keys: o shows what it wrote"
	case take && !takes(j):
		p.note = "it takes no input: o opens it to read"
	default:
		p.note = ""
		return AttachJob{ID: j.ID, Take: take}
	}
	return nil
}

func (p *Jobs) copy(what string, of func(jobhost.Job) string) Action {
	j, ok := p.selected()
	if !ok {
		p.note = noJob
		return nil
	}
	return CopyText{of(j), what}
}

// copyTail copies the output that is held of the open job.
func (p *Jobs) copyTail() Action {
	if p.open == nil || p.open.shown == "" {
		p.note = "nothing copied: Enter shows a job's output first"
		return nil
	}
	return CopyText{p.open.shown, "the last " + outcome.Size(int64(len(p.open.raw))) + " of the output"}
}

// Click selects the job under it; a click on the selected one opens it.
func (p *Jobs) Click(x, y int) (Action, bool) {
	p.note = ""
	if p.open != nil {
		return p.Wants(), p.open.text.click(x, y)
	}
	i := p.list.hit(x, y)
	if i < 0 {
		return nil, false
	}
	if p.list.selected(i) {
		return p.enter("enter"), true
	}
	p.list.pick(p, i)
	return nil, true
}

// Wheel scrolls what is shown and leaves the selection alone.
func (p *Jobs) Wheel(lines int) {
	if p.open != nil {
		p.open.text.scroll(lines)
		return
	}
	p.list.wheel(p, lines)
}

// Keys are those of the list, or of the output that is open.
func (p *Jobs) Keys() []KeyHelp {
	out := helpFor("j", "the job below", "k", "the job above", "enter", "its output", "/", "only jobs with a text",
		"pgdown", "a page down", "pgup", "a page up", "home", "the newest", "end", "the oldest")
	if p.open != nil {
		out = append(helpText(&p.open.text), helpFor("Y", "copy the output")...)
	}
	return append(out, helpFor("x", "kill it; asks first", "o", "open it as a pane, read only", "O", "open it as a pane, with the keyboard",
		"y", "copy its id", "c", "copy its command", "esc", "back")...)
}

// hints are the keys that do something now, the most needed first.
func (p *Jobs) hints() []piece {
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	j, ok := p.selected()
	var out []piece
	switch {
	case p.open != nil && p.open.text.query != "":
		out = append(out, hint("Esc", "back"), hint("n N", outcome.Count(int64(p.open.text.matches()))+" found"))
	case p.open != nil:
		out = append(out, hint("Esc", "back"), hint("/", "find"))
	case len(p.rows) > 0:
		out = append(out, hint("Enter", "output"))
	}
	if p.open == nil && p.filter != "" {
		out = append(out, hint("Esc", "shows all"))
	}
	if ok && j.Running {
		out = append(out, hint("x", "kills"))
	}
	if ok {
		out = append(out, hint("o", "as a pane"))
	}
	if ok && takes(j) {
		out = append(out, hint("O", "with keys"))
	}
	if p.open == nil && len(p.jobs) > 0 {
		out = append(out, hint("/", "filter"))
	}
	if p.open != nil && p.open.shown != "" {
		out = append(out, hint("Y", "copies output"))
	}
	if ok {
		out = append(out, hint("y", "copies id"), hint("c", "copies command"))
	}
	return out
}
