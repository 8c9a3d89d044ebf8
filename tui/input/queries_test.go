package input

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// ask records what becomes of a question in log.
func ask(t *testing.T, q *Queries, log *[]string, kind ReplyKind, num int) (cancel func()) {
	t.Helper()
	cancel, err := q.Ask(kind, num, func(a Answer) {
		*log = append(*log, fmt.Sprintf("%d/%d %v %q", kind, num, a.Answered, a.Reply.Body))
	})
	if err != nil {
		t.Fatal(err)
	}
	return cancel
}

func route(t *testing.T, q *Queries, in string) (claimed bool) {
	t.Helper()
	for _, tok := range tokens(t, []byte(in)) {
		claimed = q.Route(tok)
	}
	return claimed
}

func TestAReplyGoesToWhoAskedInOrder(t *testing.T) {
	var q Queries
	var log []string
	ask(t, &q, &log, ReplyOSC, 11)
	ask(t, &q, &log, ReplyOSC, 10)
	ask(t, &q, &log, ReplyOSC, 11)
	for _, in := range []string{"\x1b]10;a\x07", "\x1b]11;b\x07", "\x1b]11;c\x07"} {
		if !route(t, &q, in) {
			t.Errorf("%q went to nobody", in)
		}
	}
	want := []string{`15/10 true "a"`, `15/11 true "b"`, `15/11 true "c"`}
	if !slices.Equal(log, want) || q.Open() != 0 || q.Dropped() != 0 {
		t.Errorf("got %q, open %d, dropped %d", log, q.Open(), q.Dropped())
	}
}

func TestAnUnaskedReplyIsDroppedAndCounted(t *testing.T) {
	var q Queries
	var log []string
	cancel := ask(t, &q, &log, ReplyMode, 2026)
	if route(t, &q, "\x1b[?2027;1$y") || route(t, &q, "\x1b]11;rgb:0/0/0\x07") {
		t.Error("a reply to another question was taken")
	}
	cancel()
	cancel()
	if route(t, &q, "\x1b[?2026;1$y") {
		t.Error("a forgotten question was answered")
	}
	if route(t, &q, "q") || q.Dropped() != 3 || len(log) != 0 {
		t.Errorf("dropped %d, want 3; answers %q", q.Dropped(), log)
	}
}

func TestAFenceEndsWhatTheTerminalDidNotAnswer(t *testing.T) {
	var q Queries
	var log []string
	ask(t, &q, &log, ReplyMode, 2026)
	ask(t, &q, &log, ReplyOSC, 52)
	ask(t, &q, &log, ReplyKitty, 0)
	ask(t, &q, &log, ReplyDA1, 0)
	ask(t, &q, &log, ReplyVersion, 0)
	route(t, &q, "\x1b[?2026;2$y\x1b[?62c")
	want := []string{`4/2026 true ""`, `9/0 false ""`, `1/0 true ""`}
	if !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	if q.Open() != 2 { // the clipboard may wait for consent; the version came later
		t.Errorf("open = %d, want 2", q.Open())
	}
}

func TestAWatcherTakesWhatComesUnasked(t *testing.T) {
	var q Queries
	var seen []int
	q.Watch(ReplyResize, func(r Reply) { seen = append(seen, r.Params[1], r.Params[2]) })
	if !route(t, &q, "\x1b[48;24;80;0;0t") || !slices.Equal(seen, []int{24, 80}) {
		t.Errorf("seen = %v", seen)
	}
	q.Watch(ReplyResize, nil)
	if route(t, &q, "\x1b[48;24;80;0;0t") || q.Dropped() != 1 {
		t.Errorf("after the watch ended: dropped %d, want 1", q.Dropped())
	}
}

func TestAnAnswersBodyOutlivesItsToken(t *testing.T) {
	var q Queries
	var body []byte
	if _, err := q.Ask(ReplyOSC, 11, func(a Answer) { body = a.Reply.Body }); err != nil {
		t.Fatal(err)
	}
	var z Tokenizer
	in := []byte("\x1b]11;keep\x07")
	z.Feed(in, func(tok Token) { q.Route(tok) })
	clear(in)
	if string(body) != "keep" {
		t.Errorf("body = %q", body)
	}
}

func TestQuestionsInFlightAreBounded(t *testing.T) {
	var q Queries
	for range maxQueries {
		if _, err := q.Ask(ReplyOSC, 11, func(Answer) {}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := q.Ask(ReplyOSC, 11, func(Answer) {}); !errors.Is(err, ErrTooManyQueries) {
		t.Errorf("one more question: %v", err)
	}
}
