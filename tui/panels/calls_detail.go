package panels

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/vt"
)

// A callDetail is one call that is shown whole.
type callDetail struct {
	record journal.Record
	start  journal.Start // with its arguments, once taken
	end    *journal.End  // with its result, once taken
	taken  bool
	asked  bool // an answer is waited for
	ended  bool // the answer that was taken had an end
	err    error
	facts  facts

	text   textView
	output callOutput
	note   string
}

// The headings.
const (
	headSource    = "source"
	headArguments = "arguments"
	headEvidence  = "evidence"
	headResult    = "result"
	headOutput    = "output"
)

// fewLines is how many lines of arguments are not folded away.
const fewLines = 12

// openCall opens a call. Of a running one the end of the output is shown, of
// any other the beginning.
func openCall(r journal.Record) *callDetail {
	d := &callDetail{record: r, start: r.Start, end: r.End}
	d.output = callOutput{size: -1, running: r.End == nil && r.State() == journal.Running}
	d.text.sections = []textSection{
		{},
		{title: headArguments},
		{title: headEvidence},
		{title: headSource, folded: true},
		{title: headResult, folded: true},
		{title: headOutput},
	}
	if d.output.running && r.Start.Live != "" {
		d.output.path, d.output.want = r.Start.Live, readEnd
	}
	return d
}

// show takes the newest of the call from the book.
func (d *callDetail) show(b *journal.Book) {
	if r, err := b.Find(d.record.Start.Call); err == nil {
		d.record = r
	}
	d.output.due = true
	if d.output.running && d.record.State() != journal.Running {
		d.output.running = false
		d.output.want = readAfter // what came after it was read last
		if !d.output.tail {
			d.output.want = readNothing
		}
	}
}

// wants is what has to be read next.
func (d *callDetail) wants() Action {
	if !d.asked && (!d.taken || d.record.End != nil && !d.ended) {
		d.asked = true
		return ReadCall{d.record}
	}
	return d.output.next(d.record.Start.Call)
}

// TakeCall takes the answer to a ReadCall. An error that comes with a start is
// of a part that cannot be had.
func (p *Tools) TakeCall(call string, start journal.Start, end *journal.End, err error) {
	d := p.open
	if d == nil || d.record.Start.Call != call {
		return
	}
	d.asked, d.err = false, err
	first := !d.taken
	d.taken, d.ended = true, end != nil
	d.start, d.end = start, end
	d.facts = factsOf(end)
	d.choose()
	if first {
		d.fold()
	}
	d.layOut(p.now)
	if first && d.output.running {
		d.text.end()
	}
}

// choose says where the output is read: of a call that has ended in its result,
// where that has all of it, and otherwise in its file.
func (d *callDetail) choose() {
	o := &d.output
	o.given, o.hasGiven = d.facts.output()
	if o.path != "" || d.end == nil && !o.running {
		return
	}
	if o.hasGiven && !d.facts.cut() && !d.facts.wentOn() {
		return
	}
	if path := d.file(); path != "" {
		o.path, o.want = path, readBegin
	}
}

// file is the file that has the output; "" when none is known.
func (d *callDetail) file() string {
	if path := d.facts.file(); path != "" {
		return path
	}
	if d.start.Live != "" {
		return d.start.Live
	}
	return d.record.Start.Live
}

// fold folds what is long, and opens the evidence of what is in doubt.
func (d *callDetail) fold() {
	if i := d.text.section(headArguments); i >= 0 {
		d.text.sections[i].folded = len(jsonLines(d.start.Args)) > fewLines
	}
}

// TakeOutput takes the answer to a ReadOutput: what the file has from an offset
// on, and its size; -1 when that is not known.
func (p *Tools) TakeOutput(call string, from int64, data []byte, size int64, err error) {
	d := p.open
	if d == nil || d.record.Start.Call != call || !d.output.asked {
		return
	}
	jump := d.output.want == readBegin || d.output.want == readEnd
	first := !d.output.read
	follow := d.text.atEnd()
	shift := d.output.take(from, data, size, err, follow)
	i := d.text.section(headOutput)
	d.text.sections[i].note = d.output.note()
	if jump && !first {
		d.text.sections[i].lines = d.output.lines()
		d.text.found = -1
		d.text.settle()
		if from > 0 {
			d.text.end()
		}
		return
	}
	d.text.replace(i, d.output.lines(), shift)
}

