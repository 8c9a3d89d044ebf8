package vt

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestScripts runs every script of testdata/vt: whole, byte by byte, and cut in
// two at every place. The words of the language:
//
//	size COLS ROWS [scrollback=N] [checksum] [pixels=WxH] [colors]   a new terminal
//	feed "text" ...      bytes; \e \a \b \t \r \n \xHH \uHHHH \" \\
//	resize COLS ROWS
//	screen               then one |row| a line, escapes allowed; rows not given are blank
//	history              the same for the scrollback, oldest first, all of it
//	cursor ROW COL [pending] [hidden] [underline|bar] [steady]
//	style ROW COL [word or key=value] ...   what is not named is off
//	wrapped [ROW ...]    the rows that continue the one above
//	mark ROW [prompt] [input] [output] [end[=N]]
//	reply "text" ...     all replies since the last check
//	event KIND ["data"] [N]   the next event; "event none": no more of them
//	dropped NAME N       how often since the terminal began
//	mode NAME[=N] ...    fields of Modes; a leading ! means off
//	title|icon|cwd "text"
//	cut LINES BYTES      rows that left the scrollback, and their text
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("../testdata/vt/*.vt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".vt"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			longest := runScript(t, f, text, splitNone)
			if t.Failed() {
				return
			}
			runScript(t, f, text, splitBytes)
			for at := 1; at < longest && !t.Failed(); at++ {
				runScript(t, f, text, at)
			}
		})
	}
}

const (
	splitBytes = 0  // feed every byte on its own, through the table alone
	splitNone  = -1 // feed each line whole
)

// A scriptRun is one pass over a script.
type scriptRun struct {
	t      *testing.T
	at     string // file:line and how the input is split
	split  int
	v      *Terminal
	reply  []byte
	events []Event
	long   int // longest feed
}

func runScript(t *testing.T, file string, text []byte, split int) int {
	s := &scriptRun{t: t, split: split}
	sc := bufio.NewScanner(bytes.NewReader(text))
	var lines []string
	for sc.Scan() {
		lines = append(lines, sc.Text())
	}
	for i := 0; i < len(lines); i++ {
		s.at = fmt.Sprintf("%s:%d (split %d)", filepath.Base(file), i+1, split)
		line := strings.TrimSpace(lines[i])
		if line == "" || line[0] == '#' {
			continue
		}
		var rows []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|") {
			i++
			row, err := strconv.Unquote(`"` + lines[i] + `"`)
			if err != nil {
				t.Fatalf("%s: row %d: %v", s.at, len(rows), err)
			}
			rows = append(rows, row)
		}
		args := s.fields(line)
		if s.v == nil && args[0] != "size" {
			t.Fatalf("%s: the script must begin with size", s.at)
		}
		s.step(args[0], args[1:], rows)
		if err := s.v.Check(); err != nil {
			t.Fatalf("%s: %v", s.at, err)
		}
	}
	return s.long
}

// fields splits a line into words and quoted strings.
func (s *scriptRun) fields(line string) []string {
	var out []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] != '"' {
			w, rest, _ := strings.Cut(line, " ")
			out, line = append(out, w), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(strings.ReplaceAll(line, `\e`, `\x1b`))
		if err != nil {
			s.t.Fatalf("%s: %v", s.at, err)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			s.t.Fatalf("%s: %v", s.at, err)
		}
		out = append(out, text)
		line = strings.ReplaceAll(line, `\e`, `\x1b`)[len(quoted):]
	}
	return out
}

func (s *scriptRun) num(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil {
		s.t.Fatalf("%s: %v", s.at, err)
	}
	return n
}

func (s *scriptRun) take(fx *Effects) {
	s.reply = append(s.reply, fx.Reply...)
	for _, e := range fx.Events {
		switch e.Kind {
		case EventDropped, EventUnknown, EventMode:
		case EventBell:
			for range e.N {
				s.events = append(s.events, Event{Kind: EventBell, N: 1})
			}
		default:
			s.events = append(s.events, e)
		}
	}
}

