package panels

import "github.com/honestty/honestty/journal"

// typing reports that a text is typed here.
func (f *feed[D]) typing() bool { return f.prompt.on || f.whole && f.reader.prompt.on }

// paste takes pasted text while one is typed, and reports whether it did.
func (f *feed[D]) paste(s cardSource, text string) bool {
	switch {
	case f.prompt.on:
		f.typed(s, f.prompt.insert(text))
	case f.typing():
		f.reader.typed(f.reader.prompt.insert(text))
	default:
		return false
	}
	return true
}

// key takes the keys that all feeds have, and reports whether it was one.
func (f *feed[D]) key(s cardSource, name string) (handled bool) {
	switch {
	case f.prompt.on:
		if !f.list.arrow(s, name) {
			f.typed(s, f.prompt.key(name))
		}
		return true
	case f.whole && f.reader.prompt.on:
		f.reader.typing(name)
		return true
	case f.whole && f.reader.key(name):
		f.note = ""
		return true
	case f.whole:
		return f.wholeKey(s, name)
	case f.list.key(s, name):
		f.note = ""
		return true
	}
	switch name {
	case "enter", "ctrl+o":
		f.expand(s)
	case "/":
		f.note = ""
		f.prompt = textPrompt{on: true, text: f.text}
	case "esc":
		return f.back(s)
	default:
		return false
	}
	return true
}

// wholeKey takes the keys of a call that is shown whole, after those of its
// text.
func (f *feed[D]) wholeKey(s cardSource, name string) bool {
	switch {
	case name == "esc" && f.note != "":
		f.note = ""
	case name == "esc" && f.reader.query != "":
		f.reader.query = ""
	case name == "esc", name == "ctrl+o":
		f.whole, f.note, f.reader = false, "", textView{}
		if f.list.picked && f.list.at < f.length() {
			f.list.see(s)
		}
	case name == "enter":
		f.note = "Enter folds on a heading"
	default:
		return false
	}
	return true
}

// typed filters by what is typed as it is typed.
func (f *feed[D]) typed(s cardSource, what typed) {
	if what != typedNothing && f.text != f.prompt.text {
		f.filter(s, f.prompt.text, f.bad)
	}
}

// back leaves a note, the filters, then the selection. It reports whether there
// was something to leave.
func (f *feed[D]) back(s cardSource) bool {
	switch {
	case f.note != "":
		f.note = ""
	case !f.unfiltered():
		f.filter(s, "", false)
	case f.list.picked:
		f.list.follow()
	default:
		return false
	}
	return true
}

// expand shows the selected call whole, or the one at the top.
func (f *feed[D]) expand(s cardSource) {
	if f.length() == 0 {
		f.note = "there is no call to open"
		return
	}
	f.pick(s)
	f.whole, f.note, f.record = true, "", f.at(f.list.at)
	f.reader = textView{}
}

// pick selects the card at the top where none is selected.
func (f *feed[D]) pick(s cardSource) {
	if !f.list.picked && f.length() > 0 {
		f.list.pick(s, min(f.list.top, f.length()-1))
	}
}

// aim returns the call that an order is about and selects it. An order that
// cannot be taken back is about a call that was selected before, so that it
// does not meet one that came in just now.
func (f *feed[D]) aim(s cardSource, sure bool, again string) (r journal.Record, ok bool) {
	if r, ok = f.subject(); !ok {
		f.note = "there is no call to do that with"
		return r, false
	}
	if f.whole {
		return r, true
	}
	before := f.list.picked && f.index(f.list.id) >= 0
	inView := false
	for _, i := range f.list.drawn {
		inView = inView || i >= 0 && f.list.selected(i)
	}
	if before && inView || !sure {
		f.pick(s)
		return r, true
	}
	f.pick(s)
	f.list.see(s)
	f.note = "this one: " + again
	return r, false
}

// look tells the window that the selected call was looked at, if that is news.
func (f *feed[D]) look() Action {
	if !f.list.picked && !f.whole {
		return nil
	}
	if r, ok := f.subject(); ok && r.Unseen {
		return SeenCall{r.Start.Call}
	}
	return nil
}

// click selects the call under it; a click on the selected one shows it whole.
func (f *feed[D]) click(s cardSource, x, y int) (handled bool) {
	if f.whole {
		f.note = ""
		return f.reader.click(x, y)
	}
	i := f.list.hit(x, y)
	if i < 0 {
		return false
	}
	f.note = ""
	if f.list.selected(i) {
		f.expand(s)
		return true
	}
	f.list.pick(s, i)
	return true
}

func (f *feed[D]) wheel(s cardSource, lines int) {
	if f.whole {
		f.reader.scroll(lines)
		return
	}
	f.list.wheel(s, lines)
}

// several joins actions, leaving out what is nil.
func several(as ...Action) Action {
	var out Several
	for _, a := range as {
		switch a := a.(type) {
		case nil:
		case Several:
			out = append(out, a...)
		default:
			out = append(out, a)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return out
}
