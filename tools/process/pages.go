package process

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

const (
	// DefaultPage and MaxPage are the bytes of a page when nobody names a
	// number, and at most: a page goes through JSON and onto a screen.
	DefaultPage = 64 << 10
	MaxPage     = 1 << 20

	// DefaultLines is the lines of a page when nobody names a number.
	DefaultLines = 200
)

// A Page is a piece of a job's output and where it lies in the whole.
type Page struct {
	Bytes     []byte // as they were read; begins and ends between two characters
	From, To  int64  // they are the bytes From to To-1
	Total     int64  // bytes read from the job so far
	Discarded int64  // bytes of Total that cannot be read any more

	// FirstLine and LastLine are the lines of the page, from 1. They are 0 in
	// a page that was asked for by bytes, and when it has no line.
	FirstLine, LastLine int64
	TotalLines          int64

	Ended bool     // the output has ended: nothing follows Total
	Notes []string // what was moved, cut or left out
}

// Text is the page as valid UTF-8. Bytes that are none become U+FFFD.
func (p Page) Text() string { return strings.ToValidUTF8(string(p.Bytes), "\uFFFD") }

// Showing says in one line what the page is of the whole.
func (p Page) Showing() string {
	d := fmt.Sprintf("%s discarded", outcome.Count(p.Discarded))
	switch {
	case p.Total == 0:
		return "no output so far, " + d
	case p.From == p.To:
		return fmt.Sprintf("no bytes at %s of %s, %s", outcome.Count(p.From), outcome.Count(p.Total), d)
	}
	s := fmt.Sprintf("showing bytes %s–%s of %s, %s", outcome.Count(p.From), outcome.Count(p.To-1), outcome.Count(p.Total), d)
	if p.FirstLine > 0 {
		s = fmt.Sprintf("showing lines %s–%s of %s (bytes %s–%s of %s, %s)",
			outcome.Count(p.FirstLine), outcome.Count(p.LastLine), outcome.Count(p.TotalLines),
			outcome.Count(p.From), outcome.Count(p.To-1), outcome.Count(p.Total), d)
	}
	return s
}

func (p *Page) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// page returns limit bytes from the offset on, or fewer: a character is never
// cut, and a run ends where bytes are not kept.
func (s *store) page(offset int64, limit int, ended bool) (Page, error) {
	k := s.kept()
	switch {
	case offset < 0:
		return Page{}, &UsageError{"offset", fmt.Sprintf("%d is before the start of the output; offsets count from 0", offset)}
	case offset > k.Total:
		return Page{}, &UsageError{"offset", fmt.Sprintf("%d is past the end of the output, which has %s so far", offset, outcome.CountBytes(k.Total))}
	case limit <= 0:
		return Page{}, &UsageError{"limit", "it must be above 0"}
	}
	p := Page{Total: k.Total, Discarded: k.Discarded, TotalLines: k.Lines, Ended: ended}
	from, err := s.skipUnkept(&p, offset)
	if err != nil {
		return Page{}, err
	}
	start, err := s.characterStart(from)
	if err != nil {
		return Page{}, err
	}
	if start != from {
		p.note("offset %d is within a character; the page begins after it", from)
	}
	err = s.fill(&p, start, min(limit, MaxPage))
	return p, err
}

// skipUnkept moves an offset that cannot be read any more to the next one that
// can, and says so.
func (s *store) skipUnkept(p *Page, from int64) (int64, error) {
	_, err := s.readAt(from, make([]byte, 1))
	gap, ok := errors.AsType[*NotKeptError](err)
	if !ok {
		return from, err
	}
	p.note("%v; the page begins at %d", gap, gap.Next)
	return gap.Next, nil
}

// fill reads up to limit bytes from start on and cuts them between characters.
// A page is never empty because its limit is shorter than a character.
func (s *store) fill(p *Page, start int64, limit int) error {
	want := max(limit, utf8.UTFMax)
	buf := make([]byte, want)
	n, err := s.readRun(start, buf)
	if err != nil {
		return err
	}
	buf = buf[:n]
	cut := min(limit, n)
	// An incomplete character at the very end of an output that has ended is
	// not a cut of ours.
	if !(p.Ended && start+int64(cut) >= p.Total) {
		whole := wholeCharacters(buf[:cut])
		if whole == 0 && cut > 0 {
			if whole = firstCharacter(buf); whole == 0 && start+int64(n) < p.Total {
				whole = cut // no character at all: a run ended within these bytes
			}
		}
		cut = whole
	}
	p.Bytes, p.From, p.To = buf[:cut], start, start+int64(cut)
	return nil
}

