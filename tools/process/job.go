package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
)

// A State says how a job stands. The zero value is Unknown.
type State uint8

// The states of a job.
const (
	StateUnknown State = iota // nobody can tell
	Running                   // the process lives, or its last output is still being read
	Exited                    // it ended by itself
	Killed                    // it ended after we told it to
	Lost                      // it has ended and how is not known
	FailedStart               // it never ran
)

var stateWords = [...]string{"unknown", "running", "exited", "killed", "lost", "failed_start"}

func (s State) String() string {
	if int(s) < len(stateWords) {
		return stateWords[s]
	}
	return "invalid"
}

// Ended reports whether nothing can change any more.
func (s State) Ended() bool { return s > Running }

// Who told a job to end.
const (
	ByKill    = "process.kill" // somebody asked for this job
	ByClose   = "kill_all"     // the host ended
	ByStart   = "failed_start" // it never ran
	ByBackend = "backend_lost" // the host ended without a word, and the job with it
)

// Info is what there is to know about a job at one moment.
type Info struct {
	ID      string
	Command string   // as the caller wrote it
	Argv    []string // what was executed
	Dir     string
	PID     int // 0 when it never ran
	PTY     bool
	Size    ptybridge.Size // of a terminal
	Started time.Time
	Ended   time.Time // zero while it runs, and when it is not known

	State       State
	ExitCode    *int        // as the OS gave it; nil while it runs and when a signal ended it
	Signal      unix.Signal // the one that ended it, as the OS says; 0 when none did
	Termination string      // who told it to end; empty when nobody did
	Err         error       // why it did not start, or why the way it ended is not known

	// Detached says that another host started the job and has ended: there is
	// no input, and what the job writes is not read any more.
	Detached     bool
	DetachedFrom time.Time // output after this cannot be read

	Capture    outcome.Capture // whole only after the end
	Kept       Kept
	LastOutput time.Time // when the last byte was read; zero when none was
	LastError  string    // the last line that looks like a failure
	Input      Input
	Watch      Watch
	LastNotice *Notice
	Orphans    []outcome.Process // outlived it: of its session, or holding its output
	OrphansErr error             // why nobody could look for them
	Notes      []string          // every fallback and limit, in plain words
}

// Duration is how long the job has run, or ran.
func (i Info) Duration(now time.Time) time.Duration {
	switch {
	case i.State == FailedStart:
		return 0
	case !i.Ended.IsZero():
		return i.Ended.Sub(i.Started)
	case i.State == Running:
		return now.Sub(i.Started)
	}
	return -1
}

// A Job is one background process and its output.
//
//	goroutine  started by    ends on          joined by
//	follow     Table.Start   the body's end   done: Table.Close
//
// A job of another host has no body and no goroutine.
type Job struct {
	table *Table
	body  body // nil when it never ran or belongs to another host
	store *store
	scan  *scanner // the reader's own

	changed broadcast
	done    chan struct{} // closed when State has ended
	giveUp  sync.Once

	mu      sync.Mutex
	info    Info // Kept and Input are filled in by Info
	watch   watchkeeper
	start   uint64 // the process's start time; 0 when it could not be read
	sent    bool   // a signal of ours was on its way before the end
	by      string // who sent it
	orphans []ps   // info.Orphans with their start times, as far as they could be looked at
	record  record // End is written under mu; the rest is fixed before anybody else has the Job
}

// ID is the job's id.
func (j *Job) ID() string { return j.record.ID }

// Done is closed when the job and its output have ended. For a job of another
// host it is closed already: nobody is told when that ends.
func (j *Job) Done() <-chan struct{} { return j.done }

// Changed returns a channel that is closed at the next change: output, input,
// a notice, the end. Any number of changes before somebody asks again are one.
// Ask first and read then, so that nothing is missed.
func (j *Job) Changed() <-chan struct{} { return j.changed.wait() }

