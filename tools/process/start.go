package process

import (
	"cmp"
	"os"
	"strings"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/ptybridge"
)

// The size of a job's terminal where the caller names none: wide enough for
// what programs print in tables, since nobody looks at it at first.
const defaultCols, defaultRows = 120, 30

// start makes the job. The Job is never nil.
func (t *Table) start(s Spec, ms []matcher) (*Job, error) {
	j := &Job{
		table: t,
		scan:  &scanner{matchers: ms},
		done:  make(chan struct{}),
		record: record{
			Version: recordVersion, ID: newID(), Command: s.Title, Argv: s.Command, Dir: s.Dir, PTY: s.PTY,
			Started: t.now(), Host: t.host,
		},
	}
	if j.record.Command == "" {
		j.record.Command = strings.Join(s.Command, " ")
	}
	if j.record.Dir == "" {
		j.record.Dir, _ = os.Getwd()
	}
	for _, m := range ms {
		j.watch.Patterns = append(j.watch.Patterns, m.name)
	}
	j.watch.Limit, j.watch.Every = t.opts.WatchNotices, t.opts.WatchEvery
	err := j.run(s)
	if err != nil {
		j.failedStart(err)
		return j, err
	}
	go j.follow()
	return j, nil
}

// run opens the log and starts the body. Nothing is left after an error.
func (j *Job) run(s Spec) error {
	t := j.table
	err := t.opts.fault.step("open the log", func() (e error) {
		j.store, e = newStore(t.opts.Dir, j.record.ID, t.opts.LogLimit)
		return e
	})
	if err != nil {
		return err
	}
	if t.opts.fault.write != nil {
		j.store.write = t.opts.fault.write
	}
	p := plan{
		command: s.Command, dir: s.Dir, env: s.Env, poller: t.opts.Poller,
		output: j.output, broke: j.broke, fault: t.opts.fault,
	}
	if p.env == nil {
		p.env = os.Environ()
	}
	if s.PTY {
		p.size = ptybridge.Size{Cols: cmp.Or(s.Size.Cols, defaultCols), Rows: cmp.Or(s.Size.Rows, defaultRows)}.Clamp()
		p.env = proc.ChildEnv(p.env, cmp.Or(t.opts.Version, "job"))
		var b *terminal
		if b, err = startTerminal(p); err == nil {
			j.body = b
		}
	} else {
		var b *pipes
		if b, err = startPipes(p); err == nil {
			j.body = b
		}
	}
	if err != nil {
		j.store.finish()
		_ = j.store.remove() // it is empty; the start's own error is what matters
		j.store = nil
		return err
	}
	pid := j.body.pid()
	if me, err := look(pid); err == nil {
		j.start = me.start
	}
	j.mu.Lock()
	j.record.PID, j.record.Start = pid, j.start
	j.info.State, j.info.Size = Running, p.size
	j.info.PID, j.info.Started = pid, j.body.started()
	j.record.Started = j.info.Started
	j.describe()
	j.mu.Unlock()
	j.writeRecord()
	return nil
}

// describe copies what the record says into the info. mu is held.
func (j *Job) describe() {
	r := &j.record
	j.info.ID, j.info.Command, j.info.Argv, j.info.Dir = r.ID, r.Command, r.Argv, r.Dir
	j.info.PTY, j.info.PID, j.info.Started = r.PTY, r.PID, r.Started
}

func (j *Job) failedStart(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.describe()
	j.info.State, j.info.Err, j.info.Termination, j.info.Ended = FailedStart, err, ByStart, j.table.now()
	close(j.done)
}
