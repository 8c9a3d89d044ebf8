package tui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/internal/outer"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tui/input"
	"github.com/honestty/honestty/tui/panels"
)

// work does what a command asks for, and what comes of that, without waiting.
func (d *desk) work(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.work(c)
		}
	case callsOpenedMsg, callsReadMsg, callDetailMsg, outputMsg, jobsMsg, tailMsg, noteMsg, stepMsg:
		d.work(d.send(msg))
	}
}

// journaled is a desk with a journal in which calls are.
func journaled(t *testing.T, calls ...journal.End) (*desk, *journal.Journal, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "journal")
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, e := range calls {
		record(j, "terminal", e, journal.Source{Kind: "mcp", Agent: "claude-code"})
	}
	d := newDesk(t, deskConfig{cols: 120, rows: 40})
	one(d)
	d.m.w.opt.Journal = dir
	d.opened()
	return d, j, dir
}

// opened reads the journal as the start of a window does.
func (d *desk) opened() {
	d.t.Helper()
	cmd := d.m.openCalls()
	msg, ok := cmd().(callsOpenedMsg)
	if !ok || msg.Err != nil {
		d.t.Fatalf("%+v", msg)
	}
	msg.Follow.Close() // the test tells of calls itself
	read, err := journal.Follow(d.m.w.opt.Journal)
	if err != nil {
		d.t.Fatal(err)
	}
	d.m.w.session.FollowCalls(read)
	for next := d.m.readCalls(msg.Tail); next != nil; {
		part, ok := next().(callsReadMsg)
		if !ok {
			break
		}
		d.send(part)
		if !part.More {
			break
		}
		next = d.m.readCalls(part.Tail)
	}
}

func record(j *journal.Journal, tool string, e journal.End, src journal.Source) {
	j.Begin(journal.Start{Call: e.Call, Tool: tool, Title: e.Call, Args: json.RawMessage(`{"command":"x"}`), Source: src})
	if e.Result == nil {
		e.Result = json.RawMessage(`{"output":"what it wrote\n","exit_code":0}`)
	}
	j.End(e)
}

// tell waits until the session has events and gives them to the window.
func (d *desk) tell() {
	d.t.Helper()
	d.m.w.session.WatchCalls(true)
	deadline := time.After(outer.Patience)
	for {
		select {
		case f := <-d.facts:
			if _, ok := f.(session.CallsChanged); ok {
				d.work(d.send(f))
				return
			}
		case <-deadline:
			d.t.Fatal("no calls came")
		}
	}
}

func TestCallsOfTheJournalAreInTheToolsPanel(t *testing.T) {
	d, j, _ := journaled(t, journal.End{Call: "c-1", Status: outcome.Complete, Summary: "41.2 KB, read to the end", DurationMS: 12100})
	d.typ("\x02T")
	d.contains("claude-code·terminal")
	d.contains("c-1")
	d.contains("41.2 KB, read to the end")
	record(j, "terminal", journal.End{Call: "c-2", Status: outcome.Failed, Error: "exit 7", Summary: "exit 7"}, journal.Source{Kind: "mcp", Agent: "claude-code"})
	d.tell()
	d.contains("c-2")
	d.contains("failed")
}

func TestACallIsReadWholeWhenItIsOpened(t *testing.T) {
	d, _, _ := journaled(t, journal.End{Call: "c-1", Status: outcome.Complete, Summary: "14 B"})
	d.typ("\x02T")
	d.work(d.say(keyMsg{Key: input.Key{Code: input.KeyDown}}))
	d.work(d.say(keyMsg{Key: input.Key{Code: input.KeyEnter}}))
	d.contains("what it wrote")
	d.contains("arguments")
}

func TestAFailedCallIsAnAlertUntilItIsLookedAt(t *testing.T) {
	d, j, _ := journaled(t)
	record(j, "send_message", journal.End{Call: "c-3", Status: outcome.Partial, Error: "1 of 2 sent (1 dropped)"}, journal.Source{Kind: "mcp", Agent: "hermes"})
	d.tell()
	d.contains("hermes send_message: 1 of 2 sent (1 dropped)")
	d.typ("\x02a")
	d.contains("Send")
	if !d.m.shows(d.m.sends) {
		t.Error("another panel is shown")
	}
	if len(d.m.alerts) != 0 {
		t.Errorf("%+v", d.m.alerts)
	}
}

// TestWhatSomebodySeesInAPaneIsNoAlert is about a command that was typed in a
// pane or on another terminal: its end stands there. One of cron stands nowhere.
func TestWhatSomebodySeesInAPaneIsNoAlert(t *testing.T) {
	d, j, _ := journaled(t)
	pane := int(d.m.focused().pane.ID())
	record(j, "terminal", journal.End{Call: "c-4", Status: outcome.Failed, Error: "exit 1"}, journal.Source{Kind: "cli", Window: os.Getpid(), Pane: pane})
	record(j, "terminal", journal.End{Call: "c-5", Status: outcome.Failed, Error: "exit 2"}, journal.Source{Kind: "cli", Window: os.Getpid(), Pane: 999})
	record(j, "terminal", journal.End{Call: "c-6", Status: outcome.Failed, Error: "exit 3"}, journal.Source{Kind: "cli", TTY: true})
	record(j, "send_message", journal.End{Call: "c-7", Status: outcome.Partial, Error: "1 of 2 sent"}, journal.Source{Kind: "cli"})
	for len(d.m.alerts) < 2 {
		d.tell()
	}
	if len(d.m.alerts) != 2 || d.m.alerts[0].call != "c-5" || d.m.alerts[1].call != "c-7" {
		t.Errorf("%+v", d.m.alerts)
	}
}

func TestAFileOfOutputIsReadFromWhereItWasAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.raw")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from int64
		most int
		want string
		at   int64
	}{{0, 4, "0123", 0}, {8, 4, "89", 8}, {10, 4, "", 10}, {12, 4, "", 12}, {panels.FromEnd, 4, "6789", 6}, {panels.FromEnd, 40, "0123456789", 0}} {
		data, at, size, err := readPart(path, c.from, c.most)
		if string(data) != c.want || at != c.at || size != 10 || err != nil {
			t.Errorf("from %d: %q at %d of %d, %v", c.from, data, at, size, err)
		}
	}
	if _, _, _, err := readPart(t.TempDir(), 0, 4); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("a folder: %v", err)
	}
}
