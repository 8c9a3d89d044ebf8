package panels

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/theme"
)

// Jobs is the panel of background jobs: one card a job, those that run first,
// or the end of one job's output. The zero value has read nothing.
//
// After each Show and TakeJob the window asks Wants what has to be read.
type Jobs struct {
	jobs []jobhost.Job // as they are listed: running before ended, newest first
	read bool
	err  error // why the list could not be read; jobs are then those before
	now  time.Time
	held map[int]int64 // descriptors by pid

	rows   []jobhost.Job // those that pass the filter
	filter string
	prompt textPrompt
	list   cardList
	width  int
	note   string

	// looked are the jobs whose bad end was in view, or is older than this
	// panel.
	looked map[string]bool
	fresh  map[string]bool // came in above the top and were not in view yet

	open *jobTail // the job whose output is shown; nil for the list
}

// Name returns the name on the tab.
func (p *Jobs) Name() string { return "Jobs" }

// Badge counts running jobs and points at one that ended badly since somebody
// looked.
func (p *Jobs) Badge() Badge {
	var b Badge
	for _, j := range p.jobs {
		if j.Running && !j.Detached {
			b.Count++
		}
		if s := jobState(j); bad(s) && !p.looked[j.ID] && (b.Word == "" || s == theme.Lost) {
			b.Word, b.State = s.Word(), s
		}
	}
	if p.err != nil && b.Word == "" {
		b.Word, b.State = theme.Stale.Word(), theme.Stale
	}
	return b
}

func bad(s theme.State) bool { return s == theme.Lost || s == theme.Failed }

// Show takes the jobs as they are now, or why nobody could tell. Those of
// before stay on show then, as stale.
func (p *Jobs) Show(jobs []jobhost.Job, err error, now time.Time) {
	p.now, p.err = now, err
	if err != nil && !errors.Is(err, jobhost.ErrNoHost) {
		return
	}
	first := !p.read
	p.read, p.err = true, nil
	p.jobs = slices.Clone(jobs)
	slices.SortStableFunc(p.jobs, jobOrder)
	if p.looked == nil {
		p.looked = map[string]bool{}
	}
	was := p.looked
	p.looked = map[string]bool{}
	for _, j := range p.jobs {
		if first && bad(jobState(j)) || was[j.ID] {
			p.looked[j.ID] = true
		}
	}
	p.filtered(false)
	if p.open != nil {
		p.open.show(p.jobs)
	}
}

// SetDescriptors takes how many descriptors processes hold, by pid. A pid that
// is not in the map is not known.
func (p *Jobs) SetDescriptors(held map[int]int64) { p.held = held }

// jobOrder puts running jobs first and the newest of each kind on top.
func jobOrder(a, b jobhost.Job) int {
	rank := func(j jobhost.Job) int {
		if j.Running {
			return 0
		}
		return 1
	}
	when := func(j jobhost.Job) time.Time {
		if j.Running || j.Ended.IsZero() {
			return j.Started
		}
		return j.Ended
	}
	return cmp.Or(rank(a)-rank(b), when(b).Compare(when(a)), cmp.Compare(b.ID, a.ID))
}

// filtered makes the rows anew. With another filter the list begins at its top.
func (p *Jobs) filtered(other bool) {
	old := p.rows
	low := lowerASCII(p.filter)
	p.rows = make([]jobhost.Job, 0, len(p.jobs))
	for _, j := range p.jobs {
		if low == "" || slices.ContainsFunc([]string{j.Command, j.ID, j.Dir, jobWord(j), j.LastError}, func(s string) bool {
			return findASCII(s, low) >= 0
		}) {
			p.rows = append(p.rows, j)
		}
	}
	if other {
		p.fresh = nil
		id, picked := p.list.id, p.list.picked
		p.list.follow()
		if i := p.index(id); picked && i >= 0 {
			p.list.pick(p, i)
		}
		return
	}
	p.list.changed(p, p.index)
	p.count(old)
}

