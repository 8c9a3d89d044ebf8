package panels

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
	"github.com/honestty/honestty/vt"
)

// topLevel is the highest peak level of a result. 0 is silence.
const topLevel = 15

// maxLevels bounds a level line: beyond it, it says nothing more.
const maxLevels = 48

// drawFirst draws the first row of a call: what is spoken, and by whom.
func (p *Speech) drawFirst(c canvas, x, y, w int, r journal.Record, st [3]vt.Style) {
	p.feed.drawFirstOf(c, x, y, w, r, "speech", func(room int) string {
		text, by := p.text(r), p.by(r)
		n := screen.Width(by)
		if by == "" || w < itemWide || room-n-2 < 2 {
			return c.begin(text, room)
		}
		title := c.begin(text, room-n-2)
		return title + strings.Repeat(" ", room-n-screen.Width(title)) + by
	}, st)
}

// begin is the begin of a text in quotation marks, in so many columns.
func (c canvas) begin(text string, w int) string {
	const marks = 2
	text = displayLine(text)
	if text == "" || screen.Width(text)+marks <= w {
		return quoteText(text)
	}
	starts := wrapText(text, max(w-marks-1, 1), 0, false)
	if len(starts) > 1 {
		text = strings.TrimRight(text[:starts[1]], " .,;:")
	}
	return quoteText(text + c.th.Glyphs.Ellipsis)
}

func quoteText(text string) string {
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}

// text is the beginning of what is spoken, on one line.
func (p *Speech) text(r journal.Record) string {
	text := callTitle(r)
	if d := p.feed.of(r); d != nil && d.data.args.Text.is() != "" {
		text = d.data.args.Text.v
	}
	const enough = 400 // more than a row holds
	return strings.Join(strings.Fields(text[:min(len(text), enough)]), " ")
}

// by is the provider and the language or voice, as far as they are known.
func (p *Speech) by(r journal.Record) string {
	d := p.feed.of(r)
	if d == nil {
		return ""
	}
	name := d.data.used()
	if name == "" {
		name = d.data.asked()
	}
	words := []string{name}
	for _, s := range []said[string]{d.data.Language, d.data.args.Language, d.data.Voice, d.data.args.Voice} {
		if s.is() != "" {
			words = append(words, s.v)
			break
		}
	}
	const most = 24 // of a row; the rest is in the call whole
	text := displayLine(strings.TrimSpace(strings.Join(words, " ")))
	if screen.Width(text) > most {
		return displayLine(name)
	}
	return text
}

func (p *Speech) drawCard(c canvas, x, y, w, rows, i int, focused bool) {
	p.feed.drawCardOf(c, p, x, y, w, rows, i, focused, p.card(p.feed.at(i), w), 0)
}

// A labelled is the columns of names and values in a card.
type labelled struct{ w, value int }

func labels(w int) labelled {
	if w < narrow {
		return labelled{w, cardIndent + 7}
	}
	return labelled{w, cardIndent + 12}
}

// add adds a named path with what is known of it: beside it, or below it where
// there is no room. The name has a short form for a narrow card.
func (l labelled) add(out []cardRow, name, short, path, facts string) []cardRow {
	if l.w < narrow {
		name = short
	}
	room := l.w - l.value - 1
	row := cardRow{parts: []part{{x: cardIndent, w: l.value - cardIndent - 1, text: name, role: roleDim}}}
	pw, fw := screen.Width(screen.Visible(path)), screen.Width(facts)
	switch least := min(pw, 24); {
	case path == "":
		row.parts = append(row.parts, part{x: l.value, text: facts})
		return append(out, row)
	case fw > 0 && least+2+fw <= room:
		pw = min(pw, room-2-fw)
		row.parts = append(row.parts,
			part{x: l.value, w: pw, text: path, as: partPath},
			part{x: l.value + pw + 2, text: facts, role: roleDim})
		return append(out, row)
	}
	row.parts = append(row.parts, part{x: l.value, text: path, as: partPath})
	return prose(append(out, row), l.value, l.w, roleDim, 2, facts)
}

