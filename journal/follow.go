package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// A Follower gives the events that come after where it began. It is for one
// goroutine at a time.
type Follower struct {
	dir   string
	dec   *decoder
	seg   *segment // the file it is in; nil when there was none yet
	lines *lineReader
	seq   sequence
	size  int64 // of the file when it was last read to its end
	more  bool  // the last Poll stopped at its limit
}

// Follow begins behind the last event in the folder, which need not exist yet.
func Follow(dir string) (*Follower, error) {
	t, f, err := OpenTail(dir)
	if err != nil {
		return nil, err
	}
	t.Close()
	return f, nil
}

// pollEvents bounds what one Poll returns, so that a window stays quick when
// it falls behind.
const (
	pollEvents = 2000
	pollBytes  = 8 << 20
)

// Poll returns the events that are new, in order, whole. It costs one stat
// when there are none. Where events are missing there is a Gap. More events
// than one Poll returns come with the next.
func (f *Follower) Poll() ([]Event, error) {
	var st unix.Stat_t
	err := unix.Lstat(filepath.Join(f.dir, currentName), &st)
	switch {
	case errors.Is(err, unix.ENOENT):
		// Between two files, or removed. What is open is read to its end.
		return f.drain(nil)
	case err != nil:
		return nil, fmt.Errorf("look at journal: %w", err)
	case f.seg != nil && sameFile(&st, &f.seg.id) && st.Size == f.size && !f.more:
		return nil, nil
	}
	var out []Event
	if f.seg != nil && sameFile(&st, &f.seg.id) && st.Size < f.lines.off {
		f.lines = &lineReader{r: pread(f.seg.fd)}
		f.seq = sequence{}
		out = append(out, gapAt(0, -1, whyCut))
	}
	for {
		if out, err = f.drain(out); err != nil || f.more {
			return out, err
		}
		if f.seg != nil && sameFile(&st, &f.seg.id) {
			f.size = st.Size
			return out, nil
		}
		moved, err := f.advance()
		if err != nil || !moved {
			return out, err
		}
	}
}

// drain reads the open file to its end or to the limit.
func (f *Follower) drain(out []Event) ([]Event, error) {
	f.more = false
	if f.seg == nil {
		return out, nil
	}
	if f.seg.first == 0 {
		f.seg.number()
	}
	for from := f.lines.off; len(out) < pollEvents && f.lines.off-from < pollBytes; {
		l, ok, err := f.lines.next()
		if err != nil {
			return out, fmt.Errorf("read journal: %w", err)
		}
		if !ok {
			return out, nil
		}
		e, err := f.dec.decode(l.text)
		if err != nil {
			f.seq.bad++
			continue
		}
		e.place = place{f.seg.first, l.off, int32(len(l.text))}
		if gap, ok := f.seq.before(&e); ok {
			out = append(out, gap)
		}
		out = append(out, e)
	}
	f.more = true
	return out, nil
}

// advance goes on to the file after the open one. It reports whether there is
// one.
func (f *Follower) advance() (bool, error) {
	firsts, cur, err := snapshot(f.dir)
	if err != nil {
		return false, err
	}
	next := cur
	if i := slices.IndexFunc(firsts, func(n int64) bool { return n > f.seq.last }); i >= 0 {
		old, err := openSegment(f.dir, oldName(firsts[i]), firsts[i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if cur != nil {
				cur.close()
			}
			return false, err
		}
		if err == nil {
			if cur != nil {
				cur.close()
			}
			next = old
		}
	}
	if next == nil {
		return false, nil
	}
	if f.seg != nil && sameFile(&next.id, &f.seg.id) {
		next.close() // the files changed once more: the next Poll sees it
		return false, nil
	}
	if f.seg != nil {
		if f.lines.rest() {
			f.seq.bad++ // the file ended in a part of a line
		}
		f.seg.close()
	}
	f.seg, f.lines = next, &lineReader{r: pread(next.fd)}
	return true, nil
}

// Close closes the file.
func (f *Follower) Close() {
	if f.seg != nil {
		f.seg.close()
		f.seg = nil
	}
}
