package panels

import (
	"slices"
	"time"

	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// jobTable is from which width on a job's figures stand in columns beside its
// command.
const jobTable = 76

// Draw draws the list, or the end of the output of the job that is open.
func (p *Jobs) Draw(s *screen.Screen, x, y, w, h int, focused bool, th theme.Theme) {
	c := canvas{s, &th}
	s.Fill(x, y, w, h, th.Text)
	if w < 2 || h < 1 {
		return
	}
	if p.open != nil {
		p.drawOpen(c, x, y, w, h, focused)
		return
	}
	if !p.read {
		text := "? unknown: the jobs are not read yet"
		if p.err != nil {
			text = "? unknown: " + p.err.Error()
		}
		c.sentences(x+1, y, w-2, h, text, th.Dim)
		return
	}
	p.width = w
	if h >= minHead {
		p.drawHead(c, x, y, w)
		y, h = y+1, h-1
	}
	if h >= minHead {
		h--
		p.drawFoot(c, x+1, y+h, w-2, focused)
	}
	if len(p.rows) == 0 {
		p.list.area = rect{}
		text := "no jobs: honestty job start -- COMMAND runs one in the background"
		if p.filter != "" {
			text = "no job passes the filter: Esc shows all"
		}
		c.sentences(x+1, y, w-2, h, text, th.Dim)
		return
	}
	p.list.draw(p, rect{x, y, w, h}, func(i, y, rows int) {
		p.drawJob(c, x, y, w, rows, i, focused)
	})
	for i, j := range p.rows {
		if i >= p.list.top {
			delete(p.fresh, j.ID)
		}
		if slices.Contains(p.list.drawn, i) && bad(jobState(j)) {
			p.looked[j.ID] = true
		}
	}
}

// jobColumns are the widths of the figures in a table: started, runtime,
// output, last output, descriptors, state.
var jobColumns = [...]struct {
	name string
	w    int
}{{"started", 7}, {"ran", 6}, {"output", 9}, {"last out", 8}, {"fds", 5}, {"state", 9}}

// drawHead says how many jobs there are, and names the columns of a table.
func (p *Jobs) drawHead(c canvas, x, y, w int) {
	if p.err != nil {
		c.text(x+1, y, w-2, c.stale(p.err), c.th.Attention)
		return
	}
	room := w - 2
	if w >= jobTable {
		end := x + w - 1
		for _, col := range slices.Backward(jobColumns[:]) {
			c.right(end, y, col.w, col.name, c.th.Dim)
			end -= col.w + 2
		}
		room = end - x - 1
	}
	var pieces []piece
	if n := p.newAbove(); n > 0 {
		pieces = append(pieces, piece{value: outcome.Count(int64(n)) + " new above", st: c.th.Attention})
	}
	if p.filter != "" {
		pieces = append(pieces, piece{value: quoted(p.filter), st: c.th.HintKey})
	}
	count := countOf(int64(len(p.jobs)), "job")
	if p.filter != "" {
		count = outcome.Count(int64(len(p.rows))) + " of " + count
	}
	running := 0
	for _, j := range p.jobs {
		if j.Running && !j.Detached {
			running++
		}
	}
	pieces = append(pieces, piece{value: count, st: c.th.Dim})
	if running > 0 {
		pieces = append(pieces, piece{value: outcome.Count(int64(running)) + " running", st: c.th.Dim})
	}
	c.pieces(x+1, y, room, c.between(), pieces)
}

// stale says why the list is an old one.
func (c canvas) stale(err error) string {
	text := "stale"
	if !c.th.Plain {
		text = c.th.Glyphs.State(theme.Stale) + " stale"
	}
	return text + ": " + err.Error()
}

// drawJob draws the rows of one job.
func (p *Jobs) drawJob(c canvas, x, y, w, rows, i int, focused bool) {
	j := p.rows[i]
	m, st, dim := c.jobMark(j), c.th.Text, c.th.Dim
	if p.list.selected(i) {
		st.Attrs |= vt.Bold
		if focused {
			st, m.st, dim = c.th.Chosen, c.th.Chosen, c.th.Chosen
			c.s.Fill(x, y, w, 1, st)
		}
		c.s.SetText(x, y, 1, c.th.Glyphs.Pointer, st)
	}
	at, end := x+1, x+w-1
	if !c.th.Plain {
		c.s.SetText(at, y, 1, m.glyph, m.st)
		at += 2
	}
	if w >= jobTable {
		end = p.drawFigures(c, y, end, j, m, dim)
	} else {
		n := screen.Width(m.word)
		c.s.SetText(max(end-n, at), y, min(n, end-at), m.word, m.st)
		end -= n + 1
		if took := p.took(j); end-at > tookWidth+10 {
			c.right(end, y, tookWidth, took, dim)
			end -= tookWidth + 1
		}
	}
	c.text(at, y, end-at, displayLine(j.Command), st)
	line := 1
	put := func(text string, st vt.Style) {
		if line < rows && w > cardIndent+1 {
			c.text(x+cardIndent, y+line, w-cardIndent-1, text, st)
		}
		line++
	}
	if w < jobTable {
		p.drawPieces(c, x+cardIndent, y, w-cardIndent-1, rows, j)
		if line++; w < narrow {
			line++
		}
	}
	for _, text := range p.remarks(j, w) {
		put(text, c.th.Dim)
	}
}

// drawFigures draws the columns of a table and returns where they begin.
func (p *Jobs) drawFigures(c canvas, y, end int, j jobhost.Job, m stateMark, dim vt.Style) (begin int) {
	values := [len(jobColumns)]string{
		p.since(j.Started), p.took(j), outcome.Size(j.Read), p.since(j.LastOutput), p.descriptors(j), m.word,
	}
	switch {
	case j.Output == outcome.StateNotStarted:
		values[2], values[3] = "", ""
	case j.LastOutput.IsZero() && j.Read == 0:
		values[3] = "none"
	}
	for i, col := range slices.Backward(jobColumns[:]) {
		st := dim
		if i == len(jobColumns)-1 {
			st = m.st
		}
		c.right(end, y, col.w, values[i], st)
		end -= col.w + 2
	}
	return end
}

// drawPieces draws the figures of a card in one row, or in two where it is
// narrow.
func (p *Jobs) drawPieces(c canvas, x, y, w, rows int, j jobhost.Job) {
	last := "no output so far"
	if !j.LastOutput.IsZero() {
		last = "output " + p.since(j.LastOutput)
	} else if j.Read > 0 {
		last = "last output ?"
	} else if j.Output == outcome.StateNotStarted {
		last = "did not start"
	} else if !j.Running {
		last = "no output"
	}
	size := piece{value: outcome.Size(j.Read), st: c.th.Dim}
	fds := piece{value: p.descriptors(j), name: "fds", st: c.th.Dim}
	all := []piece{{value: last, st: c.th.Dim}, size}
	if j.Read == 0 {
		all = all[:1]
	}
	if fds.value != "" {
		all = append(all, fds)
	}
	all = append(all, piece{"started", p.since(j.Started), c.th.Dim})
	if code := exitText(j); code != "" {
		all = append([]piece{{value: code, st: c.th.Text}}, all...)
	}
	if rows < 2 {
		return
	}
	if w >= narrow-cardIndent-1 {
		c.pieces(x, y+1, w, c.between(), all)
		return
	}
	n := 0
	for room := w; n < len(all); n++ {
		p := all[n]
		need := screen.Width(p.name) + screen.Width(p.value)
		if p.name != "" {
			need++
		}
		if n > 0 {
			need += screen.Width(c.between())
		}
		if room -= need; room < 0 {
			break
		}
	}
	c.pieces(x, y+1, w, c.between(), all[:n])
	if rows > 2 {
		c.pieces(x, y+2, w, c.between(), all[n:])
	}
}

// exitText says how a job ended, where the state's word does not.
func exitText(j jobhost.Job) string {
	switch {
	case j.Running:
		return ""
	case j.Signal != "":
		return j.Signal
	case j.ExitCode != nil && *j.ExitCode != 0:
		return "exit " + outcome.Count(int64(*j.ExitCode))
	}
	return ""
}

// since says how long ago something was; "?" when that is not known.
func (p *Jobs) since(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return ago(max(p.now.Sub(t), 0))
}

// took is how long a job ran, or runs.
func (p *Jobs) took(j jobhost.Job) string {
	switch {
	case j.Running && !j.Started.IsZero():
		return outcome.Duration(max(p.now.Sub(j.Started), 0))
	case j.DurationMS < 0:
		return "?"
	}
	return outcome.Duration(time.Duration(j.DurationMS) * time.Millisecond)
}

func (p *Jobs) drawFoot(c canvas, x, y, w int, focused bool) {
	switch {
	case p.prompt.on:
		p.prompt.draw(c, x, y, w)
	case p.note != "":
		c.text(x, y, w, p.note, c.th.Text)
	case focused:
		c.keys(x, y, w, c.between(), p.hints())
	}
}
