package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A writer appends lines to the current file of a folder. It belongs to the
// holder of the journal's turn. What it knows of the file is true only under
// the folder's lock; size and identity tell whether somebody else wrote since.
type writer struct {
	dir  string
	o    Options
	lock lock

	fd    int // of the current file; -1 when none is open
	id    unix.Stat_t
	size  int64
	first int64  // number of the first event in the file; 0 when it has none
	last  int64  // highest number that is known to be used
	torn  bool   // the file ends in a part of a line
	ajar  bool   // the file ends in a whole event without the end of its line
	gap   string // why numbers before the next event are missing or start again; empty: they do not
	swept bool   // old files were looked at since Open
}

func (w *writer) path(name string) string { return filepath.Join(w.dir, name) }

func (w *writer) close() {
	if w.fd >= 0 {
		_ = unix.Close(w.fd) // every write was checked by itself
		w.fd = -1
	}
	w.lock.close()
}

// append writes the gap that the journal owes, if any, and the line, if any,
// in one write. On an error neither is in the file.
func (w *writer) append(line []byte, owed *Gap, until time.Time) error {
	if err := w.acquire(until); err != nil {
		return err
	}
	defer w.lock.release()
	if err := w.refresh(); err != nil {
		return err
	}
	batch, seq := w.batch(line, owed)
	if w.size > 0 && w.size+int64(len(batch)) > w.o.MaxFile && !w.torn && !w.ajar {
		w.rotate()
		if err := w.refresh(); err != nil {
			return err
		}
		batch, seq = w.batch(line, owed)
	}
	if !w.swept {
		w.sweep()
	}
	return w.put(batch, seq)
}

