package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// DefaultLogLimit is how many bytes of a job's output are kept when nobody
	// names a number: hours of a chatty server, and 64 such jobs fit a disk.
	DefaultLogLimit = 64 << 20

	// minLogLimit is below what a terminal program writes in one screen; less
	// would drop output faster than anybody could read it.
	minLogLimit = 16 << 10

	// segments is how many files a full log lies in. The oldest is dropped
	// whole, so a full log keeps between 7/8 and all of its limit.
	segments = 8

	// maxSegments bounds the files of a log whose disk is full again and again.
	maxSegments = 4 * segments

	// tailSize is how many of the last bytes are in memory too: what polls and
	// followers ask for costs no descriptor.
	tailSize = 64 << 10

	// markStep is how far apart the places are at which the number of lines
	// before them is known. It bounds what is read to find a line.
	markStep = 64 << 10

	// retryAfter is how long a log that could not be written is left alone.
	retryAfter = time.Second

	logSuffix = ".log"
)

// A segment is one file of a log. It holds the bytes start to start+size-1.
type segment struct {
	start, size int64
}

func (s segment) end() int64 { return s.start + s.size }

// A mark is a place in the output at which the number of lines is known.
type mark struct {
	at     int64
	lines  int64 // newlines before at
	within bool  // the byte before at is no newline: a line begins earlier
}

// A store keeps the output of one job: in files that are named by the offset
// of their first byte, and the last of it in memory.
//
// add is called by the one reader of the job; everything else by anybody.
type store struct {
	dir, id string
	limit   int64
	write   func(f *os.File, p []byte) (int, error) // (*os.File).Write; tests make it fail

	file    *os.File  // the newest segment; nil when there is none to write to. The reader's own
	retryAt time.Time // when a failed log is tried again. The reader's own

	found    bool // another host wrote it; nothing is added
	counting sync.Once
	countErr error // read after counting

	mu      sync.Mutex
	known   int64     // lines of a log that was found; -1: not counted yet
	segs    []segment // oldest first; between two of them bytes may be missing
	total   int64     // bytes read since the start
	unkept  int64     // bytes that were never written to a file
	failure error     // why; the first reason
	newline int64     // newlines read since the start
	within  bool      // the last byte read is no newline
	marks   []mark    // ascending; the first is at or before the first kept byte
	tail    []byte    // the last bytes read, at least tailSize of them once there are so many
}

// newStore makes the first file of a job's log. An id that has one already is
// an error: the file is made exclusively.
func newStore(dir, id string, limit int64) (*store, error) {
	if limit <= 0 {
		limit = DefaultLogLimit
	}
	s := &store{dir: dir, id: id, limit: max(limit, minLogLimit), write: (*os.File).Write}
	if err := s.open(0); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *store) path(start int64) string {
	name := s.id
	if start > 0 {
		name += "." + strconv.FormatInt(start, 10)
	}
	return filepath.Join(s.dir, name+logSuffix)
}

// open begins a segment at the offset start.
func (s *store) open(start int64) error {
	f, err := os.OpenFile(s.path(start), os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	s.file = f
	s.mu.Lock()
	s.segs = append(s.segs, segment{start: start})
	s.addMark()
	drop := s.tooMany()
	s.mu.Unlock()
	var errs []error
	for _, d := range drop {
		errs = append(errs, os.Remove(s.path(d.start)))
	}
	if err := errors.Join(errs...); err != nil {
		s.note(fmt.Errorf("remove the head of the log: %w", err))
	}
	return nil
}

// addMark notes the number of lines at the end of what was read. mu is held.
func (s *store) addMark() {
	s.marks = append(s.marks, mark{s.total, s.newline, s.within})
}

// tooMany takes away the oldest segments as long as one more full segment
// would not fit. mu is held.
func (s *store) tooMany() []segment {
	kept := s.segmentSize()
	for _, g := range s.segs {
		kept += g.size
	}
	var drop []segment
	for len(s.segs) > 1 && (kept > s.limit || len(s.segs) > maxSegments) {
		kept -= s.segs[0].size
		drop = append(drop, s.segs[0])
		s.segs = s.segs[1:]
	}
	for len(s.marks) > 1 && s.marks[1].at <= s.segs[0].start { // a mark is at every start
		s.marks = s.marks[1:]
	}
	return drop
}

func (s *store) segmentSize() int64 { return s.limit / segments }

// note records why bytes are missing. The first reason stays.
func (s *store) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}

// add takes the next bytes. It never fails the job: bytes that no file takes
// are counted, and a little later a new file is tried.
func (s *store) add(p []byte, now time.Time) {
	for len(p) > 0 {
		n, wrote := s.piece(p, now)
		s.account(p[:n], wrote)
		p = p[n:]
	}
}

// piece writes the beginning of p and says how much of p is done with, and how
// much of that is in a file.
func (s *store) piece(p []byte, now time.Time) (n, wrote int) {
	if s.file == nil && now.Before(s.retryAt) {
		return len(p), 0
	}
	used := s.newest().size
	if s.file == nil || used >= s.segmentSize() {
		s.closeFile()
		s.mu.Lock()
		at := s.total
		s.mu.Unlock()
		if err := s.open(at); err != nil {
			s.failed(fmt.Errorf("open the log: %w", err), now)
			return len(p), 0
		}
		used = 0
	}
	n = int(min(int64(len(p)), s.segmentSize()-used, markStep))
	wrote, err := s.write(s.file, p[:n])
	if err != nil {
		s.closeFile()
		if used == 0 && wrote == 0 {
			s.dropEmpty()
		}
		s.failed(fmt.Errorf("write the log: %w", err), now)
		return n, wrote
	}
	return n, wrote
}

