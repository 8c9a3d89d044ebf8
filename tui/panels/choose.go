package panels

import "github.com/honestty/honestty/journal"

// Choose selects a call, whatever filter was in force.
func (p *Tools) Choose(call string) {
	if p.book == nil {
		return
	}
	p.open, p.note = nil, ""
	if p.view.Index(call) < 0 {
		p.filter, p.which = journal.Filter{}, allCalls
		p.reselect()
	}
	if i := p.view.Index(call); i >= 0 {
		p.list.pick(p, i)
	}
}

// Choose selects a call, whatever filter was in force.
func (p *Speech) Choose(call string) { p.feed.choose(p, call) }

// Choose selects a call, whatever filter was in force.
func (p *Send) Choose(call string) { p.feed.choose(p, call) }

func (f *feed[D]) choose(s cardSource, call string) {
	if f.book == nil {
		return
	}
	f.whole, f.note = false, ""
	if f.index(call) < 0 {
		f.text, f.bad = "", false
		f.reselect(s)
	}
	if i := f.index(call); i >= 0 {
		f.list.pick(s, i)
	}
}
