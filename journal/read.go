package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A segment is one open file of a journal.
type segment struct {
	fd    int
	id    unix.Stat_t
	first int64 // number of its first event; 0 when that cannot be told
}

func (s *segment) close() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd) // only read
		s.fd = -1
	}
}

// openSegment opens a file of the folder for reading. A name of a renamed file
// says its first number.
func openSegment(dir, name string, first int64) (*segment, error) {
	fd, st, err := openOurs(filepath.Join(dir, name), unix.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	s := &segment{fd: fd, id: st, first: first}
	if first == 0 {
		s.number()
	}
	return s, nil
}

// number reads the number of the first event, once there is one.
func (s *segment) number() {
	head := make([]byte, 64)
	n, _ := pread(s.fd).ReadAt(head, 0) // an unreadable file fails where its lines are read
	s.first = seqOf(head[:n])
}

// snapshot opens the current file and lists the renamed ones as they were at
// one moment. cur is nil when there is no current file.
func snapshot(dir string) (firsts []int64, cur *segment, err error) {
	const tries = 16 // a file is renamed after many megabytes: two tries are enough
	for range tries {
		if firsts, err = olds(dir); err != nil {
			return nil, nil, err
		}
		cur, err = openSegment(dir, currentName, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		again, err := olds(dir)
		if err == nil && slices.Equal(firsts, again) {
			return firsts, cur, nil
		}
		if cur != nil {
			cur.close()
		}
	}
	return nil, nil, errors.New("read journal: its files are renamed faster than they can be listed")
}

// Read yields all events in a folder in their order, whole: with arguments and
// results as they are in the events (see Resolve). Where numbers are missing
// it yields a Gap that no writer wrote, with Writer 0. The first error ends
// it. A folder without a journal has no events.
func Read(dir string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		firsts, cur, err := snapshot(dir)
		if err != nil {
			yield(Event{}, err)
			return
		}
		r := reading{dec: newDecoder(true), yield: yield}
		if cur != nil {
			defer cur.close()
		}
		for _, first := range firsts {
			seg, err := openSegment(dir, oldName(first), first)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed for its age since: the gap says so
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			r.read(seg)
			seg.close()
			if r.stopped {
				return
			}
		}
		if cur != nil {
			r.last(dir, cur)
		}
	}
}

// A reading is one run of Read.
type reading struct {
	dec     *decoder
	seq     sequence
	yield   func(Event, error) bool
	stopped bool
}

// read yields the events of one file and returns the reader at its end.
func (r *reading) read(s *segment) *lineReader {
	lines := &lineReader{r: pread(s.fd)}
	for !r.stopped {
		l, ok, err := lines.next()
		if err != nil {
			r.stopped = true
			r.yield(Event{}, fmt.Errorf("read journal: %w", err))
			return lines
		}
		if !ok {
			break
		}
		r.line(s.first, l)
	}
	if lines.rest() {
		r.seq.bad++
	}
	return lines
}

func (r *reading) line(file int64, l line) {
	e, err := r.dec.decode(l.text)
	if err != nil {
		r.seq.bad++
		return
	}
	e.place = place{file, l.off, int32(len(l.text))}
	if gap, ok := r.seq.before(&e); ok && !r.yield(gap, nil) {
		r.stopped = true
		return
	}
	r.stopped = !r.yield(e, nil)
}

// last reads the current file. A part of a line at its end may be one that is
// being written, so the end is read again under the lock.
func (r *reading) last(dir string, s *segment) {
	lines := r.read(s)
	if r.stopped {
		return
	}
	torn := lines.rest()
	if torn {
		r.seq.bad--
		var more []line
		more, torn = settled(dir, lines)
		if torn && wholeSeq(lines.buf) > 0 { // only the end of its line is missing
			more, torn = append(more, line{off: lines.off, text: lines.buf}), false
		}
		for _, l := range more {
			if r.line(s.first, l); r.stopped {
				return
			}
		}
	}
	if r.seq.bad > 0 {
		if r.stopped = !r.yield(gapAt(0, -1, whyNoise), nil); r.stopped {
			return
		}
	}
	if torn {
		e := gapAt(r.seq.last+1, 1, whyTorn)
		e.Gap.Torn = true
		r.yield(e, nil)
	}
}

// settled returns the lines that follow once nobody writes, and whether a part
// of one is left. Where the lock cannot be had, what is seen counts.
func settled(dir string, lines *lineReader) (more []line, torn bool) {
	const limit = 250 * time.Millisecond
	w := writer{dir: dir, fd: -1, lock: lock{fd: -1}}
	defer w.close()
	if _, err := os.Lstat(w.path(lockName)); err == nil && w.acquire(time.Now().Add(limit)) == nil {
		defer w.lock.release()
	}
	for {
		l, ok, err := lines.next()
		if err != nil || !ok {
			return more, lines.rest()
		}
		l.text = slices.Clone(l.text)
		more = append(more, l)
	}
}
