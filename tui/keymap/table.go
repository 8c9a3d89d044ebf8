package keymap

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Row is one line of the table of keys.
type Row struct {
	Keys        []string `json:"keys"` // as people read them; empty: only in the palette
	Bind        []string `json:"bind"` // as they stand in the settings
	Action      Action   `json:"action"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Group       Group    `json:"group"`
	Notes       []string `json:"notes"` // conflicts
}

// Table returns a row for every action, in the order of the help. No field of a
// row is nil.
func (m *Map) Table() []Row {
	rows := make([]Row, 0, len(actions))
	for _, info := range actions {
		row := Row{
			Keys: []string{}, Bind: []string{}, Notes: []string{},
			Action: info.Action, Title: info.Title, Description: info.Description, Group: info.Group,
		}
		for _, way := range m.ways[info.Action] {
			row.Keys = append(row.Keys, m.Label(way))
			row.Bind = append(row.Bind, way.String())
		}
		for _, c := range m.conflicts(info.Action) {
			row.Notes = append(row.Notes, c.Key+": "+c.Note)
		}
		rows = append(rows, row)
	}
	return rows
}

// paletteOnly stands in place of a key.
const paletteOnly = "-"

// WriteTable writes the table for people: the prefix and who else uses it, then
// a block for each group. Further keys of an action and notes stand on lines of
// their own below it, so that the table is readable in 80 columns.
func (m *Map) WriteTable(w io.Writer) error {
	var b strings.Builder
	m.writeHead(&b)
	rows := m.Table()
	keyW, actionW := 0, 0
	for _, r := range rows {
		for _, key := range r.Keys {
			keyW = max(keyW, utf8.RuneCountInString(key))
		}
		actionW = max(actionW, len(r.Action))
	}
	var group Group
	for _, r := range rows {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		keys := r.Keys
		if len(keys) == 0 {
			keys = []string{paletteOnly}
		}
		fmt.Fprintf(&b, "  %-*s  %-*s  %s\n", keyW, keys[0], actionW, r.Action, r.Description)
		for _, key := range keys[1:] {
			fmt.Fprintf(&b, "  %s\n", key)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "  %*s  ! %s\n", keyW, "", note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *Map) writeHead(b *strings.Builder) {
	fmt.Fprintf(b, "preset  %s\n", m.preset)
	if m.prefix == "" {
		fmt.Fprintf(b, "prefix  none\n")
		return
	}
	fmt.Fprintf(b, "prefix  %s, twice sends it to the program\n", Label(m.prefix))
	for _, u := range Uses(m.prefix) {
		fmt.Fprintf(b, "        ! also %s\n", u)
	}
}
