package panels

import (
	"errors"
	"strings"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// sections is a call whole.
func (p *Speech) sections(r journal.Record) []textSection {
	d := p.feed.of(r)
	out := []textSection{{lines: wholeHead(r, d == nil, errOf(d))}}
	if d == nil {
		return out
	}
	s := &d.data
	return append(out,
		textSection{title: "file", lines: s.fileLines(p)},
		textSection{title: "spoken", lines: s.spokenLines()},
		textSection{title: "text", lines: d.text(s.args.Text)},
		textSection{title: "evidence", lines: evidenceLines(r)},
		textSection{title: "call", lines: callLines(r, d.start)},
	)
}

func errOf[D any](d *detail[D]) error {
	if d == nil {
		return nil
	}
	return d.err
}

// wholeHead is what is to be known of a call first.
func wholeHead(r journal.Record, unread bool, err error) []textLine {
	var out []textLine
	if why := r.Why(); why != "" {
		out = append(out, textLine{text: displayLine(why), role: roleCaution})
	}
	if e := r.End; e != nil {
		if e.Summary != "" {
			out = append(out, displayLines(e.Summary, roleDim)...)
		}
		if e.Error != "" && e.Error != e.Summary {
			out = append(out, displayLines(e.Error, roleFailure)...)
		}
	}
	if pr := r.Progress; pr != nil && r.State() == journal.Running {
		out = append(out, textLine{text: displayLine(progressText(*pr)), role: roleDim})
	}
	switch {
	case unread:
		out = append(out, textLine{text: "reading the record", role: roleDim})
	case errors.Is(err, journal.ErrMoved):
		out = append(out, textLine{text: "the rest of the record is gone: its file was removed for its age, or changed", role: roleCaution})
	case err != nil:
		out = append(out, displayLines("a part of the record cannot be read: "+err.Error(), roleCaution)...)
	}
	return out
}

// evidenceLines are the checks of what the result claims.
func evidenceLines(r journal.Record) []textLine {
	if r.End == nil || len(r.End.Checks) == 0 {
		return []textLine{{text: "nobody looked whether the result is true", role: roleDim}}
	}
	var out []textLine
	for _, ck := range r.End.Checks {
		out = append(out, checkLines(ck)...)
	}
	return out
}

// callLines say who made the call and exactly when.
func callLines(r journal.Record, start journal.Start) []textLine {
	d := callDetail{record: r, start: start}
	return d.source()
}

// textLines are a text whole.
func textLines(text said[string]) []textLine {
	switch {
	case text.is() != "":
		return displayLines(text.v, rolePlain)
	case text.known:
		return []textLine{{text: "none", role: roleDim}}
	}
	return []textLine{{text: "? not known: the record has none", role: roleCaution}}
}

// A fieldList gathers named values. What is not known is a question mark.
type fieldList []textLine

func (l *fieldList) add(name, value string) {
	if value != "" {
		*l = append(*l, field(name, value))
	}
}

// need adds a value that a result should have.
func (l *fieldList) need(name, value string) {
	if value == "" {
		*l = append(*l, roleField(roleCaution, name, "? the result does not say"))
		return
	}
	*l = append(*l, field(name, value))
}

// orNone adds a value that may be known to be none.
func (l *fieldList) orNone(name string, s said[string], none string) {
	switch {
	case s.is() != "":
		l.add(name, s.v)
	case s.told:
		*l = append(*l, roleField(roleDim, name, none))
	default:
		l.need(name, "")
	}
}

func worded(s said[int64], write func(int64) string) string {
	if !s.known {
		return ""
	}
	return write(s.v)
}

func (s *spoken) fileLines(p *Speech) []textLine {
	var l fieldList
	now := p.feed.now
	l.orNone("asked for", s.Requested, "no path")
	switch path := s.path(); {
	case path != "":
		l.add("written to", path)
		for _, other := range s.FilePaths.is() {
			if other != path {
				l.add("and", other)
			}
		}
		l.need("size", worded(s.Size, outcome.CountBytes))
		l.need("container", s.Container.is())
		l.need("rate", worded(s.Rate, kilohertz))
		l.need("channels", worded(s.Channels, channels))
		l.need("duration", worded(s.DurationMS, playTime))
		l.need("sha256", s.SHA256.is())
		if t := s.Sweep.is().After; t.known {
			l.add("kept until", when(t.v, now))
		}
	case s.Actual.told || s.FilePath.told:
		l = append(l, roleField(roleDim, "written to", "nothing"))
	default:
		l.need("written to", "")
	}
	l.add("sweep", s.Sweep.is().Note.is())
	if old := s.Replaced.is(); s.Replaced.known {
		l.add("before", existed(old, now))
		l.orNone("checkpoint", old.Checkpoint, "none was kept")
	}
	if k := s.Kept.is(); s.Kept.known {
		l.add("unchanged", k.Path.is())
		l.need("its size", worded(k.Size, outcome.CountBytes))
	}
	if s.Resume.is() != "" {
		l.add("resume", "honestty speak --resume "+s.Resume.v)
	}
	return l
}

func (s *spoken) spokenLines() []textLine {
	var l fieldList
	asked := s.Asked.is()
	if asked == "" {
		asked = s.args.Provider.is()
	}
	l.add("asked of", asked)
	if used := s.used(); used == "" && s.Used.told {
		l = append(l, roleField(roleDim, "spoken by", "none"))
	} else {
		l.need("spoken by", used)
	}
	l.add("voice", s.Voice.is())
	l.add("model", s.Model.is())
	l.add("language", s.Language.is())
	l.add("chunks", worded(s.Chunks, outcome.Count))
	l.add("made", worded(s.Made, outcome.Count))
	if s.Reused.is() > 0 {
		l.add("from before", outcome.Count(s.Reused.v))
	}
	for _, f := range s.Failures.is() {
		why := f.Error.is()
		if why == "" {
			why = "? no reason was given"
		}
		l = append(l, roleField(roleFailure, "chunk "+number(f.Chunk), why))
	}
	var taken []string
	for _, r := range s.Removed.is() {
		taken = append(taken, number(r.Count)+" "+r.What.is())
	}
	l.add("left out", strings.Join(taken, ", "))
	if c := s.Coverage.is(); c.Letters.known && c.Spoken.known && c.Spoken.v < c.Letters.v {
		l = append(l, roleField(roleCaution, "unspoken", outcome.Count(c.Letters.v-c.Spoken.v)+" of "+outcome.Count(c.Letters.v)+" letters have no pronunciation in this language"))
	}
	for _, n := range s.Notes.is() {
		l.add("note", n)
	}
	return l
}