// acquire takes the folder's lock before until. Waiting is by trying again:
// flock has no limit of its own.
func (w *writer) acquire(until time.Time) error {
	const shortest, longest = 20 * time.Microsecond, 2 * time.Millisecond
	pause := shortest
	for {
		err := w.lock.try(w.path(lockName))
		if errors.Is(err, fs.ErrNotExist) {
			if err = makeFolder(w.dir); err == nil {
				continue
			}
		}
		if !errors.Is(err, errHeld) {
			return err
		}
		if time.Now().After(until) {
			return err
		}
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

// batch is what is to be written, and the last number in it.
func (w *writer) batch(line []byte, owed *Gap) (out []byte, seq int64) {
	seq = w.last
	add := func(l []byte) {
		seq++
		out = numbered(out, l, seq)
	}
	if w.torn || w.ajar {
		out = append(out, '\n')
	}
	if w.torn {
		add(gapLine(Gap{Events: 1, Why: "the last event was torn: its writer ended while it wrote", Torn: true}))
	}
	if w.gap != "" {
		add(gapLine(Gap{Events: -1, Why: w.gap}))
	}
	if owed != nil {
		add(gapLine(*owed))
	}
	if line != nil {
		add(line)
	}
	return out, seq
}

// put writes the batch. A part of it is taken back.
func (w *writer) put(batch []byte, seq int64) error {
	n, err := w.write(batch)
	if n == len(batch) {
		if w.first == 0 {
			w.first = w.last + 1
		}
		w.size += int64(n)
		w.last, w.torn, w.ajar, w.gap = seq, false, false, ""
		return nil
	}
	if err == nil {
		err = fmt.Errorf("write event: %w", unix.ENOSPC) // a file takes less only when it is full
	}
	if n > 0 {
		if terr := w.truncate(w.size); terr != nil {
			w.size = -1 // look again: the part that is there now is told as torn
			return errors.Join(err, fmt.Errorf("take back a part of an event: %w", terr))
		}
	}
	return err
}

// write writes once. It goes on only after an interrupt that wrote nothing.
func (w *writer) write(p []byte) (int, error) {
	for {
		var n int
		var err error
		if w.o.fault.write != nil {
			n, err = w.o.fault.write(w.fd, p)
		} else {
			n, err = unix.Write(w.fd, p)
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return max(n, 0), fmt.Errorf("write event: %w", err)
		}
		return n, nil
	}
}

func (w *writer) truncate(size int64) error {
	if w.o.fault.truncate != nil {
		return w.o.fault.truncate(w.fd, size)
	}
	return unix.Ftruncate(w.fd, size)
}

// refresh makes what the writer knows true again: after it the current file is
// open, and last is the highest number in the folder.
func (w *writer) refresh() error {
	path := w.path(currentName)
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	switch {
	case errors.Is(err, unix.ENOENT):
		if err := makeFolder(w.dir); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("look at journal: %w", err)
	case w.fd >= 0 && sameFile(&st, &w.id) && st.Size == w.size:
		return nil
	}
	if w.fd < 0 || err != nil || !sameFile(&st, &w.id) {
		if err := w.reopen(path); err != nil {
			return err
		}
	} else if w.size > st.Size {
		w.gap = "the journal was cut by somebody else"
	}
	return w.look()
}

func (w *writer) reopen(path string) error {
	if w.fd >= 0 {
		_ = unix.Close(w.fd) // every write was checked by itself
		w.fd = -1
	}
	if w.o.fault.open != nil {
		if err := w.o.fault.open(path); err != nil {
			return fmt.Errorf("open journal: %w", err)
		}
	}
	fd, st, err := openOurs(path, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	w.fd, w.id, w.size = fd, st, -1
	return nil
}

// look reads the beginning and the end of the current file.
func (w *writer) look() error {
	var st unix.Stat_t
	if err := unix.Fstat(w.fd, &st); err != nil {
		return fmt.Errorf("look at journal: %w", err)
	}
	e, err := edges(w.fd, st.Size)
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	last := e.last
	if last == 0 { // a new file: the numbers go on from the one before
		if last, err = w.lastOld(); err != nil {
			return err
		}
	}
	if last < w.last && w.gap == "" {
		w.gap = "the journal was removed or replaced by somebody else"
	}
	w.size, w.first, w.torn, w.ajar = st.Size, e.first, e.torn, e.ajar
	w.last = max(w.last, last)
	return nil
}

// lastOld is the last number in the renamed files; 0 when there are none.
func (w *writer) lastOld() (int64, error) {
	firsts, err := olds(w.dir)
	if err != nil {
		return 0, err
	}
	for i := len(firsts) - 1; i >= 0; i-- {
		fd, st, err := openOurs(w.path(oldName(firsts[i])), unix.O_RDONLY)
		if err != nil {
			return 0, fmt.Errorf("open old journal: %w", err)
		}
		e, err := edges(fd, st.Size)
		_ = unix.Close(fd) // only read
		if err != nil {
			return 0, fmt.Errorf("read old journal: %w", err)
		}
		if e.last > 0 {
			return e.last, nil
		}
	}
	return 0, nil
}

// An edge is what the ends of a file say about it.
type edge struct {
	first, last int64 // numbers of the first and the last whole event; 0 when there is none
	torn        bool  // the file ends in a part of an event
	ajar        bool  // it ends in a whole event whose line has no end
}

// edges reads the ends of the first bytes of a file.
func edges(fd int, size int64) (e edge, err error) {
	lines := newBackLines(pread(fd), size)
	for e.last == 0 {
		line, ok, err := lines.next()
		if err != nil {
			return edge{}, err
		}
		if !ok {
			return e, nil
		}
		e.last = wholeSeq(line.text)
		if !line.whole {
			e.ajar = e.last > 0
			e.torn = !e.ajar
		}
	}
	head := make([]byte, 64)
	n, err := pread(fd).ReadAt(head, 0)
	if n == 0 {
		return edge{}, err
	}
	if e.first = seqOf(head[:n]); e.first == 0 {
		e.first = e.last
	}
	return e, nil
}

// wholeSeq is the number of an event whose line is whole; 0 when it is not.
func wholeSeq(line []byte) int64 {
	if !json.Valid(line) {
		return 0
	}
	return seqOf(line)
}

// maxSeq is the highest number that a writer goes on from. Every number up to
// it is exact in every JSON reader; a higher one is not ours.
const maxSeq = 1 << 53

// seqOf is the number that a line begins with; 0 when it does not.
func seqOf(line []byte) int64 {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return 0
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 || n == len(rest) || rest[n] != ',' {
		return 0
	}
	seq, err := strconv.ParseInt(string(rest[:n]), 10, 64)
	if err != nil || seq > maxSeq {
		return 0
	}
	return seq
}

// A pread reads a descriptor by offset.
type pread int

func (fd pread) ReadAt(p []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(int(fd), p, off)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return max(n, 0), err
	}
}

// rotate renames the current file after its first event, so that the next
// event begins a new one. When that does not work the file goes on to grow,
// and renaming is tried again at the next event.
func (w *writer) rotate() {
	if w.first == 0 {
		return
	}
	to := w.path(oldName(w.first))
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	rename := os.Rename
	if w.o.fault.rename != nil {
		rename = w.o.fault.rename
	}
	if rename(w.path(currentName), to) == nil {
		w.swept = false
	}
}