func (s *scriptRun) feed(p []byte) {
	s.long = max(s.long, len(p))
	switch {
	case s.split == splitBytes:
		for i := range p {
			s.take(s.v.Write(p[i : i+1]))
		}
	case s.split > 0 && s.split < len(p):
		s.take(s.v.Write(p[:s.split]))
		s.take(s.v.Write(p[s.split:]))
	default:
		s.take(s.v.Write(p))
	}
}

func (s *scriptRun) step(word string, args, rows []string) {
	switch word {
	case "size":
		s.size(args)
	case "feed":
		s.feed([]byte(strings.Join(args, "")))
	case "resize":
		s.take(s.v.Resize(s.num(args[0]), s.num(args[1])))
	case "screen":
		s.screen(rows)
	case "history":
		s.history(rows)
	case "cursor":
		s.equal("cursor", cursorWords(s.v.Cursor()), strings.Join(args, " "))
	case "style":
		cell := s.v.Line(Row(s.num(args[0])))[s.num(args[1])]
		slices.Sort(args[2:])
		s.equal("style", styleWords(s.v, cell), strings.Join(args[2:], " "))
	case "wrapped":
		var got []string
		for r := range s.v.rows {
			if s.v.LineWrapped(r) {
				got = append(got, strconv.Itoa(int(r)))
			}
		}
		s.equal("wrapped", strings.Join(got, " "), strings.Join(args, " "))
	case "mark":
		s.equal("mark", markWords(s.v.LineMark(Row(s.num(args[0])))), strings.Join(args[1:], " "))
	case "reply":
		s.equal("reply", fmt.Sprintf("%q", s.reply), fmt.Sprintf("%q", strings.Join(args, "")))
		s.reply = nil
	case "event":
		s.event(args)
	case "dropped":
		s.equal("dropped "+args[0], fmt.Sprint(s.v.Stats().Dropped[args[0]]), args[1])
	case "mode":
		s.mode(args)
	case "title":
		s.equal(word, s.v.Title(), args[0])
	case "icon":
		s.equal(word, s.v.Icon(), args[0])
	case "cwd":
		s.equal(word, s.v.Cwd(), args[0])
	case "cut":
		lines, bytes := s.v.HistoryCut()
		s.equal(word, fmt.Sprint(lines, bytes), args[0]+" "+args[1])
	default:
		s.t.Fatalf("%s: unknown word %q", s.at, word)
	}
}

func (s *scriptRun) equal(what, got, want string) {
	if got != want {
		s.t.Errorf("%s: %s is\n\t%s\nwant\n\t%s", s.at, what, got, want)
	}
}

func (s *scriptRun) size(args []string) {
	o := Options{Scrollback: 100, Version: "1.0"}
	colors := false
	for _, a := range args[2:] {
		key, val, _ := strings.Cut(a, "=")
		switch key {
		case "scrollback":
			o.Scrollback = s.num(val)
		case "checksum":
			o.AllowChecksum = true
		case "pixels":
			w, h, _ := strings.Cut(val, "x")
			o.CellPixels = Pixels{s.num(w), s.num(h)}
		case "colors":
			colors = true
		default:
			s.t.Fatalf("%s: unknown option %q", s.at, a)
		}
	}
	s.v = New(s.num(args[0]), s.num(args[1]), o)
	s.v.bytewise = s.split == splitBytes
	s.reply, s.events = nil, nil
	if colors {
		s.v.SetHostColors(RGB(0xE0, 0xE0, 0xE0), RGB(0x10, 0x10, 0x10), RGB(0xFF, 0x80, 0))
	}
}

// rowText draws a row: a blank is a space, a wide character takes one place less.
func rowText(v *Terminal, cells []Cell) string {
	var b []byte
	for _, c := range cells {
		if c.Blank() {
			b = append(b, ' ')
		}
		b = v.AppendText(b, c)
	}
	return string(b)
}

