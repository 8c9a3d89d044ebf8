package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

const (
	// killTick is how often it is looked whether a process that is no child of
	// ours has ended: nobody tells.
	killTick = 10 * time.Millisecond

	// killWait is how long a process may take to end after KILL, which it
	// cannot refuse. One that hangs in the kernel takes longer.
	killWait = 2 * time.Second
)

// ErrCannotEnd reports a process that no signal ended.
var ErrCannotEnd = errors.New("the process could not be ended")

// A Refusal is a process that was not signalled, and why.
type Refusal struct {
	Process outcome.Process
	Err     error
}

// A KillReport is what was done to end a job, and what came of it.
type KillReport struct {
	Already   bool              // it had ended before; nothing was sent
	Sent      []unix.Signal     // to the job's process group and all below it, in order
	Signalled []outcome.Process // those below it that the group's signal did not reach
	Refused   []Refusal         // not signalled: another process by now, or not ours to end
	Left      []outcome.Process // of the job and still alive
	Info      Info              // after it; the signal in it is the one that ended the job
}

// Kill ends the job: TERM for its group and every process below it, a grace,
// then KILL. On a terminal HUP comes between. Each process outside the group
// is signalled by itself, those furthest down first, and only when it is still
// the one that was found. A grace of 0 means the table's.
//
// It returns when the job and its output have ended. When the caller takes the
// call back meanwhile nothing further is sent.
func (j *Job) Kill(ctx context.Context, grace time.Duration) (KillReport, error) {
	switch {
	case grace < 0:
		return KillReport{Info: j.Info()}, &UsageError{"timeout", "it cannot be below 0: it is the time between TERM and KILL"}
	case grace == 0:
		grace = j.table.opts.KillGrace
	}
	return j.kill(ctx.Done(), grace, ByKill)
}

func (j *Job) kill(cancel <-chan struct{}, grace time.Duration, by string) (KillReport, error) {
	k := &killing{job: j, cancel: cancel, victims: map[int]branch{}}
	if j.foreign() {
		return k.foreign(grace, by)
	}
	if j.body == nil || closed(j.body.exited()) {
		return k.already()
	}
	k.exited = j.body.exited()
	sigs := j.signals()
	for i, sig := range sigs {
		k.find()
		if !j.mark(by) {
			return k.already()
		}
		err := k.send(sig)
		if errors.Is(err, proc.ErrReaped) {
			break
		}
		wait := grace / time.Duration(len(sigs)-1)
		if i == len(sigs)-1 {
			wait = killWait
		}
		gone, cancelled := k.await(wait)
		if gone {
			break
		}
		if cancelled {
			return k.report(), fmt.Errorf("%w; %s was sent", ErrInterrupted, outcome.SignalName(sig))
		}
	}
	if !closed(k.exited) {
		err := ErrCannotEnd
		for _, r := range k.done.Refused {
			if r.Process.PID == j.body.pid() {
				err = fmt.Errorf("%w: %w", ErrCannotEnd, r.Err)
			}
		}
		return k.report(), err
	}
	if cancel == nil {
		return k.report(), nil // the one who ends all waits by itself
	}
	select {
	case <-j.done:
	case <-cancel:
	}
	return k.report(), nil
}

// mark notes that we told the job to end. It is false when it has ended by
// itself.
func (j *Job) mark(by string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.sent && closed(j.body.exited()) {
		return false
	}
	if !j.sent {
		j.sent, j.by = true, by
	}
	return true
}

// A killing is one call of Kill.
type killing struct {
	job     *Job
	cancel  <-chan struct{}
	exited  <-chan struct{}
	victims map[int]branch // everybody below the job that was found
	order   []int
	done    KillReport
}

// already reports on a job that had ended before, once its output has too.
func (k *killing) already() (KillReport, error) {
	select {
	case <-k.job.done:
	case <-k.cancel:
	}
	k.done.Already = true
	return k.report(), nil
}

// find adds those who are below the job now. What it cannot see it says.
func (k *killing) find() {
	start, err := k.job.startTime()
	var all []ps
	if err == nil {
		all, err = everybody()
	}
	if err != nil {
		k.refuse(outcome.Process{PID: k.job.record.PID}, fmt.Errorf("find the processes below it: %w", err))
		return
	}
	for _, b := range treeOf(all, k.job.record.PID, start) {
		if _, known := k.victims[b.pid]; !known {
			k.order = append(k.order, b.pid)
		}
		k.victims[b.pid] = b
	}
}

// startTime returns when the job's process started. Where that could not be
// read at the start it is read now, as long as the process is a living child
// of ours: the pid is its own then.
func (j *Job) startTime() (uint64, error) {
	j.mu.Lock()
	start := j.start
	j.mu.Unlock()
	if start != 0 || j.body == nil {
		return start, nil
	}
	now, err := look(j.record.PID)
	if closed(j.body.exited()) {
		return 0, nil // it has ended: nobody is below it any more
	}
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.start = now.start
	return j.start, nil
}