// layOut makes the sections anew from what is known.
func (d *callDetail) layOut(now time.Time) {
	follow := d.text.atEnd() && d.text.h > 0
	for title, lines := range map[string][]textLine{
		"": d.summary(now), headArguments: d.arguments(), headEvidence: d.evidence(),
		headSource: d.source(), headResult: d.result(), headOutput: d.output.lines(),
	} {
		d.text.sections[d.text.section(title)].lines = lines
	}
	d.text.sections[d.text.section(headOutput)].note = d.output.note()
	d.text.found = -1
	if follow {
		d.text.end()
		return
	}
	d.text.settle()
}

// summary is the title in full, and what is to be known first.
func (d *callDetail) summary(now time.Time) []textLine {
	out := displayLines(callTitle(d.record), rolePlain)
	if why := d.record.Why(); why != "" {
		out = append(out, textLine{text: displayLine(why), role: roleCaution})
	}
	if e := d.record.End; e != nil {
		if e.Summary != "" {
			out = append(out, displayLines(e.Summary, roleDim)...)
		}
		if e.Error != "" && !strings.Contains(e.Summary, e.Error) {
			out = append(out, displayLines(e.Error, roleFailure)...)
		}
	}
	if pr := d.record.Progress; pr != nil && d.record.State() == journal.Running {
		out = append(out, textLine{text: displayLine(progressText(*pr)), role: roleDim})
	}
	if d.err != nil {
		role, why := roleCaution, "a part of the record cannot be read: "+d.err.Error()
		if errors.Is(d.err, journal.ErrMoved) {
			why = "the rest of the record is gone: its file was removed for its age, or changed"
		}
		out = append(out, displayLines(why, role)...)
	}
	return out
}

func (d *callDetail) arguments() []textLine {
	switch {
	case len(d.start.Args) > 0:
		return jsonLines(d.start.Args)
	case d.record.NoStart:
		return []textLine{{text: "? not known: the start of the call is missing", role: roleCaution}}
	case !d.taken:
		return []textLine{{text: "reading the record", role: roleDim}}
	case d.err != nil:
		return []textLine{{text: "? not known: they cannot be read", role: roleCaution}}
	}
	return []textLine{{text: "none", role: roleDim}}
}

func (d *callDetail) result() []textLine {
	switch {
	case d.end != nil && len(d.end.Result) > 0:
		return jsonLines(d.end.Result)
	case d.record.State() == journal.Running:
		return []textLine{{text: "none yet: the call runs", role: roleDim}}
	case d.record.End == nil:
		return []textLine{{text: "? there is none: no end was recorded", role: roleCaution}}
	case !d.taken:
		return []textLine{{text: "reading the record", role: roleDim}}
	}
	return []textLine{{text: "? not known: it cannot be read", role: roleCaution}}
}

// atEdge asks for more of the file where the cursor is at an end of what is
// held of it.
func (d *callDetail) atEdge() {
	i := d.text.section(headOutput)
	if d.text.at.section != i || d.output.asked {
		return
	}
	switch {
	case d.text.atEnd() && d.output.after():
		d.output.want = readAfter
	case d.text.at.line == 0 && d.output.before():
		d.output.want = readBefore
	}
}

func (d *callDetail) toEnd() {
	switch {
	case d.output.asked:
	case d.output.after():
		d.output.want = readEnd
	}
}

func (d *callDetail) toBegin() {
	if !d.output.asked && d.output.before() {
		d.output.want = readBegin
	}
}

func (d *callDetail) earlier() {
	switch {
	case d.output.before():
		d.output.want = readBefore
	default:
		d.note = "this is the beginning of what was kept"
	}
}

