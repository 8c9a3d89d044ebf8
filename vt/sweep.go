package vt

// penChanged makes the next character look its style up again.
func (t *Terminal) penChanged() { t.penOK, t.blankK = false, false }

// penCell returns the bits of a cell written now: style, protection, semantics.
func (t *Terminal) penCell() Cell {
	if t.penOK {
		return t.penAt
	}
	return t.findPen()
}

func (t *Terminal) findPen() Cell {
	id, ok := t.styles.find(&t.pen)
	if !ok {
		id = t.intern(t.pen)
	}
	t.penAt = Cell(id)<<cellStyleShift | t.sem
	if t.protect.on {
		t.penAt |= cellProtected
	}
	t.penOK = true
	return t.penAt
}

// blankCell returns what erasing writes: blank, in the background of the pen.
func (t *Terminal) blankCell() Cell {
	if t.blankK {
		return t.blank
	}
	return t.findBlank()
}

func (t *Terminal) findBlank() Cell {
	t.blank = 0
	if t.pen.BG != 0 {
		t.blank = Cell(t.intern(Style{BG: t.pen.BG})) << cellStyleShift
	}
	t.blankK = true
	return t.blank
}

// intern returns the id of a style. When the table is full of live styles, the
// style's direct colours are replaced by the nearest of the palette, of which
// there are few, and at last by the default style.
func (t *Terminal) intern(s Style) StyleID {
	if id, ok := t.styles.find(&s); ok {
		return id
	}
	if t.styles.live() >= t.lim.Styles && !t.reclaim(&t.styleWait, t.styles.live, t.lim.Styles) {
		t.drop(DropStyle)
		s.FG, s.BG, s.UL = nearest(s.FG), nearest(s.BG), Color(0)
		s.Link = 0
		if id, ok := t.styles.find(&s); ok {
			return id
		}
		if t.styles.live() >= t.lim.Styles+t.lim.Styles/4 {
			return 0
		}
	}
	return t.styles.add(s)
}

// nearest returns the entry of the 6×6×6 cube closest to a direct colour.
func nearest(c Color) Color {
	r, g, b, ok := c.RGB()
	if !ok {
		return c
	}
	step := func(v uint8) int {
		if v < 48 {
			return 0
		}
		if v < 115 {
			return 1
		}
		return (int(v) - 35) / 40
	}
	return Indexed(uint8(16 + 36*step(r) + 6*step(g) + step(b)))
}

// reclaim sweeps because a table is full and reports whether that made room in
// it. A sweep that frees little is not tried again until *wait calls later, so
// that a screen full of live entries costs a bounded number of sweeps per byte.
func (t *Terminal) reclaim(wait *int, live func() int, limit int) bool {
	if *wait > 0 {
		*wait--
		return false
	}
	t.sweep()
	n := live()
	if n > limit*7/8 {
		*wait = 1 << 13
	}
	return n < limit
}

// sweep frees the styles, clusters and links that nothing shows any more. Ids in
// use keep their meaning.
func (t *Terminal) sweep() {
	t.sweeps++
	t.gen++
	t.inUse.styles = t.inUse.styles.cleared(len(t.styles.list))
	t.inUse.clusters = t.inUse.clusters.cleared(len(t.clusters.at))
	t.inUse.links = t.inUse.links.cleared(len(t.links.list) + 1)
	styles, clusters, links := t.inUse.styles, t.inUse.clusters, t.inUse.links
	note := func(c Cell) {
		styles.set(int(c.Style()))
		if id, ok := c.ClusterID(); ok {
			clusters.set(int(id))
		}
	}
	for _, s := range []*screen{t.main, t.alt} {
		if s == nil {
			continue
		}
		for _, id := range s.order {
			row := s.cells[int(id)*int(s.cols):]
			for _, c := range row[:s.meta[id].used] {
				note(c)
			}
		}
	}
	t.hist.each(func(style StyleID) { styles.set(int(style)) }, func(id uint32) { clusters.set(int(id)) })
	if t.penOK {
		note(t.penAt)
	}
	if t.blankK {
		note(t.blank)
	}
	for id, s := range t.styles.list {
		if styles.has(id) {
			links.set(int(s.Link))
		}
	}
	links.set(int(t.pen.Link))
	for _, s := range []*screen{t.main, t.alt} {
		if s != nil {
			links.set(int(s.saved.pen.Link))
		}
	}
	t.styles.reindex(len(t.styles.index), styles)
	t.clusters.sweep(clusters)
	t.links.sweep(links)
}

// cluster returns the id of a text of several code points.
func (t *Terminal) cluster(text []byte) (uint32, bool) {
	if id, ok := t.clusters.find(text); ok {
		return id, true
	}
	if t.clusters.live() >= t.lim.Clusters && !t.reclaim(&t.clusterWait, t.clusters.live, t.lim.Clusters) {
		return 0, false
	}
	return t.clusters.add(text), true
}

// openLink returns the id of a target, 0 when there is no room for it.
func (t *Terminal) openLink(k link) LinkID {
	if id, ok := t.links.ids[k]; ok {
		return id
	}
	if t.links.live() >= t.lim.Links && !t.reclaim(&t.linkWait, t.links.live, t.lim.Links) {
		return 0
	}
	return t.links.add(k)
}