// Info returns what is known now.
func (j *Job) Info() Info {
	j.refreshForeign()
	j.mu.Lock()
	i := j.info
	i.Watch = j.watch.Watch
	body := j.body
	j.mu.Unlock()
	if j.store != nil {
		i.Kept = j.store.kept()
	}
	if body != nil {
		i.Input = body.input()
	}
	if !i.State.Ended() {
		i.Capture.Read, i.Capture.Shown = i.Kept.Total, i.Kept.Total-i.Kept.Discarded
	}
	if err := i.Kept.Err; err != nil {
		i.Notes = append(i.Notes[:len(i.Notes):len(i.Notes)], fmt.Sprintf(
			"the log is not whole: %s; %s of the output cannot be read any more", outcome.Errno(err), outcome.CountBytes(i.Kept.Discarded)))
	}
	return i
}

// output takes what the reader read. Only the reader calls it.
func (j *Job) output(p []byte) {
	now := j.table.now()
	j.store.add(p, now)
	j.tell(j.scan.add(p), now, true)
}

// tell publishes what the scanner saw, and what is new.
func (j *Job) tell(see sight, now time.Time, bytes bool) {
	j.mu.Lock()
	if bytes {
		j.info.LastOutput = now
	}
	if see.errorLine != "" {
		j.info.LastError = see.errorLine
	}
	n := j.watch.saw(j.record.ID, see, now)
	if n != nil {
		j.info.LastNotice = n
	}
	j.mu.Unlock()
	if n != nil && j.table.opts.Notice != nil {
		j.table.opts.Notice(*n)
	}
	j.fire()
}

func (j *Job) fire() {
	j.changed.fire()
	j.table.changed.fire()
}

// broke notes that the output cannot be read any more while the process lives.
func (j *Job) broke(cause error) {
	j.mu.Lock()
	j.info.Capture = broken(cause)
	j.info.Notes = append(j.info.Notes, "the output cannot be read any more: "+outcome.Errno(cause)+
		"; what the process writes from here on is lost, and it may end because of that")
	j.mu.Unlock()
	j.fire()
}

// follow waits for the end of the body and writes down how it was.
func (j *Job) follow() {
	e := j.body.wait()
	j.tell(j.scan.end(), j.table.now(), false)
	j.store.finish()
	k := j.store.kept()
	c := e.capture
	c.Read, c.Shown = k.Total, k.Total-k.Discarded
	var orphans []ps
	for _, p := range e.survivors {
		if o, err := look(p.PID); err == nil && !o.ended {
			orphans = append(orphans, o)
		}
	}
	j.mu.Lock()
	j.orphans = orphans
	i := &j.info
	i.Ended, i.Capture, i.Orphans, i.OrphansErr = e.ended, c, e.survivors, e.lookErr
	i.State = Exited
	if j.sent {
		i.State, i.Termination = Killed, j.by
	}
	switch {
	case e.err != nil:
		i.State = Lost
		i.Err = fmt.Errorf("the way it ended is not known: %w", e.err)
	case e.status.Signal != 0:
		i.Signal = e.status.Signal
	default:
		code := e.status.Code
		i.ExitCode = &code
		if j.sent {
			i.Notes = append(i.Notes, fmt.Sprintf("it ended with exit code %d after it was told to end; no signal ended it", code))
		}
	}
	if e.status.Core {
		i.Notes = append(i.Notes, "a core was dumped")
	}
	j.mu.Unlock()
	j.writeRecord()
	close(j.done)
	j.fire()
}

// Read fills p with the output from an offset on, as the job wrote it. It
// returns 0 and nil when there is nothing yet, and io.EOF when there never will
// be: Changed tells when to ask again. Bytes that are not kept are a
// *NotKeptError, which says where to go on.
func (j *Job) Read(from int64, p []byte) (int, error) {
	if from < 0 {
		return 0, &UsageError{"offset", fmt.Sprintf("%d is before the start of the output; offsets count from 0", from)}
	}
	if j.store == nil {
		return 0, io.EOF
	}
	over := closed(j.done) // asked first: what is there afterwards is all
	n, err := j.store.readAt(from, p)
	if n == 0 && err == nil && over && len(p) > 0 {
		return 0, io.EOF
	}
	return n, err
}

// Log returns up to limit bytes from the offset on, cut between characters.
func (j *Job) Log(offset int64, limit int) (Page, error) {
	return j.paged(func(s *store, over bool) (Page, error) { return s.page(offset, limit, over) })
}

