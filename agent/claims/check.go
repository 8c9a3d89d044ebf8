package claims

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// The names of the checks, as cards show them.
const (
	nameEnd         = "end of output"
	nameExit        = "exit code"
	nameSize        = "file size"
	nameFile        = "file is there"
	nameAudio       = "audio decodes"
	nameAttachments = "attachments"
	nameDirective   = "no media directive in a path"
	nameProcess     = "process runs"
)

// maxChecks bounds how many things of one result are looked at.
const maxChecks = 32

// A looking is one run of the checks of a call.
type looking struct {
	d    Deps
	ctx  context.Context
	call Call
	res  Result
	said said
	out  []journal.Check

	guesses int // paths of a message that were looked for
}

func (d Deps) check(ctx context.Context, c Call, r Result, s said, status outcome.Status) []journal.Check {
	l := &looking{d: d, ctx: ctx, call: c, res: r, said: s}
	k := kindOf(c.Tool)
	if k == send && status != outcome.Refused && status != outcome.Cancelled {
		l.attachments()
	}
	if status == outcome.Complete || status == outcome.Unknown && k == shell && r.Missing == "" {
		l.directives()
		switch k {
		case shell:
			l.command()
		case read:
			l.fileRead()
		case write:
			l.filesWritten()
		case speak:
			l.speech()
		case process:
			l.processes()
		}
	}
	return l.out
}

// add appends one check. What is beyond the bound is told once.
func (l *looking) add(name, claimed, seen string, verdict outcome.Status) {
	switch {
	case len(l.out) < maxChecks:
		l.out = append(l.out, journal.Check{Name: name, Claimed: oneLine(claimed), Seen: oneLine(seen), Verdict: verdict})
	case len(l.out) == maxChecks:
		l.out = append(l.out, journal.Check{Name: "more", Claimed: "more than this was claimed", Seen: "not looked at", Verdict: outcome.Unknown})
	}
}

// full reports whether nothing more is to be looked at.
func (l *looking) full() bool { return len(l.out) > maxChecks || l.ctx.Err() != nil }

// command checks what the result of a command leaves open.
func (l *looking) command() {
	s := l.said
	if background(s) {
		if s.pid > 0 {
			l.process("started in the background", journal.Owner{PID: s.pid}, time.Time{}, false)
		}
		return
	}
	switch {
	case captured(s) != "":
		state := captured(s)
		v := outcome.Complete
		if state != outcome.StateComplete.String() && state != outcome.StateTruncated.String() {
			v = outcome.Failed
		}
		l.add(nameEnd, "a success", "output "+state, v)
	case s.output == nil || strings.TrimSpace(*s.output) == "":
		l.add(nameEnd, "no output", "nothing proves that the output was read to its end", outcome.Unknown)
	default:
		l.add(nameEnd, outcome.CountBytes(int64(len(*s.output)))+" of output", "nothing proves that no more was to come", outcome.Unknown)
	}
	if s.exit == nil && captured(s) == "" {
		l.add(nameExit, "no failure", "the record carries no exit code", outcome.Unknown)
	}
}

// captured is the state of the output in a result of ours; empty in others.
func captured(s said) string {
	state, _ := field(object(s.object["capture"]), "state")
	return state
}

// directives looks for a path that a reader of the result would take for a
// media directive. The path itself is never repeated.
func (l *looking) directives() {
	args := l.call.args()
	forged := 0
	for _, o := range []map[string]json.RawMessage{l.said.object, args} {
		for _, p := range pathsOf(o) {
			if len(safepath.LooseDirectives(p)) > 0 || len(safepath.Directives(p)) > 0 {
				forged++
			}
		}
	}
	if tag, ok := field(l.said.object, "media_tag"); ok && kindOf(l.call.Tool) == speak {
		forged += l.strangers(tag)
	}
	if forged > 0 {
		l.add(nameDirective, "a path", "text that a sender takes for an attachment", outcome.Failed)
	}
}

// strangers counts the directives of a media tag that name none of the files
// of the result.
func (l *looking) strangers(tag string) int {
	mine := map[string]bool{}
	for _, p := range spoken(l.said.object) {
		mine[p] = true
	}
	n := 0
	for _, d := range safepath.Directives(tag) {
		if !mine[d.Path] {
			n++
		}
	}
	return n
}

// pathKeys are the fields of arguments and results that hold one path.
var pathKeys = []string{"path", "file_path", "filePath", "output_path", "resolved_path", "full_output_path", "notebook_path", "spill"}

// pathsOf are the paths that an object carries.
func pathsOf(o map[string]json.RawMessage) []string {
	var out []string
	for _, key := range pathKeys {
		if p, ok := field(o, key); ok && p != "" {
			out = append(out, p)
		}
	}
	for _, key := range []string{"file_paths", "files_modified", "files_created", "files"} {
		out = append(out, list(o[key])...)
	}
	if p, ok := field(object(o["file"]), "filePath"); ok && p != "" {
		out = append(out, p)
	}
	return out
}

// processes checks what a list of jobs says of those that run.
func (l *looking) processes() {
	var jobs []map[string]json.RawMessage
	if json.Unmarshal(l.said.object["processes"], &jobs) != nil || len(jobs) == 0 {
		jobs = []map[string]json.RawMessage{l.said.object}
	}
	for _, job := range jobs {
		if l.full() {
			return
		}
		status, _ := field(job, "status")
		pid, ok := number(job, "pid")
		if status != "running" || !ok || pid <= 0 {
			continue
		}
		var since time.Time
		var up float64
		if json.Unmarshal(job["uptime_seconds"], &up) == nil && up > 0 && up < 1e9 && !l.res.Ended.IsZero() {
			since = l.res.Ended.Add(-time.Duration(up * float64(time.Second)))
		}
		owner := journal.Owner{PID: int(pid)}
		if began, ok := number(job, "host_start_time"); ok && began > 0 {
			owner.Began = uint64(began)
		}
		l.process("running", owner, since, true)
	}
}

// pidSpan is how long after the end of a call a missing process still counts
// against it: later it may have ended by itself.
const pidSpan = 2 * time.Second

// process looks for one process. A running one was seen by the agent a moment
// ago, so that its absence contradicts; one that was only started may be done.
func (l *looking) process(claimed string, o journal.Owner, since time.Time, running bool) {
	claim := fmt.Sprintf("%s, pid %d", claimed, o.PID)
	if l.d.Elsewhere != "" {
		l.add(nameProcess, claim, "not looked for: "+l.d.Elsewhere, outcome.Unknown)
		return
	}
	was := l.d.now().Sub(l.res.Ended)
	fresh := !l.res.Ended.IsZero() && was <= pidSpan
	switch {
	case !o.Gone() && !startedAfter(o.PID, since):
		l.add(nameProcess, claim, "there is such a process", outcome.Complete)
	case running && !o.Gone():
		l.add(nameProcess, claim, "another process has that number now: it was started later", outcome.Failed)
	case !running:
		l.add(nameProcess, claim, "it has ended", outcome.Unknown)
	case !fresh:
		l.add(nameProcess, claim, "no such process now; it may have ended since", outcome.Unknown)
	default:
		l.add(nameProcess, claim, "no such process", outcome.Failed)
	}
}
