package panels

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

// A record is what a journal holds of a call besides what a list shows.
type record struct{ args, result string }

// A callTaker is a panel that asks for calls.
type callTaker interface {
	Panel
	Show(b *journal.Book, now time.Time)
	Wants() Action
	TakeCall(call string, start journal.Start, end *journal.End, err error)
}

// A story is a diary with the arguments and results of its calls.
type story struct {
	*diary
	records map[string]record
	id      map[string]string
}

func newStory() *story {
	return &story{newDiary(), map[string]record{}, map[string]string{}}
}

// tell adds a call that has ended.
func (s *story) tell(name string, start journal.Start, end journal.End, args, result string) {
	s.id[name] = s.run(start, end)
	s.records[s.id[name]] = record{args, result}
	s.at = s.at.Add(time.Minute)
}

// running adds one that has not.
func (s *story) running(name string, start journal.Start, args string, p journal.Progress) {
	p.Call = s.begin(start)
	s.id[name] = p.Call
	s.records[p.Call] = record{args, ""}
	s.event(journal.Event{Progress: &p})
}

// feedAll shows the book and answers what the panel asks for until it asks for
// nothing.
func (s *story) feedAll(t *testing.T, p callTaker, w, h int) {
	t.Helper()
	p.Show(s.b, s.at.Add(12*time.Second))
	for range 20 {
		draw(p, w, h, unicodeTheme)
		a := p.Wants()
		if a == nil {
			return
		}
		s.answer(p, a)
	}
	t.Fatal("it asks again and again")
}

// answer gives what was asked for.
func (s *story) answer(p callTaker, a Action) {
	all, ok := a.(Several)
	if !ok {
		all = Several{a}
	}
	for _, one := range all {
		ask, ok := one.(ReadCall)
		if !ok {
			continue
		}
		call := ask.Record.Start.Call
		start, end := ask.Record.Start, ask.Record.End
		start.Args = json.RawMessage(s.records[call].args)
		if end != nil {
			whole := *end
			whole.Result = json.RawMessage(s.records[call].result)
			end = &whole
		}
		p.TakeCall(call, start, end, nil)
	}
}

// choose selects the call of a name.
func choose[D any](t *testing.T, s cardSource, f *feed[D], call string) {
	t.Helper()
	i := f.index(call)
	if i < 0 {
		t.Fatalf("the call %s is not listed", call)
	}
	f.list.pick(s, i)
}

// everywhere compares a panel in its dock at all sizes and in all themes.
func everywhere(t *testing.T, base string, p callTaker, s *story) {
	t.Helper()
	for _, size := range [][2]int{{30, 12}, {48, 20}, {80, 24}, {120, 40}} {
		for suffix, th := range map[string]theme.Theme{"": unicodeTheme, "-ascii": asciiTheme, "-plain": plainTheme} {
			sc := screen.New(size[0], size[1], screen.Caps{UTF8: true})
			for range 4 { // what comes into view is read
				dockOf(p).Draw(sc, 0, 0, size[0], size[1], true, th)
				if s != nil {
					s.answer(p, p.Wants())
				}
			}
			golden(t, fmt.Sprintf("%s-%dx%d%s", base, size[0], size[1], suffix), sc.Text())
		}
	}
}