// readRun reads as much of one run as fits p.
func (s *store) readRun(from int64, p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := s.readAt(from+int64(done), p[done:])
		done += n
		switch {
		case err != nil && (done == 0 || !errors.Is(err, ErrNotKept)):
			return done, err
		case err != nil, n == 0:
			return done, nil
		}
	}
	return done, nil
}

// characterStart moves an offset that lies within a UTF-8 character behind it.
func (s *store) characterStart(from int64) (int64, error) {
	const before = utf8.UTFMax - 1
	at := max(0, from-before)
	buf := make([]byte, before+utf8.UTFMax)
	n, err := s.readRun(at, buf)
	if errors.Is(err, ErrNotKept) {
		return from, nil // what is before is not kept; nobody can tell
	}
	if err != nil {
		return 0, err
	}
	buf = buf[:n]
	here := int(from - at)
	for i := here - 1; i >= 0 && i < len(buf); i-- {
		if r, size := utf8.DecodeRune(buf[i:]); r != utf8.RuneError || size > 1 {
			if i+size > here {
				return at + int64(i+size), nil
			}
			return from, nil
		}
	}
	return from, nil
}

// wholeCharacters is the length of b without an incomplete character at its
// end. Bytes that begin no character count as whole.
func wholeCharacters(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

func firstCharacter(b []byte) int {
	if len(b) == 0 || !utf8.FullRune(b) {
		return 0
	}
	_, size := utf8.DecodeRune(b)
	return size
}

// lastLines returns the last n lines that are kept.
func (s *store) lastLines(n int, ended bool) (Page, error) {
	if n <= 0 {
		return Page{}, &UsageError{"limit", "it must be above 0"}
	}
	k := s.kept()
	p := Page{Total: k.Total, Discarded: k.Discarded, TotalLines: k.Lines, Ended: ended}
	at, line, err := s.lineStart(&p, max(0, k.Lines-int64(n)))
	if err != nil {
		return Page{}, err
	}
	if k.Total-at > MaxPage {
		if at, line, err = s.lineAfter(&p, k.Total-MaxPage); err != nil {
			return Page{}, err
		}
		p.note("the last %s lines are more than a page holds (%s); these are the last of them", outcome.Count(int64(n)), outcome.Size(MaxPage))
	}
	return p, s.fillLines(&p, at, line, n)
}

// lineAfter finds the first line that begins after an offset. When there is
// none it is the character at the offset, within the last line.
func (s *store) lineAfter(p *Page, offset int64) (at, line int64, err error) {
	m := s.markBeforeOffset(offset)
	at, line = m.at, m.lines
	buf := make([]byte, markStep)
	for at < p.Total {
		n, err := s.readAt(at, buf)
		if gap, ok := errors.AsType[*NotKeptError](err); ok {
			m = s.markAfter(gap.Next)
			at, line = m.at, m.lines
			continue
		}
		if err != nil || n == 0 {
			return at, line, err
		}
		before := int(min(max(0, offset-at), int64(n)))
		line += int64(bytes.Count(buf[:before], []byte{'\n'}))
		if i := bytes.IndexByte(buf[before:n], '\n'); i >= 0 {
			return at + int64(before+i+1), line + 1, nil
		}
		at += int64(n)
	}
	p.note("line %d is longer than a page; this is its end", line+1)
	at, err = s.characterStart(offset)
	return at, line, err
}

// linePage returns up to limit lines after the first skip ones.
func (s *store) linePage(skip int64, limit int, ended bool) (Page, error) {
	k := s.kept()
	switch {
	case skip < 0:
		return Page{}, &UsageError{"offset", fmt.Sprintf("%d is before the first line; it counts the lines to skip, from 0", skip)}
	case skip > k.Lines:
		return Page{}, &UsageError{"offset", fmt.Sprintf("%d lines are to be skipped and the output has %d so far", skip, k.Lines)}
	case limit <= 0:
		return Page{}, &UsageError{"limit", "it must be above 0"}
	}
	p := Page{Total: k.Total, Discarded: k.Discarded, TotalLines: k.Lines, Ended: ended}
	at, line, err := s.lineStart(&p, skip)
	if err != nil {
		return Page{}, err
	}
	return p, s.fillLines(&p, at, line, limit)
}

// fillLines reads up to limit lines from at on, where line ones lie before.
func (s *store) fillLines(p *Page, at, line int64, limit int) error {
	buf := make([]byte, min(MaxPage, max(0, p.Total-at)))
	n, err := s.readRun(at, buf)
	if err != nil {
		return err
	}
	full := n == len(buf)
	buf = buf[:n]
	end, lines := cutLines(buf, limit)
	if lines < int64(limit) && end < n {
		// The rest has no newline.
		switch {
		case at+int64(n) >= p.Total:
			if end = n; !p.Ended {
				end = wholeCharacters(buf)
			}
			lines++
		case !full:
			end, lines = n, lines+1
			p.note("line %d is cut: what follows is not kept", line+lines)
		case lines == 0:
			end, lines = wholeCharacters(buf), 1
			p.note("line %d is longer than a page; it goes on at byte %d", line+1, at+int64(end))
		}
	}
	p.Bytes, p.From, p.To = buf[:end:end], at, at+int64(end)
	if lines > 0 {
		p.FirstLine, p.LastLine = line+1, line+lines
	}
	return nil
}

// lineStart finds the offset at which the line after the first skip ones
// begins. Where that line is not kept any more it finds the first one that is.
func (s *store) lineStart(p *Page, skip int64) (at, line int64, err error) {
	m := s.markBefore(skip)
	at, line = m.at, m.lines
	if line > skip || line == skip && m.within && at > 0 {
		if m.within {
			p.note("line %d is kept only in part; it begins before byte %d", line+1, at)
		}
		if line > skip {
			p.note("lines %d–%d are not kept any more", skip+1, line)
		}
	}
	buf := make([]byte, markStep)
	for line < skip {
		n, err := s.readAt(at, buf)
		if gap, ok := errors.AsType[*NotKeptError](err); ok {
			next := s.markAfter(gap.Next)
			p.note("%v", gap)
			if next.lines > skip {
				return next.at, next.lines, nil
			}
			at, line = next.at, next.lines
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		if n == 0 {
			return at, line, nil
		}
		end, got := cutLines(buf[:n], int(min(skip-line, int64(n))))
		if line += got; line < skip {
			end = n
		}
		at += int64(end)
	}
	return at, line, nil
}

// markBefore returns the last mark from which the line after the first skip
// ones can be found by reading on, or else the first mark there is.
func (s *store) markBefore(skip int64) mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best mark
	for i, m := range s.marks {
		if i == 0 || m.lines < skip || m.lines == skip && !m.within {
			best = m
		}
	}
	return best
}

// markBeforeOffset returns the last mark at or before an offset, or else the
// first mark there is.
func (s *store) markBeforeOffset(at int64) mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best mark
	for i, m := range s.marks {
		if i == 0 || m.at <= at {
			best = m
		}
	}
	return best
}

// markAfter returns the first place at or after an offset at which the number
// of lines is known.
func (s *store) markAfter(at int64) mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	if start := s.tailStart(); at == start {
		// The log ends before what is in memory; there it can be counted.
		return mark{start, s.newline - int64(bytes.Count(s.tail, []byte{'\n'})), start > 0}
	}
	for _, m := range s.marks {
		if m.at >= at {
			return m
		}
	}
	return mark{s.total, s.newline, s.within}
}

// cutLines is the length of the first lines of b, at most limit, that end with
// a newline, and how many they are.
func cutLines(b []byte, limit int) (end int, lines int64) {
	for lines < int64(limit) {
		i := bytes.IndexByte(b[end:], '\n')
		if i < 0 {
			break
		}
		end += i + 1
		lines++
	}
	return end, lines
}
