package copymode

import (
	"slices"
	"sort"
)

// A fold hides lines [from, to), the output of one command, behind one marker.
type fold struct {
	from, to int64
	saved    int64 // visible lines that this fold and those before it save
}

func (f fold) lines() int { return int(f.to - f.from) }

// Folds are sorted and do not touch.
type folds []fold

// sum brings saved up to date.
func (f folds) sum() {
	saved := int64(0)
	for i := range f {
		saved += f[i].to - f[i].from - 1
		f[i].saved = saved
	}
}

// find returns the fold that hides a line, or -1.
func (f folds) find(line int64) int {
	i := sort.Search(len(f), func(i int) bool { return f[i].from > line }) - 1
	if i >= 0 && line < f[i].to {
		return i
	}
	return -1
}

// shown returns the number of visible lines before a line, counted from base. A
// hidden line is where its marker is.
func (f folds) shown(line, base int64) int {
	i := sort.Search(len(f), func(i int) bool { return f[i].from > line }) - 1
	if i < 0 {
		return int(line - base)
	}
	if line < f[i].to {
		before := f[i].saved - (f[i].to - f[i].from - 1)
		return int(f[i].from - base - before)
	}
	return int(line - base - f[i].saved)
}

// line is the inverse of shown: the line, or the first hidden one of a fold.
func (f folds) line(n int, base int64) int64 {
	i := sort.Search(len(f), func(i int) bool {
		return f.shown(f[i].from, base) > n
	}) - 1
	if i < 0 {
		return base + int64(n)
	}
	if at := f.shown(f[i].from, base); at == n {
		return f[i].from
	}
	return base + int64(n) + f[i].saved
}

// add hides lines [from, to), and opens folds that share lines with them: what
// is known of a command can grow less when its beginning is cut.
func (f *folds) add(from, to int64) {
	*f = slices.DeleteFunc(*f, func(x fold) bool { return x.from < to && from < x.to })
	i := sort.Search(len(*f), func(i int) bool { return (*f)[i].from >= from })
	*f = slices.Insert(*f, i, fold{from: from, to: to})
	f.sum()
}

func (f *folds) remove(i int) {
	*f = slices.Delete(*f, i, i+1)
	f.sum()
}

// trim cuts folds at the start of the buffer.
func (f *folds) trim(cut int64) {
	if len(*f) == 0 || (*f)[0].from >= cut {
		return
	}
	for i := range *f {
		(*f)[i].from = max((*f)[i].from, cut)
	}
	*f = slices.DeleteFunc(*f, func(x fold) bool { return x.from >= x.to })
	f.sum()
}

// foldable returns the lines that a fold of a command's output hides. why says
// what stands against it.
func foldable(b Buffer, c Command) (from, to int64, why string) {
	if c.Running() && c.Output == none {
		return 0, 0, "nothing was run at this prompt yet"
	}
	if c.Running() {
		return 0, 0, "the command still runs; its output folds when it has ended"
	}
	start, end, ok := outputRange(b, c)
	if !ok {
		return 0, 0, "no shell mark says where this command's output begins"
	}
	from, to = start.Line, end.Line
	if start.Col > 0 {
		from++
	}
	if from >= to {
		return 0, 0, "this command has no whole line of output to fold"
	}
	return from, to, ""
}

// foldAt folds the output of the command at the cursor, or unfolds it. At a
// prompt where nothing was run yet, that is the command before.
func (m *Mode) foldAt(open, shut bool) {
	if i := m.folds.find(m.cursor.Line); i >= 0 {
		if open {
			m.folds.remove(i)
			m.show()
		}
		return
	}
	c, ok := m.index.At(m.cursor.Line)
	if ok && c.Running() && c.Output == none {
		if before, found := m.index.At(c.line() - 1); found {
			c = before
		}
	}
	if !ok {
		m.say(noMarks)
		return
	}
	from, to, why := foldable(m.r.Buffer, c)
	if i := m.folds.find(from); why == "" && i >= 0 {
		if open {
			m.folds.remove(i)
			m.show()
		}
		return
	}
	switch {
	case why != "":
		m.say(why)
	case shut:
		m.folds.add(from, to)
		if m.cursor.Line >= from && m.cursor.Line < to {
			m.cursor = Pos{Line: from}
		}
		m.show()
	}
}

// foldAll folds the output of every command that ended.
func (m *Mode) foldAll() {
	m.folds = m.folds[:0]
	for _, c := range m.index.Commands() {
		from, to, why := foldable(m.r.Buffer, c)
		if n := len(m.folds); why != "" || n > 0 && from < m.folds[n-1].to {
			continue
		}
		m.folds = append(m.folds, fold{from: from, to: to})
	}
	m.folds.sum()
	if len(m.folds) == 0 {
		m.say("no command with a whole line of output to fold")
	}
	m.show()
}

// checkFolds drops folds whose lines are no longer the output of a command:
// the program redrew or cleared the screen.
func (m *Mode) checkFolds() {
	if len(m.folds) == 0 {
		return
	}
	m.folds.trim(m.cut)
	hist := m.cut + int64(m.r.History())
	n := len(m.folds)
	m.folds = slices.DeleteFunc(m.folds, func(f fold) bool {
		if f.to <= hist {
			return false
		}
		c, ok := m.index.At(f.from)
		if !ok {
			return true
		}
		from, to, why := foldable(m.r.Buffer, c)
		return why != "" || from != f.from || to != f.to
	})
	if len(m.folds) != n {
		m.folds.sum()
	}
}
