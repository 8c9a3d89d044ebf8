package panels

import (
	"bytes"
	"slices"
	"strings"

	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

const (
	// tailFrom is how far before the end of a job's output it is read from.
	tailFrom = 64 << 10
	// tailMax is how much of it is held, and tailTrim what is left when it is
	// more.
	tailMax, tailTrim = 1 << 20, 768 << 10
)

// A jobTail is the end of one job's output, read on while it is shown.
type jobTail struct {
	job   jobhost.Job
	gone  bool // the host does not know it any more
	text  textView
	from  int64 // of raw
	raw   []byte
	shown string // of raw, as it is shown and copied

	read   bool
	asked  bool
	due    bool  // the job was looked at since it was read last
	end    bool  // nothing follows raw
	lost   int64 // bytes of before that the host had let go
	masked int
	err    error
}

func openTail(j jobhost.Job) *jobTail {
	t := &jobTail{job: j, from: max(j.Read-tailFrom, j.KeptFrom, 0), due: true}
	t.text.sections = []textSection{{lines: t.lines()}}
	return t
}

// show takes the newest of the job.
func (t *jobTail) show(jobs []jobhost.Job) {
	i := slices.IndexFunc(jobs, func(j jobhost.Job) bool { return j.ID == t.job.ID })
	if t.gone = i < 0; !t.gone {
		t.job = jobs[i]
	}
	t.due = true
}

// wants asks for what follows: at once while the job is known to have more, and
// otherwise once each time the job was looked at.
func (t *jobTail) wants() Action {
	next := t.from + int64(len(t.raw))
	if t.asked || t.end || t.gone || !t.due && next >= t.job.Read {
		return nil
	}
	if t.err != nil && !t.due || t.full() && !t.text.atEnd() {
		return nil // not now, or not under the eyes of who reads above
	}
	t.asked, t.due = true, false
	return ReadJob{ID: t.job.ID, From: next}
}

func (t *jobTail) full() bool {
	return len(t.raw) > tailMax || strings.Count(t.shown, "\n") > outputLines
}

// TakeJob takes the answer to a ReadJob, as jobhost.Chunk has it.
func (p *Jobs) TakeJob(id string, from int64, data []byte, end bool, lost int64, err error) {
	t := p.open
	if t == nil || t.job.ID != id || !t.asked {
		return
	}
	t.asked, t.err = false, err
	if err == nil {
		t.read, t.end = true, end
		if lost > 0 || from != t.from+int64(len(t.raw)) {
			t.raw, t.from = nil, from
			t.lost += max(lost, 0)
		}
		t.raw = append(t.raw, data...)
		if len(data) == 0 {
			t.job.Read = min(t.job.Read, t.from+int64(len(t.raw))) // there is no more than this
		}
	}
	follow, first, head := t.text.atEnd(), t.shown == "", len(t.head())
	t.shown, t.masked = cleanOutput(t.raw)
	gone := 0
	if follow && t.full() {
		all := strings.Count(t.shown, "\n")
		t.trim()
		gone = all - strings.Count(t.shown, "\n")
	}
	t.text.replace(0, t.lines(), len(t.head())-head-gone)
	if follow || first {
		t.text.end()
	}
}

// trim lets the beginning go.
func (t *jobTail) trim() {
	cut := frontCut(t.raw, tailTrim)
	t.raw = bytes.Clone(t.raw[cut:])
	t.from += int64(cut)
	t.shown, t.masked = cleanOutput(t.raw)
}

// head is what is to be known of the output before what is held.
func (t *jobTail) head() []textLine {
	var out []textLine
	if t.from > 0 {
		out = append(out, textLine{text: outcome.CountBytes(t.from) + " before this", role: roleDim})
	}
	if t.lost > 0 {
		out = append(out, textLine{text: outcome.CountBytes(t.lost) + " were let go before they were read", role: roleCaution})
	}
	return out
}

// lines are the output, and what is to be known of it before and behind.
func (t *jobTail) lines() []textLine {
	out := t.head()
	say := func(role textRole, text string) { out = append(out, textLine{text: displayLine(text), role: role}) }
	out = append(out, displayLines(t.shown, roleOutput)...)
	switch {
	case t.full():
		say(roleDim, "reading waits here: End goes on")
	case t.err != nil:
		say(roleCaution, "? the output cannot be read: "+t.err.Error())
	case !t.read:
		say(roleDim, "reading the output")
	case t.end && t.job.Sentence != "":
		say(roleDim, t.job.Sentence)
	case t.end:
		say(roleDim, "nothing follows")
	case t.shown == "" && t.job.Running:
		say(roleDim, "no output so far")
	}
	return out
}

// key takes the keys of the text, but those that mean something for a job.
func (t *jobTail) key(name string) bool {
	switch name {
	case "enter", "z":
		return false
	}
	return t.text.key(name)
}

// drawOpen draws the open job: its first row, its figures, its output, the keys.
func (p *Jobs) drawOpen(c canvas, x, y, w, h int, focused bool) {
	t := p.open
	m := c.jobMark(t.job)
	if t.gone {
		m = c.mark(theme.Unknown, "")
	}
	at, end := x+1, x+w-1
	if !c.th.Plain {
		c.s.SetText(at, y, 1, m.glyph, m.st)
		at += 2
	}
	n := screen.Width(m.word)
	c.s.SetText(max(end-n, at), y, min(n, end-at), m.word, m.st)
	c.text(at, y, end-n-1-at, displayLine(t.job.Command), c.th.HintKey)
	y, h = y+1, h-1
	if h >= minHead {
		pieces := []piece{{value: t.job.ID, st: c.th.Dim}, {value: p.took(t.job), st: c.th.Dim}, {value: outcome.Size(t.job.Read), st: c.th.Dim}}
		if t.gone {
			pieces = append([]piece{{value: "the job host does not know it any more", st: c.th.Attention}}, pieces...)
		}
		if t.masked > 0 {
			pieces = append(pieces, piece{value: countOf(int64(t.masked), "secret") + " masked", st: c.th.Dim})
		}
		if fds := p.descriptors(t.job); fds != "" {
			pieces = append(pieces, piece{"fds", fds, c.th.Dim})
		}
		c.pieces(x+cardIndent, y, w-cardIndent-1, c.between(), pieces)
		y, h = y+1, h-1
	}
	if h >= minHead-1 {
		h--
		switch {
		case t.text.prompt.on:
			t.text.prompt.draw(c, x+1, y+h, w-2)
		case p.note == "" && t.text.query != "" && t.text.matches() == 0:
			c.text(x+1, y+h, w-2, "not found: "+t.text.query, c.th.Attention)
		default:
			p.drawFoot(c, x+1, y+h, w-2, focused)
		}
	}
	t.text.draw(c, x, y, w, h, focused)
}
