package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/honestty/honestty/outcome"
)

// Options are the limits of a journal. A zero field means its default.
type Options struct {
	MaxFile   int64         // bytes of one file before it is renamed; 64 MiB
	MaxTotal  int64         // bytes of all that is kept; 512 MiB
	MaxAge    time.Duration // of files that are kept; 90 days
	MaxInline int           // bytes of a result or of arguments that stay in the event; 256 KiB
	Patience  time.Duration // that one event waits for other writers; 5 s

	fault fault
}

const (
	defaultMaxFile   = 64 << 20
	defaultMaxTotal  = 512 << 20
	defaultMaxAge    = 90 * 24 * time.Hour
	defaultMaxInline = 256 << 10

	// spillShare is the part of MaxTotal that may be spilled before the folder
	// is swept again.
	spillShare = 16

	// patience is how long one event waits for other writers. A writer needs
	// well under a millisecond; one that was stopped holds the lock for good.
	patience = 5 * time.Second

	// impatience is the same while writing does not work: calls must not
	// become slow because the journal is broken.
	impatience = 50 * time.Millisecond
)

// fault injects failures at named points; zero in the product.
type fault struct {
	write    func(fd int, p []byte) (int, error)
	truncate func(fd int, size int64) error
	rename   func(from, to string) error
	open     func(path string) error
}

// ErrClosed is the trouble of a journal that was closed.
var ErrClosed = errors.New("the journal is closed")

// A Journal writes events. It is safe for use by many goroutines and beside
// other processes.
//
// The turn is a token in a channel: whoever holds it is the one goroutine that
// writes, and owns the file. It is a token and not a lock because waiting for
// it has a limit.
type Journal struct {
	dir  string
	o    Options
	turn chan struct{}
	file writer // owned by the holder of the turn

	mu      sync.Mutex
	lost    int64 // events that could not be written and that no Gap tells of yet
	why     error // of the last that could not; nil when writing works
	spilled int64 // bytes that went to files of their own since the folder was swept
	barred  error // nothing is written: the folder is not ours, or Close was called
}

// Open opens the journal in a folder, which is made when it is missing. It
// fails when something is in the folder's place that is not ours.
//
// The journal is never nil. With an error, and when the folder cannot be
// written to, it takes every event, counts it as lost and says why in Trouble.
func Open(dir string, o Options) (*Journal, error) {
	if o.MaxFile <= 0 {
		o.MaxFile = defaultMaxFile
	}
	if o.MaxTotal <= 0 {
		o.MaxTotal = defaultMaxTotal
	}
	if o.MaxAge <= 0 {
		o.MaxAge = defaultMaxAge
	}
	if o.MaxInline <= 0 {
		o.MaxInline = defaultMaxInline
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	j := &Journal{dir: dir, o: o, turn: make(chan struct{}, 1)}
	j.file = writer{dir: dir, o: o, fd: -1, lock: lock{fd: -1}}
	j.turn <- struct{}{}
	err := makeFolder(dir)
	if errors.Is(err, ErrNotOurs) {
		j.barred, j.why = err, err
		return j, err
	}
	if err != nil {
		j.why = err
	}
	return j, nil
}

// Dir is the journal's folder.
func (j *Journal) Dir() string { return j.dir }

// Begin records that a call starts.
func (j *Journal) Begin(s Start) {
	if s.Owner == (Owner{}) && s.Source.Kind != "hook" && s.Source.Kind != "transcript" {
		s.Owner = self()
	}
	s.Title = cut(s.Title, maxTitle)
	s.Args = j.spill(s.Call, "args", s.Args)
	j.add(Event{Start: &s})
}

// self is this process. Its start time does not change.
var self = sync.OnceValue(func() Owner { return OwnerOf(os.Getpid()) })

// Progress records how far a call is.
func (j *Journal) Progress(p Progress) {
	p.What = cut(p.What, maxTitle)
	j.add(Event{Progress: &p})
}

// End records how a call ended.
func (j *Journal) End(e End) {
	if e.Capture == nil {
		e.Capture = captureOf(e.Result)
	}
	e.Error = cut(e.Error, maxError)
	e.Summary = cut(e.Summary, maxTitle)
	e.Result = j.spill(e.Call, "result", e.Result)
	j.add(Event{End: &e})
}

// Trouble is why events are not written now, and how many were lost by that;
// nil when writing works.
func (j *Journal) Trouble() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.why == nil {
		return nil
	}
	return &TroubleError{Lost: j.lost, Cause: j.why}
}

