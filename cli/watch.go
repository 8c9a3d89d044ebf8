package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/agent/transcript"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
)

// A watchCall is one run of watch.
type watchCall struct {
	app    *app
	agent  string
	latest bool
	list   bool
	new    bool
	once   bool
	json   bool
	limit  int

	journal *journal.Journal
	mu      sync.Mutex // one line at a time
	running map[string]journal.Start
	bad     bool // something could not be read
}

func (a *app) cmdWatch() *cobra.Command {
	w := &watchCall{app: a, running: map[string]journal.Start{}}
	cmd := &cobra.Command{
		Use:   "watch [flags] [PATH...]",
		Short: "Follow what agents do, from their own transcripts",
		Long: `watch follows transcripts of Claude Code, Codex and Gemini, prints a line for
each call of a tool when it ends, and records the calls in the journal, with a
look at what their results claim. It only reads. What a transcript does not
prove is shown as unknown.

Without PATH it follows every session that was written to in the last ten
minutes, and new ones as they come. It goes on until it is interrupted; the next
run goes on from there.

Success means that all of it could be read. It exits with 1 when records were
torn, too long or of unknown kinds, or the journal lacks something, and with 2 on
wrong use.`,
		Example: "  honestty watch --latest\n  honestty watch --list --agent codex",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return w.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&w.agent, "agent", "", "only this agent: "+strings.Join(transcript.Agents, ", "))
	f.BoolVar(&w.latest, "latest", false, "only the session that was written to last")
	f.BoolVar(&w.list, "list", false, "list the sessions, the one written to last first, and end")
	f.BoolVar(&w.new, "new", false, "pass over what a session already has")
	f.BoolVar(&w.once, "once", false, "end at the end of the transcripts")
	f.BoolVar(&w.json, "json", false, "print one JSON object a call, or a session")
	f.IntVarP(&w.limit, "limit", "n", 20, "list at most so many sessions; 0: all")
	return cmd
}

func (w *watchCall) run(ctx context.Context, paths []string) error {
	switch {
	case w.agent != "" && !slices.Contains(transcript.Agents, w.agent):
		return usagef("there is no transcript of an agent called %q; there are %s", w.agent, strings.Join(transcript.Agents, ", "))
	case len(paths) > 0 && (w.latest || w.list):
		return usagef("a PATH and --latest or --list exclude each other")
	case len(paths) > maxFollowed:
		return usagef("%d transcripts are more than the %d that can be followed at once", len(paths), maxFollowed)
	case w.limit < 0:
		return usagef("--limit must not be negative")
	case w.list:
		return w.listSessions()
	}
	var sessions []transcript.Session
	for _, p := range paths {
		s, err := transcript.At(p, w.agent)
		if err != nil {
			return err
		}
		sessions = append(sessions, s)
	}
	if w.latest {
		found, err := w.find()
		if len(found) == 0 {
			return errors.Join(err, errors.New("there is no transcript to follow"))
		}
		sessions = found[:1]
	}
	if stateDir("") == "" {
		return errors.New("watch transcripts: there is no home to keep the journal in")
	}
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	// A journal that cannot be opened takes every event and says why it is lost.
	w.journal, _ = journal.Open(stateDir("journal"), journal.Options{})
	err = w.follow(ctx, sessions)
	if trouble := errors.Join(w.journal.Trouble(), w.journal.Close()); trouble != nil {
		fmt.Fprintln(w.app.err, "honestty: the journal: "+oneLine(trouble))
		w.bad = true
	}
	if err == nil && w.bad {
		return &codeError{exitNotComplete}
	}
	return err
}

// find lists the sessions of this user.
func (w *watchCall) find() ([]transcript.Session, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find transcripts: %w", err)
	}
	found, err := transcript.RootsOf(home, os.Getenv).Find()
	if w.agent != "" {
		found = slices.DeleteFunc(found, func(s transcript.Session) bool { return s.Agent != w.agent })
	}
	return found, err
}

// A sessionJSON is a session in a list.
type sessionJSON struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Parent  string    `json:"parent,omitempty"`
	Dir     string    `json:"dir"`
	Path    string    `json:"path"`
	Changed time.Time `json:"changed"`
	Size    int64     `json:"size"`
}

func (w *watchCall) listSessions() error {
	found, err := w.find()
	if w.limit > 0 {
		found = found[:min(len(found), w.limit)]
	}
	for _, s := range found {
		var perr error
		if w.json {
			perr = w.app.printJSON(sessionJSON{s.Agent, s.ID, s.Parent, s.Dir, s.Path, s.Changed, s.Size})
		} else {
			_, perr = fmt.Fprintf(w.app.out, "%s  %-11s  %9s  %s  %s\n", s.Changed.Local().Format("2006-01-02 15:04:05"),
				s.Agent, outcome.Size(s.Size), screen.Visible(first(s.Dir, "(directory unknown)")), screen.Visible(s.Path))
		}
		if perr != nil {
			return fmt.Errorf("write the list: %w", perr)
		}
	}
	if len(found) == 0 && err == nil {
		fmt.Fprintln(w.app.err, "honestty: no transcripts")
	}
	return err
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

const (
	// lively is how long ago a session may have been written to, to be
	// followed without being named.
	lively = 10 * time.Minute

	// letGo is after how long without a word a session that was not named is
	// not followed any more: later than its open calls count as stale.
	letGo = lively + time.Minute

	// searchPause is the time between two looks for new sessions.
	searchPause = 2 * time.Second

	// maxFollowed bounds how many are followed at once: each costs a
	// descriptor or two and a look at a file four times a second.
	maxFollowed = 64
)

// follow follows the sessions, or those that live, until ctx ends. It returns
// when all followers did.
func (w *watchCall) follow(ctx context.Context, sessions []transcript.Session) error {
	f := &followers{w: w, stops: map[string]context.CancelFunc{}}
	defer f.all.Wait()
	if named := len(sessions) > 0; named || w.once {
		f.keep = true
		if !named {
			f.look(ctx)
		}
		for _, s := range sessions {
			f.start(ctx, s)
		}
		f.all.Wait()
		return errors.Join(f.errs...)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.look(ctx)
	t := time.NewTicker(searchPause)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			f.look(ctx)
		}
	}
}

