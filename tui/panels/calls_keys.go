package panels

import "github.com/honestty/honestty/outcome"

// Typing reports that a text is typed here: keys that mean something elsewhere
// belong to it.
func (p *Tools) Typing() bool {
	return p.prompt.on || p.open != nil && p.open.text.prompt.on
}

// Paste takes pasted text while one is typed, and reports whether it did.
func (p *Tools) Paste(text string) bool {
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
func (p *Tools) Key(name string) (Action, bool) {
	switch {
	case p.prompt.on:
		if !p.list.arrow(p, name) {
			p.typed(p.prompt.key(name))
		}
		return nil, true
	case p.open != nil:
		return p.openKey(name)
	}
	if p.list.key(p, name) {
		p.note = ""
		return p.look(), true
	}
	switch name {
	case "enter", "ctrl+o":
		return p.expand(), true
	case "/":
		p.note = ""
		p.prompt = textPrompt{on: true, text: p.filter.Text}
	case "f":
		p.which = (p.which + 1) % numStateFilters
		p.filtered()
	case "t":
		p.knowAll()
		p.filter.Tool = turn(p.known.tools, p.filter.Tool)
		p.filtered()
	case "a":
		p.knowAll()
		p.filter.Agent = turn(p.known.agents, p.filter.Agent)
		p.filtered()
	case "c":
		return p.copyTitle(), true
	case "g":
		return p.goToPane(), true
	case "esc":
		return nil, p.back()
	default:
		return nil, false
	}
	return nil, true
}

// knowAll finds the tools and agents of all calls.
func (p *Tools) knowAll() {
	if p.book != nil {
		p.known.all(p.book)
	}
}

// arrow takes the keys that move while a filter is typed.
func (l *cardList) arrow(s cardSource, name string) bool {
	switch name {
	case "up", "down", "pgup", "pgdown":
		return l.key(s, name)
	}
	return false
}

// typed filters by what is typed as it is typed.
func (p *Tools) typed(what typed) {
	if what == typedNothing || p.filter.Text == p.prompt.text {
		return
	}
	p.filter.Text = p.prompt.text
	p.filtered()
}

// back leaves a note, the filters, then the selection. It reports whether there
// was something to leave.
func (p *Tools) back() bool {
	switch {
	case p.note != "":
		p.note = ""
	case !p.unfiltered():
		p.filter.Text, p.filter.Tool, p.filter.Agent, p.which = "", "", "", allCalls
		p.filtered()
	case p.list.picked:
		p.list.follow()
	default:
		return false
	}
	return true
}

// look tells the window that the selected call was looked at, if that is news.
func (p *Tools) look() Action {
	r, ok := p.selected()
	if !ok || !r.Unseen {
		return nil
	}
	return SeenCall{r.Start.Call}
}

// expand opens the selected call, or the one at the top.
func (p *Tools) expand() Action {
	if p.view.Len() == 0 {
		p.note = "there is no call to open"
		return nil
	}
	if !p.list.picked {
		p.list.pick(p, min(p.list.top, p.view.Len()-1))
	}
	r, _ := p.selected()
	p.note = ""
	p.open = openCall(r)
	p.open.layOut(p.now)
	ask := p.Wants()
	if seen := p.look(); seen != nil {
		return Several{ask, seen}
	}
	return ask
}

// Wants is what has to be read next for what is shown; nil when nothing has.
func (p *Tools) Wants() Action {
	if p.open == nil {
		return nil
	}
	return p.open.wants()
}

func (p *Tools) copyTitle() Action {
	r, ok := p.selected()
	if !ok || r.Start.Title == "" {
		p.say("nothing copied: " + orSay(!ok, "no call is selected", "the call has no title"))
		return nil
	}
	return CopyText{r.Start.Title, "the command"}
}

func orSay(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// paneOf is the pane of this window that a call was made in; 0 for none.
func (p *Tools) paneOf() int {
	r, ok := p.selected()
	if !ok || p.Window == 0 || r.Start.Source.Window != p.Window {
		return 0
	}
	return r.Start.Source.Pane
}

func (p *Tools) goToPane() Action {
	pane := p.paneOf()
	if pane != 0 {
		return GoToPaneID{pane}
	}
	_, ok := p.selected()
	p.say(orSay(ok, "the call was made in no pane of this window", "no call is selected"))
	return nil
}

// say puts a sentence in the place of the keys.
func (p *Tools) say(text string) {
	if p.open != nil {
		p.open.note = text
		return
	}
	p.note = text
}

// Click selects the call under it; a click on the selected one opens it.
func (p *Tools) Click(x, y int) (Action, bool) {
	if p.open != nil {
		p.open.note = ""
		return p.Wants(), p.open.text.click(x, y)
	}
	i := p.list.hit(x, y)
	if i < 0 {
		return nil, false
	}
	p.note = ""
	if p.list.selected(i) {
		return p.expand(), true
	}
	p.list.pick(p, i)
	return p.look(), true
}

// Wheel scrolls what is shown and leaves the selection alone.
func (p *Tools) Wheel(lines int) {
	if p.open != nil {
		p.open.text.scroll(lines)
		p.open.atEdge()
		return
	}
	p.list.wheel(p, lines)
}

// Keys are those of the list, or of the call that is open.
func (p *Tools) Keys() []KeyHelp {
	if p.open != nil {
		return append(helpText(&p.open.text), helpFor("[", "earlier output", "]", "later output",
			"y", "copy the output", "Y", "copy the record as JSON", "c", "copy the command", "o", "open the file of the output",
			"g", "go to the pane it was made in", "esc", "back to the list")...)
	}
	return helpFor("j", "the call below", "k", "the call above", "enter", "the call whole: arguments, output, evidence",
		"/", "only calls with a text", "f", "only those of a state", "t", "only those of a tool", "a", "only those of an agent",
		"c", "copy the command", "g", "go to the pane it was made in", "esc", "show all",
		"pgdown", "a page down", "pgup", "a page up", "home", "the newest", "end", "the oldest")
}

// hints are the keys of the list that do something now, the most needed first.
func (p *Tools) hints() []piece {
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	var out []piece
	if p.view.Len() > 0 {
		out = append(out, hint("Enter", "opens"))
	}
	if !p.unfiltered() {
		out = append(out, hint("Esc", "shows all"))
	}
	if p.book != nil && p.book.Len() > 0 {
		out = append(out, hint("/", "filter"), hint("f", "state"))
	}
	if p.paneOf() != 0 {
		out = append(out, hint("g", "goes to its pane"))
	}
	if len(p.known.tools) > 0 {
		out = append(out, hint("t", "tool"))
	}
	if len(p.known.agents) > 0 {
		out = append(out, hint("a", "agent"))
	}
	if r, ok := p.selected(); ok && r.Start.Title != "" {
		out = append(out, hint("c", "copies it"))
	}
	return out
}

// openKey takes a key while a call is shown whole.
func (p *Tools) openKey(name string) (Action, bool) {
	d := p.open
	if d.text.prompt.on {
		d.text.typing(name)
		return nil, true
	}
	if d.text.key(name) {
		d.note = ""
		switch name {
		case "n", "N":
		case "end", "G":
			d.toEnd()
		case "home":
			d.toBegin()
		default:
			d.atEdge()
		}
		return p.Wants(), true
	}
	switch name {
	case "esc", "ctrl+o":
		return nil, p.leave(name)
	case "[":
		d.earlier()
	case "]":
		d.later()
	case "y":
		return d.copyOutput(), true
	case "Y":
		return d.copyRecord(), true
	case "c":
		return p.copyTitle(), true
	case "o":
		if d.file() == "" {
			d.note = "no file was kept of the output"
			return nil, true
		}
		return OpenFile{d.file()}, true
	case "g":
		return p.goToPane(), true
	case "enter", "n", "N": // where there is nothing to fold or to find
		d.note = orSay(name == "enter", "Enter folds on a heading", "nothing is searched for: / asks")
		return nil, true
	default:
		return nil, false
	}
	return p.Wants(), true
}

// leave goes from a note, then from a search, then back to the list.
func (p *Tools) leave(name string) bool {
	d := p.open
	switch {
	case name == "esc" && d.note != "":
		d.note = ""
	case name == "esc" && d.text.query != "":
		d.text.query = ""
	default:
		p.open = nil
		if p.view.Len() > 0 && p.list.picked {
			p.list.see(p)
		}
	}
	return true
}

// hints are the keys that do something now with the open call.
func (d *callDetail) hints(pane bool) []piece {
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	out := []piece{hint("Esc", "back")}
	if d.text.query != "" {
		out = append(out, hint("n N", outcome.Count(int64(d.text.matches()))+" found"))
	} else {
		out = append(out, hint("/", "find"))
	}
	if d.text.onHeading() {
		out = append(out, hint("Enter", "folds"))
	}
	if d.output.loaded() {
		out = append(out, hint("y", "copies output"))
	}
	if d.output.before() {
		out = append(out, hint("[", "earlier"))
	}
	if d.output.after() {
		out = append(out, hint("]", "later"))
	}
	if d.file() != "" {
		out = append(out, hint("o", "opens file"))
	}
	if pane {
		out = append(out, hint("g", "its pane"))
	}
	if d.taken {
		out = append(out, hint("Y", "copies record"))
	}
	return append(out, hint("c", "copies command"))
}
