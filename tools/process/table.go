package process

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/tools"
)

const (
	// DefaultMaxJobs is how many jobs a table holds: more than a person can
	// watch, and few enough that a loop gone wrong is stopped early.
	DefaultMaxJobs = 64

	// DefaultKeep is how long a job is kept after its end.
	DefaultKeep = 30 * time.Minute

	// DefaultLeftovers is how long a job is kept that nobody saw the end of: a
	// day, so that a crash at night can be looked into in the morning.
	DefaultLeftovers = 24 * time.Hour

	// maxLeftovers bounds how many of these are kept.
	maxLeftovers = 256

	// DefaultKillGrace is the time between TERM and KILL.
	DefaultKillGrace = 2 * time.Second

	idPrefix = "proc_"
	idHex    = 12
)

// Options say how a Table is. Dir and Poller are needed; zero values of the
// others mean the defaults.
type Options struct {
	Dir     string // for logs and records; made with mode 0700
	Poller  *fdwait.Poller
	Version string // what a terminal job is told in TERM_PROGRAM_VERSION

	MaxJobs   int
	Keep      time.Duration // from a job's end to the removal of its record and log
	Leftovers time.Duration // the same for a job whose end nobody saw
	LogLimit  int64         // bytes kept of each job's output
	KillGrace time.Duration

	WatchEvery   time.Duration // between two notices of a job at least
	WatchNotices int           // in the life of a job

	// Notice, when set, is told of matches of watch patterns. The job's reader
	// calls it and the job waits meanwhile: it must not block.
	Notice func(Notice)

	// Ask, when set, says whether a command needs a person's yes before the
	// tool starts it. Nil needs none.
	Ask func(command string) *tools.Question

	// Redact, when set, replaces secrets in what the tool returns and counts
	// them. Logs hold the bytes as they came.
	Redact func(b []byte) ([]byte, int)

	clock func() time.Time // time.Now; tests turn it
	fault fault
}

// A Spec says what to start.
type Spec struct {
	Command []string // argv
	Title   string   // as the caller wrote it; empty: the command's words
	Dir     string   // empty: our own
	Env     []string // nil: our own
	PTY     bool     // a terminal instead of pipes
	Size    ptybridge.Size
	Watch   []Pattern
}

// A Table owns the jobs of one host process. Its methods may be called from
// anywhere.
type Table struct {
	opts    Options
	host    hostID
	changed broadcast

	mu       sync.Mutex
	jobs     map[string]*Job
	order    []*Job // by start
	starting int
	closed   bool
	evicted  int // finished jobs that were removed early to make room
	problems []error

	starts sync.WaitGroup // Start calls on their way
}

// Open makes a Table and finds what earlier hosts left in its folder.
func Open(o Options) (*Table, error) {
	if o.Dir == "" || o.Poller == nil {
		return nil, errors.New("open the table of jobs: a folder and a poller are needed")
	}
	o.MaxJobs = cmp.Or(max(o.MaxJobs, 0), DefaultMaxJobs)
	o.Keep = cmp.Or(max(o.Keep, 0), DefaultKeep)
	o.Leftovers = cmp.Or(max(o.Leftovers, 0), DefaultLeftovers)
	o.KillGrace = cmp.Or(max(o.KillGrace, 0), DefaultKillGrace)
	o.WatchEvery = cmp.Or(max(o.WatchEvery, 0), DefaultWatchEvery)
	o.WatchNotices = cmp.Or(max(o.WatchNotices, 0), DefaultWatchNotices)
	if o.clock == nil {
		o.clock = time.Now
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the table of jobs: %w", err)
	}
	t := &Table{opts: o, host: thisHost(), jobs: map[string]*Job{}}
	t.recoverJobs()
	return t, nil
}

func (t *Table) now() time.Time { return t.opts.clock() }

// Problems returns what went wrong with the records of earlier hosts.
func (t *Table) Problems() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.problems)
}

// Changed returns a channel that is closed at the next change of any job. See
// Job.Changed.
func (t *Table) Changed() <-chan struct{} { return t.changed.wait() }

// Start starts a job and returns at once. Nothing was tried when the error
// matches outcome.ErrRefused. When it matches outcome.ErrNotStarted the Job is
// not nil: it is the record of the start that failed.
func (t *Table) Start(s Spec) (*Job, error) {
	if len(s.Command) == 0 || strings.TrimSpace(s.Command[0]) == "" {
		return nil, &UsageError{"command", "no command given"}
	}
	ms, err := matchers(s.Watch)
	if err != nil {
		return nil, err
	}
	if err := t.reserve(); err != nil {
		return nil, err
	}
	defer t.starts.Done()
	j, err := t.start(s, ms)
	t.mu.Lock()
	t.starting--
	t.jobs[j.record.ID] = j
	t.order = append(t.order, j)
	t.mu.Unlock()
	t.changed.fire()
	return j, err
}

// reserve takes a place for one more job, and makes room for it if need be.
func (t *Table) reserve() error {
	t.expire()
	evicted, err := t.place(t.now())
	if evicted != nil {
		t.remove(evicted)
	}
	return err
}

