package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth is the number of parts that a key may have. No setting lies that
// deep; the parts behind it are dropped, and the key is told as unknown.
const maxDepth = 6

// maxSyntax is how many lines that are no TOML are told. Each costs a new
// parse of the file.
const maxSyntax = 20

// byteOrderMark is U+FEFF, which some editors put before UTF-8.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// A place is a position in a file.
type place struct {
	file         string
	line, column int // from 1; the column in characters
}

// kind is what a TOML value is.
type kind uint8

const (
	kindOther kind = iota
	kindString
	kindBool
	kindInteger
	kindFloat
	kindDate
	kindList
	kindTable
)

// A value is one TOML value.
type value struct {
	place
	kind  kind
	text  string  // the text of a string, the written form of a number, a truth or a date
	items []value // of a list; their own items are left out
}

// shown says what the value is, safe to show.
func (v value) shown() string {
	switch v.kind {
	case kindString:
		return quoted(v.text)
	case kindBool, kindInteger, kindFloat:
		return short(v.text)
	case kindDate:
		return "a date or time"
	case kindList:
		return "a list"
	case kindTable:
		return "a section"
	}
	return "nothing that is known here"
}

// An entry is a heading or a key of a file, with its whole path. A table that
// is written inline gives a heading and its keys.
type entry struct {
	place
	path    []string
	heading bool
	inline  bool  // a heading written as a value
	many    bool  // a heading in double brackets
	value   value // of a key
}

// A scanner turns a file into entries.
type scanner struct {
	file   string
	data   []byte
	starts []int // offset of each line
	parser unstable.Parser
	under  []string // path of the heading in force
	out    []entry
	bad    *list

	lastOffset, lastColumn int // of the last placeOf: most questions go forward on a line
}

// scan reads a file and adds what is no TOML to bad. After an expression that
// is wrong it goes on with the next line.
func scan(file string, data []byte, bad *list) *scanner {
	s := &scanner{file: file, data: bytes.Clone(data), bad: bad, starts: []int{0}}
	for i, b := range data {
		if b == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	if bytes.HasPrefix(s.data, byteOrderMark) {
		s.tell(place{file, 1, 1}, "begins with a byte order mark; expected UTF-8 without one")
		copy(s.data, "   ")
	}
	for range maxSyntax {
		end, err := s.entries()
		if err == nil {
			return s
		}
		at := s.placeOf(s.offsetOf(err.Highlight))
		text := notTOML(err) + "; a line is key = value, with text in quotes"
		if first := s.blank(end, at.line); first < at.line {
			text += fmt.Sprintf("; lines %d to %d were not checked", first, at.line)
		}
		s.tell(at, text)
	}
	if _, err := s.entries(); err != nil {
		s.tell(s.placeOf(s.offsetOf(err.Highlight)), "more is wrong from here on; the rest was not checked")
	}
	return s
}

func (s *scanner) tell(at place, text string) {
	s.bad.add(Problem{File: s.file, Line: at.line, Column: at.column, Text: text})
}

func notTOML(err error) string {
	return "not TOML: " + safe(strings.TrimPrefix(err.Error(), "toml: "))
}

// entries reads the file from its beginning. On an error it returns the offset
// behind the last expression that was whole.
func (s *scanner) entries() (end int, perr *unstable.ParserError) {
	s.parser.Reset(s.data)
	s.out, s.under = nil, nil
	s.lastOffset, s.lastColumn = 0, 1
	for s.parser.NextExpression() {
		e := s.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, at, last := s.path(nil, e.Key())
			s.under, end = path, last
			s.out = append(s.out, entry{place: at, path: path, heading: true, many: e.Kind == unstable.ArrayTable})
		case unstable.KeyValue:
			end = int(e.Raw.Offset + e.Raw.Length)
			s.keyValue(s.under, e)
		}
	}
	err := s.parser.Error()
	if err == nil {
		return end, nil
	}
	if perr, ok := errors.AsType[*unstable.ParserError](err); ok {
		return end, perr
	}
	return end, &unstable.ParserError{Highlight: s.data[end:], Message: err.Error()}
}

