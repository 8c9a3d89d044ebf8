package journal

import (
	"strings"
	"unicode/utf8"
)

// A Filter says which calls are wanted. The zero value wants all.
type Filter struct {
	Tool         string
	Kind         string // of the source: cli, window, mcp, hook, transcript
	Agent        string
	States       []State // any of these; none means all
	Bad          bool    // only those that somebody should look at
	Contradicted bool    // only those whose result contradicts what could be seen
	Text         string  // anywhere in what a list shows; case does not matter
	Window       int     // pid of a window
}

// A View is the calls of a book that passed a filter, newest first. It shows
// changes of its calls, and has to be selected again to show new ones.
type View struct{ entries []*entry }

// Len is how many calls there are.
func (v View) Len() int { return len(v.entries) }

// At returns the call with that place in the view, 0 being the newest.
func (v View) At(i int) Record { return v.entries[i].record() }

// Index is the place of a call, -1 when it is not in the view.
func (v View) Index(call string) int {
	for i, e := range v.entries {
		if e.call == call {
			return i
		}
	}
	return -1
}

// Select returns the calls that pass the filter.
func (b *Book) Select(f Filter) View {
	var want [states]bool
	for _, s := range f.States {
		if s < states {
			want[s] = true
		}
	}
	q := newQuery(f.Text)
	v := View{entries: make([]*entry, 0, min(b.Len(), 1024))}
	for i := range b.Len() {
		e := b.at(i)
		switch {
		case f.Tool != "" && e.who.tool != f.Tool, f.Kind != "" && e.who.source.Kind != f.Kind,
			f.Agent != "" && e.who.source.Agent != f.Agent, f.Window != 0 && e.who.source.Window != f.Window,
			len(f.States) > 0 && !want[e.state()], f.Bad && !e.state().Bad(),
			f.Contradicted && (e.end == nil || !contradicted(e.end.checks)),
			!e.matches(&q):
			continue
		}
		v.entries = append(v.entries, e)
	}
	return v
}

func (e *entry) matches(q *query) bool {
	if q.low == "" {
		return true
	}
	if q.inWho(e.who) || q.in(e.title) || strings.HasPrefix(e.call, q.low) {
		return true
	}
	return e.end != nil && (q.in(e.end.summary) || q.in(e.end.error))
}

// A query is a text to be found without regard to case. Letters outside of
// ASCII cost more.
type query struct {
	low, up string
	ascii   bool

	last *who // neighbours in a list mostly have the same
	yes  bool // of last
}

func (q *query) inWho(w *who) bool {
	if w != q.last {
		q.last, q.yes = w, q.in(w.tool) || q.in(w.source.Agent) || q.in(w.source.Dir)
	}
	return q.yes
}

func newQuery(s string) query {
	return query{low: strings.ToLower(s), up: strings.ToUpper(s), ascii: isASCII(s)}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (q *query) in(s string) bool {
	if len(s) < len(q.low) && q.ascii {
		return false
	}
	if !q.ascii {
		if isASCII(s) {
			return false
		}
		return strings.Contains(strings.ToLower(s), q.low)
	}
	// The first letter is looked for in both cases by the quickest means.
	for rest := s; ; {
		i := strings.IndexByte(rest, q.low[0])
		if q.up[0] != q.low[0] {
			if n := i; n < 0 {
				i = strings.IndexByte(rest, q.up[0])
			} else if j := strings.IndexByte(rest[:n], q.up[0]); j >= 0 {
				i = j
			}
		}
		if i < 0 || len(rest)-i < len(q.low) {
			return false
		}
		if foldEqual(rest[i:i+len(q.low)], q.low) {
			return true
		}
		rest = rest[i+1:]
	}
}

// foldEqual compares with a text in lower case, letters of ASCII by their case
// and all else exactly.
func foldEqual(s, low string) bool {
	for i := range len(low) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != low[i] {
			return false
		}
	}
	return true
}
