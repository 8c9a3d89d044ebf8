package input

import (
	"bytes"
	"errors"
	"slices"
	"sync"
)

// maxQueries bounds the questions in flight. A start asks about twenty; more
// open ones mean a terminal that answers nothing.
const maxQueries = 128

// ErrTooManyQueries is returned by Ask while maxQueries are unanswered.
var ErrTooManyQueries = errors.New("too many unanswered terminal queries")

// An Answer is what became of a question.
type Answer struct {
	// Reply is the terminal's answer. Its Body belongs to the receiver.
	Reply Reply
	// Answered is false when the terminal answered a later fence instead: it
	// does not know this question. That is an answer of its own.
	Answered bool
}

// Queries routes replies of the outer terminal to whoever asked. A terminal
// answers in order and does not answer what it does not know; but every
// terminal answers DA1. So a question is followed by DA1, and when that reply
// comes everything asked before it and still open is told that no answer will
// come. No clock is needed.
//
//	Ask(ReplyMode, 2026, …) · Ask(ReplyOSC, 11, …) · Ask(ReplyDA1, 0, …)   then write the three requests
//
// Two kinds come unasked once they are switched on (colour scheme, in-band
// size) and have watchers instead. Everything else that nobody asked for is
// dropped and counted. All methods may be called from any goroutine; the
// functions given are called by Route, without a lock held.
type Queries struct {
	mu      sync.Mutex
	open    []query // in the order they were asked
	next    uint64
	watch   map[ReplyKind]func(Reply)
	dropped int64
}

type query struct {
	id   uint64
	kind ReplyKind
	num  int
	take func(Answer)
}

// clipboard is the OSC number whose answer may wait for the user's consent,
// and so may come long after a fence.
const clipboard = 52

// Ask records a question before its request is written. The reply of this kind
// and number (0 where the kind has none) goes to take, which is called once at
// most. Cancel forgets the question; its late reply counts as dropped.
func (q *Queries) Ask(kind ReplyKind, num int, take func(Answer)) (cancel func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open) >= maxQueries {
		return nil, ErrTooManyQueries
	}
	q.next++
	id := q.next
	q.open = append(q.open, query{id, kind, num, take})
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.open = slices.DeleteFunc(q.open, func(o query) bool { return o.id == id })
	}, nil
}

// Watch sends every reply of a kind that no question claims to take; nil ends
// it. It is meant for ReplyColorScheme and ReplyResize.
func (q *Queries) Watch(kind ReplyKind, take func(Reply)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.watch == nil {
		q.watch = make(map[ReplyKind]func(Reply))
	}
	q.watch[kind] = take
}

// Route takes a Reply token to who asked and reports whether somebody did.
// Tokens of other kinds are not its business: it reports false and counts
// nothing.
func (q *Queries) Route(t Token) bool {
	if t.Kind != KindReply {
		return false
	}
	r := t.Reply
	r.Body = bytes.Clone(r.Body)
	asked, unanswered, watcher := q.claim(r)
	for _, o := range unanswered {
		o.take(Answer{})
	}
	switch {
	case asked != nil:
		asked.take(Answer{Reply: r, Answered: true})
	case watcher != nil:
		watcher(r)
	default:
		return false
	}
	return true
}

// claim takes the question that r answers off the list, and with a fence all
// that were asked before it.
func (q *Queries) claim(r Reply) (asked *query, unanswered []query, watcher func(Reply)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.open, func(o query) bool { return o.kind == r.Kind && o.num == r.Num })
	if i < 0 {
		if watcher = q.watch[r.Kind]; watcher == nil {
			q.dropped++
		}
		return nil, nil, watcher
	}
	found := q.open[i]
	keep := q.open[:0:0]
	for j, o := range q.open {
		switch {
		case j == i:
		case j < i && r.Kind == ReplyDA1 && !(o.kind == ReplyOSC && o.num == clipboard):
			unanswered = append(unanswered, o)
		default:
			keep = append(keep, o)
		}
	}
	q.open = keep
	return &found, unanswered, nil
}

// Open returns how many questions wait for an answer.
func (q *Queries) Open() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.open)
}

// Dropped returns how many replies nobody had asked for.
func (q *Queries) Dropped() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
