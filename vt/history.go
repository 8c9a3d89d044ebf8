package vt

import (
	"encoding/binary"
	"math/bits"
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
//	4 bytes  how many bytes the text has as UTF-8, only without recASCII
//	text     1 byte a cell with recASCII, else the low 32 bits of each cell
//	runs     8 bytes each: style, cells, protection and semantics
//
// A row in the default style has no runs. Numbers are little endian.
type page struct {
	buf  []byte
	offs []uint16 // where each record begins
	base int64    // number of the first record since the history began
	text int64    // bytes of text in all records
}

const (
	recASCII = 1 << iota
	recWraps
	recExit
)

const (
	recHeader = 6
	recExtra  = 8 // what may follow the header: exit code and bytes of text
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

	// Cutting a row does not read it. cutBytes lacks the rows from number counted
	// on, and partial is what it has of the oldest page; settle brings it up.
	cutLines, cutBytes int64
	counted            int64
	partial            int64

	clusters *clusterTable // the Terminal's: the texts that rows refer to
	rec      []byte        // a record that may need a new page
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
	// Where the row fits for certain, its record is built in place.
	if n := len(h.pages); n > 0 {
		p := h.pages[n-1]
		if at := len(p.buf); at+recRoom(len(cells)) <= cap(p.buf) {
			var text int64
			p.buf, text = h.encode(p.buf, cells, m)
			p.offs = append(p.offs, uint16(at))
			p.text += text
			h.next++
			h.trim()
			return
		}
	}
	h.rec, _ = h.encode(h.rec[:0], cells, m)
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

// recRoom is the most bytes that the record of a row can have.
func recRoom(cells int) int { return recHeader + recExtra + cells*(4+runBytes) }

// encode appends the record of a row to rec and returns the bytes of its text.
func (h *history) encode(rec []byte, cells []Cell, m *rowMeta) ([]byte, int64) {
	n, start := len(cells), len(rec)
	rec = slices.Grow(rec, recRoom(n))
	flags, marks := byte(recASCII), byte(m.marks)
	if m.wraps {
		flags |= recWraps
	}
	rec = append(rec, 0, marks, byte(n), byte(n>>8), 0, 0)
	if m.marks&markEnd != 0 {
		flags |= recExit
		rec = binary.LittleEndian.AppendUint32(rec, uint32(m.exit))
	}
	at, text := len(rec), int64(n)
	all := packBytes(rec[at:at+n], cells)
	if all&(cellRuneMask|cellCluster|cellWidthMask) > 0x7F {
		flags &^= recASCII
		all, text = h.packCells(rec[at+4:at+4+4*n], cells)
		binary.LittleEndian.PutUint32(rec[at:at+4], uint32(text))
		n = 4 + 4*n
	}
	rec = rec[:at+n]
	if all&(cellStyleMask|runBits) != 0 {
		at = len(rec)
		rec = appendRuns(rec, cells)
		binary.LittleEndian.PutUint16(rec[start+4:], uint16((len(rec)-at)/runBytes))
	}
	rec[start] = flags
	return rec, text
}

// packBytes writes the low byte of each cell to dst, which is as long, and
// returns the bits that any cell has. It stops after the first cells that are
// not ASCII.
func packBytes(dst []byte, cells []Cell) (all Cell) {
	for len(cells) >= 8 && len(dst) >= 8 {
		c, d := (*[8]Cell)(cells), (*[8]byte)(dst)
		all |= c[0] | c[1] | c[2] | c[3] | (c[4] | c[5] | c[6] | c[7])
		d[0], d[1], d[2], d[3] = byte(c[0]), byte(c[1]), byte(c[2]), byte(c[3])
		d[4], d[5], d[6], d[7] = byte(c[4]), byte(c[5]), byte(c[6]), byte(c[7])
		if all&(cellRuneMask|cellCluster|cellWidthMask) > 0x7F {
			return all
		}
		cells, dst = cells[8:], dst[8:]
	}
	for i, c := range cells[:len(dst)] {
		all |= c
		dst[i] = byte(c)
	}
	return all
}

// packCells writes the low 32 bits of each cell to dst, which has room for them,
// and returns the bits that any cell has and the bytes of the text.
func (h *history) packCells(dst []byte, cells []Cell) (all Cell, text int64) {
	for _, c := range cells {
		all |= c
		binary.LittleEndian.PutUint32(dst[:4], uint32(c))
		dst = dst[4:]
		if c&cellCluster == 0 {
			text += runeLen(c)
		} else {
			text += h.textLen(c)
		}
	}
	return all, text
}

// appendRuns appends a run for each stretch of cells with the same style,
// protection and semantics.
func appendRuns(rec []byte, cells []Cell) []byte {
	const mask = cellStyleMask | runBits
	for len(cells) > 0 {
		key := cells[0] & mask
		n := 1
		for n+4 <= len(cells) {
			c := (*[4]Cell)(cells[n:])
			if ((c[0]^key)|(c[1]^key)|(c[2]^key)|(c[3]^key))&mask != 0 {
				break
			}
			n += 4
		}
		for n < len(cells) && cells[n]&mask == key {
			n++
		}
		rec = binary.LittleEndian.AppendUint64(rec, uint64(key)|uint64(n))
		cells = cells[n:]
	}
	return rec
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
	p.text += textBytes(rec)
	h.next++
}

func (h *history) newPage() *page {
	if n := len(h.spare); n > 0 {
		p := h.spare[n-1]
		h.spare = h.spare[:n-1]
		p.buf, p.offs, p.base, p.text = p.buf[:0], p.offs[:0], h.next, 0
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
	h.cutLines++
	h.first++
	if h.first == p.base+int64(len(p.offs)) {
		h.release()
	}
}

func (h *history) dropPage() {
	p := h.pages[0]
	end := p.base + int64(len(p.offs))
	h.cutLines += end - h.first
	h.first = end
	h.release()
}

// release takes the oldest page, all rows of which are cut, out of use.
func (h *history) release() {
	p := h.pages[0]
	h.cutBytes += p.text - h.partial
	h.partial, h.counted = 0, h.first
	n := copy(h.pages, h.pages[1:])
	h.pages[n] = nil
	h.pages = h.pages[:n]
	if len(h.spare) < keepPages {
		h.spare = append(h.spare, p)
	}
}

// settle counts the text of the rows that were cut from the oldest page.
func (h *history) settle() {
	for ; h.counted < h.first; h.counted++ {
		p := h.pages[0]
		n := textBytes(p.record(int(h.counted - p.base)))
		h.cutBytes += n
		h.partial += n
	}
}

// cut returns what the limits removed: rows, and bytes of text.
func (h *history) cut() (lines, bytes int64) {
	h.settle()
	return h.cutLines, h.cutBytes
}

// pop removes the newest row and appends its cells to dst.
func (h *history) pop(dst []Cell) ([]Cell, rowMeta) {
	h.settle()
	n := len(h.pages)
	p := h.pages[n-1]
	i := len(p.offs) - 1
	rec := p.record(i)
	m := parseHead(rec)
	dst = decode(rec, dst)
	p.text -= textBytes(rec)
	p.buf = p.buf[:p.offs[i]]
	p.offs = p.offs[:i]
	h.next--
	if i == 0 || h.next == h.first {
		h.pages[n-1] = nil
		h.pages = h.pages[:n-1]
		if h.next == h.first {
			h.pages = h.pages[:0]
			h.partial = 0
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
	h.first, h.counted = h.next, h.next
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
		at += 4
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
func textBytes(rec []byte) int64 {
	switch {
	case rec[0]&recASCII != 0:
		return int64(recCells(rec))
	case rec[0]&recExit != 0:
		rec = rec[4:]
	}
	return int64(binary.LittleEndian.Uint32(rec[recHeader:]))
}

// textLen returns the bytes of text in a cell; a blank inside a row is a space.
func (h *history) textLen(c Cell) int64 {
	if id, ok := c.ClusterID(); ok {
		return int64(h.clusters.at[id].len)
	}
	return runeLen(c)
}

// runeLen is textLen of a cell that holds no cluster. Of mixed scripts a processor
// cannot foretell the next, so that it does not branch.
func runeLen(c Cell) int64 {
	n := int64(utf8Len[bits.Len32(uint32(c&cellRuneMask))])
	return n - int64(c>>(cellWidthShift+1)&^(c>>cellWidthShift)&1) // a right half has none
}

// utf8Len is the length in UTF-8 of a code point of so many bits.
var utf8Len = [33]uint8{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4}

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
