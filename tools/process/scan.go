package process

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

const (
	// scanLine is how much of one line is looked at. Longer ones are looked at
	// in their beginning, and counted.
	scanLine = 8 << 10

	// DefaultWatchEvery and DefaultWatchNotices are how often a job may tell of
	// its patterns, and how many times in its life.
	DefaultWatchEvery   = 15 * time.Second
	DefaultWatchNotices = 8

	maxPatterns    = 32
	noticeLines    = 20
	noticeBytes    = 2000
	errorLineBytes = 400
	clipWords      = 40 // what clip adds at most
)

// A Pattern is what a line of output is watched for.
type Pattern struct {
	Text   string
	Regexp bool // Text is a regular expression (RE2); otherwise it is searched as it is
}

// ParsePattern reads a pattern as callers write it: "re:" begins a regular
// expression, anything else is searched for as it is.
func ParsePattern(s string) Pattern {
	if re, ok := strings.CutPrefix(s, "re:"); ok {
		return Pattern{re, true}
	}
	return Pattern{Text: s}
}

func (p Pattern) String() string {
	if p.Regexp {
		return "re:" + p.Text
	}
	return p.Text
}

// A Notice tells of lines that matched a watch pattern.
type Notice struct {
	Job        string    `json:"session_id"`
	At         time.Time `json:"at"`
	Pattern    string    `json:"pattern"`    // the first that matched
	Lines      string    `json:"lines"`      // the lines that matched, at most 20 and 2000 bytes
	LeftOut    int64     `json:"left_out"`   // lines that matched at the same time and are not in Lines
	Suppressed int64     `json:"suppressed"` // lines that matched since the notice before and were not told
	Last       bool      `json:"last"`       // no further notice will come for this job
}

// Watch is how the watching of a job stands.
type Watch struct {
	Patterns   []string      `json:"patterns"`
	Hits       int64         `json:"hits"`       // lines that matched
	Notices    int           `json:"notices"`    // told so far
	Limit      int           `json:"limit"`      // of notices in the life of the job
	Every      time.Duration `json:"-"`          // between two notices at least
	Suppressed int64         `json:"suppressed"` // lines that matched and that no notice carried, of all
	Pending    int64         `json:"pending"`    // of these, since the last notice
	Cut        int64         `json:"cut"`        // lines of which only the first 8 KB were looked at
	LastHit    time.Time     `json:"last_hit,omitzero"`
}

// State is "watching", or why no notice will come.
func (w Watch) State() string {
	switch {
	case len(w.Patterns) == 0:
		return "no patterns"
	case w.Notices >= w.Limit:
		return fmt.Sprintf("silent: all %d notices of this job were given; matches are still counted", w.Limit)
	}
	return "watching"
}

// A matcher is a pattern made ready.
type matcher struct {
	name string
	text []byte
	re   *regexp.Regexp
}

func (m matcher) match(line []byte) bool {
	if m.re != nil {
		return m.re.Match(line)
	}
	return bytes.Contains(line, m.text)
}