// place counts one job more. Finished jobs make room, running ones never.
func (t *Table) place(now time.Time) (evicted *Job, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrTableClosed
	}
	running, all := t.starting, t.starting
	var oldest, finished *Job
	for _, j := range t.order {
		if j.foreign() {
			continue
		}
		all++
		if j.over() {
			if finished == nil || j.endedAt().Before(finished.endedAt()) {
				finished = j
			}
			continue
		}
		running++
		if oldest == nil {
			oldest = j
		}
	}
	if running >= t.opts.MaxJobs {
		e := &LimitError{Limit: t.opts.MaxJobs, Now: now}
		if oldest != nil {
			e.Oldest = oldest.brief()
		}
		return nil, e
	}
	if all >= t.opts.MaxJobs && finished != nil {
		t.forget(finished)
		t.evicted++
		evicted = finished
	}
	t.starting++
	t.starts.Add(1)
	return evicted, nil
}

// forget takes a job out of the table. mu is held.
func (t *Table) forget(j *Job) {
	delete(t.jobs, j.record.ID)
	t.order = slices.DeleteFunc(t.order, func(o *Job) bool { return o == j })
}

// remove deletes the files of a job that was forgotten.
func (t *Table) remove(j *Job) {
	if err := j.removeFiles(); err != nil {
		t.problem(fmt.Errorf("remove the files of %s: %w", j.record.ID, err))
	}
}

func (t *Table) problem(err error) {
	const keep = 100
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.problems) < keep {
		t.problems = append(t.problems, err)
	}
}

// newID returns an id that no job has: twelve random digits of base 16. The
// log is made exclusively, so that one in 2^48 would be an error and no mix-up.
func newID() string {
	var b [idHex / 2]byte
	rand.Read(b[:]) // it never fails: the program ends when the system has none
	return idPrefix + hex.EncodeToString(b[:])
}

func validID(id string) bool {
	digits, ok := strings.CutPrefix(id, idPrefix)
	return ok && len(digits) == idHex && strings.Trim(digits, "0123456789abcdef") == ""
}

// Get finds a job by its id or by a beginning of it that no other job has. The
// "proc_" may be left out.
func (t *Table) Get(id string) (*Job, error) {
	if id == "" {
		return nil, &UsageError{"session_id", "no job given"}
	}
	t.expire()
	t.mu.Lock()
	defer t.mu.Unlock()
	if j := t.jobs[id]; j != nil {
		return j, nil
	}
	full := id
	if !strings.HasPrefix(id, idPrefix) && !strings.HasPrefix(idPrefix, id) {
		full = idPrefix + id
	}
	var found []string
	for _, j := range t.order {
		if strings.HasPrefix(j.record.ID, full) {
			found = append(found, j.record.ID)
		}
	}
	switch len(found) {
	case 0:
		return nil, &UnknownJobError{ID: id}
	case 1:
		return t.jobs[found[0]], nil
	}
	return nil, &AmbiguousError{Prefix: id, IDs: found}
}

// List returns all jobs, the newest first.
func (t *Table) List() []Info {
	t.expire()
	t.mu.Lock()
	jobs := slices.Clone(t.order)
	t.mu.Unlock()
	infos := make([]Info, 0, len(jobs))
	for _, j := range slices.Backward(jobs) {
		infos = append(infos, j.Info())
	}
	slices.SortStableFunc(infos, func(a, b Info) int { return b.Started.Compare(a.Started) })
	return infos
}

// Evicted is how many finished jobs were removed before their time to make
// room for new ones.
func (t *Table) Evicted() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.evicted
}

// expire removes the jobs whose time after their end is over.
func (t *Table) expire() {
	now := t.now()
	t.mu.Lock()
	var old []*Job
	for _, j := range t.order {
		if j.expired(now) {
			old = append(old, j)
		}
	}
	for _, j := range old {
		t.forget(j)
	}
	t.mu.Unlock()
	for _, j := range old {
		t.remove(j)
	}
}

func (j *Job) expired(now time.Time) bool {
	if !j.over() {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.info.Ended.IsZero() {
		return now.Sub(j.info.DetachedFrom) > j.table.opts.Leftovers
	}
	return now.Sub(j.info.Ended) > j.table.opts.Keep
}

// over reports whether the job has ended and its last record is written, so
// that its files may be removed.
func (j *Job) over() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.info.State.Ended() && closed(j.done)
}

func (j *Job) endedAt() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.info.Ended
}

// brief is Info without what has to be asked for.
func (j *Job) brief() Info {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.info
}

// Close refuses new jobs, ends all that run and joins everything. Logs and
// records stay for the next host, until their time is over.
func (t *Table) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.starts.Wait() // no Add follows: reserve refuses now
	t.mu.Lock()
	jobs := slices.Clone(t.order)
	t.mu.Unlock()
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		if j.foreign() {
			continue
		}
		wg.Go(func() { errs[i] = j.endForGood() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
