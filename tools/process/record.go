package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/outcome"
)

const (
	recordVersion = 1
	recordSuffix  = ".json"

	// maxRecord is above the longest command line that Linux takes in one word
	// (128 KiB) and its JSON.
	maxRecord = 4 << 20
)

// A hostID names a process across the reuse of its pid and across boots.
type hostID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // 0: not known
	Boot  string `json:"boot,omitempty"`
}

func thisHost() hostID {
	h := hostID{PID: os.Getpid(), Boot: boot()}
	if me, err := look(h.PID); err == nil {
		h.Start = me.start
	}
	return h
}

// lives reports whether the process that a record names still runs, seen from
// this boot of the system.
func lives(pid int, start uint64, itsBoot string) bool {
	if pid <= 0 || start == 0 || itsBoot != boot() {
		return false
	}
	now, err := look(pid)
	return err == nil && now.start == start && !now.ended
}

// A record is what is kept of a job on disk, so that the next host knows of it
// when this one ends without a word. It is written at the start and at the end.
type record struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Command string    `json:"command"`
	Argv    []string  `json:"argv"`
	Dir     string    `json:"dir"`
	PTY     bool      `json:"pty"`
	PID     int       `json:"pid"`
	Start   uint64    `json:"start"` // the process's start time, in the system's units; 0: not known
	Started time.Time `json:"started"`
	Host    hostID    `json:"host"`

	End *recordEnd `json:"end,omitempty"` // nil until the job has ended
}

// A recordEnd is how a job ended.
type recordEnd struct {
	At          time.Time   `json:"at"`
	State       string      `json:"state"`
	ExitCode    *int        `json:"exit_code"`
	Signal      int         `json:"signal,omitempty"`
	Termination string      `json:"termination,omitempty"`
	Err         string      `json:"error,omitempty"`
	Capture     captureJSON `json:"capture"`
	Lines       int64       `json:"lines"`
	LastError   string      `json:"last_error,omitempty"`
	LastOutput  time.Time   `json:"last_output,omitzero"`
	Notes       []string    `json:"notes,omitempty"`
}

// captureJSON is an outcome.Capture that can be read back.
type captureJSON struct {
	Read    int64             `json:"bytes_read"`
	Shown   int64             `json:"bytes_shown"`
	Lost    int64             `json:"bytes_lost"`
	End     outcome.End       `json:"end"`
	Cause   string            `json:"cause,omitempty"`
	Holders []outcome.Process `json:"holders,omitempty"`
	Unknown string            `json:"holders_unknown,omitempty"`
}

func keepCapture(c outcome.Capture) captureJSON {
	return captureJSON{c.Read, c.Shown, c.Lost, c.End, outcome.Errno(c.Cause), c.Holders, outcome.Errno(c.HoldersUnknown)}
}

func (c captureJSON) capture() outcome.Capture {
	return outcome.Capture{
		Read: c.Read, Shown: c.Shown, Lost: c.Lost, End: c.End, Holders: c.Holders,
		Cause: said(c.Cause), HoldersUnknown: said(c.Unknown),
	}
}

// said makes an error of what a record says.
func said(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

func recordPath(dir, id string) string { return filepath.Join(dir, id+recordSuffix) }

// writeRecord puts the record on disk. A failure never fails the job: it is
// noted, because the next host will then not know of it.
func (j *Job) writeRecord() {
	j.mu.Lock()
	if i := &j.info; i.State.Ended() {
		j.record.End = &recordEnd{
			At: i.Ended, State: i.State.String(), ExitCode: i.ExitCode, Signal: int(i.Signal), Termination: i.Termination,
			Capture: keepCapture(i.Capture), LastError: i.LastError, LastOutput: i.LastOutput, Notes: i.Notes,
			Err: outcome.Errno(i.Err), Lines: j.store.kept().Lines,
		}
	}
	r := j.record
	j.mu.Unlock()
	data, err := json.Marshal(r)
	if err == nil {
		write := func(path string, data []byte) error { return atomicfile.Write(path, data, 0o600) }
		if f := j.table.opts.fault.record; f != nil {
			write = f
		}
		err = write(recordPath(j.table.opts.Dir, r.ID), append(data, '\n'))
	}
	if err != nil {
		j.mu.Lock()
		j.info.Notes = append(j.info.Notes, "its record could not be written, so that it will not be found after a crash: "+outcome.Errno(err))
		j.mu.Unlock()
	}
}

// removeFiles deletes the record and the log. The record goes first: a log
// without a record is swept later, a record without a log would be misread.
func (j *Job) removeFiles() error {
	err := os.Remove(recordPath(j.table.opts.Dir, j.record.ID))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if j.store != nil {
		err = errors.Join(err, j.store.remove())
	}
	return err
}

// foreign reports whether another host started the job.
func (j *Job) foreign() bool { return j.record.Host != j.table.host }

// recoverJobs takes over what hosts that have ended left in the folder, and
// sweeps what is too old. What it cannot read becomes a problem and is left
// where it is, until it is too old as well.
func (t *Table) recoverJobs() {
	entries, err := os.ReadDir(t.opts.Dir)
	if err != nil {
		t.problem(fmt.Errorf("look for jobs of earlier hosts: %w", err))
		return
	}
	known := map[string]bool{}
	logs := findSegments(entries)
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), recordSuffix)
		if !ok || !validID(id) || !e.Type().IsRegular() {
			continue
		}
		known[id] = true
		r, err := readRecord(t.opts.Dir, id)
		if err != nil {
			t.problem(err)
			t.sweep(e)
			continue
		}
		if lives(r.Host.PID, r.Host.Start, r.Host.Boot) {
			continue // that host looks after it
		}
		j := t.adopt(r, logs[id])
		t.jobs[id] = j
		t.order = append(t.order, j)
	}
	for _, e := range entries {
		id, _, isLog := segmentName(e.Name())
		isTemp := strings.HasPrefix(e.Name(), "."+idPrefix) && strings.HasSuffix(e.Name(), ".tmp")
		if isLog && !known[id] || isTemp {
			t.sweep(e)
		}
	}
	slices.SortStableFunc(t.order, func(a, b *Job) int { return a.record.Started.Compare(b.record.Started) })
	t.boundLeftovers()
	t.expire()
}

