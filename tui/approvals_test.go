package tui

import (
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/internal/outer"
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

// asking opens a window and has somebody ask in it. The channel gets the
// answer, or is closed when there is none.
func asking(t *testing.T, limit time.Duration) (*window, <-chan ctl.AskResult) {
	t.Helper()
	o := open(t, outerConfig{cols: 100, rows: 30, env: []string{"XDG_RUNTIME_DIR=" + t.TempDir()}}, "/bin/sh")
	o.See("$")
	env := map[string]string{ctl.SocketVariable: socketOf(t, o)}
	c, err := ctl.Dial(ctl.Env{Getenv: func(k string) string { return env[k] }}, "")
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan ctl.AskResult, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(answers)
		var a ctl.AskResult
		p := ctl.AskParams{Tool: "terminal", Rule: "recursive delete", Detail: "rm -r one", TimeoutMS: limit.Milliseconds()}
		if c.Call(t.Context(), ctl.MethodAsk, p, &a) == nil {
			answers <- a
		}
	})
	t.Cleanup(func() {
		_ = c.Close()
		wg.Wait()
	})
	return o, answers
}

func TestNoAnswerWithinTheLimitIsARefusal(t *testing.T) {
	_, answers := asking(t, 300*time.Millisecond)
	if a, ok := <-answers; !ok || a.Allowed || a.Why != "nobody answered within 0.30s" {
		t.Errorf("%+v, answered %v", a, ok)
	}
}

func TestAWindowEndsAlthoughAQuestionIsOpen(t *testing.T) {
	o, answers := asking(t, time.Hour)
	o.See("rm -r one")
	if err := unix.Kill(o.Bridge().PID(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case a, ok := <-answers:
		if ok && a.Allowed {
			t.Errorf("%+v", a)
		}
	case <-time.After(outer.Patience):
		t.Fatal("the one who asked still waits")
	}
	if e := o.End(); e.Code != 1 {
		t.Errorf("exit = %+v", e)
	}
}
