package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// Options are how a transcript is followed. The zero value follows from its
// beginning, keeps no cursor and looks at no file but the transcript.
type Options struct {
	// Cursors is our own folder in which the place of each transcript is kept;
	// empty: none is kept.
	Cursors string

	// New passes over what a transcript that was never followed already has.
	New bool

	// Claims are what looking at claims needs.
	Claims claims.Deps

	// Counts, when set, is told what was read whenever that changed. It is
	// called by the goroutine of Follow.
	Counts func(Counts)

	// Pause is the time between two looks at the file; 0 means 250 ms.
	Pause time.Duration

	// Once ends following at the end of the file.
	Once bool

	now func() time.Time
}

const (
	usualPause = 250 * time.Millisecond

	// saveGap is the least time between two writings of a cursor.
	saveGap = time.Second

	// batch is how many records are read before others get their turn.
	batch = 256

	// quiet is how long a transcript says nothing before its open calls count
	// as unknown. A long command is told again when its end comes.
	quiet = 10 * time.Minute
)

// Follow tells the calls of a transcript to sink as they come, until ctx ends
// or the file cannot be read any more. What was told by an earlier run is not
// told again. A file that is removed is waited for.
//
// The error is nil when ctx ended, or, with Options.Once, when the end was
// reached. It matches ErrFollowed when another process follows the transcript.
func Follow(ctx context.Context, s Session, sink Sink, o Options) error {
	f, err := newFollower(ctx, s, sink, o)
	if err != nil {
		return err
	}
	defer f.close()
	t := time.NewTicker(max(o.pause(), time.Millisecond))
	defer t.Stop()
	for {
		more, err := f.poll()
		if err != nil {
			return err
		}
		if err := f.keep(false); err != nil {
			return err
		}
		if more {
			if ctx.Err() != nil {
				return f.stop()
			}
			continue
		}
		if o.Once {
			return f.stop()
		}
		select {
		case <-ctx.Done():
			return f.stop()
		case <-t.C:
		}
	}
}

func (o Options) pause() time.Duration {
	if o.Pause > 0 {
		return o.Pause
	}
	return usualPause
}

// A follower is one run of Follow. It belongs to its goroutine.
type follower struct {
	o       Options
	path    string
	cursors *cursors
	read    reader
	fold    fold

	file     *os.File // nil while there is none
	lines    lineReader
	dev, ino uint64
	size     int64     // when it was last looked at
	mtime    time.Time // the same
	more     bool      // not all of it was read then
	before   string    // the bytes before lines.at, when it was last kept
	beforeAt int64

	saved   time.Time
	changed bool // something was read since the cursor was kept
	counted bool // something was counted since it was told
}

func newFollower(ctx context.Context, s Session, sink Sink, o Options) (*follower, error) {
	if o.now == nil {
		o.now = time.Now
	}
	cs, at, err := openCursor(o.Cursors, s.Path)
	if err != nil {
		return nil, err
	}
	f := &follower{o: o, path: s.Path, cursors: cs, read: readerOf(s.Agent)}
	f.fold = fold{
		ctx: ctx, s: s, claims: o.Claims, owner: journal.OwnerOf(os.Getpid()), sink: sink, now: o.now,
		open: map[string]*openCall{},
	}
	if err := f.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		cs.close()
		return nil, fmt.Errorf("open transcript: %s", outcome.Errno(bare(err)))
	}
	f.resume(at)
	return f, nil
}

// open opens the file that has the name now, at its beginning.
func (f *follower) open() error {
	file, err := openRegular(f.path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file = file
	f.dev, f.ino = identity(info)
	f.lines = lineReader{f: file, max: MaxLine}
	f.before, f.beforeAt, f.size, f.mtime = "", 0, 0, time.Time{}
	return nil
}

// resume goes to where an earlier run stopped, when it is still the same file.
func (f *follower) resume(at cursor) {
	if at.Path == "" {
		if f.o.New && f.file != nil {
			f.skipAll()
		}
		return
	}
	f.fold.until, f.fold.last = at.Last, at.Last
	f.fold.s.ID, f.fold.s.Dir = first(at.ID, f.fold.s.ID), first(at.Dir, f.fold.s.Dir)
	if f.file == nil {
		return
	}
	tail, err := before(f.file, at.Offset)
	if err != nil || at.Dev != f.dev || at.Ino != f.ino || sumOf(tail) != at.Before {
		f.fold.counts.Restarts++
		return
	}
	f.lines.at, f.lines.tail = at.Offset, tail
	f.mark()
	f.fold.until = time.Time{}
	for _, p := range at.Open {
		f.reopen(p)
	}
}

// reopen reads the beginning of a call again that had no end yet.
func (f *follower) reopen(p place) {
	line := readAgain(f.file, p.Offset)
	if line == nil {
		return
	}
	f.fold.off = p.Offset
	_, _ = f.read.record(line, func(x fact) { // it was counted when it was first read
		if x.began != nil && x.began.id == p.ID {
			c := f.fold.enter(x.at, x.began)
			f.fold.open[p.ID].given = p.Given
			if r, ok := f.fold.sink.(Resumer); ok {
				r.Resumed(c.Begin())
			}
		}
	})
}

// skipAll goes to the end of the file, to the beginning of a line.
func (f *follower) skipAll() {
	info, err := f.file.Stat()
	if err != nil {
		return
	}
	f.lines.at = info.Size()
	b := make([]byte, 1)
	for f.lines.at > 0 {
		if _, err := f.file.ReadAt(b, f.lines.at-1); err != nil || b[0] == '\n' {
			break
		}
		f.lines.at--
	}
	if f.lines.tail, err = before(f.file, f.lines.at); err != nil {
		f.lines.at, f.lines.tail = 0, nil // it was cut just now: what it has then is new
	}
	f.fold.last = info.ModTime()
	f.fold.until = time.Time{}
	f.changed = true
}

// poll reads what is new, up to a bound. more says that there is more.
func (f *follower) poll() (more bool, err error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f.file == nil {
			return false, nil
		}
	case err != nil:
		return false, fmt.Errorf("look at transcript: %s", outcome.Errno(bare(err)))
	case f.file == nil:
		return f.reborn()
	}
	if more, err := f.drain(info); more || err != nil {
		return more, err
	}
	if info == nil || !f.same(info) { // it was removed or replaced, and all of it is read
		if err := f.keep(true); err != nil {
			return false, err
		}
		f.shut()
		f.tell()
		return info != nil, nil
	}
	f.silent(info)
	f.tell()
	return false, nil
}

