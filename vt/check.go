package vt

import (
	"errors"
	"fmt"
	"slices"
)

// Check states every invariant of a Terminal and returns one error for each that
// does not hold, joined. It is for tests and reads everything.
func (t *Terminal) Check() error {
	return errors.Join(
		t.checkCursor(),
		t.checkScreen("main", t.main),
		t.checkScreen("alt", t.alt),
		t.checkHistory(),
		t.checkBounds(),
		t.checkTables(),
	)
}

func (t *Terminal) checkCursor() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if t.cols < 1 || t.rows < 1 || int(t.cols) > t.lim.Cols || int(t.rows) > t.lim.Rows {
		bad("size %d×%d outside limits", t.cols, t.rows)
	}
	if t.row < 0 || t.row >= t.rows || t.col < 0 || t.col >= t.cols {
		bad("cursor %d,%d outside %d×%d", t.row, t.col, t.cols, t.rows)
	}
	m := t.m
	if m.top < 0 || m.top > m.bot || m.bot >= t.rows || m.left < 0 || m.left > m.right || m.right >= t.cols {
		bad("margins %+v outside %d×%d", m, t.cols, t.rows)
	}
	if !t.modes.has(modeMargins) && !t.fullWidth() {
		bad("left and right margins without mode 69")
	}
	if t.pending && !t.atLimit() {
		bad("pending wrap at column %d of %d", t.col, t.limit())
	}
	if len(t.tabs) != int(t.cols) {
		bad("%d tab stops for %d columns", len(t.tabs), t.cols)
	}
	if t.modes.has(modeAlt) != (t.scr == t.alt) || !t.modes.has(modeAlt) != (t.scr == t.main) {
		bad("shown screen does not match its mode")
	}
	if t.joinOK && (t.joinRow >= t.rows || t.joinCol >= t.cols) {
		bad("last cluster %d,%d outside the screen", t.joinRow, t.joinCol)
	}
	return errors.Join(errs...)
}

func (t *Terminal) checkScreen(name string, s *screen) error {
	if s == nil {
		return nil
	}
	if s.cols != t.cols || len(s.order) != int(t.rows) || len(s.meta) != int(t.rows) ||
		len(s.clean) != int(t.rows) || len(s.cells) != int(t.cols)*int(t.rows) {
		return fmt.Errorf("%s screen is %d×%d, not %d×%d", name, s.cols, len(s.order), t.cols, t.rows)
	}
	var errs []error
	if !s.seen && slices.Contains(s.clean, true) {
		errs = append(errs, fmt.Errorf("%s has a clean row and does not know", name))
	}
	seen := newBitset(len(s.order))
	for r, id := range s.order {
		if int(id) >= len(s.order) || seen.has(int(id)) {
			return fmt.Errorf("%s order is not a permutation at row %d", name, r)
		}
		seen.set(int(id))
		m := s.metaOf(Row(r))
		if m.used < 0 || m.used > s.cols {
			return fmt.Errorf("%s row %d uses %d of %d columns", name, r, m.used, s.cols)
		}
		row := s.row(Row(r))
		for c, cell := range row[m.used:] {
			if cell != 0 {
				errs = append(errs, fmt.Errorf("%s row %d column %d is past used and not blank", name, r, int(m.used)+c))
				break
			}
		}
		if err := t.checkCells(row); err != nil {
			errs = append(errs, fmt.Errorf("%s row %d: %w", name, r, err))
		}
	}
	return errors.Join(errs...)
}

// checkCells checks one row of cells: halves of wide characters in pairs, ids
// alive, no control characters.
func (t *Terminal) checkCells(row []Cell) error {
	for c, cell := range row {
		if cell.Wide() && (c+1 == len(row) || !row[c+1].Tail()) {
			return fmt.Errorf("column %d: left half without right half", c)
		}
		if cell.Tail() && (c == 0 || !row[c-1].Wide()) {
			return fmt.Errorf("column %d: right half without left half", c)
		}
		if id := int(cell.Style()); !t.styles.alive(id) {
			return fmt.Errorf("column %d: style %d is not live", c, id)
		}
		id, isCluster := cell.ClusterID()
		if isCluster && (int(id) >= len(t.clusters.at) || t.clusters.at[id].len == 0) {
			return fmt.Errorf("column %d: cluster %d is not live", c, id)
		}
		if r := cell.Rune(); !isCluster && (r > 0 && r < 0x20 || r >= 0x7F && r < 0xA0 || r > 0x10FFFF) {
			return fmt.Errorf("column %d: control or invalid character %U", c, r)
		}
		if cell&cellWidthMask == cellSpacer && cell&(cellRuneMask|cellCluster) != 0 || cell.Tail() && cell&(cellRuneMask|cellCluster) != 0 {
			return fmt.Errorf("column %d: text in an empty cell", c)
		}
	}
	return nil
}