// card returns the rows below the first.
func (p *Speech) card(r journal.Record, w int) []cardRow {
	var out []cardRow
	if w < narrow {
		out = prose(out, cardIndent, w, rolePlain, 1, quoteText(p.text(r)))
	}
	if w < itemWide { // the first row has no room for it
		out = prose(out, cardIndent, w, roleDim, 1, p.by(r))
	}
	if pr := r.Progress; pr != nil && r.State() == journal.Running {
		text := progressText(*pr)
		if pr.What != "" {
			text = pr.What
		}
		out = append(out, cardRow{progress: pr, parts: []part{{x: cardIndent, text: text, as: partBar}}})
	}
	d := p.feed.of(r)
	if d == nil {
		return against(unread(out, r, w), r, w)
	}
	s := &d.data
	if d.err != nil {
		out = cautious(out, cardIndent, w, theme.Unknown, roleCaution, 2, "not all of its record can be read: "+d.err.Error())
	}
	out = p.trouble(out, r, s, w)
	out = p.files(out, r, s, w)
	if asked, used := s.asked(), s.used(); asked != "" && used != "" && asked != used {
		out = cautious(out, cardIndent, w, theme.Partial, roleCaution, 2, "asked for "+asked+", spoken by "+used)
	}
	for _, note := range s.Notes.is()[:min(len(s.Notes.is()), 2)] {
		out = prose(out, cardIndent, w, roleDim, 2, note)
	}
	out = p.levels(out, r, s, w)
	return against(out, r, w)
}

// unread is what a list knows of a call before the whole of it is read.
func unread(out []cardRow, r journal.Record, w int) []cardRow {
	if r.End == nil {
		return out
	}
	out = prose(out, cardIndent, w, roleDim, 1, r.End.Summary)
	if r.End.Error != "" && !strings.Contains(r.End.Summary, r.End.Error) {
		out = prose(out, cardIndent, w, rolePlain, maxCardRows, r.End.Error)
	}
	return out
}

// trouble says why a call did not do what was asked, and what is left of it.
func (p *Speech) trouble(out []cardRow, r journal.Record, s *spoken, w int) []cardRow {
	if r.End == nil || r.State() == journal.Complete && !s.Error.known {
		return out
	}
	why := s.Error.is()
	if why == "" {
		why = r.End.Error
	}
	out = prose(out, cardIndent, w, rolePlain, maxCardRows, why)
	const most = 2
	fs := s.Failures.is()
	for _, f := range fs[:min(len(fs), most)] {
		if text := f.Error.is(); text != "" && !strings.Contains(why, text) {
			out = cautious(out, cardIndent, w, theme.Failed, rolePlain, 2, "chunk "+number(f.Chunk)+" failed: "+text)
		}
	}
	if n := len(fs) - most; n > 0 {
		out = prose(out, cardIndent+2, w, roleDim, 1, countOf(int64(n), "more chunk")+" failed: Enter shows them")
	}
	if s.Made.known && s.Chunks.known && s.Made.v < s.Chunks.v && (s.Made.v > 0 || s.Resume.is() != "") {
		out = prose(out, cardIndent, w, rolePlain, 1, number(s.Made)+" of "+number(s.Chunks)+" chunks are made")
	}
	if s.Resume.is() != "" {
		out = prose(out, cardIndent, w, rolePlain, 2, "r goes on from there, without making them again")
	}
	if k := s.Kept.is(); s.Kept.known {
		words := "is as it was (unchanged"
		if k.Size.known {
			words += ", " + outcome.Size(k.Size.v)
		}
		words += ")"
		path := k.Path.is()
		if path == "" {
			path = s.requested()
		}
		room, fw := w-cardIndent-1, screen.Width(words)
		pw := min(screen.Width(screen.Visible(path)), max(room-1-fw, min(room, 16)))
		row := cardRow{parts: []part{{x: cardIndent, w: pw, text: path, as: partPath}}}
		if pw+1+fw <= room {
			row.parts = append(row.parts, part{x: cardIndent + pw + 1, text: words})
			return append(out, row)
		}
		row.parts[0].w = 0
		return prose(append(out, row), cardIndent, w, rolePlain, 2, words)
	}
	return out
}

// number writes a count that may not be known.
func number(n said[int64]) string {
	if !n.known {
		return "?"
	}
	return outcome.Count(n.v)
}

// files says what was asked for, what was written, and what was there before.
func (p *Speech) files(out []cardRow, r journal.Record, s *spoken, w int) []cardRow {
	l, now := labels(w), p.feed.now
	path, asked := s.path(), s.requested()
	old := s.Replaced.is()
	switch {
	case s.Replaced.known:
		out = l.add(out, "asked for", "asked", asked, "("+existed(old, now)+")")
	case asked != "" && asked != path && !s.Kept.known:
		out = l.add(out, "asked for", "asked", asked, "")
	}
	switch {
	case r.End == nil:
	case path != "":
		out = l.add(out, "written to", "wrote", path, s.facts())
		out = l.others(out, s.FilePaths.is())
		if t := s.Sweep.is().After; t.known {
			out = prose(out, l.value, w, roleDim, 1, "kept until "+when(t.v, now))
		}
	case s.Actual.told || s.FilePath.told:
		out = l.add(out, "written to", "wrote", "", "nothing")
	case r.State() == journal.Complete:
		out = l.add(out, "written to", "wrote", "", "? its result names no file")
	}
	switch id := old.Checkpoint.is(); {
	case !s.Replaced.known:
	case id != "":
		out = l.add(out, "before", "before", "checkpoint "+id, "R restores it")
	default:
		out = cautious(out, cardIndent, w, theme.Partial, roleCaution, 2, "no checkpoint was kept of the file before")
	}
	return out
}