// boundLeftovers removes the oldest that have ended when there are too many.
func (t *Table) boundLeftovers() {
	tooMany := len(t.order) - maxLeftovers
	for _, j := range slices.Clone(t.order) {
		if tooMany > 0 && j.over() {
			t.forget(j)
			t.remove(j)
			tooMany--
		}
	}
}

// sweep removes a file that nobody can account for, once it is old.
func (t *Table) sweep(e os.DirEntry) {
	fi, err := e.Info()
	if err != nil || !fi.Mode().IsRegular() || t.now().Sub(fi.ModTime()) <= t.opts.Leftovers {
		return
	}
	if err := os.Remove(filepath.Join(t.opts.Dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.problem(fmt.Errorf("sweep a leftover: %w", err))
	}
}

func readRecord(dir, id string) (record, error) {
	fail := func(err error) (record, error) {
		return record{}, fmt.Errorf("read the record of %s: %w", id, err)
	}
	f, err := os.OpenFile(recordPath(dir, id), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	if fi.Size() > maxRecord {
		return fail(fmt.Errorf("it is %s long", outcome.Size(fi.Size())))
	}
	var r record
	if err := json.NewDecoder(f).Decode(&r); err != nil {
		return fail(err)
	}
	if r.ID != id || r.Version != recordVersion {
		return fail(errors.New("it is of another job or another version"))
	}
	return r, nil
}

// adopt makes a job of a record whose host has ended.
func (t *Table) adopt(r record, segs []segment) *Job {
	lines := int64(-1)
	if r.End != nil {
		lines = r.End.Lines
	}
	s := openStore(t.opts.Dir, r.ID, segs, lines)
	j := &Job{table: t, store: s, record: r, start: r.Start, done: make(chan struct{})}
	close(j.done)
	j.describe()
	i := &j.info
	i.DetachedFrom = s.lastWrite(r.Started)
	if s.total > 0 {
		i.LastOutput = i.DetachedFrom
	}
	if e := r.End; e != nil {
		i.State = stateOf(e.State)
		i.Ended, i.ExitCode, i.Signal, i.Termination = e.At, e.ExitCode, unix.Signal(e.Signal), e.Termination
		i.Err, i.Capture, i.LastError, i.Notes = said(e.Err), e.Capture.capture(), e.LastError, e.Notes
		i.LastOutput = e.LastOutput
		i.Notes = append(i.Notes, "it ran under an earlier host, which has ended")
		return j
	}
	i.Detached = true
	i.State = Running
	i.Capture = outcome.Capture{Read: s.total, Lost: outcome.Uncounted, End: outcome.EndStopped, Cause: errHostEnded}
	i.Notes = append(i.Notes, fmt.Sprintf("detached from us: output after %s cannot be read", i.DetachedFrom.Format("15:04")))
	j.refreshForeign()
	return j
}

// errHostEnded is why the output of a job is not whole whose host ended first.
var errHostEnded = errors.New("the host that read it ended before the job did")

// errHowUnknown is why a job of a host that ended is lost.
var errHowUnknown = errors.New("lost: how it ended is not known, because its host ended first")

// refreshForeign looks whether a job of an earlier host still runs.
func (j *Job) refreshForeign() {
	j.mu.Lock()
	looked := j.info.Detached && j.info.State == Running
	r := j.record
	j.mu.Unlock()
	if !looked || lives(r.PID, r.Start, r.Host.Boot) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info.State, j.info.Err = Lost, errHowUnknown
	j.info.Termination = ByBackend
	if j.by != "" {
		j.info.Termination = j.by
	}
}

func stateOf(word string) State {
	if i := slices.Index(stateWords[:], word); i >= 0 {
		return State(i)
	}
	return StateUnknown
}
