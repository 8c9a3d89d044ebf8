package vt

import (
	"bytes"
	"unicode/utf8"
)

func appendRune(dst []byte, r rune) []byte {
	if r < 0x80 {
		return append(dst, byte(r))
	}
	return utf8.AppendRune(dst, r)
}

// A styleTable gives every distinct Style a small number. Numbers are stable
// while anything uses them; sweep frees the others.
type styleTable struct {
	list  []Style // by id; list[0] is the default style
	keys  []styleKey
	index []uint32 // open addressing, id+1, 0 empty; a power of two long
	free  []StyleID
}

func (s *styleTable) init() {
	s.list = append(make([]Style, 0, 16), Style{})
	s.keys = append(make([]styleKey, 0, 16), styleKey{})
	s.index = make([]uint32, 64)
	s.put(0)
}

func (s *styleTable) live() int { return len(s.list) - len(s.free) }

// A styleKey is a Style in two words, for comparing and hashing. A Color has 26
// bits in use: two of kind and 24 of value.
type styleKey struct{ colors, rest uint64 }

func keyOf(s *Style) styleKey {
	return styleKey{
		uint64(s.FG)<<32 | uint64(s.BG),
		uint64(s.UL)<<38 | uint64(s.Attrs)<<22 | uint64(s.Underline&0x3F)<<16 | uint64(s.Link),
	}
}

func (k styleKey) hash() uint32 {
	h := (k.colors ^ k.colors>>29) * 0x9E3779B97F4A7C15
	h = (h ^ k.rest ^ h>>32) * 0xD6E8FEB86659FD93
	return uint32(h >> 32)
}

// find returns the id of s.
func (s *styleTable) find(st *Style) (StyleID, bool) {
	k := keyOf(st)
	if k == (styleKey{}) {
		return 0, true
	}
	mask := uint32(len(s.index) - 1)
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		id := s.index[i]
		if id == 0 {
			return 0, false
		}
		if s.keys[id-1] == k {
			return StyleID(id - 1), true
		}
	}
}

// put enters an id that is in list into the index.
func (s *styleTable) put(id StyleID) {
	mask := uint32(len(s.index) - 1)
	i := s.keys[id].hash() & mask
	for s.index[i] != 0 {
		i = (i + 1) & mask
	}
	s.index[i] = uint32(id) + 1
}

// add enters a style that find did not find.
func (s *styleTable) add(st Style) StyleID {
	if 2*(s.live()+1) > len(s.index) {
		s.reindex(2*len(s.index), nil)
	}
	var id StyleID
	if n := len(s.free); n > 0 {
		id = s.free[n-1]
		s.free = s.free[:n-1]
		s.list[id], s.keys[id] = st, keyOf(&st)
	} else {
		id = StyleID(len(s.list))
		s.list = append(s.list, st)
		s.keys = append(s.keys, keyOf(&st))
	}
	s.put(id)
	return id
}

// reindex rebuilds the index with room for size; ids that used does not name are
// freed. A nil used keeps all but those already free.
func (s *styleTable) reindex(size int, used bitset) {
	if size == len(s.index) {
		clear(s.index)
	} else {
		s.index = make([]uint32, size)
	}
	if used == nil {
		used = newBitset(len(s.list))
		used.fill(len(s.list))
		for _, id := range s.free {
			used.unset(int(id))
		}
	}
	s.free = s.free[:0]
	for id := range s.list {
		if id == 0 || used.has(id) {
			s.put(StyleID(id))
		} else {
			s.list[id], s.keys[id] = Style{}, styleKey{}
			s.free = append(s.free, StyleID(id))
		}
	}
}

// A clusterTable holds the text of cells with more than one code point, in one
// run of bytes, found by content.
type clusterTable struct {
	at    []clusterRef
	data  []byte
	index []uint32
	free  []uint32
	old   []byte // the run before the last sweep, for reuse
}

type clusterRef struct {
	off uint32
	len uint8
}

func (c *clusterTable) init() { c.index = make([]uint32, 64) }

func (c *clusterTable) live() int { return len(c.at) - len(c.free) }