// reborn opens a file that took the name.
func (f *follower) reborn() (bool, error) {
	err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open transcript: %s", outcome.Errno(bare(err)))
	}
	f.restart()
	return true, nil
}

// restart reads from the beginning, without what was told.
func (f *follower) restart() {
	f.lines = lineReader{f: f.file, max: MaxLine}
	f.before, f.beforeAt, f.size, f.mtime = "", 0, 0, time.Time{}
	f.fold.until = f.fold.last
	if f.fold.counts.Records > 0 || !f.fold.last.IsZero() {
		f.fold.counts.Restarts++
	}
	f.changed, f.counted = true, true
}

// drain reads records of the open file, up to a batch.
func (f *follower) drain(named os.FileInfo) (more bool, err error) {
	info := named
	if info == nil || !f.same(info) {
		if info, err = f.file.Stat(); err != nil {
			return false, fmt.Errorf("look at transcript: %s", outcome.Errno(bare(err)))
		}
	}
	size, mtime := info.Size(), info.ModTime()
	if size == f.size && mtime.Equal(f.mtime) && !f.more {
		return false, nil
	}
	if !f.asBefore(size) {
		f.restart()
	}
	f.size, f.mtime, f.more = size, mtime, false
	f.lines.end = max(size, 1) // what comes after it may be of a file that was written anew
	for range batch {
		line, off, tooLong, ok, err := f.lines.next()
		if err != nil {
			return false, fmt.Errorf("read transcript: %s", outcome.Errno(bare(err)))
		}
		if !ok {
			f.mark()
			return false, nil
		}
		f.line(line, off, tooLong)
	}
	f.mark()
	f.more = true
	return true, nil
}

func (f *follower) same(info os.FileInfo) bool {
	dev, ino := identity(info)
	return dev == f.dev && ino == f.ino
}

// asBefore reports whether the file that changed its size still has what was
// read: it is not shorter, and the bytes before the place are the same.
func (f *follower) asBefore(size int64) bool {
	if size < f.lines.at+int64(len(f.lines.buf)) {
		return false
	}
	if f.before == "" {
		return true
	}
	b, err := before(f.file, f.beforeAt)
	return err == nil && sumOf(b) == f.before
}

// mark remembers the bytes before the place: those that were read, not those
// that are there now.
func (f *follower) mark() {
	if f.beforeAt != f.lines.at || f.before == "" {
		f.before, f.beforeAt = sumOf(f.lines.tail), f.lines.at
	}
}

func (f *follower) line(line []byte, off int64, tooLong bool) {
	f.changed, f.counted = true, true
	c := &f.fold.counts
	switch {
	case tooLong:
		c.TooLong++
		return
	case len(line) == 0:
		return
	}
	c.Records++
	f.fold.off = off
	unknown, err := f.read.record(line, f.fold.fact)
	switch {
	case err != nil:
		c.Torn++
	case unknown != "":
		f.fold.strange(unknown)
	}
}

// silent gives open calls up when the transcript was not written to for long.
func (f *follower) silent(info os.FileInfo) {
	if len(f.fold.open) == 0 || f.o.now().Sub(info.ModTime()) < quiet {
		return
	}
	f.fold.giveUp("stale since "+info.ModTime().Local().Format("2006-01-02 15:04:05")+": its transcript was not written to since then", false)
}

// tell reports the counts when they changed.
func (f *follower) tell() {
	if !f.counted || f.o.Counts == nil {
		return
	}
	f.counted = false
	c := f.fold.counts
	c.Open = len(f.fold.open)
	c.Strange = maps.Clone(c.Strange)
	f.o.Counts(c)
}

// keep writes the cursor, not too often.
func (f *follower) keep(now bool) error {
	if !f.changed || !now && f.o.now().Sub(f.saved) < saveGap {
		return nil
	}
	if f.file == nil || f.beforeAt != f.lines.at || f.before == "" && f.lines.at > 0 {
		return nil // nothing that could be found again
	}
	f.changed, f.saved = false, f.o.now()
	return f.cursors.save(cursor{
		Path: f.path, Dev: f.dev, Ino: f.ino, Offset: f.lines.at, Before: f.before,
		Last: f.fold.last, ID: f.fold.s.ID, Dir: f.fold.s.Dir, Open: places(f.fold.open),
	})
}

// stop ends following: what is open now will not be told by this process.
func (f *follower) stop() error {
	if f.file != nil {
		f.mark()
	}
	f.changed = f.changed || len(f.fold.open) > 0
	f.fold.giveUp("its transcript was not followed any further", false)
	f.tell()
	return f.keep(true)
}

func (f *follower) shut() {
	if f.file != nil {
		_ = f.file.Close() // only read
		f.file = nil
	}
}

func (f *follower) close() {
	f.shut()
	f.cursors.close()
}
