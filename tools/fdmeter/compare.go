package fdmeter

// A Diff is what changed between two looks at one process.
type Diff struct {
	Opened   []Group `json:"opened"`
	Closed   []Group `json:"closed"`
	Survived []Group `json:"survived"`
	// Unknown are descriptors of which one side could not be looked at:
	// unreadable, or beyond DetailLimit. They may have survived or not.
	Unknown []Group `json:"unknown"`
	// Replaced says that the pid belongs to another process now. Then
	// everything was closed and everything was opened.
	Replaced bool `json:"replaced"`
	// Cause says why there is no comparison; NotRead when there is one.
	Cause Cause `json:"-"`
	// Complete is false when one side could not be listed or was cut.
	Complete bool `json:"complete"`
}

// Compare compares two breakdowns, the earlier one first. A descriptor
// survived when its number leads to the same thing. A file that was closed and
// opened again under the same number cannot be told from one that stayed.
func Compare(a, b Breakdown) Diff {
	diff := Diff{Complete: a.Listed.Known() && b.Listed.Known() && a.NotInspected+b.NotInspected == 0}
	switch {
	case !a.Listed.Known():
		diff.Cause = a.Listed.Cause()
	case !b.Listed.Known():
		diff.Cause = b.Listed.Cause()
	}
	if !a.Listed.Known() || !b.Listed.Known() {
		return diff.grouped(nil, nil, nil, nil)
	}
	if a.PID != b.PID || a.Birth != b.Birth {
		diff.Replaced = true
		return diff.grouped(b.FDs, a.FDs, nil, nil)
	}
	before := make(map[int]FD, len(a.FDs))
	for _, fd := range a.FDs {
		before[fd.Number] = fd
	}
	var opened, closed, survived, unknown []FD
	for _, fd := range b.FDs {
		old, open := before[fd.Number]
		delete(before, fd.Number)
		switch {
		case !open && a.beyond(fd.Number):
			unknown = append(unknown, fd)
		case !open:
			opened = append(opened, fd)
		case old.Kind == KindUnreadable || fd.Kind == KindUnreadable:
			unknown = append(unknown, fd)
		case same(old, fd):
			survived = append(survived, fd)
		default:
			closed = append(closed, old)
			opened = append(opened, fd)
		}
	}
	for _, fd := range a.FDs {
		switch _, left := before[fd.Number]; {
		case left && b.beyond(fd.Number):
			unknown = append(unknown, fd)
		case left:
			closed = append(closed, fd)
		}
	}
	return diff.grouped(opened, closed, survived, unknown)
}

// same reports whether two descriptors of one number lead to the same thing.
// Where the kernel said more than the target, that has to agree too: every
// terminal's master is called /dev/ptmx, and a file may have been replaced by
// another one of its name.
func same(a, b FD) bool {
	if a.Target != b.Target || a.Kind != b.Kind {
		return false
	}
	if !a.Detail.Known() || !b.Detail.Known() {
		return true
	}
	// A pidfd stays the same when its process ends, and says -1 from then on.
	process := a.Detail.Process == b.Detail.Process || min(a.Detail.Process.n, b.Detail.Process.n) < 0
	return a.Detail.Slave == b.Detail.Slave && process &&
		(a.Detail.Inode == b.Detail.Inode || a.Detail.Inode == 0 || b.Detail.Inode == 0)
}

// beyond reports whether a number lies past those that were looked at.
func (b Breakdown) beyond(number int) bool {
	return b.NotInspected > 0 && len(b.FDs) > 0 && number > b.FDs[len(b.FDs)-1].Number
}

func (d Diff) grouped(opened, closed, survived, unknown []FD) Diff {
	d.Opened, d.Closed = group(opened), group(closed)
	d.Survived, d.Unknown = group(survived), group(unknown)
	return d
}
