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
		if f.view == viewDiff {
			return f.ask(Compare), true
		}
		return f.ask(Look), true
	case "s":
		return f.ask(Keep), true
	case "d":
		return f.compare(), true
	case "g":
		return f.goToPane(), true
	default:
		return nil, false
	}
	f.note = ""
	return nil, true
}

// length is how many rows the current view has.
func (f *FDs) length() int {
	if f.view != viewTable {
		return len(f.detail)
	}
	return len(f.rows)
}

// move scrolls a detail, or selects another process. Above the first one is
// this window.
func (f *FDs) move(by int) {
	if f.view != viewTable {
		f.Wheel(by)
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

// back gives up a wait, leaves a detail, then the selection. It reports whether there was
// something to leave.
func (f *FDs) back() bool {
	waited := f.asked != nil
	f.asked, f.note = nil, ""
	switch {
	case waited: // what was asked for is not wanted any more
	case f.view != viewTable:
		f.view, f.detail, f.detailTop = viewTable, nil, 0
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

// ask asks for the descriptors of the subject.
func (f *FDs) ask(purpose Purpose) Action {
	who := f.subject()
	switch {
	case !f.read:
		f.note = "nothing is counted yet"
		return nil
	case f.gone:
		f.note = called(who) + " has ended"
		return nil
	}
	req := ReadTypes{PID: who.PID, For: purpose}
	f.asked = &req
	f.note = "looking at the descriptors of " + called(who)
	return req
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

// Click selects the process under it.
func (f *FDs) Click(x, y int) (Action, bool) {
	if f.view != viewTable || !f.list.has(x, y) {
		return nil, false
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
	if f.view != viewTable {
		f.detailTop = max(min(f.detailTop+lines, last), 0)
		return
	}
	f.top = max(min(f.top+lines, last), 0)
}

// hints are the keys that do something now.
func (f *FDs) hints() []piece {
	who := f.subject()
	hint := func(key, does string) piece { return piece{name: key, value: does} }
	var out []piece
	_, kept := f.snapshot(who.PID)
	switch f.view {
	case viewTable:
		if !f.gone {
			out = append(out, hint("s", "snapshot"))
		}
		if kept {
			out = append(out, hint("d", "diff"))
		}
		out = append(out, hint("Enter", "types"))
		if who.root != 0 {
			out = append(out, hint("g", "goes to its pane"))
		}
		return out
	case viewTypes, viewDiff:
		out = append(out, hint("Esc", "back"))
	}
	if f.gone {
		return out
	}
	out = append(out, hint("Enter", "looks again"))
	if f.view == viewTypes {
		out = append(out, hint("s", "snapshot"))
		if kept {
			out = append(out, hint("d", "diff"))
		}
	}
	return out
}