// count remembers the jobs that came in above the top.
func (p *Jobs) count(old []jobhost.Job) {
	if p.list.top == 0 {
		p.fresh = nil
		return
	}
	for _, j := range p.rows[:min(p.list.top, len(p.rows))] {
		if !slices.ContainsFunc(old, func(o jobhost.Job) bool { return o.ID == j.ID }) {
			if p.fresh == nil {
				p.fresh = map[string]bool{}
			}
			p.fresh[j.ID] = true
		}
	}
}

func (p *Jobs) newAbove() int {
	n := 0
	for _, j := range p.rows[:min(p.list.top, len(p.rows))] {
		if p.fresh[j.ID] {
			n++
		}
	}
	return n
}

func (p *Jobs) index(id string) int {
	return slices.IndexFunc(p.rows, func(j jobhost.Job) bool { return j.ID == id })
}

// length, cardID and cardRows are what the list lists.
func (p *Jobs) length() int         { return len(p.rows) }
func (p *Jobs) cardID(i int) string { return p.rows[i].ID }
func (p *Jobs) cardRows(i int) int {
	rows := 1
	if p.width < jobTable {
		rows++
	}
	if p.width < narrow {
		rows++
	}
	return rows + len(p.remarks(p.rows[i], p.width))
}

// remarks are the rows of a job below its figures: why it ended badly, its last
// line that looks like a failure, what is not known of its output. In a table
// its exit stands there too.
func (p *Jobs) remarks(j jobhost.Job, w int) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, displayLine(s))
		}
	}
	add(j.Error)
	exit := ""
	if w >= jobTable {
		exit = exitText(j)
	}
	if exit != "" && j.LastError != "" {
		exit += ": "
	}
	add(exit + j.LastError)
	if !j.Running && j.Output != outcome.StateComplete && j.Output != outcome.StateTruncated && j.Output != outcome.StateNotStarted {
		add(j.Sentence)
	}
	if j.Detached && j.Running {
		add("its host is gone: no input, no more output")
	}
	return out
}

// selected is the job that keys are about: the open one or the selected one.
func (p *Jobs) selected() (jobhost.Job, bool) {
	switch {
	case p.open != nil:
		return p.open.job, true
	case p.list.picked && p.list.at < len(p.rows):
		return p.rows[p.list.at], true
	}
	return jobhost.Job{}, false
}

// descriptors is how many a job's process holds: "?" where that is not known,
// nothing where there is no process.
func (p *Jobs) descriptors(j jobhost.Job) string {
	if !j.Running {
		return ""
	}
	if n, ok := p.held[j.PID]; ok {
		return outcome.Count(n)
	}
	if j.Descriptors != nil { // as its host counted them
		return outcome.Count(*j.Descriptors)
	}
	return "?"
}

// jobState is a job's state as the window shows it. Exit 0 says nothing about
// an output that was not read to its end.
func jobState(j jobhost.Job) theme.State {
	switch {
	case j.Running && j.Detached:
		return theme.Detached
	case j.Running:
		return theme.Running
	case j.State == "lost":
		return theme.Lost
	case j.State == "failed_start":
		return theme.Failed
	case j.State != "exited" && j.State != "killed":
		return theme.Unknown
	case j.Output == outcome.StateLost:
		return theme.Lost
	case j.State == "killed":
		return theme.Stale // drawn by its own word
	case j.Signal != "" || j.ExitCode != nil && *j.ExitCode != 0:
		return theme.Failed
	case j.ExitCode == nil:
		return theme.Unknown
	case j.Output == outcome.StateDetached:
		return theme.Detached
	case j.Output == outcome.StateUnknown:
		return theme.Unknown
	}
	return theme.Complete
}

// jobWord is the word of a job's state.
func jobWord(j jobhost.Job) string {
	s := jobState(j)
	if s == theme.Stale {
		return "killed"
	}
	return s.Word()
}

func (c canvas) jobMark(j jobhost.Job) stateMark {
	s := jobState(j)
	if s == theme.Stale {
		return c.quiet("killed")
	}
	return c.mark(s, "")
}
