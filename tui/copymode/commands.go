package copymode

import (
	"slices"
	"sort"

	"github.com/honestty/honestty/vt"
)

// none is the line of a part of a command that no mark told of.
const none = -1

// A Command is what the marks of OSC 133 tell of one command: the absolute lines
// at which its parts begin, -1 where no mark told.
//
// What the marks leave out is left out here: without a mark C nobody knows where
// the output begins, and without the code in mark D nobody knows the exit code.
// A continuation prompt looks like a prompt and begins a command of its own.
type Command struct {
	Prompt, Input, Output int64
	// End is the line at which the command ended: that of mark D, else that of
	// the next prompt. Its output ends on it or before. -1 while it runs.
	End  int64
	Exit int // -1 when not told
	// Cut says that the beginning was cut from the history.
	Cut bool
}

// Running reports whether nothing told of the command's end.
func (c Command) Running() bool { return c.End == none }

// line is where the command is shown to begin.
func (c Command) line() int64 {
	if c.Cut {
		return 0
	}
	for _, l := range []int64{c.Prompt, c.Input, c.Output} {
		if l != none {
			return l
		}
	}
	return c.End
}

// An Index is the commands of a Buffer. It reads each row of history once.
// The zero Index is empty.
type Index struct {
	tr       tracker
	rows     []markedRow // those of history first
	hist     int         // how many of rows are history
	seen     int64       // first line of history not yet read
	commands []Command
	old      []markedRow // the screen's rows before, to notice a change
	cut      bool
}

type markedRow struct {
	line int64
	mark vt.Mark
}

func (r *markedRow) marked() bool {
	return r.mark.Prompt || r.mark.Input || r.mark.Output || r.mark.End
}

// Sync brings the index up to date with a Buffer.
func (x *Index) Sync(b Buffer) {
	ch := x.tr.look(b)
	cut, hist, dirty := x.tr.cut, b.History(), false
	if ch.cleared || ch.rewrapped {
		x.rows, x.hist, x.seen, dirty = x.rows[:0], 0, 0, true
	}
	x.old = append(x.old[:0], x.rows[x.hist:]...)
	x.rows = x.rows[:x.hist]
	// Rows that came back from the history to a higher screen are read again.
	end := cut + int64(hist)
	for x.hist > 0 && x.rows[x.hist-1].line >= end {
		x.hist--
		x.rows, dirty = x.rows[:x.hist], true
	}
	x.seen = max(min(x.seen, end), cut)
	if n := sort.Search(x.hist, func(i int) bool { return x.rows[i].line >= cut }); n > 0 {
		x.rows = slices.Delete(x.rows, 0, n)
		x.hist -= n
		dirty = true
	}
	for row := int(x.seen - cut); row < b.Rows(); row++ {
		if r := (markedRow{cut + int64(row), b.Mark(row)}); r.marked() {
			x.rows = append(x.rows, r)
			if row < hist {
				x.hist++
				dirty = true
			}
		}
	}
	x.seen = end
	if dirty || x.cut != (cut > 0) || !slices.Equal(x.old, x.rows[x.hist:]) {
		x.cut = cut > 0
		x.build()
	}
}

// build makes commands out of marked rows.
//
// A row can hold several marks and does not tell their order. D, A and B of a
// prompt come in this order; a C comes before them when a command waits for its
// output (it printed nothing), else after them (the shell sends C before the
// line feed).
func (x *Index) build() {
	x.commands = x.commands[:0]
	open := false
	last := func() *Command { return &x.commands[len(x.commands)-1] }
	begin := func(c Command) {
		if open {
			last().End = c.line()
		}
		x.commands = append(x.commands, c)
		open = true
	}
	blank := Command{Prompt: none, Input: none, Output: none, End: none, Exit: -1}
	output := func(line int64) {
		if !open || last().Output != none {
			c := blank
			c.Output = line
			begin(c)
			return
		}
		last().Output = line
	}
	for _, r := range x.rows {
		m := r.mark
		first := m.Output && open && last().Output == none
		if first {
			output(r.line)
		}
		if m.End {
			if !open {
				c := blank
				c.End, c.Cut = r.line, x.cut && len(x.commands) == 0
				x.commands = append(x.commands, c)
			}
			last().End, last().Exit = r.line, m.Exit
			open = false
		}
		if m.Prompt {
			c := blank
			c.Prompt = r.line
			begin(c)
		}
		if m.Input {
			if !open || last().Output != none {
				c := blank
				begin(c)
			}
			if last().Input == none {
				last().Input = r.line
			}
		}
		if m.Output && !first {
			output(r.line)
		}
	}
	// A D without anything before it is the shell's own start.
	x.commands = slices.DeleteFunc(x.commands, func(c Command) bool {
		return c.Prompt == none && c.Input == none && c.Output == none && !c.Cut
	})
}

// Commands returns all commands, oldest first, valid until the next Sync.
func (x *Index) Commands() []Command { return x.commands }

// At returns the command that a line belongs to: the last that begins on it or before.
func (x *Index) At(line int64) (Command, bool) {
	n := sort.Search(len(x.commands), func(i int) bool { return x.commands[i].line() > line })
	if n == 0 {
		return Command{}, false
	}
	return x.commands[n-1], true
}