func (s *styleTable) alive(id int) bool {
	if id == 0 {
		return true
	}
	if id >= len(s.list) {
		return false
	}
	got, ok := s.find(&s.list[id])
	return ok && int(got) == id
}

func (t *Terminal) checkHistory() error {
	h := &t.hist
	if h.len() < 0 || h.len() > h.maxLines {
		return fmt.Errorf("history holds %d rows of %d", h.len(), h.maxLines)
	}
	if len(h.pages)*pageSize > h.maxBytes || len(h.spare) > keepPages {
		return fmt.Errorf("history holds %d pages and %d spare for %d bytes", len(h.pages), len(h.spare), h.maxBytes)
	}
	next := h.first
	for i, p := range h.pages {
		if i == 0 && (h.first < p.base || h.first >= p.base+int64(len(p.offs))) || i > 0 && p.base != next {
			return fmt.Errorf("history page %d begins at %d, not at %d", i, p.base, next)
		}
		next = p.base + int64(len(p.offs))
	}
	if next != h.next && h.len() > 0 {
		return fmt.Errorf("history ends at %d, not at %d", next, h.next)
	}
	if err := h.checkCut(); err != nil {
		return err
	}
	var buf []Cell
	for i := range h.len() {
		buf = h.line(i, buf[:0])
		if len(buf) > 0 && buf[len(buf)-1] == 0 {
			return fmt.Errorf("history row %d ends in a blank", i)
		}
		if err := t.checkCells(buf); err != nil {
			return fmt.Errorf("history row %d: %w", i, err)
		}
	}
	return nil
}

// checkCut checks what is known of the text without reading it.
func (h *history) checkCut() error {
	if h.counted > h.first || h.partial < 0 || len(h.pages) == 0 && h.counted != h.first {
		return fmt.Errorf("history counted %d of %d cut rows, %d bytes of their page", h.counted, h.first, h.partial)
	}
	for i, p := range h.pages {
		sum := int64(0)
		for k := range p.offs {
			sum += textBytes(p.record(k))
		}
		if sum != p.text {
			return fmt.Errorf("history page %d has %d bytes of text, not %d", i, sum, p.text)
		}
	}
	return nil
}

func (t *Terminal) checkBounds() error {
	var errs []error
	within := func(what string, n, limit int) {
		if n > limit {
			errs = append(errs, fmt.Errorf("%s: %d past the limit %d", what, n, limit))
		}
	}
	within("string", len(t.str), t.lim.StringBytes)
	within("reply", len(t.fx.Reply), t.lim.ReplyBytes)
	within("events", len(t.fx.Events), t.lim.Events+int(numDrops)+1)
	within("titles", len(t.titles), t.lim.TitleStack)
	within("kitty stack", len(t.scr.kitty.stack), t.lim.KittyStack)
	within("styles", t.styles.live(), t.lim.Styles+t.lim.Styles/4)
	within("clusters", t.clusters.live(), t.lim.Clusters)
	within("links", t.links.live(), t.lim.Links)
	within("carry", t.nCarry, 3)
	return errors.Join(errs...)
}

func (t *Terminal) checkTables() error {
	for id, s := range t.styles.list {
		if s.Link != 0 && t.styles.alive(id) && t.links.uri(s.Link) == "" {
			return fmt.Errorf("style %d has the dead link %d", id, s.Link)
		}
	}
	if t.pen.Link != 0 && t.links.uri(t.pen.Link) == "" {
		return fmt.Errorf("the pen has the dead link %d", t.pen.Link)
	}
	return nil
}