func (d *callDetail) later() {
	switch {
	case d.output.after():
		d.output.want = readAfter
	case d.output.running:
		d.note = "this is the end so far"
	default:
		d.note = "this is the end of what was kept"
	}
}

// copyOutput copies the output as it is held: without control sequences, with
// tabs and line ends as they came.
func (d *callDetail) copyOutput() Action {
	o := &d.output
	switch {
	case !o.loaded():
		d.note = "nothing copied: there is no output here"
		return nil
	case o.path == "" || len(o.raw) == 0:
		what := "the output"
		if d.facts.cut() {
			what = "what the result carries of the output"
		}
		return CopyText{o.given, what}
	case o.before() || o.after():
		return CopyText{o.text, outcome.Size(int64(len(o.raw))) + " of the output, of " + outcome.Size(o.size)}
	case o.running:
		return CopyText{o.text, "the output so far"}
	}
	return CopyText{o.text, "the output"}
}

// A copiedRecord is a call as Y copies it, with the names of an export.
type copiedRecord struct {
	Call     string            `json:"call"`
	Seq      int64             `json:"seq"`
	State    string            `json:"state"`
	Why      string            `json:"why,omitempty"`
	Started  *time.Time        `json:"started"` // null when the start is missing
	Ended    *time.Time        `json:"ended"`   // null when there is no end
	Start    *journal.Start    `json:"start"`
	Progress *journal.Progress `json:"progress,omitempty"`
	End      *journal.End      `json:"end"`
}

func (d *callDetail) copyRecord() Action {
	if !d.taken {
		d.note = "nothing copied: the record is still being read"
		return nil
	}
	r := d.record
	rec := copiedRecord{
		Call: r.Start.Call, Seq: r.Seq, State: r.State().String(), Why: r.Why(),
		Progress: r.Progress, End: d.end,
	}
	if !r.NoStart {
		rec.Start, rec.Started = &d.start, &r.Started
	}
	if r.End != nil {
		rec.Ended = &r.Ended
	}
	raw, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		d.note = "nothing copied: " + err.Error()
		return nil
	}
	what := "the record"
	if d.err != nil {
		what = "the record as far as it can be read"
	}
	return CopyText{string(raw), what}
}

// drawOpen draws the open call: its first row, its sections, the keys.
func (p *Tools) drawOpen(c canvas, x, y, w, h int, focused bool) {
	d := p.open
	m := c.callMark(d.record)
	strong := c.th.Text
	strong.Attrs |= vt.Bold
	c.drawCall(x, y, w, d.record, m, callTook(d.record, p.now), [3]vt.Style{strong, c.th.Text, c.th.Dim})
	y, h = y+1, h-1
	if h >= minHead-1 {
		h--
		d.drawFoot(c, x+1, y+h, w-2, focused, p.paneOf() != 0)
	}
	d.relay(p.now)
	d.text.draw(c, x, y, w, h, focused)
}

// relay brings what changes while a call runs up to date.
func (d *callDetail) relay(now time.Time) {
	lines := d.summary(now)
	if s := &d.text.sections[0]; !slices.Equal(s.lines, lines) {
		d.text.replace(0, lines, 0)
	}
	i := d.text.section(headEvidence)
	if lines := d.evidence(); !slices.Equal(d.text.sections[i].lines, lines) {
		d.text.replace(i, lines, 0)
	}
	d.text.sections[d.text.section(headOutput)].note = d.output.note()
}

func (d *callDetail) drawFoot(c canvas, x, y, w int, focused, pane bool) {
	switch {
	case d.text.prompt.on:
		d.text.prompt.draw(c, x, y, w)
	case d.note != "":
		c.text(x, y, w, d.note, c.th.Text)
	case d.text.query != "" && d.text.matches() == 0:
		c.text(x, y, w, "not found: "+d.text.query, c.th.Attention)
	case focused:
		c.keys(x, y, w, c.between(), d.hints(pane))
	}
}