// dropEmpty removes the newest file, to which nothing could be written: a disk
// that stays full must not collect them.
func (s *store) dropEmpty() {
	s.mu.Lock()
	last := len(s.segs) - 1
	g := s.segs[last]
	s.segs = s.segs[:last]
	s.mu.Unlock()
	if err := os.Remove(s.path(g.start)); err != nil {
		s.note(fmt.Errorf("remove an empty log: %w", err))
	}
}

func (s *store) newest() segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.segs) == 0 {
		return segment{}
	}
	return s.segs[len(s.segs)-1]
}

func (s *store) failed(err error, now time.Time) {
	s.note(err)
	s.retryAt = now.Add(retryAfter)
}

// account counts p, of which the first wrote bytes are in the newest file.
func (s *store) account(p []byte, wrote int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wrote > 0 {
		s.segs[len(s.segs)-1].size += int64(wrote)
	}
	s.unkept += int64(len(p) - wrote)
	s.total += int64(len(p))
	s.newline += int64(bytes.Count(p, []byte{'\n'}))
	s.within = p[len(p)-1] != '\n'
	if s.marks == nil || s.total-s.marks[len(s.marks)-1].at >= markStep {
		s.addMark()
	}
	s.tail = append(s.tail, p...)
	if len(s.tail) > 2*tailSize {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-tailSize:]...)
	}
}

func (s *store) closeFile() {
	if s.file == nil {
		return
	}
	if err := s.file.Close(); err != nil {
		s.note(fmt.Errorf("close the log: %w", err))
	}
	s.file = nil
}

// finish closes the log for writing. The reader calls it last, or whoever has
// joined the reader.
func (s *store) finish() { s.closeFile() }

// remove deletes the files. Nobody writes any more.
func (s *store) remove() error {
	s.mu.Lock()
	segs := s.segs
	s.segs = nil
	s.mu.Unlock()
	var errs []error
	for _, g := range segs {
		if err := os.Remove(s.path(g.start)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Kept says how much of a job's output there is and can still be read.
type Kept struct {
	Total     int64  // bytes read from the job since its start
	From      int64  // the first of them that can be read
	Discarded int64  // how many of Total cannot be read any more
	Lines     int64  // lines read since the start; one without a newline counts at the end. -1: not counted
	Path      string // the newest file of the log
	Err       error  // why bytes were not written to the log; nil when all were
}

func (s *store) kept() Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := Kept{Total: s.total, From: s.total, Lines: s.lines(), Err: s.failure}
	if s.found {
		k.Lines = s.known
	}
	held := int64(0)
	for _, g := range s.segs {
		held += g.size
	}
	if len(s.segs) > 0 {
		k.Path = s.path(s.segs[len(s.segs)-1].start)
		k.From = s.segs[0].start
	}
	// What is only in memory can be read as well.
	if at := s.tailStart(); at < s.total {
		k.From = min(k.From, at)
		held += s.outsideFiles(at)
	}
	k.Discarded = s.total - held
	return k
}

// outsideFiles counts the bytes from at to the end that no file has. mu is
// held.
func (s *store) outsideFiles(at int64) int64 {
	n := s.total - at
	for _, g := range s.segs {
		n -= max(0, g.end()-max(g.start, at))
	}
	return n
}

// lines counts the lines so far. mu is held.
func (s *store) lines() int64 {
	if s.within {
		return s.newline + 1
	}
	return s.newline
}

// tailStart is the offset of the first byte in memory. mu is held.
func (s *store) tailStart() int64 { return s.total - int64(len(s.tail)) }

// readAt fills p with the output from the offset from on, as far as there is
// any in one run. At the end of what was read it returns 0 and nil. Bytes that
// are not kept are a *NotKeptError.
func (s *store) readAt(from int64, p []byte) (int, error) {
	for {
		n, g, err := s.find(from, p)
		if n > 0 || err != nil || g == nil {
			return n, err
		}
		n, err = s.readFile(*g, from, p)
		if errors.Is(err, os.ErrNotExist) && s.gone(*g) {
			continue // dropped while we looked: find says what is left
		}
		return n, err
	}
}

// find copies from memory what is there, or names the segment to read. All
// three are zero at the end.
func (s *store) find(from int64, p []byte) (int, *segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from >= s.total {
		return 0, nil, nil
	}
	if at := s.tailStart(); from >= at {
		return copy(p, s.tail[from-at:]), nil, nil
	}
	next := s.tailStart()
	for _, g := range s.segs {
		if from >= g.start && from < g.end() {
			return 0, &g, nil
		}
		if g.start > from && g.size > 0 {
			next = min(next, g.start)
		}
	}
	e := &NotKeptError{From: from, Next: next}
	if s.unkept > 0 && (len(s.segs) == 0 || from >= s.segs[0].start) {
		e.Cause = s.failure
	}
	return 0, nil, e
}

// gone reports whether the segment was dropped.
func (s *store) gone(g segment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(s.segs, func(o segment) bool { return o.start == g.start })
}

func (s *store) readFile(g segment, from int64, p []byte) (int, error) {
	f, err := os.OpenFile(s.path(g.start), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, fmt.Errorf("open the log: %w", err)
	}
	defer f.Close()
	p = p[:min(int64(len(p)), g.end()-from)]
	n, err := f.ReadAt(p, from-g.start)
	if n == len(p) {
		return n, nil
	}
	return n, fmt.Errorf("read the log: it is shorter than what was written to it: %w", err)
}
