package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// A Tail reads a journal backward from where it was opened, so that a list of
// the newest calls need not wait for the oldest. It is for one goroutine at a
// time.
type Tail struct {
	dir    string
	dec    *decoder
	firsts []int64 // of the renamed files that are still to be read, oldest first
	seg    *segment
	lines  *backLines

	newer Event // the event after the next one; its Seq is 0 before the first
	bad   int   // lines since then that could not be read
	done  bool
}

// OpenTail opens a journal at its end: the tail gives what was written before,
// the follower what comes after, and together they leave nothing out.
func OpenTail(dir string) (*Tail, *Follower, error) {
	firsts, cur, err := snapshot(dir)
	if err != nil {
		return nil, nil, err
	}
	t := &Tail{dir: dir, dec: newDecoder(false), firsts: firsts}
	f := &Follower{dir: dir, dec: newDecoder(true)}
	if cur == nil {
		return t, f, t.lastNumber(f)
	}
	var st unix.Stat_t
	if err := unix.Fstat(cur.fd, &st); err != nil {
		cur.close()
		return nil, nil, fmt.Errorf("look at journal: %w", err)
	}
	// A part of a line at the end is left to the follower.
	end := int64(0)
	if l, ok, err := newBackLines(pread(cur.fd), st.Size).next(); err != nil {
		cur.close()
		return nil, nil, fmt.Errorf("read journal: %w", err)
	} else if ok {
		if end = st.Size; !l.whole {
			end = l.off
		}
	}
	fd, err := unix.FcntlInt(uintptr(cur.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		cur.close()
		return nil, nil, fmt.Errorf("open journal a second time: %w", err)
	}
	t.seg, t.lines = cur, newBackLines(pread(cur.fd), end)
	f.seg = &segment{fd: fd, id: cur.id, first: cur.first}
	f.lines = &lineReader{r: pread(fd), off: end}
	f.size = end
	if e, err := edges(fd, end); err != nil || e.last > 0 {
		f.seq.last = e.last
		return t, f, t.failed(f, err)
	}
	return t, f, t.lastNumber(f)
}

// lastNumber gives the follower the last number of the renamed files.
func (t *Tail) lastNumber(f *Follower) error {
	w := writer{dir: t.dir, fd: -1, lock: lock{fd: -1}}
	last, err := w.lastOld()
	f.seq.last = last
	return t.failed(f, err)
}

func (t *Tail) failed(f *Follower, err error) error {
	if err != nil {
		t.Close()
		f.Close()
		return fmt.Errorf("read journal: %w", err)
	}
	return nil
}

// Chunk returns the events before those of the last call, newest first, from
// about so many bytes of the journal, and whether there are more. They are for
// lists: without arguments and results. Where events are missing there is a
// Gap.
func (t *Tail) Chunk(budget int) (out []Event, more bool, err error) {
	for read := 0; read < budget && !t.done; {
		if t.lines == nil {
			if err := t.older(); err != nil {
				return out, true, err
			}
			continue
		}
		l, ok, err := t.lines.next()
		if err != nil {
			return out, true, fmt.Errorf("read journal: %w", err)
		}
		if !ok {
			t.seg.close()
			t.seg, t.lines = nil, nil
			continue
		}
		read += len(l.text) + 1
		e, err := t.dec.decode(l.text)
		if err != nil {
			t.bad++
			continue
		}
		e.place = place{t.seg.first, l.off, int32(len(l.text))}
		if gap, ok := t.between(&e); ok {
			out = append(out, gap)
		}
		out = append(out, e)
		t.newer, t.bad = e, 0
	}
	if t.done {
		if gap, ok := t.between(&Event{}); ok {
			out = append(out, gap)
		}
		t.newer, t.bad = Event{}, 0
	}
	return out, !t.done, nil
}

// between returns the gap between e and the event that was read before it.
func (t *Tail) between(e *Event) (Event, bool) {
	if t.newer.Seq == 0 {
		return Event{}, false
	}
	bad := t.bad
	if t.newer.Gap != nil && t.newer.Gap.Torn && bad > 0 {
		bad--
	}
	return missing(e.Seq, t.newer.Seq, bad)
}

// older opens the file before, or ends the tail.
func (t *Tail) older() error {
	if len(t.firsts) == 0 {
		t.done = true
		return nil
	}
	first := t.firsts[len(t.firsts)-1]
	seg, err := openSegment(t.dir, oldName(first), first)
	if errors.Is(err, fs.ErrNotExist) { // removed for its age since: the gap says so
		t.firsts = t.firsts[:len(t.firsts)-1]
		return nil
	}
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(seg.fd, &st); err != nil {
		seg.close()
		return fmt.Errorf("look at old journal: %w", err)
	}
	t.firsts = t.firsts[:len(t.firsts)-1]
	t.seg, t.lines = seg, newBackLines(pread(seg.fd), st.Size)
	return nil
}

// Close closes the file.
func (t *Tail) Close() {
	if t.seg != nil {
		t.seg.close()
		t.seg, t.lines = nil, nil
	}
	t.done = true
}