// A TroubleError reports that a journal cannot be written to.
type TroubleError struct {
	Lost  int64 // events that are missing in the journal so far
	Cause error
}

func (e *TroubleError) Error() string {
	s := "journal not written"
	if e.Lost > 0 {
		s = fmt.Sprintf("journal not written, %s missing", events(e.Lost))
	}
	return s + ": " + outcome.Errno(e.Cause)
}

func (e *TroubleError) Unwrap() error { return e.Cause }

func events(n int64) string {
	if n == 1 {
		return "1 event"
	}
	return outcome.Count(n) + " events"
}

// Close writes the gap that is still to be told, closes the files and returns
// the trouble there was, if it lasts. Events that come later are lost.
func (j *Journal) Close() error {
	j.mu.Lock()
	closed := j.barred != nil
	owed := j.lost > 0
	j.mu.Unlock()
	if closed {
		return nil
	}
	if owed {
		j.write(nil)
	}
	err := j.Trouble()
	<-j.turn
	j.file.close()
	j.turn <- struct{}{}
	j.mu.Lock()
	j.barred = ErrClosed
	j.mu.Unlock()
	return err
}

// add writes one event or counts it as lost.
func (j *Journal) add(e Event) {
	e.At = time.Now().UTC()
	e.Writer = os.Getpid()
	line := encode(e)
	if len(line) > maxLine {
		j.missed(fmt.Errorf("write event: it has %s, more than a reader takes", outcome.CountBytes(int64(len(line)))))
		return
	}
	j.write(line)
}

// missed counts an event that could not be written.
func (j *Journal) missed(why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lost++
	j.why = why
}

// write gives the line a number and writes it, after the gap that is owed. A
// nil line writes only the gap.
func (j *Journal) write(line []byte) {
	if err := j.writeOne(line); err != nil {
		if line == nil {
			j.mu.Lock()
			j.why = err
			j.mu.Unlock()
			return
		}
		j.missed(err)
	}
}

func (j *Journal) writeOne(line []byte) error {
	j.mu.Lock()
	barred, wait := j.barred, j.o.Patience
	if j.why != nil {
		wait = min(wait, impatience)
	}
	j.mu.Unlock()
	if barred != nil {
		return barred
	}
	until := time.Now().Add(wait)
	if !j.take(wait) {
		return errors.New("waited too long for the other events of this process")
	}
	defer func() { j.turn <- struct{}{} }()

	j.mu.Lock()
	lost, why := j.lost, j.why
	if j.spilled > j.o.MaxTotal/spillShare {
		j.file.swept, j.spilled = false, 0
	}
	j.mu.Unlock()
	var gap *Gap
	if lost > 0 {
		gap = &Gap{Events: lost, Why: "they could not be written: " + outcome.Errno(why)}
	}
	if err := j.file.append(line, gap, until); err != nil {
		return err
	}
	j.mu.Lock()
	j.lost -= lost
	if j.lost == 0 {
		j.why = nil
	}
	j.mu.Unlock()
	return nil
}

// take waits for the turn.
func (j *Journal) take(wait time.Duration) bool {
	select {
	case <-j.turn:
		return true
	default:
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-j.turn:
		return true
	case <-t.C:
		return false
	}
}

// unnumbered is how an event begins whose number is not known yet.
const unnumbered = `{"seq":0,`

// numbered gives a line its number and its end.
func numbered(dst, line []byte, seq int64) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendInt(dst, seq, 10)
	dst = append(dst, ',')
	dst = append(dst, line[len(unnumbered):]...)
	return append(dst, '\n')
}

func gapLine(g Gap) []byte {
	return encode(Event{At: time.Now().UTC(), Writer: os.Getpid(), Gap: &g})
}

func (j *Journal) path(name ...string) string {
	return filepath.Join(append([]string{j.dir}, name...)...)
}
