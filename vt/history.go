package vt

import (
	"encoding/binary"
	"slices"
)

// pageSize is the unit in which history memory is taken and given back. A row of
// maxCols cells with a style change in every cell fits in it.
const pageSize = 64 << 10

// A page holds row records one after another:
//
//	1 byte   flags: recASCII, recWraps, recExit
//	1 byte   marks of OSC 133
//	2 bytes  cells
//	2 bytes  runs
//	4 bytes  exit code, only with recExit
//	text     1 byte a cell with recASCII, else the low 32 bits of each cell
//	runs     8 bytes each: style, cells, protection and semantics
//
// A row in the default style has no runs. Numbers are little endian.
type page struct {
	buf  []byte
	offs []uint16 // where each record begins
	base int64    // number of the first record since the history began
}

const (
	recASCII = 1 << iota
	recWraps
	recExit
)

const (
	recHeader = 6
	runBytes  = 8
	// runBits are the low bits of a cell that a run carries for it.
	runBits = cellProtected | cellSemMask
	// keepPages is how many empty pages wait for reuse.
	keepPages = 2
)

// A history is the rows that left the screen at its top, oldest first.
type history struct {
	pages    []*page
	spare    []*page
	first    int64 // number of the oldest row
	next     int64 // number of the row that is pushed next
	maxLines int
	maxBytes int

	cutLines, cutBytes int64

	clusters *clusterTable // the Terminal's: the texts that rows refer to
	rec      []byte        // the record being built
}

func newHistory(lines, bytes int, c *clusterTable) history {
	return history{maxLines: lines, maxBytes: max(bytes, 2*pageSize), clusters: c}
}

func (h *history) len() int { return int(h.next - h.first) }

func (h *history) bytes() int {
	n := 0
	for _, p := range h.pages {
		n += cap(p.buf) + 2*cap(p.offs)
	}
	for _, p := range h.spare {
		n += cap(p.buf) + 2*cap(p.offs)
	}
	return n
}

// push adds a row. cells must not end in zero cells.
func (h *history) push(cells []Cell, m *rowMeta) {
	if h.maxLines == 0 {
		h.cutLines++
		for _, c := range cells {
			h.cutBytes += h.textLen(c)
		}
		return
	}
	h.encode(cells, m)
	h.pushRecord(h.rec)
	h.trim()
}

// trim cuts the oldest rows past the limits.
func (h *history) trim() {
	for h.len() > h.maxLines {
		h.dropFirst()
	}
	for len(h.pages)*pageSize > h.maxBytes && len(h.pages) > 1 {
		h.dropPage()
	}
}

// encode builds the record of a row in h.rec.
func (h *history) encode(cells []Cell, m *rowMeta) {
	flags := byte(recASCII)
	if m.wraps {
		flags |= recWraps
	}
	rec := append(h.rec[:0], 0, byte(m.marks), byte(len(cells)), byte(len(cells)>>8), 0, 0)
	if m.marks&markEnd != 0 {
		flags |= recExit
		rec = binary.LittleEndian.AppendUint32(rec, uint32(m.exit))
	}
	text, n := len(rec), len(cells)
	rec = slices.Grow(rec, 4*n)
	all := Cell(0)
	dst := rec[text : text+n]
	for i, c := range cells {
		all |= c
		dst[i] = byte(c)
	}
	if all&(cellRuneMask|cellCluster|cellWidthMask) > 0x7F {
		flags &^= recASCII
		n *= 4
		dst = rec[text : text+n]
		for i, c := range cells {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(c))
		}
	}
	rec = rec[:text+n]
	runs := 0
	if all&(cellStyleMask|runBits) != 0 {
		for i := 0; i < len(cells); runs++ {
			key := cells[i] & (cellStyleMask | runBits)
			n := 1
			for i+n < len(cells) && cells[i+n]&(cellStyleMask|runBits) == key {
				n++
			}
			rec = binary.LittleEndian.AppendUint64(rec, uint64(key)|uint64(n))
			i += n
		}
	}
	rec[0] = flags
	rec[4], rec[5] = byte(runs), byte(runs>>8)
	h.rec = rec
}

// pushRecord appends a finished record, on a new page when the last is full.
func (h *history) pushRecord(rec []byte) {
	var p *page
	if n := len(h.pages); n > 0 {
		p = h.pages[n-1]
	}
	if p == nil || len(p.buf)+len(rec) > cap(p.buf) {
		for (len(h.pages)+1)*pageSize > h.maxBytes && len(h.pages) > 0 {
			h.dropPage()
		}
		p = h.newPage()
		h.pages = append(h.pages, p)
	}
	p.offs = append(p.offs, uint16(len(p.buf)))
	p.buf = append(p.buf, rec...)
	h.next++
}

func (h *history) newPage() *page {
	if n := len(h.spare); n > 0 {
		p := h.spare[n-1]
		h.spare = h.spare[:n-1]
		p.buf, p.offs, p.base = p.buf[:0], p.offs[:0], h.next
		return p
	}
	// A page holds about as many rows as the one before.
	rows := 256
	if n := len(h.pages); n > 0 {
		rows = len(h.pages[n-1].offs) * 9 / 8
	}
	return &page{buf: make([]byte, 0, pageSize), offs: make([]uint16, 0, rows), base: h.next}
}

// dropFirst cuts the oldest row because of a limit.
func (h *history) dropFirst() {
	if len(h.pages) == 0 {
		return
	}
	p := h.pages[0]
	i := int(h.first - p.base)
	h.cutLines++
	h.cutBytes += h.textBytes(p.record(i))
	h.first++
	if i+1 == len(p.offs) {
		h.release()
	}
}