func (c *clusterTable) text(id uint32) []byte {
	if int(id) >= len(c.at) {
		return nil
	}
	r := c.at[id]
	return c.data[r.off : r.off+uint32(r.len)]
}

func hashBytes(b []byte) uint32 {
	h := uint32(2166136261)
	for _, x := range b {
		h = (h ^ uint32(x)) * 16777619
	}
	return h ^ h>>15
}

func (c *clusterTable) find(text []byte) (uint32, bool) {
	mask := uint32(len(c.index) - 1)
	for i := hashBytes(text) & mask; ; i = (i + 1) & mask {
		id := c.index[i]
		if id == 0 {
			return 0, false
		}
		if bytes.Equal(c.text(id-1), text) {
			return id - 1, true
		}
	}
}

func (c *clusterTable) put(id uint32) {
	mask := uint32(len(c.index) - 1)
	i := hashBytes(c.text(id)) & mask
	for c.index[i] != 0 {
		i = (i + 1) & mask
	}
	c.index[i] = id + 1
}

func (c *clusterTable) add(text []byte) uint32 {
	if 2*(c.live()+1) > len(c.index) {
		c.index = make([]uint32, 2*len(c.index))
		free := newBitset(len(c.at))
		for _, id := range c.free {
			free.set(int(id))
		}
		for id := range c.at {
			if !free.has(id) {
				c.put(uint32(id))
			}
		}
	}
	ref := clusterRef{uint32(len(c.data)), uint8(len(text))}
	c.data = append(c.data, text...)
	var id uint32
	if n := len(c.free); n > 0 {
		id = c.free[n-1]
		c.free = c.free[:n-1]
		c.at[id] = ref
	} else {
		id = uint32(len(c.at))
		c.at = append(c.at, ref)
	}
	c.put(id)
	return id
}

// sweep frees the clusters that used does not name and closes the gaps in data.
func (c *clusterTable) sweep(used bitset) {
	data := c.old[:0]
	clear(c.index)
	c.free = c.free[:0]
	for id := range c.at {
		if !used.has(id) {
			c.at[id] = clusterRef{}
			c.free = append(c.free, uint32(id))
			continue
		}
		text := c.text(uint32(id))
		c.at[id].off = uint32(len(data))
		data = append(data, text...)
	}
	c.data, c.old = data, c.data
	for id := range c.at {
		if used.has(id) {
			c.put(uint32(id))
		}
	}
}

// A linkTable holds OSC 8 targets. Cells with the same target and the same id
// parameter share a number.
type linkTable struct {
	list []link // list[i] has LinkID i+1; a zero link is free
	ids  map[link]LinkID
	free []LinkID
}

type link struct{ id, uri string }

func (l *linkTable) live() int { return len(l.ids) }

func (l *linkTable) uri(id LinkID) string {
	if id == 0 || int(id) > len(l.list) {
		return ""
	}
	return l.list[id-1].uri
}

func (l *linkTable) add(k link) LinkID {
	if l.ids == nil {
		l.ids = map[link]LinkID{}
	}
	var id LinkID
	if n := len(l.free); n > 0 {
		id = l.free[n-1]
		l.free = l.free[:n-1]
		l.list[id-1] = k
	} else {
		l.list = append(l.list, k)
		id = LinkID(len(l.list))
	}
	l.ids[k] = id
	return id
}

func (l *linkTable) sweep(used bitset) {
	for i, k := range l.list {
		if k.uri != "" && !used.has(i+1) {
			delete(l.ids, k)
			l.list[i] = link{}
			l.free = append(l.free, LinkID(i+1))
		}
	}
}

// A bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// cleared returns an empty set for numbers below n, in b's memory where it fits.
func (b bitset) cleared(n int) bitset {
	if words := (n + 63) / 64; words <= cap(b) {
		b = b[:words]
		clear(b)
		return b
	}
	return newBitset(n)
}

func (b bitset) set(i int)   { b[i>>6] |= 1 << (i & 63) }
func (b bitset) unset(i int) { b[i>>6] &^= 1 << (i & 63) }

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b bitset) fill(n int) {
	for i := range n {
		b.set(i)
	}
}
