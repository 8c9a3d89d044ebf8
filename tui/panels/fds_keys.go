package panels

// Key takes one key; see hints for those that are shown.
func (f *FDs) Key(name string) (Action, bool) {
	page := max(f.list.h-1, 1)
	switch name {
	case "j", "down", "ctrl+n":
		f.move(1)
	case "k", "up", "ctrl+p":
		f.move(-1)
	case "pgdown", "ctrl+d":
		f.move(page)
	case "pgup", "ctrl+u":
		f.move(-page)
	case "home":
		f.move(-f.length())
	case "end", "G":
		f.move(f.length())
	case "esc":
		return nil, f.back()
	case "enter":
		return f.open(), true
	case "r":
		return f.again(), true
	case "s":
		return f.ask(Keep), true
	case "d":
		return f.compare(), true
	case "p":
		return f.askHolders(true), true
	case "o":
		if f.view == viewTable {
			f.reorder()
		}
		return nil, true
	case "g":
		return f.goToPane(), true
	default:
		return nil, false
	}
	f.note = ""
	return nil, true
}

// open goes one step further: to the types of a process, to the targets of a
// type, to the descriptors of a target and who else holds them.
func (f *FDs) open() Action {
	switch f.view {
	case viewDiff:
		return f.ask(Compare)
	case viewProblems:
		return f.askHolders(true)
	case viewTable:
		return f.ask(Look)
	}
	l := f.here()
	if l.at >= len(l.rows) {
		return nil
	}
	p, ok := l.rows[l.at].opens()
	if !ok {
		return nil
	}
	f.note = ""
	f.descend(p)
	if p.one {
		return f.askHolders(false)
	}
	return nil
}

// again reads what is shown anew.
func (f *FDs) again() Action {
	switch f.view {
	case viewTypes:
		return f.ask(Look)
	case viewDiff:
		return f.ask(Compare)
	case viewProblems:
		return f.askHolders(true)
	}
	return nil
}

// length is how many rows the current view has.
func (f *FDs) length() int {
	if l := f.here(); l != nil {
		return len(l.rows)
	}
	return len(f.rows)
}

// move moves in a level, or selects another process. Above the first one is
// this window.
func (f *FDs) move(by int) {
	if l := f.here(); l != nil {
		l.move(by, max(f.list.h, 1))
		return
	}
	if len(f.rows) == 0 {
		return
	}
	if !f.picked && by < 0 {
		return
	}
	at := f.top - 1
	if f.picked {
		at = f.index(f.chosen.id())
	}
	to := min(at+by, len(f.rows)-1)
	if to < 0 && by == -1 {
		f.picked, f.asked, f.top = false, nil, 0
		return
	}
	to = max(to, 0)
	f.pick(to)
	f.top = max(min(f.top, to), to-max(f.list.h, 1)+1, 0)
}

// pick selects a row. What was asked for another process is not waited for any
// more.
func (f *FDs) pick(i int) {
	f.picked, f.gone, f.chosen, f.asked = true, false, f.rows[i], nil
}

// back gives up a wait, leaves a level, then the selection. It reports whether
// there was something to leave.
func (f *FDs) back() bool {
	_, peers := f.asked.(ReadHolders)
	waited := f.asked != nil && !(peers && f.view == viewTypes) // they come by themselves, and only add
	f.asked, f.note = nil, ""
	switch {
	case waited: // what was asked for is not wanted any more
	case len(f.levels) > 1:
		f.levels = f.levels[:len(f.levels)-1]
	case f.view != viewTable:
		f.leave()
		if f.picked && f.gone {
			f.leaveGone(nil)
		}
	case f.picked:
		f.picked = false
	default:
		return false
	}
	return true
}

// leave shows the table.
func (f *FDs) leave() { f.view, f.levels, f.holders = viewTable, nil, nil }

// ask asks for the descriptors of the subject.
func (f *FDs) ask(purpose Purpose) Action {
	who := f.subject()
	if !f.alive() {
		return nil
	}
	req := ReadTypes{PID: who.PID, For: purpose}
	f.asked = req
	f.note = "looking at the descriptors of " + called(who)
	return req
}

