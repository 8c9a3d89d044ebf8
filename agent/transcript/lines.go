package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// MaxLine bounds one record, in bytes. A longer one is counted and passed over.
const MaxLine = 8 << 20

// chunk is how much is read at once.
const chunk = 64 << 10

// A lineReader reads whole lines of a file that grows. The end of a line that
// is not there yet is waited for by reading again later.
type lineReader struct {
	f    *os.File
	at   int64 // offset of the first byte that no line was made of yet
	buf  []byte
	tail []byte // the last bytes before at, as they were when they were read: up to beforeSize
	end  int64  // nothing from this offset on is read yet; 0: all that is there
	skip bool   // inside a line that is too long
	max  int    // MaxLine, less in tests
	room []byte
}

// next returns the next whole line and its offset, without its end. The line
// is good until the next call. tooLong says that a line was passed over; ok is
// false when no whole line is there.
func (l *lineReader) next() (line []byte, off int64, tooLong, ok bool, err error) {
	scanned := 0
	for {
		if i := bytes.IndexByte(l.buf[scanned:], '\n'); i >= 0 {
			i += scanned
			line, off = l.buf[:i], l.at
			l.pass(l.buf[:i+1])
			l.buf = l.buf[i+1:]
			if l.skip || len(line) > l.max {
				l.skip = false
				return nil, off, true, true, nil
			}
			return bytes.TrimSuffix(line, []byte{'\r'}), off, false, true, nil
		}
		scanned = len(l.buf)
		if l.skip || len(l.buf) > l.max {
			l.skip = true
			l.pass(l.buf)
			l.buf, scanned = l.buf[:0], 0
		}
		n, err := l.fill()
		if err != nil || n == 0 {
			return nil, 0, false, false, err
		}
	}
}

// pass moves the place behind bytes that were read.
func (l *lineReader) pass(b []byte) {
	l.at += int64(len(b))
	b = b[max(len(b)-beforeSize, 0):]
	if over := len(l.tail) + len(b) - beforeSize; over > 0 {
		l.tail = l.tail[:copy(l.tail, l.tail[over:])]
	}
	l.tail = append(l.tail, b...)
}

// fill reads some more.
func (l *lineReader) fill() (int, error) {
	if l.room == nil {
		l.room = make([]byte, chunk)
	}
	room, from := l.room, l.at+int64(len(l.buf))
	if l.end > 0 {
		room = room[:min(max(l.end-from, 0), int64(len(room)))]
	}
	n, err := l.f.ReadAt(room, from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if n > 0 {
		if len(l.buf) == 0 && cap(l.buf) > 4*chunk {
			l.buf = nil // one long line must not cost memory for good
		}
		l.buf = append(l.buf, room[:n]...)
	}
	return n, err
}
