package panels

import (
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
)

const (
	// maxAgents is how many agents have a line of their own, and agentCalls how
	// many of the newest calls are looked at for them.
	maxAgents, agentCalls = 3, 500

	// agentQuiet is how long an agent has a line after its last call.
	agentQuiet = time.Hour

	// roomForAgents is from how many rows on the lines are shown.
	roomForAgents = 14

	// roomForSource is from how many columns on they say where from.
	roomForSource = 60
)

// An agentLine is one agent and what it does now.
type agentLine struct {
	name    string
	call    journal.Record // the running one, else the last
	running int
}

// Waiting says which agents wait for an answer of the person at this window, and
// for what. An agent without a name is called by its tool.
func (p *Tools) Waiting(rules map[string]string) { p.waits = rules }

// readAgents finds those that made a call lately, the one with the newest call
// first.
func (p *Tools) readAgents() {
	var out []agentLine
	at := map[string]int{}
	for i := range min(p.book.Len(), agentCalls) {
		r := p.book.At(i)
		name := r.Start.Source.Agent
		if name == "" || p.now.Sub(r.Started) > agentQuiet && r.State() != journal.Running {
			continue
		}
		n, known := at[name]
		if !known {
			n = len(out)
			at[name] = n
			out = append(out, agentLine{name: name, call: r})
		}
		if r.State() == journal.Running {
			if out[n].running == 0 {
				out[n].call = r
			}
			out[n].running++
		}
		if len(out) == maxAgents+1 {
			break // there is no room for more
		}
	}
	p.agents = out[:min(len(out), maxAgents)]
}

// drawAgents writes a line for each agent and returns how many rows it took.
func (p *Tools) drawAgents(c canvas, x, y, w, h int) int {
	if h < roomForAgents || w < 30 {
		return 0
	}
	for i, a := range p.agents {
		m, said, when := p.agentState(c, a, w >= roomForSource)
		st := c.th.Dim
		switch {
		case m.word == waitsWord:
			st = c.th.Attention
		case a.running > 0:
			st = c.th.Text
		}
		at := x
		if !c.th.Plain {
			at += c.s.SetText(at, y+i, 2, m.glyph+" ", m.st)
		}
		at += c.text(at, y+i, min(wideTool, w/2), screen.Visible(a.name), c.th.HintKey)
		room := x + w - at - screen.Width(when) - 2
		if room > minTool {
			c.text(at+1, y+i, room, said, st)
		}
		c.right(x+w, y+i, w/2, when, c.th.Dim)
	}
	n := len(p.agents)
	if n > 0 && !c.th.Plain { // a row between them and the calls
		for col := range w {
			c.s.SetText(x+col, y+n, 1, c.th.Glyphs.Horizontal, c.th.Border)
		}
		n++
	}
	return n
}

// waitsWord is the state of an agent, and of a call, that needs a person.
const waitsWord = "waits"

// waitsForApproval reports whether a call waits for a person: at this window, or
// at the agent's own.
func waitsForApproval(r journal.Record) bool {
	return r.State() == journal.Running && r.Progress != nil && r.Progress.What == journal.WaitsForApproval
}

// sourceWords say in one word from where a state is known.
var sourceWords = map[string]string{"mcp": "MCP", "hook": "hook", "transcript": "transcript"}

// agentState is the state of an agent, what it is about, and in words since
// when it is so and from where that is known. A state that nobody can tell says
// why.
func (p *Tools) agentState(c canvas, a agentLine, sourced bool) (m stateMark, said, when string) {
	r := a.call
	m = c.callMark(r)
	said = r.Start.Tool + " " + displayLine(callTitle(r))
	age := p.now.Sub(r.Started)
	rule, asks := p.waits[a.name]
	switch {
	case asks:
		m.word = waitsWord
		said, when = "waits for an answer: "+screen.Visible(rule), "asks here"
		return m, said, when
	case waitsForApproval(r):
		said, when = "waits for approval: "+said, outcome.Duration(age)
	case a.running > 1:
		when = outcome.Count(int64(a.running)) + " run, " + outcome.Duration(age)
	case a.running > 0:
		when = m.word + " " + outcome.Duration(age)
	default:
		when = m.word + " " + ago(age)
	}
	if r.State() == journal.Unknown {
		why := r.Why()
		if r.End != nil {
			why = r.End.Error
		}
		if why = strings.TrimPrefix(why, "unknown: "); why != "" {
			said = displayLine(why) + ": " + said
		}
	}
	if source := sourceWords[r.Start.Source.Kind]; sourced && source != "" {
		when += ", " + source
	}
	return m, said, when
}