// askHolders asks who holds what, for the problems or for the peers.
func (f *FDs) askHolders(problems bool) Action {
	who := f.subject()
	if !f.alive() {
		return nil
	}
	req := ReadHolders{PID: who.PID, Parent: who.Parent, Problems: problems}
	f.asked = req
	f.note = "looking who holds what on this machine"
	return req
}

// alive reports whether the subject can be looked at, and says why not.
func (f *FDs) alive() bool {
	switch {
	case !f.read:
		f.note = "nothing is counted yet"
	case f.gone:
		f.note = called(f.subject()) + " has ended"
	default:
		return true
	}
	return false
}

// compare asks for what the snapshot is compared with.
func (f *FDs) compare() Action {
	who := f.subject()
	if _, ok := f.snapshot(who.PID); !ok && f.read {
		f.note = "no snapshot of " + called(who) + " yet: s takes one"
		return nil
	}
	return f.ask(Compare)
}

func (f *FDs) goToPane() Action {
	who := f.subject()
	if who.root == 0 {
		f.note = called(who) + " belongs to no pane"
		return nil
	}
	f.note = ""
	return GoToPane{PID: who.root}
}

// Click selects the process under it, or what can be opened in a level.
func (f *FDs) Click(x, y int) (Action, bool) {
	if !f.list.has(x, y) {
		return nil, false
	}
	if l := f.here(); l != nil {
		i := l.top + y - f.list.y
		if i >= len(l.rows) || l.rows[i].into == nil {
			return nil, false
		}
		l.at = i
		return nil, true
	}
	i := f.top + y - f.list.y
	if i >= len(f.rows) {
		return nil, false
	}
	f.note = ""
	f.pick(i)
	return nil, true
}

// Wheel scrolls the view and leaves the selection alone.
func (f *FDs) Wheel(lines int) {
	last := max(f.length()-max(f.list.h, 1), 0)
	if l := f.here(); l != nil {
		l.top = max(min(l.top+lines, last), 0)
		return
	}
	f.top = max(min(f.top+lines, last), 0)
}

// Keys are those of the table, or of what was opened.
func (f *FDs) Keys() []KeyHelp {
	out := helpFor("j", "the process below", "k", "the process above", "enter", "its descriptors by type",
		"o", "sort by another column", "p", "problems: ghosts of terminals, deleted files, what a child inherits")
	if f.view != viewTable {
		out = helpFor("j", "the row below", "k", "the row above", "enter", "targets of a type, then who is at the other end",
			"r", "read it again", "esc", "back")
	}
	return append(out, helpFor("s", "keep a snapshot of the process", "d", "what was opened and closed since the snapshot",
		"g", "go to the pane it runs in", "pgdown", "a page down", "pgup", "a page up", "home", "to the first", "end", "to the last")...)
}

// hints are the keys that do something now, the most telling first.
func (f *FDs) hints() []piece {
	who := f.subject()
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	_, kept := f.snapshot(who.PID)
	snapshots := func(out []piece) []piece {
		if !f.gone {
			out = append(out, hint("s", "snapshot"))
		}
		if kept && !f.gone {
			out = append(out, hint("d", "diff"))
		}
		return out
	}
	if f.view == viewTable {
		out := snapshots(nil)
		if !f.gone {
			out = append(out, hint("Enter", "types"))
		}
		if who.root != 0 {
			out = append(out, hint("g", "goes to its pane"))
		}
		return append(out, hint("o", "sorts by "+((f.order+1)%orders).String()), hint("p", "problems"))
	}
	out := []piece{hint("Esc", "back")}
	switch l := f.here(); {
	case f.view != viewTypes || !l.choice():
	case len(f.levels) == 1:
		out = append(out, hint("Enter", "targets"))
	default:
		out = append(out, hint("Enter", "peers"))
	}
	if !f.gone {
		out = append(out, hint("r", "reads again"))
	}
	if f.view == viewTypes {
		out = snapshots(out)
	}
	if who.root != 0 {
		out = append(out, hint("g", "goes to its pane"))
	}
	return out
}