// followers are the goroutines that follow, one a session.
type followers struct {
	w     *watchCall
	all   sync.WaitGroup
	stops map[string]context.CancelFunc // by the path of the transcript
	keep  bool                          // errors are for the end and not told at once
	errs  []error                       // guarded by w.mu
	full  bool                          // it was told that there are too many
	blind string                        // what could not be read, as it was told last
}

func (f *followers) start(ctx context.Context, s transcript.Session) {
	ctx, stop := context.WithCancel(ctx)
	f.stops[s.Path] = stop
	f.all.Go(func() {
		switch err := f.w.followOne(ctx, s); {
		case err == nil:
		case f.keep:
			f.w.mu.Lock()
			defer f.w.mu.Unlock()
			f.errs = append(f.errs, err)
		default:
			f.w.complain(err)
		}
	})
}

// look starts to follow the sessions that live, and lets go of those that do
// not: one that is written to again is followed from where it was left.
func (f *followers) look(ctx context.Context) {
	found, err := f.w.find()
	if err != nil && err.Error() != f.blind {
		f.blind = err.Error()
		f.w.complain(err)
	}
	quiet := map[string]time.Duration{}
	for _, s := range found {
		quiet[s.Path] = time.Since(s.Changed)
	}
	for path, stop := range f.stops {
		if d, there := quiet[path]; d > letGo || !there && err == nil {
			stop()
			delete(f.stops, path)
		}
	}
	for _, s := range found {
		if f.stops[s.Path] != nil || quiet[s.Path] > lively {
			continue
		}
		if len(f.stops) >= maxFollowed {
			if !f.full {
				f.full = true
				f.w.complain(fmt.Errorf("more than %d sessions are written to at once: only %d are followed", maxFollowed, maxFollowed))
			}
			return
		}
		f.start(ctx, s)
	}
}

func (w *watchCall) complain(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = true
	fmt.Fprintln(w.app.err, "honestty: "+oneLine(err))
}

func (w *watchCall) followOne(ctx context.Context, s transcript.Session) error {
	w.mu.Lock()
	fmt.Fprintf(w.app.err, "honestty: following %s in %s: %s\n", s.Agent, screen.Visible(first(s.Dir, "an unknown directory")), screen.Visible(s.Path))
	w.mu.Unlock()
	var counts transcript.Counts
	o := transcript.Options{
		Cursors: stateDir("transcripts"), New: w.new, Once: w.once, Claims: claimDeps(func(string) string { return "" }),
		Counts: func(c transcript.Counts) { counts = c },
	}
	err := transcript.Follow(ctx, s, (*watchSink)(w), o)
	if missed := missedText(counts); missed != "" {
		w.complain(fmt.Errorf("%s: %s", filepath.Base(s.Path), missed))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(s.Path), err)
	}
	return nil
}

// missedText says what of a transcript could not be understood; empty when all
// of it was.
func missedText(c transcript.Counts) string {
	var parts []string
	add := func(n int64, one, many, more string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one+more)
		case n > 1:
			parts = append(parts, outcome.Count(n)+" "+many+more)
		}
	}
	add(c.Torn, "line that is no record", "lines that are no records", "")
	add(c.TooLong, "record", "records", " longer than "+outcome.Size(transcript.MaxLine))
	var strange int64
	var names []string
	for name, n := range c.Strange {
		strange += n
		names = append(names, name)
	}
	slices.Sort(names)
	add(strange, "record of an unknown kind", "records of unknown kinds", " ("+strings.Join(names, ", ")+")")
	add(c.Orphans, "result of a call whose beginning is not there", "results of calls whose beginning is not there", "")
	add(c.Forgot, "open call too many", "open calls too many", "")
	return screen.Visible(strings.Join(parts, ", "))
}

// watchSink journals calls and prints those that ended.
type watchSink watchCall

func (s *watchSink) Begin(b journal.Start) {
	s.journal.Begin(b)
	s.Resumed(b)
}

// Resumed takes a call that an earlier run journaled the beginning of.
func (s *watchSink) Resumed(b journal.Start) {
	b.Args = nil // the journal has them; a line does not
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[b.Call] = b
}

func (s *watchSink) Progress(p journal.Progress) { s.journal.Progress(p) }

func (s *watchSink) End(e journal.End) {
	s.journal.End(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.running[e.Call]
	delete(s.running, e.Call)
	now := time.Now()
	r := journal.Record{Started: now, Ended: now, Start: b, End: &e}
	if s.json {
		if s.app.printJSON(recordJSON(r)) != nil {
			s.bad = true
		}
		return
	}
	line := recordLine(r)
	for _, c := range e.Checks {
		if c.Verdict == outcome.Failed {
			line += screen.Visible(fmt.Sprintf("  [%s: claimed %s; seen %s]", c.Name, c.Claimed, c.Seen))
		}
	}
	if _, err := fmt.Fprintln(s.app.out, line); err != nil {
		s.bad = true
	}
}