func (k *killing) refuse(p outcome.Process, err error) {
	if !slices.ContainsFunc(k.done.Refused, func(r Refusal) bool { return r.Process == p }) {
		k.done.Refused = append(k.done.Refused, Refusal{p, err})
	}
}

// send signals the group and then those outside it.
func (k *killing) send(sig unix.Signal) error {
	k.done.Sent = append(k.done.Sent, sig)
	err := k.job.body.signal(sig)
	if err == nil && sig != unix.SIGKILL {
		err = k.job.body.signal(unix.SIGCONT) // a stopped process cannot act on it
	}
	if err != nil && !errors.Is(err, proc.ErrReaped) {
		k.refuse(outcome.Process{PID: k.job.record.PID}, err)
	}
	k.sendBelow(sig)
	return err
}

// sendBelow signals those that the group's signal does not reach.
func (k *killing) sendBelow(sig unix.Signal) {
	for _, pid := range k.order {
		b := k.victims[pid]
		if b.group == k.job.record.PID {
			continue
		}
		err := signalChecked(b.pid, b.start, sig)
		if err == nil && sig != unix.SIGKILL {
			err = signalChecked(b.pid, b.start, unix.SIGCONT)
		}
		switch {
		case err == nil:
			if !slices.Contains(k.done.Signalled, b.named()) {
				k.done.Signalled = append(k.done.Signalled, b.named())
			}
		case !errors.Is(err, unix.ESRCH):
			k.refuse(b.named(), err)
		}
	}
}

// living lists the victims that have not ended.
func (k *killing) living() []outcome.Process {
	var left []outcome.Process
	for _, pid := range k.order {
		b := k.victims[pid]
		if now, err := look(pid); err == nil && now.start == b.start && !now.ended {
			left = append(left, b.named())
		}
	}
	return left
}

// await waits until the job and all below it have ended.
func (k *killing) await(d time.Duration) (gone, cancelled bool) {
	limit := time.NewTimer(d)
	defer limit.Stop()
	tick := time.NewTicker(killTick)
	defer tick.Stop()
	exited := k.exited
	for {
		if closed(k.exited) && len(k.living()) == 0 {
			return true, false
		}
		select {
		case <-exited:
			exited = nil
		case <-tick.C:
		case <-limit.C:
			return closed(k.exited) && len(k.living()) == 0, false
		case <-k.cancel:
			return false, true
		}
	}
}

// report fills in how things are now.
func (k *killing) report() KillReport {
	k.done.Info = k.job.Info()
	k.done.Left = k.living()
	k.job.mu.Lock()
	orphans := k.job.orphans
	k.job.mu.Unlock()
	for _, o := range orphans {
		if _, known := k.victims[o.pid]; known {
			continue
		}
		if now, err := look(o.pid); err == nil && now.start == o.start && !now.ended {
			k.done.Left = append(k.done.Left, o.named())
		}
	}
	return k.done
}

// foreign ends a job that another host had started. It is no child of ours, so
// how it ends is told to nobody.
func (k *killing) foreign(grace time.Duration, by string) (KillReport, error) {
	j := k.job
	if j.Info().State.Ended() {
		return k.already()
	}
	gone := make(chan struct{})
	k.exited = gone
	me := branch{ps: ps{pid: j.record.PID, start: j.start}}
	for i, sig := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		k.find()
		if _, known := k.victims[me.pid]; !known {
			k.victims[me.pid] = me
			k.order = append(k.order, me.pid)
		}
		k.done.Sent = append(k.done.Sent, sig)
		// No process is a member of its own group here: each is signalled by
		// itself, after the comparison.
		for _, pid := range k.order {
			b := k.victims[pid]
			b.group = 0
			k.victims[pid] = b
		}
		k.sendBelow(sig)
		if i == 0 {
			close(gone) // all are among the victims
		} else {
			grace = killWait
		}
		ended, cancelled := k.await(grace)
		if ended {
			break
		}
		if cancelled {
			return k.report(), fmt.Errorf("%w; %s was sent", ErrInterrupted, outcome.SignalName(sig))
		}
	}
	if now, err := look(me.pid); err == nil && now.start == me.start && !now.ended {
		return k.report(), ErrCannotEnd
	}
	j.mu.Lock()
	j.by = by
	j.mu.Unlock()
	return k.report(), nil
}

// endForGood ends a job and waits until nothing of it is left here. One that
// no signal ends loses its pipes or its terminal.
func (j *Job) endForGood() error {
	if j.body == nil {
		return nil
	}
	_, err := j.kill(nil, j.table.opts.KillGrace, ByClose)
	if !closed(j.body.exited()) {
		j.giveUp.Do(j.body.abandon)
		err = errors.Join(err, &outcome.DetachedError{Stream: "job " + j.record.ID, Holders: []outcome.Process{{PID: j.body.pid()}}})
	}
	<-j.done
	return err
}

// signals are what a job is told to end with, in order. An interactive shell
// ignores TERM and acts on HUP.
func (j *Job) signals() []unix.Signal {
	if j.record.PTY {
		return []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGKILL}
	}
	return []unix.Signal{unix.SIGTERM, unix.SIGKILL}
}
