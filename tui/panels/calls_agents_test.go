package panels

import (
	"strings"
	"testing"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// TestAgentsLinesSayTheStateAndFromWhere has one agent in each state at a time.
func TestAgentsLinesSayTheStateAndFromWhere(t *testing.T) {
	owner := journal.Owner{PID: 77, Began: 1}
	from := func(kind, agent string, o journal.Owner) journal.Start {
		return journal.Start{Tool: "terminal", Title: "make", Owner: o, Source: journal.Source{Kind: kind, Agent: agent}}
	}
	for _, c := range []struct {
		name string
		tell func(d *diary)
		asks map[string]string
		want []string
	}{
		{"complete", func(d *diary) { d.run(from("mcp", "codex", owner), journal.End{Status: outcome.Complete}) }, nil, []string{"codex terminal make", "ok now, MCP"}},
		{"running", func(d *diary) { d.begin(from("hook", "hermes", owner)) }, nil, []string{"hermes terminal make", "running 0.00s, hook"}},
		{"several", func(d *diary) { d.begin(from("hook", "hermes", owner)); d.begin(from("hook", "hermes", owner)) }, nil, []string{"2 run, 0.00s, hook"}},
		{"asks", func(d *diary) { d.begin(from("mcp", "codex", owner)) }, map[string]string{"codex": "recursive delete"}, []string{"codex waits for an answer: recursive delete", "asks here"}},
		{
			"waits at the agent", func(d *diary) {
				call := d.begin(from("transcript", "gemini", owner))
				d.event(journal.Event{Progress: &journal.Progress{Call: call, What: journal.WaitsForApproval}})
			}, nil, []string{"gemini waits for approval: terminal make", "transcript"},
		},
		{
			"stale", func(d *diary) {
				d.run(from("transcript", "gemini", owner), journal.End{Status: outcome.Unknown, Error: "stale since 2026-01-02 03:00:00: its transcript was not written to since then"})
			}, nil, []string{"gemini stale since 2026-01-02 03:00:00", "unknown now, transcript"},
		},
		{"gone", func(d *diary) { d.begin(from("hook", "hermes", journal.Owner{})) }, nil, []string{"hermes its end was not recorded", "unknown now, hook"}},
	} {
		d := newDiary()
		c.tell(d)
		p := toolsWith(d)
		p.Waiting(c.asks)
		p.Show(d.b, d.at)
		for _, theme := range []string{"unicode", "plain"} {
			th := unicodeTheme
			if theme == "plain" {
				th = plainTheme
			}
			line := strings.Split(draw(p, 100, 24, th).Text(), "\n")[1]
			for _, want := range c.want {
				if !strings.Contains(line, want) {
					t.Errorf("%s, %s: %q lacks %q", c.name, theme, line, want)
				}
			}
		}
	}
}

func TestACallThatWaitsForAPersonIsNotShownAsRunning(t *testing.T) {
	d := newDiary()
	call := d.begin(journal.Start{Tool: "terminal", Title: "rm -r x", Source: journal.Source{Kind: "cli"}, Owner: journal.Owner{PID: 77, Began: 1}})
	p := toolsWith(d)
	for _, c := range []struct{ what, want string }{
		{journal.WaitsForApproval, "waits"}, {"approved", "running"},
	} {
		d.event(journal.Event{Progress: &journal.Progress{Call: call, What: c.what}})
		p.Show(d.b, d.at)
		text := draw(p, 100, 24, unicodeTheme).Text()
		if !strings.Contains(text, c.want) || !strings.Contains(text, c.what) || strings.Contains(text, "0 "+c.what) {
			t.Errorf("%s:\n%s", c.what, text)
		}
	}
}
