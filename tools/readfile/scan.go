package readfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

// chunkSize is how much is read at once, in bytes.
const chunkSize = 64 << 10

// keptBytes is how much of a line is held: the characters that can be shown at
// their longest, and enough behind them to know a secret that the cut goes
// through.
const keptBytes = maxLine*utf8.UTFMax + 1024

// A scan goes once through a file, counts its lines and keeps some.
type scan struct {
	first, limit int64 // the lines to keep
	most         int64 // bytes to count lines in once all of those are there

	bytes   int64
	lines   int64 // that ended, and at the end the last one without a newline
	eof     bool
	newline bool // the last byte was one

	kept  []line
	chars int
	full  bool
	by    string // why full: "lines" or "bytes"

	cur      []byte // of the line that is being read, up to keptBytes
	curBytes int64  // all of it
	inKey    bool   // between the lines that begin and end a private key
	keySaid  bool   // a kept line stands for the key already
	keys     int    // private keys that were masked
}

// A line is one line of the content, before its secrets are masked.
type line struct {
	text string
	cut  bool // there was more than keptBytes
	key  bool // it is inside a private key
}

func newScan(first, limit int64) *scan { return &scan{first: first, limit: limit, most: maxCounted} }

// run reads r to its end, or until what is asked for is there and enough was
// counted.
func (s *scan) run(ctx context.Context, r io.Reader) error {
	buf := make([]byte, chunkSize)
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		n, err := r.Read(buf)
		s.take(buf[:n])
		if errors.Is(err, io.EOF) {
			s.end()
			return nil
		}
		if err != nil {
			return &outcome.LostError{Stream: "file", Bytes: outcome.Uncounted, After: s.bytes, Cause: bare(err)}
		}
		if s.full && s.bytes >= s.most {
			return nil
		}
	}
}

func (s *scan) take(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	s.bytes += int64(len(chunk))
	s.newline = chunk[len(chunk)-1] == '\n'
	for len(chunk) > 0 && !s.full {
		n := bytes.IndexByte(chunk, '\n')
		if n < 0 {
			s.grow(chunk)
			return
		}
		s.grow(chunk[:n])
		s.endLine()
		chunk = chunk[n+1:]
	}
	s.lines += int64(bytes.Count(chunk, []byte{'\n'})) // only the count is of interest now
}

func (s *scan) grow(part []byte) {
	s.curBytes += int64(len(part))
	s.cur = append(s.cur, part[:min(len(part), keptBytes-len(s.cur))]...)
}

// end is called when the file is read to its end.
func (s *scan) end() {
	s.eof = true
	switch {
	case s.bytes == 0 || s.newline:
	case s.full:
		s.lines++
	default:
		s.endLine()
	}
}

func (s *scan) endLine() {
	s.lines++
	key := s.key()
	if s.lines >= s.first {
		s.keep(line{text: string(s.cur), cut: s.curBytes > keptBytes, key: key})
	}
	s.cur, s.curBytes = s.cur[:0], 0
}

// keep adds a line, unless the budget of characters is used up.
func (s *scan) keep(l line) {
	cost := min(utf8.RuneCountInString(l.text), maxLine+len(cutMark)) + len(strconv.FormatInt(s.lines, 10)) + len("|\n")
	if s.chars+cost > maxContent {
		s.full, s.by = true, "bytes"
		return
	}
	s.chars += cost
	if l.key && !s.keySaid {
		s.keySaid = true
		s.keys++
	}
	s.kept = append(s.kept, l)
	if int64(len(s.kept)) == s.limit {
		s.full, s.by = true, "lines"
	}
}

// key reports whether the current line is inside a private key: what is shown
// may begin behind the line that says so.
func (s *scan) key() bool {
	text := bytes.TrimSpace(s.cur)
	switch {
	case bytes.HasPrefix(text, []byte("-----BEGIN ")) && bytes.Contains(text, []byte("PRIVATE KEY")):
		s.inKey, s.keySaid = true, false
		return false
	case s.inKey && bytes.HasPrefix(text, []byte("-----END ")):
		s.inKey = false
		return false
	}
	return s.inKey
}

// keyMask stands for one line of a private key.
const keyMask = "[private key]"

// content writes the kept lines with their numbers, secrets masked, and says
// how many secrets there were, how many lines were cut, and how many bytes
// were no UTF-8.
func (s *scan) content() (text string, secrets int, cut, invalid int64) {
	lines := make([]string, len(s.kept))
	for i, l := range s.kept {
		if l.key {
			lines[i] = keyMask
			continue
		}
		whole, bad := validText(l.text, l.cut)
		lines[i] = whole
		invalid += bad
	}
	found, lines := maskSecrets(lines)
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strconv.FormatInt(s.first+int64(i), 10))
		b.WriteByte('|')
		short := firstRunes(l, maxLine)
		b.WriteString(short)
		if len(short) < len(l) || s.kept[i].cut {
			b.WriteString(cutMark)
			cut++
		}
	}
	return b.String(), found + s.keys, cut, invalid
}

// validText replaces bytes that are not UTF-8, one for one, and counts them. A
// character that the cut split is left out and no such byte.
func validText(text string, cut bool) (string, int64) {
	if utf8.ValidString(text) {
		return text, 0
	}
	var b strings.Builder
	var bad int64
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			if cut && !utf8.FullRuneInString(text[i:]) {
				break
			}
			bad++
		}
		b.WriteRune(r)
		i += n
	}
	return b.String(), bad
}

// firstRunes is the beginning of s with at most n characters.
func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
