package tui

import (
	"testing"
	"time"

	"github.com/honestty/honestty/ctl"
)

func ask(d *desk, detail string) *question {
	d.t.Helper()
	q := &question{
		asked: ctl.AskParams{Tool: "terminal", From: "claude-code", Rule: "recursive delete", Detail: detail},
		until: time.Date(2026, 3, 14, 9, 5, 0, 0, time.UTC), reply: make(chan ctl.AskResult, 1),
	}
	d.m.queue(q)
	return q
}

func answer(t *testing.T, q *question) ctl.AskResult {
	t.Helper()
	select {
	case a := <-q.reply:
		return a
	default:
		t.Fatal("not answered")
		return ctl.AskResult{}
	}
}

func TestQuestionsAreShownOneAfterTheOther(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	first, second := ask(d, "rm -r one"), ask(d, "rm -r two")
	d.contains("rm -r one")
	d.lacks("rm -r two")
	d.typ("y\x1b[C\r") // what is typed is no answer; right, Enter
	if a := answer(t, first); !a.Allowed {
		t.Errorf("%+v", a)
	}
	d.contains("rm -r two")
	d.typ("\r")
	if a := answer(t, second); a.Allowed || a.Why != "refused at the window" {
		t.Errorf("%+v", a)
	}
	d.lacks("rm -r two")
}

func TestAQuestionWaitsForTheDialogThatIsOpen(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	d.typ("\x02:")
	q := ask(d, "rm -r one")
	d.lacks("rm -r one")
	d.typ("\x1b")
	d.contains("rm -r one")
	d.m.settle(q, ctl.AskResult{Why: "nobody answered"}) // its time is over
	d.lacks("rm -r one")
	if a := answer(t, q); a.Allowed || a.Why != "nobody answered" {
		t.Errorf("%+v", a)
	}
	d.m.settle(q, ctl.AskResult{Allowed: true})
	if len(q.reply) != 0 {
		t.Error("answered twice")
	}
}

func TestAQuestionThatIsOverClosesNoOtherDialog(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	q := ask(d, "rm -r one")
	d.m.openPalette("Palette", false) // opened by something else meanwhile
	d.m.settle(q, ctl.AskResult{})
	d.contains("Split right")
}

func TestTooManyQuestionsAreRefused(t *testing.T) {
	d := newDesk(t, deskConfig{})
	one(d)
	for range questionsKept {
		ask(d, "rm -r one")
	}
	if a := answer(t, ask(d, "rm -r more")); a.Allowed || a.Why == "" {
		t.Errorf("%+v", a)
	}
}