func matchers(patterns []Pattern) ([]matcher, error) {
	if len(patterns) > maxPatterns {
		return nil, &UsageError{"watch_patterns", fmt.Sprintf("%d patterns were given and %d are the limit", len(patterns), maxPatterns)}
	}
	var ms []matcher
	for i, p := range patterns {
		m := matcher{name: p.String(), text: []byte(p.Text)}
		if p.Text == "" {
			return nil, &UsageError{"watch_patterns", fmt.Sprintf("pattern %d is empty and would match every line", i+1)}
		}
		if p.Regexp {
			var err error
			if m.re, err = regexp.Compile(p.Text); err != nil {
				return nil, &UsageError{"watch_patterns", fmt.Sprintf("pattern %d is no regular expression: %v", i+1, err)}
			}
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// errorWords are what a line says that tells of a failure, in lower case.
var errorWords = [][]byte{
	[]byte("error"), []byte("fatal"), []byte("panic"), []byte("failed"), []byte("failure"),
	[]byte("exception"), []byte("traceback"), []byte("segmentation fault"), []byte("cannot "),
	[]byte("not found"), []byte("no such file"), []byte("permission denied"), []byte("out of memory"),
}

// denials before such a word take it back: "0 errors", "no error".
var denials = [][]byte{[]byte("0 "), []byte("no "), []byte("without ")}

// A scanner looks at the lines of an output as they come. Only the reader of
// the job uses it.
type scanner struct {
	matchers []matcher

	line []byte // the beginning of the line that is not complete yet, at most scanLine
	skip bool   // the rest of that line is not looked at
	work []byte
	low  []byte
	cut  int64
}

// A sight is what a scanner saw in some bytes.
type sight struct {
	errorLine string // the last that tells of a failure; empty when none does
	pattern   string // the first that matched
	lines     [][]byte
	hits      int64 // lines that matched
	cut       int64 // lines too long to be looked at whole, since the start
}

// add looks at the lines that p completes. The lines in the result are valid
// until the next call.
func (s *scanner) add(p []byte) sight {
	last := bytes.LastIndexByte(p, '\n')
	if last < 0 {
		s.begin(p)
		return sight{cut: s.cut}
	}
	head := p[:last+1]
	if s.skip {
		head = head[bytes.IndexByte(head, '\n'):] // the rest of a line whose beginning is in line
	}
	s.work = append(append(s.work[:0], s.line...), head...)
	s.line, s.skip = s.line[:0], false
	s.begin(p[last+1:])
	return s.region(s.work)
}

// end looks at a last line that has no newline, and gives the memory back.
func (s *scanner) end() sight {
	b := append(s.line, '\n')
	s.line, s.work = nil, nil
	defer func() { s.low = nil }()
	if len(b) == 1 {
		return sight{cut: s.cut}
	}
	return s.region(b)
}

// begin keeps the beginning of a line.
func (s *scanner) begin(p []byte) {
	if s.skip || len(p) == 0 {
		return
	}
	n := min(len(p), scanLine-len(s.line))
	s.line = append(s.line, p[:n]...)
	if n < len(p) {
		s.skip = true
		s.cut++
	}
}

// region looks at whole lines.
func (s *scanner) region(b []byte) sight {
	var see sight
	see.errorLine = s.lastError(b)
	if len(s.matchers) > 0 && s.mayMatch(b) {
		for line := range bytes.Lines(b) {
			line = bytes.TrimRight(line, "\r\n")
			for _, m := range s.matchers {
				if m.match(line) {
					if see.hits++; see.hits == 1 {
						see.pattern = m.name
					}
					if len(see.lines) < noticeLines {
						see.lines = append(see.lines, line)
					}
					break
				}
			}
		}
	}
	see.cut = s.cut
	return see
}

// mayMatch spares the search line by line: most output has no match.
func (s *scanner) mayMatch(b []byte) bool {
	return slices.ContainsFunc(s.matchers, func(m matcher) bool { return m.re != nil || bytes.Contains(b, m.text) })
}

// lastError returns the last line of b that tells of a failure.
func (s *scanner) lastError(b []byte) string {
	s.low = lower(s.low[:0], b)
	best := -1
	for _, w := range errorWords {
		if !bytes.Contains(s.low[best+1:], w) {
			continue
		}
		for at := bytes.LastIndex(s.low, w); at > best; at = bytes.LastIndex(s.low[:at], w) {
			if !slices.ContainsFunc(denials, func(d []byte) bool { return denied(s.low[:at], d) }) {
				best = at
				break
			}
		}
	}
	if best < 0 {
		return ""
	}
	from := bytes.LastIndexByte(b[:best], '\n') + 1
	line := b[from:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	return clip(string(bytes.TrimSpace(line)), errorLineBytes)
}

// denied reports whether the word d ends b, as a word of its own.
func denied(b, d []byte) bool {
	rest, ok := bytes.CutSuffix(b, d)
	return ok && (len(rest) == 0 || !isWord(rest[len(rest)-1]))
}

func isWord(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf }

// lower appends b with the letters A to Z in lower case.
func lower(to, b []byte) []byte {
	to = append(to, b...)
	for i, c := range to {
		if c-'A' < 26 {
			to[i] = c + 'a' - 'A'
		}
	}
	return to
}

// clip cuts a text between characters and says how much it left out.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + fmt.Sprintf(" … %s more", outcome.CountBytes(int64(len(s)-cut)))
}

// A watchkeeper turns matches into notices. It is guarded by its job's lock.
type watchkeeper struct {
	Watch
	lastNotice time.Time
}

// saw counts what was seen and returns a notice when one is due.
func (w *watchkeeper) saw(job string, see sight, now time.Time) *Notice {
	w.Cut = see.cut
	if see.hits == 0 {
		return nil
	}
	w.Hits += see.hits
	w.LastHit = now
	if w.Notices >= w.Limit || w.Notices > 0 && now.Sub(w.lastNotice) < w.Every {
		w.Suppressed += see.hits
		w.Pending += see.hits
		return nil
	}
	n := &Notice{Job: job, At: now, Pattern: see.pattern, Suppressed: w.Pending}
	var b strings.Builder
	told := int64(0)
	for _, l := range see.lines {
		text := clip(string(l), noticeBytes-clipWords)
		if told > 0 {
			if b.Len()+1+len(text) > noticeBytes {
				break
			}
			b.WriteByte('\n')
		}
		b.WriteString(text)
		told++
	}
	n.Lines, n.LeftOut = b.String(), see.hits-told
	w.Suppressed += n.LeftOut
	w.Pending = 0
	w.Notices++
	w.lastNotice = now
	n.Last = w.Notices >= w.Limit
	return n
}
