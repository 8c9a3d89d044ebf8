package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/panels"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// What the panel of calls is given, and what one step in it may cost.
const (
	panelCalls  = 100_000
	panelTarget = 50 // ms of CPU
)

// book is what a window has of its journal after a long time: every third call
// is an agent's, every fiftieth failed, one still runs.
func book(n int) *journal.Book {
	b := journal.NewBook(0)
	seq, at := int64(0), time.Now().Add(-time.Duration(n)*time.Second)
	add := func(e journal.Event) {
		seq++
		e.Seq, e.At = seq, at
		b.Add([]journal.Event{e})
	}
	tools := []string{"terminal", "read_file", "process", "send_message"}
	for i := range n {
		call := fmt.Sprintf("call-%07d", i)
		s := journal.Start{
			Call: call, Tool: tools[i%len(tools)], Source: journal.Source{Kind: "cli"},
			Title: fmt.Sprintf("go test ./internal/package%d/... -run TestNumber%d", i%977, i),
		}
		if i%3 == 0 {
			s.Source = journal.Source{Kind: "hook", Agent: []string{"hermes", "codex"}[i%2], Session: "s", Dir: "/srv/app"}
		}
		add(journal.Event{Start: &s})
		at = at.Add(time.Second)
		if i == n-1 {
			return b
		}
		e := journal.End{Call: call, Status: outcome.Complete, Summary: fmt.Sprintf("output complete (%d bytes)", i), DurationMS: int64(i)}
		if i%50 == 0 {
			e.Status, e.Error = outcome.Failed, "exit 1"
		}
		add(journal.Event{End: &e})
	}
	return b
}

// callPanel measures the panel of calls at the size that is promised: each step
// with the frame that shows it.
func callPanel(o options) error {
	b, s, th := book(panelCalls), screen.New(80, 24, screen.Caps{UTF8: true}), theme.New(theme.Options{UTF8: true})
	now := time.Now()
	steps := []struct {
		name string
		do   func(p *panels.Tools)
	}{
		{"open", func(*panels.Tools) { (&panels.Tools{}).Show(b, now) }},
		{"filter: failed", func(p *panels.Tools) { p.Key("f") }},
		{"filter: one tool", func(p *panels.Tools) { p.Key("t") }},
		{"filter: a text", func(p *panels.Tools) { p.Key("/"); p.Paste("number99") }},
		{"to the last", func(p *panels.Tools) { p.Key("G") }},
		{"nothing new", func(p *panels.Tools) { p.Show(b, now) }},
	}
	rounds := pick(o, 9, 3)
	fmt.Printf("\nPanel of %d calls: ms of CPU for a step and its frame, median of %d\n", panelCalls, rounds)
	for _, step := range steps {
		var ms []float64
		for range rounds {
			p := &panels.Tools{}
			p.Show(b, now)
			p.Draw(s, 0, 0, 80, 24, true, th)
			runtime.GC()
			before := cpuTime()
			step.do(p)
			p.Draw(s, 0, 0, 80, 24, true, th)
			ms = append(ms, float64(cpuTime()-before)/float64(time.Millisecond))
		}
		fmt.Printf("  %-18s %6.2f   target ≤ %d\n", step.name, median(ms), panelTarget)
	}
	return nil
}
