package vt

import (
	"maps"
	"slices"
)

// Snapshot returns a terminal that shows what t shows now, history included,
// and shares nothing with it. It can be read and resized while t goes on, by
// another goroutine too. It costs a copy of the history's pages: about 2 MiB for
// 10,000 plain lines.
func (t *Terminal) Snapshot() *Terminal {
	s := *t
	s.parser.str = nil // an unfinished string stays with t
	s.parser.state = ground
	s.parser.nCarry = 0
	s.main = t.main.clone()
	s.alt = t.alt.clone()
	s.scr = s.main
	if t.scr == t.alt {
		s.scr = s.alt
	}
	s.tabs = slices.Clone(t.tabs)
	s.styles = t.styles.clone()
	s.clusters = t.clusters.clone()
	s.links = t.links.clone()
	s.hist = t.hist.clone(&s.clusters)
	s.inUse.styles, s.inUse.clusters, s.inUse.links = nil, nil, nil
	s.titles = slices.Clone(t.titles)
	s.palette.entry = maps.Clone(t.palette.entry)
	s.saveModes = maps.Clone(t.saveModes)
	s.fx = Effects{}
	s.scratch = nil
	return &s
}

func (s *screen) clone() *screen {
	if s == nil {
		return nil
	}
	c := *s
	c.cells = slices.Clone(s.cells)
	c.order = slices.Clone(s.order)
	c.meta = slices.Clone(s.meta)
	c.clean = slices.Clone(s.clean)
	c.kitty.stack = slices.Clone(s.kitty.stack)
	return &c
}

// clone copies the pages, each no larger than what it holds: no row is added
// to them any more. What was being built stays with h.
func (h *history) clone(c *clusterTable) history {
	d := *h
	d.clusters, d.spare, d.rec = c, nil, nil
	d.pages = make([]*page, len(h.pages))
	for i, p := range h.pages {
		q := *p
		q.buf = slices.Clone(p.buf)
		q.offs = slices.Clone(p.offs)
		d.pages[i] = &q
	}
	return d
}

func (s *styleTable) clone() styleTable {
	return styleTable{slices.Clone(s.list), slices.Clone(s.keys), slices.Clone(s.index), slices.Clone(s.free)}
}

func (c *clusterTable) clone() clusterTable {
	return clusterTable{slices.Clone(c.at), slices.Clone(c.data), slices.Clone(c.index), slices.Clone(c.free), nil}
}

func (l *linkTable) clone() linkTable {
	return linkTable{slices.Clone(l.list), maps.Clone(l.ids), slices.Clone(l.free)}
}
