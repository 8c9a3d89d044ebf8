package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
)

// A kit is what every call of a tool needs: settings, the journal, the policy
// of paths, and somebody to ask.
type kit struct {
	app    *app
	poller *fdwait.Poller
	conf   config.Config
	policy safepath.Policy // use it only where homeless is nil
	// homeless is why the user's home is not known. Its protected places are
	// not either: whatever goes by paths is refused then, and commands run.
	homeless error

	journal *journal.Journal // nil where there is none; trouble says why
	trouble error
	caller  tools.Caller
	source  journal.Source
}

// stateDir is a folder of ours for what has to outlive us (XDG base
// directories: state). It is empty where there is no home either.
func stateDir(name string) string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // the XDG rule: a relative path is to be ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "honestty", name)
}

// openKit brings up what calls need. A journal that cannot be opened fails no
// call: it is told with the result.
func (a *app) openKit() (*kit, error) {
	p, err := start() // before any file is opened: see start
	if err != nil {
		return nil, err
	}
	policy, homeless := safepath.Default()
	store, problems := settings("")
	if problems != nil {
		fmt.Fprintln(a.err, "honestty: the settings are not in force: "+oneLine(problems))
	}
	k := &kit{app: a, poller: p, conf: store.Config(), policy: policy, homeless: homeless, source: sourceHere("cli")}
	k.policy.State = ourFolders()
	k.policy.Deny = expandAll(k.conf.Send.Deny)
	k.caller = tools.Caller{LiveDir: stateDir("live"), Ask: a.asker(k.conf.Tools.ApprovalTime)}
	if k.journal, k.trouble = journal.Open(stateDir("journal"), journal.Options{}); k.trouble == nil {
		k.caller.Log = k.journal
	}
	return k, nil
}

// close gives everything back and tells of a journal that lacks something.
func (k *kit) close() {
	if k.journal != nil {
		k.trouble = k.journal.Trouble()
		if err := k.journal.Close(); err != nil {
			k.trouble = err // the last word, and it has what Trouble said
		}
	}
	if k.trouble != nil {
		fmt.Fprintln(k.app.err, "honestty: the journal: "+oneLine(k.trouble))
	}
	if err := sweep(stateDir(""), time.Now()); err != nil && k.trouble == nil { // else it is told already
		fmt.Fprintln(k.app.err, "honestty: old output could not be removed: "+oneLine(err))
	}
	if err := k.poller.Close(); err != nil {
		fmt.Fprintln(k.app.err, "honestty: "+oneLine(err))
	}
}

// ourFolders are where no tool may write or send from.
func ourFolders() []string {
	var out []string
	for _, dir := range []string{stateDir(""), filepath.Dir(config.UserPath(os.Getenv))} {
		if filepath.IsAbs(dir) {
			out = append(out, dir)
		}
	}
	return out
}

// expandAll replaces a leading ~ in paths of the settings.
func expandAll(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = expand(p)
	}
	return out
}

func expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && rest[0] != '/' {
		return path
	}
	return filepath.Join(home, rest)
}

// climbed resolves a path with ".." that a person typed, as the kernel would.
// Agents' paths are refused where they climb; a shell's user means them. What
// cannot be resolved stays, to be refused by its rule.
func climbed(path string) string {
	if !slices.Contains(strings.Split(path, "/"), "..") {
		return path
	}
	from := path
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return path
		}
		from = wd + "/" + path // not joined: that would climb past links
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return path
	}
	return real
}

// sourceHere says where a call of this process comes from.
func sourceHere(kind string) journal.Source {
	s := journal.Source{Kind: kind, PID: os.Getpid(), TTY: isTerminal(os.Stderr)}
	name := filepath.Base(os.Getenv(ctl.SocketVariable))
	if pid, err := strconv.Atoi(strings.TrimSuffix(name, ".sock")); err == nil && pid > 0 {
		s.Window = pid
		s.Pane, _ = strconv.Atoi(os.Getenv(session.PaneVariable)) // 0 is no pane
	}
	return s
}

// request is one call from this process.
func (k *kit) request(params json.RawMessage) tools.Request {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/" // a folder that was removed: relative paths lead nowhere
	}
	return tools.Request{Source: k.source, Dir: dir, Env: os.Environ(), Params: params}
}

// call makes one call of a tool by its name.
func (k *kit) call(ctx context.Context, name string, params json.RawMessage, out io.Writer, report func(done, total int64, what string)) tools.Answer {
	t, err := k.tool(name)
	if err != nil {
		return tools.Answer{Status: outcome.Failed, Err: err, Result: map[string]string{"error": err.Error()}, Summary: err.Error()}
	}
	r := k.request(params)
	r.Output, r.Report = out, report
	_, a := k.caller.Call(ctx, t, r)
	return a
}

// wordsOf takes exactly so many arguments. Another number is wrong use, which
// is told in words of the command.
func wordsOf(n int, ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s", ask)
		}
		return nil
	}
}

// judged turns an answer into the end of a command. With JSON on stdout the
// reason stands there already.
func (k *kit) judged(a tools.Answer, asJSON bool) error {
	if a.Status == outcome.Complete {
		return nil
	}
	if !asJSON && a.Err != nil {
		fmt.Fprintln(k.app.err, "honestty: "+oneLine(a.Err))
	}
	return &codeError{exitNotComplete}
}

// printJSON writes one object on stdout, the one that agents get.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// asker asks the person at the window that this runs in, or at the one opened
// last. Without a window it returns the refusal that says so.
func (a *app) asker(limit time.Duration) func(context.Context, journal.Start, tools.Question) error {
	return func(ctx context.Context, s journal.Start, q tools.Question) error {
		c, err := ctl.Dial(a.ctlEnv(), "")
		if errors.Is(err, ctl.ErrNoWindow) {
			return fmt.Errorf("%s: %w", q.Rule, tools.ErrNobodyToAsk)
		}
		if err != nil {
			return &outcome.RefusedError{Rule: q.Rule + ": the window could not be asked: " + oneLine(err)}
		}
		defer c.Close()
		var r ctl.AskResult
		p := ctl.AskParams{
			Tool: s.Tool, From: s.Source.Agent, Rule: strings.ToValidUTF8(q.Rule, "\uFFFD"),
			Detail: strings.ToValidUTF8(q.Detail, "\uFFFD"), TimeoutMS: limit.Milliseconds(),
		}
		err = c.Call(ctx, ctl.MethodAsk, p, &r)
		switch {
		case err != nil:
			return &outcome.RefusedError{Rule: q.Rule + ": the window did not answer: " + oneLine(err)}
		case !r.Allowed:
			return &outcome.RefusedError{Rule: q.Rule + ": " + r.Why}
		}
		return nil
	}
}

// redactBytes replaces secrets in output.
func redactBytes(b []byte) ([]byte, int) { return redact.Bytes(b) }