// prompt returns the n-th prompt after a line, or before it when n is negative:
// the last one that way when there are fewer. ok is false when there is none.
func (x *Index) prompt(line int64, n int) (at int64, ok bool) {
	for i := range x.commands {
		c := x.commands[i]
		if n < 0 {
			c = x.commands[len(x.commands)-1-i]
		}
		if c.Prompt == none || n < 0 && c.Prompt >= line || n > 0 && c.Prompt <= line {
			continue
		}
		at, ok = c.Prompt, true
		if n < 0 {
			n++
		} else {
			n--
		}
		if n == 0 {
			break
		}
	}
	return at, ok
}

// An Output is what a command wrote.
type Output struct {
	Text  string
	Lines int
	// Cut says that the beginning was cut from the history: Text is what is left.
	Cut bool
	// Running says that the command had not ended: Text is what it wrote so far.
	Running bool
	// Ended says that its last line had a newline, which is not in Text.
	Ended   bool
	Command Command
}

// Whole is the output with the newline of its last line, as the command wrote it.
func (o Output) Whole() string {
	if o.Ended {
		return o.Text + "\n"
	}
	return o.Text
}

// LastOutput returns the output of the last command that ended and whose output
// the marks tell. ok is false when there is none.
func (x *Index) LastOutput(b Buffer) (o Output, ok bool) {
	for _, c := range slices.Backward(x.commands) {
		if c.Running() {
			continue
		}
		if o, ok = x.Output(b, c); ok {
			return o, true
		}
	}
	return o, false
}

// Output returns what a command wrote. ok is false when no mark tells where that began.
func (x *Index) Output(b Buffer, c Command) (o Output, ok bool) {
	from, to, ok := outputRange(b, c)
	if !ok {
		return o, false
	}
	o = Output{Cut: c.Cut, Running: c.Running(), Command: c}
	if from.Before(to) {
		cut, _ := b.Cut()
		text := appendUntil(nil, b, cut, from, to)
		o.Text, o.Lines = string(text), countLines(text)
		o.Ended = !o.Running && to.Col == 0
	}
	return o, true
}

// appendUntil appends the text from one place to before another.
func appendUntil(dst []byte, b Buffer, cut int64, from, to Pos) []byte {
	if to.Col == 0 {
		return appendRange(dst, b, int(from.Line-cut), from.Col, int(to.Line-cut)-1, b.Cols()-1)
	}
	return appendRange(dst, b, int(from.Line-cut), from.Col, int(to.Line-cut), to.Col-1)
}

// countLines counts the lines of a text without a newline at its end.
func countLines(text []byte) int {
	n := 1
	for _, c := range text {
		if c == '\n' {
			n++
		}
	}
	return n
}

// outputRange returns where the output of a command begins and the place after it.
func outputRange(b Buffer, c Command) (from, to Pos, ok bool) {
	cut, _ := b.Cut()
	switch {
	case c.Output != none && c.Output >= cut:
		from = Pos{Line: c.Output}
	case c.Cut:
		from = Pos{Line: cut}
	default:
		return from, to, false
	}
	var cells []vt.Cell
	// The end: cells of output at the start of the row that the command ended on.
	if c.Running() {
		to = Pos{Line: cut + int64(lastUsed(b)) + 1}
	} else {
		cells = b.Cells(int(c.End-cut), cells[:0])
		to = Pos{c.End, leading(cells)}
		if to.Col == len(cells) && joins(b, int(c.End-cut)) {
			to = Pos{Line: c.End + 1}
		}
	}
	// The start: where the shell tells of the output before the line feed, the
	// command that was typed stands on the same row.
	if cells = b.Cells(int(from.Line-cut), cells[:0]); !c.Cut {
		if n := typed(cells); n > 0 && (from.Line < to.Line || n >= to.Col) {
			if from.Col = n; n >= usedLen(cells) {
				from = Pos{Line: from.Line + 1}
			}
		}
	}
	if to.Before(from) {
		to = from
	}
	return from, to, true
}

// leading returns how many cells at the start of a row are output.
func leading(cells []vt.Cell) int {
	n, end := 0, 0
	for n < len(cells) && (semantic(cells[n]) == semOutput || cells[n] == 0) {
		if n++; cells[n-1] != 0 {
			end = n
		}
	}
	return end
}

// typed returns the column after the prompt and what was typed at it, 0 when the
// row begins with output.
func typed(cells []vt.Cell) int {
	end := 0
	for i, c := range cells {
		switch semantic(c) {
		case semPrompt, semInput:
			end = i + 1
		case semOutput:
			return end
		}
	}
	return end
}

// Text returns the command as it was typed, "" when no mark told where that began.
func (c Command) Text(b Buffer) string {
	cut, _ := b.Cut()
	if c.Input == none || c.Input < cut {
		return ""
	}
	last := int(c.Input - cut)
	switch {
	case c.Output != none && c.Output == c.End: // the next prompt stands there too
		last = max(int(c.Output-cut)-1, last)
	case c.Output != none:
		last = max(int(c.Output-cut), last)
	case c.End != none:
		last = max(int(c.End-cut)-1, last)
	default:
		last = lineEnd(b, last, maxJoin) - 1
	}
	first := int(c.Input - cut)
	last = min(last, first+maxJoin)
	var text []byte
	var cells []vt.Cell
	for row := first; row <= last; row++ {
		cells = b.Cells(row, cells[:0])
		if row > first && !b.Wrapped(row) {
			text = append(trimBlanks(text, 0), '\n')
		}
		for _, cell := range cells[:usedLen(cells)] {
			if semantic(cell) == semInput {
				text = appendCell(text, b, cell)
			}
		}
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\n') {
		text = text[:len(text)-1]
	}
	return string(text)
}