// Lines returns up to limit lines after the first skip ones.
func (j *Job) Lines(skip int64, limit int) (Page, error) {
	return j.paged(func(s *store, over bool) (Page, error) { return s.linePage(skip, limit, over) })
}

// LastLines returns the last limit lines.
func (j *Job) LastLines(limit int) (Page, error) {
	return j.paged(func(s *store, over bool) (Page, error) { return s.lastLines(limit, over) })
}

// Tail returns up to limit of the last bytes, cut between characters.
func (j *Job) Tail(limit int) (Page, error) {
	return j.paged(func(s *store, over bool) (Page, error) {
		k := s.kept()
		return s.page(max(k.From, k.Total-int64(max(limit, 1))), limit, over)
	})
}

// pageTries bounds how often a page is asked for whose bytes are dropped while
// they are looked for: then the caller is told.
const pageTries = 5

func (j *Job) paged(page func(s *store, over bool) (Page, error)) (Page, error) {
	over := closed(j.done)
	s := j.store
	if s == nil {
		s = &store{}
	}
	if err := s.ready(); err != nil {
		return Page{}, fmt.Errorf("count the lines of the log: %w", err)
	}
	// What a flood drops between the look and the read is looked for again.
	for range pageTries - 1 {
		if p, err := page(s, over); !errors.Is(err, ErrNotKept) {
			return p, err
		}
	}
	return page(s, over)
}

// Wait waits for the end, at most for timeout. The job goes on when the time
// is up (*WaitTimeoutError) or the caller takes the call back
// (ErrInterrupted). The Info is of the moment of return.
func (j *Job) Wait(ctx context.Context, timeout time.Duration) (Info, error) {
	if timeout <= 0 {
		return j.Info(), &UsageError{"timeout", "it must be above 0: it says how long to wait for the end"}
	}
	if i := j.Info(); i.Detached && !i.State.Ended() {
		return i, fmt.Errorf("wait for the end: %w", ErrDetached)
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	var err error
	select {
	case <-j.done:
	case <-t.C:
		err = &WaitTimeoutError{After: timeout}
	case <-ctx.Done():
		err = ErrInterrupted
	}
	if closed(j.done) { // an end counts, also when the time was up before anybody looked
		err = nil
	}
	return j.Info(), err
}

// Write gives bytes to the job's input and never blocks. It says how many were
// taken; the rest is refused and counted.
func (j *Job) Write(p []byte) (int, error) {
	body, err := j.forInput()
	if err != nil {
		return 0, err
	}
	n, err := body.write(p)
	j.fire()
	return n, err
}

// Submit writes a line: data, and what ends a line there. That is a newline on
// a pipe and the Enter key on a terminal.
func (j *Job) Submit(line string) (int, error) {
	end := "\n"
	if j.record.PTY {
		end = "\r"
	}
	return j.Write([]byte(line + end))
}

// CloseStdin ends the input: the process reads what was written, and then the
// end. On a terminal the end is typed (Ctrl+D), and the terminal stays open.
func (j *Job) CloseStdin() error {
	body, err := j.forInput()
	if err != nil {
		return err
	}
	err = body.closeInput()
	j.fire()
	return err
}

// Resize sets the size of a job's terminal, clamped, and returns what is in
// force.
func (j *Job) Resize(s ptybridge.Size) (ptybridge.Size, error) {
	if !j.record.PTY {
		return ptybridge.Size{}, ErrNoTerminal
	}
	body, err := j.forInput()
	if err != nil {
		return ptybridge.Size{}, err
	}
	got, err := body.resize(s)
	if err == nil {
		j.mu.Lock()
		j.info.Size = got
		j.mu.Unlock()
		j.fire()
	}
	return got, err
}

// forInput returns the body of a job that can be written to.
func (j *Job) forInput() (body, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.info.Detached && !j.info.State.Ended():
		return nil, ErrDetached
	case j.info.State.Ended():
		return nil, errInputEnded
	}
	return j.body, nil
}

// errInputEnded refuses input to a job that has ended.
var errInputEnded = fmt.Errorf("%w: the job has ended", ErrStdinClosed)

// A broadcast wakes everybody who waits for a change. Changes that nobody
// waits for cost nothing and are one.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) fire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
