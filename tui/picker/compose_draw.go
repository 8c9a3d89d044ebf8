package picker

import (
	"fmt"
	"strings"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// composeName is how wide the names of fields are.
const composeName = 9

// Rows of a form.
const (
	maxFitting  = 4 // targets that are offered at once
	maxFiles    = 4 // attached files in view
	leastText   = 2
	mostText    = 12
	maxVerdicts = 8

	roomyButtons = 34 // columns for the three with their spaces
)

// composeRows says how many rows each part of a form has.
type composeRows struct {
	fitting, text, files, verdicts, note int
}

// Draw draws the form, or the folder that is looked at.
func (d *Compose) Draw(s *screen.Screen, x, y, w, h int, th theme.Theme) {
	d.places, d.targets, d.textAt = d.places[:0], nil, rect{}
	if d.files != nil {
		d.files.Draw(s, x, y, w, h, th)
		return
	}
	c := canvas{s, &th}
	s.HideCursor()
	bw := min(w, max(minWidth, min(w*7/10, maxWidth)))
	inner := bw - 4
	fit := d.fitting()
	if d.focus != fieldTo {
		fit = nil
	}
	notes := wrap(d.note, inner)
	verdicts := wrapVerdicts(d.verdicts(), inner-2)
	rows := d.share(min(h, maxHeight)-2, len(fit), len(notes), len(verdicts))
	bh := min(h, rows.total()+2)
	box := rect{x + (w-bw)/2, y + (h-bh)/2, bw, bh}
	c.box(box)
	if box.w < 12 || box.h < 4 {
		return
	}
	c.title(box, "Message")
	f := composeFrame{c, d, box, box.y + 1}
	f.line(fieldTo, "To", &d.To)
	f.offer(fit, rows.fitting)
	f.line(fieldSubject, "Subject", &d.Subject)
	f.message(rows.text)
	f.attached(rows.files)
	f.line(fieldFiles, f.attachName(), &d.path)
	f.verdicts(verdicts, rows.verdicts)
	for _, note := range notes[:rows.note] {
		f.row(func(x, y, w int) { c.s.SetText(x, y, w, note, c.th.Attention) })
	}
	f.buttons()
	d.targets, _ = c.footer(box, d.footerHints())
}

// share gives the rows that there are to the parts. The fields and the buttons
// come first, then what was said last, then the text.
func (d *Compose) share(room, fitting, notes, verdicts int) composeRows {
	const fixed = 4 // to, subject, the path, the buttons
	left := max(room-fixed, 0)
	take := func(n int) int {
		n = max(min(n, left), 0)
		left -= n
		return n
	}
	r := composeRows{text: take(leastText)}
	r.note = take(notes)
	if d.focus >= fieldDryRun { // what the dry run says is read here
		r.verdicts = take(min(verdicts, maxVerdicts))
	}
	r.fitting = take(min(fitting, maxFitting))
	r.files = take(min(len(d.Files), maxFiles))
	if d.focus < fieldDryRun {
		r.verdicts = take(min(verdicts, maxVerdicts))
	}
	r.text += take(mostText - leastText)
	return r
}

func (r composeRows) total() int { return 4 + r.fitting + r.text + r.files + r.verdicts + r.note }

// A composeFrame draws the rows of a form from top to bottom.
type composeFrame struct {
	canvas
	d   *Compose
	box rect
	y   int
}

// row draws one row, if the box has room for it.
func (f *composeFrame) row(draw func(x, y, w int)) {
	if f.y < f.box.y+f.box.h-1 {
		draw(f.box.x+2, f.y, f.box.w-4)
		f.y++
	}
}

// place notes where a field is, for clicks.
func (f *composeFrame) place(r rect, field composeField, row int) {
	f.d.places = append(f.d.places, composePlace{r, field, row})
}

// name writes the name of a field, and a pointer at the one with the focus.
func (f *composeFrame) name(x, y int, field composeField, name string) {
	st := f.th.Dim
	if f.d.focus == field {
		st = f.th.Focus
		f.s.SetText(x-1, y, 1, f.th.Glyphs.Pointer, st)
	}
	f.s.SetText(x, y, composeName, name, st)
}

func (f *composeFrame) line(field composeField, name string, l *Line) {
	f.row(func(x, y, w int) {
		f.name(x, y, field, name)
		at := l.Draw(f.s, x+composeName, y, w-composeName, f.th.Text, f.th.Glyphs.Ellipsis)
		if f.d.focus == field && (field != fieldFiles || f.d.file == 0) {
			f.s.SetCursor(at, y, true, 0)
		}
		f.place(rect{x, y, w, 1}, field, 0)
	})
}

// offer offers targets; the rows follow the chosen one.
func (f *composeFrame) offer(fit []ComposeTarget, rows int) {
	first := max(f.d.pick-rows, 0)
	for i := range rows {
		t := fit[first+i]
		f.row(func(x, y, w int) {
			st := f.th.Text
			if t.Needs != "" {
				st = f.th.Disabled
			}
			at, room := x+composeName, w-composeName
			if f.d.pick == first+i+1 {
				f.s.Fill(at, y, room, 1, f.th.Chosen)
				st = f.th.Chosen
				f.s.SetText(at, y, 1, f.th.Glyphs.Pointer, st)
			}
			detail := t.Name
			if t.Needs != "" {
				detail = t.Needs
			}
			n := f.text(at+1, y, room-1, t.Target, st)
			if detail != "" && n+3 < room {
				f.text(at+1+n+2, y, room-n-3, detail, st)
			}
			f.place(rect{x, y, w, 1}, fieldTo, first+i+1)
		})
	}
}

// message draws the text.
func (f *composeFrame) message(rows int) {
	d := f.d
	if rows <= 0 || f.y >= f.box.y+f.box.h-1 {
		return
	}
	x, y, w := f.box.x+2, f.y, f.box.w-4
	rows = min(rows, f.box.y+f.box.h-1-y)
	f.name(x, y, fieldText, "Text")
	d.textAt = rect{x + composeName, y, w - composeName, rows}
	cx, cy := d.Text.Draw(f.s, d.textAt.x, y, d.textAt.w, rows, f.th.Text)
	if d.focus == fieldText {
		f.s.SetCursor(cx, cy, true, 0)
	}
	f.place(rect{x, y, w, rows}, fieldText, 0)
	f.y += rows
}

// attached lists the files, those around the chosen one.
func (f *composeFrame) attached(rows int) {
	d := f.d
	first := max(len(d.Files)-rows, 0)
	if d.file > 0 {
		first = max(min(first, d.file-1), d.file-rows)
	}
	for i := range rows {
		n := first + i
		f.row(func(x, y, w int) {
			if i == 0 {
				f.name(x, y, numFields, "Files")
				if len(d.Files) > rows {
					f.s.SetText(x, y, composeName, fmt.Sprintf("Files %d", len(d.Files)), f.th.Dim)
				}
			}
			st := f.th.Text
			if d.focus == fieldFiles && d.file == n+1 {
				st = f.th.Chosen
				f.s.SetText(x+composeName-2, y, 1, f.th.Glyphs.Pointer, f.th.Focus)
			}
			f.path(x+composeName, y, w-composeName, d.Files[n], st)
			f.place(rect{x, y, w, 1}, fieldFiles, n+1)
		})
	}
}

func (f *composeFrame) attachName() string {
	if len(f.d.Files) > 0 {
		return "+ file"
	}
	return "Attach"
}

// wrapVerdicts breaks verdicts into rows of w columns.
func wrapVerdicts(vs []verdict, w int) []verdict {
	var out []verdict
	for _, v := range vs {
		for i, line := range wrap(v.text, w) {
			out = append(out, verdict{v.state, line, i > 0})
		}
	}
	return out
}

// verdicts draws what the dry run says, from where it was scrolled to.
func (f *composeFrame) verdicts(vs []verdict, rows int) {
	d := f.d
	d.verdictRows = rows
	d.verdictTop = max(min(d.verdictTop, len(vs)-rows), 0)
	d.verdictEnd = len(vs)
	for i := range rows {
		v := vs[d.verdictTop+i]
		f.row(func(x, y, w int) {
			st := f.th.Text
			if v.state != theme.Complete {
				st = f.th.Attention
			}
			if !v.more && !f.th.Plain {
				f.s.SetText(x, y, 1, f.th.Glyphs.State(v.state), f.th.State(v.state))
			}
			f.text(x+2, y, w-2, v.text, st)
		})
	}
}

// buttons draws the three buttons. They stay at the foot of the box.
func (f *composeFrame) buttons() {
	f.row(func(x, y, w int) {
		at := x
		for _, b := range []struct {
			field composeField
			name  string
		}{{fieldDryRun, "Dry run"}, {fieldSend, "Send"}, {fieldCancel, "Cancel"}} {
			text, gap := "[ "+b.name+" ]", 2
			if w < roomyButtons {
				text, gap = "["+b.name+"]", 1
			}
			n := screen.Width(text)
			if at+n > x+w {
				return
			}
			st := f.th.Text
			if f.d.focus == b.field {
				st = f.th.Chosen
				f.s.SetText(at-1, y, 1, f.th.Glyphs.Pointer, f.th.Focus)
			}
			f.s.SetText(at, y, n, text, st)
			f.place(rect{at, y, n, 1}, b.field, 0)
			at += n + gap
		}
	})
}

// footerHints are the keys that do something now.
func (d *Compose) footerHints() []hint {
	var out []hint
	add := func(name, shows, does string) { out = append(out, hint{name, shows, does}) }
	if d.verdictEnd > d.verdictRows && d.focus >= fieldDryRun {
		add("pgdown", "PgDn", "reads on")
	}
	switch {
	case d.focus == fieldTo && d.pick > 0:
		add("enter", "Enter", "takes it")
	case d.focus == fieldFiles && d.file > 0:
		add("delete", "Del", "takes it off")
	case d.focus == fieldFiles && strings.TrimSpace(d.path.Text()) != "":
		add("enter", "Enter", "attaches it")
	case d.focus == fieldFiles:
		add("enter", "Enter", "looks for files")
	case d.focus == fieldDryRun:
		add("enter", "Enter", "tries it")
	case d.focus == fieldSend:
		add("enter", "Enter", "sends it")
	}
	add("tab", "Tab", "next")
	add("esc", "Esc", "leaves it")
	return out
}