// keyValue adds a key, or the heading and the keys of an inline table.
func (s *scanner) keyValue(under []string, e *unstable.Node) {
	path, at, _ := s.path(under, e.Key())
	v := e.Value()
	if v.Kind != unstable.InlineTable {
		s.out = append(s.out, entry{place: at, path: path, value: s.value(v, at, true)})
		return
	}
	s.out = append(s.out, entry{place: at, path: path, heading: true, inline: true})
	if len(path) >= maxDepth {
		return
	}
	for it := v.Children(); it.Next(); {
		if it.Node().Kind == unstable.KeyValue {
			s.keyValue(path, it.Node())
		}
	}
}

// path returns a key below another, where it is written, and where it ends.
func (s *scanner) path(under []string, it unstable.Iterator) (path []string, at place, end int) {
	path = slices.Clone(under)
	for first := true; it.Next(); first = false {
		raw := it.Node().Raw
		if first {
			at = s.placeOf(int(raw.Offset))
		}
		if len(path) < maxDepth {
			path = append(path, string(it.Node().Data))
		}
		end = int(raw.Offset + raw.Length)
	}
	return path, at, end
}

// value reads a value; deep is false for an item of a list. The parser gives
// no place for a list, so the one of its key stands in.
func (s *scanner) value(n *unstable.Node, at place, deep bool) value {
	v := value{place: at, text: string(n.Data)}
	if n.Raw.Length > 0 {
		v.place = s.placeOf(int(n.Raw.Offset))
	}
	switch n.Kind {
	case unstable.String:
		v.kind = kindString
	case unstable.Bool:
		v.kind = kindBool
	case unstable.Integer:
		v.kind = kindInteger
	case unstable.Float:
		v.kind = kindFloat
	case unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
		v.kind = kindDate
	case unstable.InlineTable:
		v.kind = kindTable
	case unstable.Array:
		v.kind = kindList
		for it := n.Children(); deep && it.Next(); {
			v.items = append(v.items, s.value(it.Node(), at, false))
		}
	}
	return v
}

// placeOf returns the line and the column of an offset.
func (s *scanner) placeOf(offset int) place {
	line, exact := slices.BinarySearch(s.starts, offset)
	if !exact {
		line--
	}
	from, column := s.starts[line], 1
	if from <= s.lastOffset && s.lastOffset <= offset {
		from, column = s.lastOffset, s.lastColumn
	}
	column += utf8.RuneCount(s.data[from:offset])
	s.lastOffset, s.lastColumn = offset, column
	return place{s.file, line + 1, column}
}

// offsetOf returns where a part of the data begins. A part that is no part of
// it, which the parser does not give, counts as the end.
func (s *scanner) offsetOf(part []byte) int {
	if offset := cap(s.data) - cap(part); 0 <= offset && offset <= len(s.data) {
		return offset
	}
	return len(s.data)
}

// blank overwrites the expression that is wrong, from the first line behind end
// that could begin one to the given line, and returns that first line.
func (s *scanner) blank(end, line int) (first int) {
	first = 1
	if end > 0 {
		first = s.placeOf(end).line + 1
	}
	for first < line && closes(s.lineAt(first)) {
		first++
	}
	first = min(first, line)
	for n := first; n <= line; n++ {
		text := s.lineAt(n)
		for i := range text {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
	return first
}

// closes reports whether a line can only end what began above it.
func closes(line []byte) bool {
	code, _, _ := strings.Cut(string(line), "#")
	return strings.Trim(code, " \t\r\n,]}") == ""
}

// lineAt returns a line with its end, counted from 1.
func (s *scanner) lineAt(line int) []byte {
	if line < len(s.starts) {
		return s.data[s.starts[line-1]:s.starts[line]]
	}
	return s.data[s.starts[line-1]:]
}

// finalWord asks the whole decoder, which knows rules about tables that single
// entries do not show. It stops at the first error, so a line that was told
// already is not told again.
func (s *scanner) finalWord() {
	var all map[string]any
	err := toml.Unmarshal(s.data, &all)
	if err == nil {
		return
	}
	at := place{s.file, 0, 0}
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		if row, col := d.Position(); 1 <= row && row <= len(s.starts) {
			at = s.placeOf(min(s.starts[row-1]+max(col, 1)-1, len(s.data)))
		}
	}
	told := func(p Problem) bool { return p.File == s.file && p.Line == at.line }
	if !slices.ContainsFunc(s.bad.kept, told) {
		s.tell(at, notTOML(err))
	}
}

// id is a path without doubt about where a part ends.
func id(path []string) string { return strings.Join(path, "\x00") }
