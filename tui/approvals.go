package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/picker"
)

// questionsKept is how many tools may wait for an answer at once: more than a
// person reads is somebody who tires them out.
const questionsKept = 20

// A question is a tool that waits for the person at the window.
type question struct {
	asked ctl.AskParams
	until time.Time
	reply chan ctl.AskResult // has room for the one answer
	shown *dialog            // nil until it was its turn
}

// Ask puts a question on the screen and waits for its answer. Questions are
// shown one after the other; each has its own time, from when it was asked.
func (r remote) Ask(ctx context.Context, p ctl.AskParams) (ctl.AskResult, error) {
	limit := time.Duration(p.TimeoutMS) * time.Millisecond
	q := &question{asked: p, until: time.Now().Add(limit), reply: make(chan ctl.AskResult, 1)}
	if err := r.in(ctx, func(m *Model) tea.Cmd { return m.queue(q) }); err != nil {
		return ctl.AskResult{}, err
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case a := <-q.reply:
		return a, nil
	case <-t.C:
	case <-ctx.Done():
		// The caller has gone or the window closes. Nobody hears an answer, so
		// none is waited for: a Model that has ended gives none.
		r.w.program.Send(callMsg{func(m *Model) tea.Cmd {
			m.dirty = true
			return m.settle(q, ctl.AskResult{Why: "nobody waits for the answer any more"})
		}})
		return ctl.AskResult{}, ctx.Err()
	}
	// Perhaps it was answered meanwhile, so the Model has the last word.
	err := r.in(ctx, func(m *Model) tea.Cmd {
		return m.settle(q, ctl.AskResult{Why: "nobody answered within " + outcome.Duration(limit)})
	})
	if err != nil {
		return ctl.AskResult{}, err
	}
	return <-q.reply, nil
}

// queue shows a question, or keeps it until what is open is closed.
func (m *Model) queue(q *question) tea.Cmd {
	if len(m.questions) >= questionsKept {
		q.reply <- ctl.AskResult{Why: "too many questions wait for an answer already"}
		return nil
	}
	m.questions = append(m.questions, q)
	return tea.Batch(m.nextQuestion(), m.panelsChanged())
}

// nextQuestion shows the oldest question unless a dialog is open.
func (m *Model) nextQuestion() tea.Cmd {
	if m.dialog != nil || len(m.questions) == 0 {
		return nil
	}
	q := m.questions[0]
	who := q.asked.Tool
	if q.asked.From != "" {
		who += ", called by " + q.asked.From + ","
	}
	q.shown = &dialog{
		Dialog: &picker.Approval{
			Question: who + " wants to do this", Rule: q.asked.Rule, Detail: q.asked.Detail,
			Until: q.until.Format("15:04:05"),
		},
		chosen: func(r picker.Result) tea.Cmd {
			a := ctl.AskResult{Allowed: r.ID == picker.AllowOnce}
			if !a.Allowed {
				a.Why = "refused at the window"
			}
			return m.settle(q, a)
		},
	}
	m.open(q.shown)
	return nil
}

// settle answers a question, once, and takes its dialog away.
func (m *Model) settle(q *question, a ctl.AskResult) tea.Cmd {
	i := slices.Index(m.questions, q)
	if i < 0 {
		return nil // answered already
	}
	m.questions = slices.Delete(m.questions, i, i+1)
	q.reply <- a
	m.tools.Waiting(m.asking())
	if q.shown != nil && m.dialog == q.shown {
		return m.answered(picker.Result{State: picker.Cancelled})
	}
	return nil
}
