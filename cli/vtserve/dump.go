package vtserve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/honestty/honestty/vt"
)

// A Screen is a dump of a terminal, in the protocol's words.
type Screen struct {
	Cols       int     `json:"cols"`
	Rows       int     `json:"rows"`
	Cursor     Cursor  `json:"cursor"`
	Alt        bool    `json:"alt"`
	Title      string  `json:"title"`
	Lines      []Line  `json:"lines"`
	Scrollback []Line  `json:"scrollback,omitzero"`
	Cut        *Cut    `json:"cut,omitempty"` // what limits removed before the scrollback
	Styles     []Style `json:"styles"`
}

// A Cursor is the cursor's place; X is at most Cols-1.
type Cursor struct {
	X           int  `json:"x"`
	Y           int  `json:"y"`
	Visible     bool `json:"visible"`
	PendingWrap bool `json:"pending_wrap"`
}

// A Cut is the marker where history was cut.
type Cut struct {
	Lines int64 `json:"lines"`
	Bytes int64 `json:"bytes"`
}

// A Line is one row: text, width and style by column.
type Line struct {
	Text    []string `json:"t"`
	Widths  string   `json:"w"`
	Styles  []int    `json:"s"`
	Wrapped bool     `json:"wrapped"`
}

// A Style is the part of vt.Style that the protocol names.
type Style struct {
	FG        string `json:"fg,omitempty"`
	BG        string `json:"bg,omitempty"`
	UL        string `json:"ul,omitempty"`
	Bold      bool   `json:"bold,omitempty"`
	Faint     bool   `json:"faint,omitempty"`
	Italic    bool   `json:"italic,omitempty"`
	Blink     bool   `json:"blink,omitempty"`
	Inverse   bool   `json:"inverse,omitempty"`
	Invisible bool   `json:"invisible,omitempty"`
	Strike    bool   `json:"strike,omitempty"`
	Overline  bool   `json:"overline,omitempty"`
	Underline int    `json:"underline,omitempty"`
	Link      string `json:"link,omitempty"`
}

// Dump describes the screen of t, and its scrollback when asked for.
func Dump(t *vt.Terminal, withScrollback bool) Screen {
	cols, rows := t.Size()
	cur := t.Cursor()
	d := dumper{t: t, index: map[vt.StyleID]int{}}
	d.style(0)
	s := Screen{
		Cols: cols, Rows: rows, Alt: t.Modes().AltScreen, Title: t.Title(),
		Cursor: Cursor{int(cur.Col), int(cur.Row), cur.Visible, cur.PendingWrap},
	}
	for r := range rows {
		s.Lines = append(s.Lines, d.line(t.Line(vt.Row(r)), t.LineWrapped(vt.Row(r))))
	}
	if withScrollback {
		s.Scrollback = []Line{}
		var buf []vt.Cell
		for i := range t.HistoryLen() {
			buf = t.HistoryLine(i, buf[:0])
			s.Scrollback = append(s.Scrollback, d.line(pad(buf, cols), t.HistoryWrapped(i)))
		}
	}
	if lines, bytes := t.HistoryCut(); lines > 0 {
		s.Cut = &Cut{lines, bytes}
	}
	s.Styles = d.styles
	return s
}

// pad appends blank cells up to cols.
func pad(cells []vt.Cell, cols int) []vt.Cell {
	for len(cells) < cols {
		cells = append(cells, 0)
	}
	return cells
}

// A dumper numbers the styles of one dump.
type dumper struct {
	t      *vt.Terminal
	index  map[vt.StyleID]int
	styles []Style
	text   []byte
}

func (d *dumper) line(cells []vt.Cell, wrapped bool) Line {
	l := Line{Text: make([]string, len(cells)), Styles: make([]int, len(cells)), Wrapped: wrapped}
	w := make([]byte, len(cells))
	for i, c := range cells {
		d.text = d.t.AppendText(d.text[:0], c)
		l.Text[i] = string(d.text)
		l.Styles[i] = d.style(c.Style())
		switch {
		case c.Wide():
			w[i] = '2'
		case c.Tail():
			w[i] = '0'
		default:
			w[i] = '1'
		}
	}
	l.Widths = string(w)
	return l
}

func (d *dumper) style(id vt.StyleID) int {
	if n, ok := d.index[id]; ok {
		return n
	}
	s := d.t.StyleOf(id)
	n := len(d.styles)
	d.index[id] = n
	d.styles = append(d.styles, Style{
		FG: color(s.FG), BG: color(s.BG), UL: color(s.UL),
		Bold: s.Attrs&vt.Bold != 0, Faint: s.Attrs&vt.Faint != 0, Italic: s.Attrs&vt.Italic != 0,
		Blink: s.Attrs&vt.Blink != 0, Inverse: s.Attrs&vt.Inverse != 0,
		Invisible: s.Attrs&vt.Invisible != 0, Strike: s.Attrs&vt.Strike != 0,
		Overline: s.Attrs&vt.Overline != 0, Underline: int(s.Underline), Link: d.t.LinkOf(s.Link),
	})
	return n
}

func color(c vt.Color) string {
	if i, ok := c.Index(); ok {
		return fmt.Sprintf("i:%d", i)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	return ""
}

// Forms are the ways in which WriteDump can write.
const (
	FormJSON = "json"
	FormText = "text"
)

// WriteDump writes a dump as one line of JSON, or as text: the scrollback when
// the dump has one, then the screen, each row without its trailing blanks. Text
// that was cut is told in the first line.
func WriteDump(out io.Writer, s Screen, form string) error {
	switch form {
	case FormJSON:
		return json.NewEncoder(out).Encode(s)
	case FormText:
		w := bufio.NewWriter(out)
		if s.Cut != nil && s.Scrollback != nil {
			fmt.Fprintf(w, "[%d earlier lines, %d bytes, were cut]\n", s.Cut.Lines, s.Cut.Bytes)
		}
		for _, l := range s.Scrollback {
			fmt.Fprintln(w, l.String())
		}
		for _, l := range s.Lines {
			fmt.Fprintln(w, l.String())
		}
		return w.Flush()
	}
	return fmt.Errorf("write dump: unknown form %q", form)
}

// String returns the row as text, without trailing blanks.
func (l Line) String() string {
	var b strings.Builder
	for i, s := range l.Text {
		switch {
		case l.Widths[i] == '0':
		case s == "":
			b.WriteByte(' ')
		default:
			b.WriteString(s)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