// others adds the files of a text that became several, after the first.
func (l labelled) others(out []cardRow, paths []string) []cardRow {
	const most = 3
	if len(paths) < 2 {
		return out
	}
	paths = paths[1:]
	for _, path := range paths[:min(len(paths), most)] {
		out = l.add(out, "and", "and", path, "")
	}
	if n := len(paths) - most; n > 0 {
		out = l.add(out, "", "", "", "and "+countOf(int64(n), "more file")+": Enter shows them")
	}
	return out
}

// existed describes the file that was there.
func existed(old fileFact, now time.Time) string {
	words := []string{"existed"}
	if old.Size.known {
		words = append(words, outcome.Size(old.Size.v))
	}
	if old.ModTime.known {
		words = append(words, when(old.ModTime.v, now))
	}
	return strings.Join(words, ", ")
}

// facts are what is known of the audio. What is not is left out here, and a
// question mark in the call whole.
func (s *spoken) facts() string {
	var words []string
	if s.Size.known {
		words = append(words, outcome.Size(s.Size.v))
	}
	sound := ""
	if s.Container.is() != "" {
		sound = strings.ToUpper(displayLine(s.Container.v))
	}
	if s.Rate.known {
		sound += " " + kilohertz(s.Rate.v)
	}
	if s.Channels.known {
		sound += " " + channels(s.Channels.v)
	}
	if sound != "" {
		words = append(words, strings.TrimSpace(sound))
	}
	if s.DurationMS.known {
		words = append(words, playTime(s.DurationMS.v))
	}
	return strings.Join(words, "  ")
}

// kilohertz writes a sample rate: 22.05 kHz, 48 kHz.
func kilohertz(hz int64) string {
	text := fmt.Sprintf("%.3f", float64(hz)/1000)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " kHz"
}

func channels(n int64) string {
	switch n {
	case 1:
		return "mono"
	case 2:
		return "stereo"
	}
	return outcome.Count(n) + " channels"
}

// playTime writes milliseconds as players do: 0:33, 1:02:03.
func playTime(ms int64) string {
	s := (ms + 500) / 1000
	switch {
	case ms < 0:
		return "?"
	case s >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// when writes a time of day with its day, as far as that is not this one.
func when(t, now time.Time) string {
	t = t.In(now.Location())
	day := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	}
	switch today := day(now); {
	case day(t).Equal(today):
		return t.Format("15:04") + " today"
	case day(t).Equal(today.AddDate(0, 0, -1)):
		return t.Format("15:04") + " yesterday"
	case day(t).Equal(today.AddDate(0, 0, 1)):
		return t.Format("15:04") + " tomorrow"
	case t.Year() == now.Year():
		return t.Format("15:04, 2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// levels adds the level line and what the player does.
func (p *Speech) levels(out []cardRow, r journal.Record, s *spoken, w int) []cardRow {
	call := r.Start.Call
	word := ""
	switch {
	case r.End == nil || !usable(s.path()):
	case p.playing == call:
		word = "playing, p stops"
	case p.playing == "":
		word = "p plays"
	}
	room := w - cardIndent - 1 - screen.Width(word) - 2
	line := peaks(s.Levels.is(), min(maxLevels, room))
	row := cardRow{}
	at := cardIndent
	if len(line) > 0 && !p.feed.plain {
		row.levels = line
		row.parts = append(row.parts, part{x: at, w: len(line), as: partLine})
		at += len(line) + 2
	}
	if word != "" {
		row.parts = append(row.parts, part{x: at, text: word, role: roleDim})
	}
	if len(row.parts) > 0 {
		out = append(out, row)
	}
	if p.failed == call && call != "" {
		out = cautious(out, cardIndent, w, theme.Failed, roleFailure, 2, "not played: "+p.why)
	}
	return out
}

// peaks brings levels down to at most so many columns: of those that share one
// the highest shows.
func peaks(levels []int, w int) []int {
	if w <= 0 || len(levels) == 0 {
		return nil
	}
	w = min(w, len(levels))
	out := make([]int, w)
	for i := range out {
		from, to := i*len(levels)/w, (i+1)*len(levels)/w
		out[i] = min(max(slices.Max(levels[from:to]), theme.Missing), topLevel)
	}
	return out
}