func (s *scriptRun) screen(rows []string) {
	var got, want []string
	for r := range s.v.rows {
		got = append(got, "|"+rowText(s.v, s.v.Line(r))+"|")
		if int(r) < len(rows) {
			want = append(want, rows[r])
		} else {
			want = append(want, "|"+strings.Repeat(" ", int(s.v.cols))+"|")
		}
	}
	if len(rows) > len(got) {
		s.t.Errorf("%s: %d rows for a screen of %d", s.at, len(rows), len(got))
	}
	s.equal("screen", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}

func (s *scriptRun) history(rows []string) {
	var got, want []string
	for i := range s.v.HistoryLen() {
		got = append(got, strings.TrimRight(rowText(s.v, s.v.HistoryLine(i, nil)), " "))
	}
	for _, r := range rows {
		want = append(want, strings.TrimRight(strings.Trim(r, "|"), " "))
	}
	s.equal("history", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}

func (s *scriptRun) event(args []string) {
	if args[0] == "none" {
		if len(s.events) > 0 {
			s.t.Errorf("%s: more events: %+v", s.at, s.events)
		}
		return
	}
	want := Event{Kind: args[0]}
	if want.Kind == EventBell {
		want.N = 1
	}
	if len(args) > 1 {
		want.Data = args[1]
	}
	if len(args) > 2 {
		want.N = s.num(args[2])
	}
	if len(s.events) == 0 {
		s.t.Errorf("%s: no more events, want %+v", s.at, want)
		return
	}
	s.equal("event", fmt.Sprintf("%+v", s.events[0]), fmt.Sprintf("%+v", want))
	s.events = s.events[1:]
}

func (s *scriptRun) mode(args []string) {
	v := reflect.ValueOf(s.v.Modes())
	for _, a := range args {
		name, val, given := strings.Cut(strings.TrimPrefix(a, "!"), "=")
		f := v.FieldByName(name)
		if !f.IsValid() {
			s.t.Fatalf("%s: Modes has no field %q", s.at, name)
		}
		want := "true"
		if a[0] == '!' {
			want = "false"
		}
		if given {
			want = val
		}
		s.equal("mode "+name, fmt.Sprint(f.Interface()), want)
	}
}

func cursorWords(c Cursor) string {
	s := fmt.Sprintf("%d %d", c.Row, c.Col)
	if c.PendingWrap {
		s += " pending"
	}
	if !c.Visible {
		s += " hidden"
	}
	s += [...]string{"", " underline", " bar"}[c.Shape]
	if !c.Blink {
		s += " steady"
	}
	return s
}

func styleWords(v *Terminal, c Cell) string {
	st := v.StyleOf(c.Style())
	var w []string
	for i, name := range []string{"bold", "faint", "italic", "blink", "inverse", "invisible", "strike", "overline"} {
		if st.Attrs&(1<<i) != 0 {
			w = append(w, name)
		}
	}
	if st.Underline != 0 {
		w = append(w, fmt.Sprintf("underline=%d", st.Underline))
	}
	for name, col := range map[string]Color{"fg": st.FG, "bg": st.BG, "ul": st.UL} {
		if i, ok := col.Index(); ok {
			w = append(w, fmt.Sprintf("%s=%d", name, i))
		} else if r, g, b, ok := col.RGB(); ok {
			w = append(w, fmt.Sprintf("%s=#%02x%02x%02x", name, r, g, b))
		}
	}
	if st.Link != 0 {
		w = append(w, "link="+v.LinkOf(st.Link))
	}
	if c.Protected() {
		w = append(w, "protected")
	}
	switch {
	case c.Wide():
		w = append(w, "wide")
	case c.Tail():
		w = append(w, "tail")
	}
	slices.Sort(w)
	return strings.Join(w, " ")
}

func markWords(m Mark) string {
	var w []string
	for _, k := range []struct {
		on   bool
		name string
	}{{m.Prompt, "prompt"}, {m.Input, "input"}, {m.Output, "output"}, {m.End, fmt.Sprintf("end=%d", m.Exit)}} {
		if k.on {
			w = append(w, k.name)
		}
	}
	return strings.Join(w, " ")
}
