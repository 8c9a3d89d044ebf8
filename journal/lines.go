package journal

import (
	"bytes"
	"errors"
	"io"
)

const (
	// A file is read in chunks that grow from the least to the most: often
	// only the last line is wanted.
	leastChunk, chunk = 4 << 10, 256 << 10

	// maxLine bounds what is kept of one line. The longest that is written has
	// two inline parts and the short fields; a longer one is not ours.
	maxLine = 4 << 20
)

// A line is one line of a file, without its end.
type line struct {
	off   int64
	text  []byte // valid until the next line is asked for; nil when longer than maxLine
	whole bool   // a line feed ends it
}

var errShort = errors.New("the file became shorter while it was read")

// A backLines reads the lines of the first bytes of a file, the last one first.
type backLines struct {
	r     io.ReaderAt
	buf   []byte // the bytes from at up to end; less of a line that is too long to keep
	at    int64
	end   int64
	step  int64
	whole bool // a line feed stands at end
}

func newBackLines(r io.ReaderAt, size int64) *backLines {
	return &backLines{r: r, at: size, end: size, step: leastChunk}
}

// next returns the line before the last one. ok is false when there is none.
func (b *backLines) next() (l line, ok bool, err error) {
	for b.end > 0 || b.whole {
		nl := bytes.LastIndexByte(b.buf, '\n')
		if nl < 0 && b.at > 0 {
			if err := b.fill(); err != nil {
				return line{}, false, err
			}
			continue
		}
		l := line{off: b.at + int64(nl) + 1, whole: b.whole}
		if n := b.end - l.off; n <= maxLine && nl+1+int(n) == len(b.buf) {
			l.text = b.buf[nl+1:]
		}
		part := l.off < b.end
		if nl < 0 {
			b.end, b.whole, b.buf = 0, false, nil
		} else {
			b.end, b.whole, b.buf = b.at+int64(nl), true, b.buf[:nl]
		}
		if l.whole || part {
			return l, true, nil
		}
	}
	return line{}, false, nil
}

// fill reads the chunk before what is there.
func (b *backLines) fill() error {
	n := min(b.step, b.at)
	b.step = min(2*b.step, chunk)
	part := make([]byte, n, int(n)+len(b.buf))
	if got, err := b.r.ReadAt(part, b.at-n); int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = errShort
		}
		return err
	}
	b.at -= n
	if len(b.buf) > maxLine {
		b.buf = part // the end of a line that is not kept
	} else {
		b.buf = append(part, b.buf...)
	}
	return nil
}

// A lineReader reads the lines of a file from an offset on.
type lineReader struct {
	r    io.ReaderAt
	off  int64 // of the first byte of buf
	buf  []byte
	skip bool // inside of a line that is longer than maxLine
	from int64
}

// next returns the next line that a line feed ends. ok is false when there is
// none yet: then the offset of what follows is off.
func (l *lineReader) next() (ln line, ok bool, err error) {
	searched := 0
	for {
		if nl := bytes.IndexByte(l.buf[searched:], '\n'); nl >= 0 {
			n := searched + nl
			ln = line{off: l.off, text: l.buf[:n:n], whole: true}
			if l.skip {
				ln.off, ln.text, l.skip = l.from, nil, false
			}
			l.buf = l.buf[n+1:]
			l.off += int64(n) + 1
			return ln, true, nil
		}
		searched = len(l.buf)
		if searched > maxLine {
			if !l.skip {
				l.skip, l.from = true, l.off
			}
			l.off += int64(searched)
			l.buf, searched = nil, 0
		}
		part := make([]byte, searched+chunk)
		copy(part, l.buf)
		n, err := l.r.ReadAt(part[searched:], l.off+int64(searched))
		l.buf = part[:searched+n]
		if n == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return line{}, false, err
		}
	}
}

// rest reports whether a part of a line follows the last whole one.
func (l *lineReader) rest() bool { return len(l.buf) > 0 || l.skip }