func (h *history) dropPage() {
	p := h.pages[0]
	for h.first < p.base+int64(len(p.offs)) {
		h.cutLines++
		h.cutBytes += h.textBytes(p.record(int(h.first - p.base)))
		h.first++
	}
	h.release()
}

// release takes the oldest page out of use.
func (h *history) release() {
	p := h.pages[0]
	n := copy(h.pages, h.pages[1:])
	h.pages[n] = nil
	h.pages = h.pages[:n]
	if len(h.spare) < keepPages {
		h.spare = append(h.spare, p)
	}
}

// pop removes the newest row and appends its cells to dst.
func (h *history) pop(dst []Cell) ([]Cell, rowMeta) {
	n := len(h.pages)
	p := h.pages[n-1]
	i := len(p.offs) - 1
	rec := p.record(i)
	m := parseHead(rec)
	dst = decode(rec, dst)
	p.buf = p.buf[:p.offs[i]]
	p.offs = p.offs[:i]
	h.next--
	if i == 0 || h.next == h.first {
		h.pages[n-1] = nil
		h.pages = h.pages[:n-1]
		if h.next == h.first {
			h.pages = h.pages[:0]
		}
		if len(h.spare) < keepPages {
			h.spare = append(h.spare, p)
		}
	}
	return dst, m
}

// clear forgets everything because the program asked; nothing counts as cut.
func (h *history) clear() {
	for len(h.pages) > 0 {
		h.release()
	}
	h.first = h.next
	h.cutLines, h.cutBytes = 0, 0
}

// record returns the bytes of record i of the page.
func (p *page) record(i int) []byte {
	end := len(p.buf)
	if i+1 < len(p.offs) {
		end = int(p.offs[i+1])
	}
	return p.buf[p.offs[i]:end]
}

// find returns the record of row i.
func (h *history) find(i int) []byte {
	want := h.first + int64(i)
	lo, hi := 0, len(h.pages)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; h.pages[mid].base <= want {
			lo = mid
		} else {
			hi = mid
		}
	}
	p := h.pages[lo]
	return p.record(int(want - p.base))
}

func (h *history) line(i int, dst []Cell) []Cell { return decode(h.find(i), dst) }

func (h *history) head(i int) rowMeta { return parseHead(h.find(i)) }

func recCells(rec []byte) int { return int(binary.LittleEndian.Uint16(rec[2:])) }

func parseHead(rec []byte) rowMeta {
	m := rowMeta{used: Col(recCells(rec)), wraps: rec[0]&recWraps != 0, marks: mark(rec[1])}
	if rec[0]&recExit != 0 {
		m.exit = int32(binary.LittleEndian.Uint32(rec[recHeader:]))
	}
	return m
}

// parts splits a record into its text and its runs.
func parts(rec []byte) (text, runs []byte) {
	at := recHeader
	if rec[0]&recExit != 0 {
		at += 4
	}
	n := recCells(rec)
	if rec[0]&recASCII == 0 {
		n *= 4
	}
	return rec[at : at+n], rec[at+n:]
}

// decode appends the cells of a record to dst.
func decode(rec []byte, dst []Cell) []Cell {
	text, runs := parts(rec)
	start := len(dst)
	if rec[0]&recASCII != 0 {
		for _, b := range text {
			dst = append(dst, Cell(b))
		}
	} else {
		for ; len(text) >= 4; text = text[4:] {
			dst = append(dst, Cell(binary.LittleEndian.Uint32(text)))
		}
	}
	at := start
	for ; len(runs) >= runBytes; runs = runs[runBytes:] {
		key := Cell(binary.LittleEndian.Uint64(runs))
		n := int(key & 0xFFFF)
		key &= cellStyleMask | runBits
		for end := min(at+n, len(dst)); at < end; at++ {
			dst[at] |= key
		}
	}
	return dst
}

// textBytes returns how many bytes of text a record stands for.
func (h *history) textBytes(rec []byte) int64 {
	text, _ := parts(rec)
	if rec[0]&recASCII != 0 {
		return int64(len(text))
	}
	n := int64(0)
	for ; len(text) >= 4; text = text[4:] {
		n += h.textLen(Cell(binary.LittleEndian.Uint32(text)))
	}
	return n
}

// textLen returns the bytes of text in a cell; a blank inside a row is a space.
func (h *history) textLen(c Cell) int64 {
	if id, ok := c.ClusterID(); ok {
		return int64(len(h.clusters.text(id)))
	}
	switch r := c & cellRuneMask; {
	case c.Tail():
		return 0
	case r < 0x80:
		return 1
	case r < 0x800:
		return 2
	case r < 0x10000:
		return 3
	}
	return 4
}

// each calls style and cluster for every id that the history uses.
func (h *history) each(style func(StyleID), cluster func(uint32)) {
	for pi, p := range h.pages {
		i := 0
		if pi == 0 {
			i = int(h.first - p.base)
		}
		for ; i < len(p.offs); i++ {
			rec := p.record(i)
			text, runs := parts(rec)
			for ; len(runs) >= runBytes; runs = runs[runBytes:] {
				style(StyleID(binary.LittleEndian.Uint32(runs[4:])))
			}
			if rec[0]&recASCII != 0 {
				continue
			}
			for ; len(text) >= 4; text = text[4:] {
				if c := Cell(binary.LittleEndian.Uint32(text)); c&cellCluster != 0 {
					id, _ := c.ClusterID()
					cluster(id)
				}
			}
		}
	}
}
