package panels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
)

// bigBook is a book as a window has it after a long time.
func bigBook(n int) *diary {
	d := newDiary()
	tools := []string{"terminal", "read_file", "process", "send_message"}
	for i := range n {
		s := cli(tools[i%len(tools)], fmt.Sprintf("go test ./internal/package%d/... -run TestNumber%d", i%977, i))
		if i%3 == 0 {
			s.Source = journal.Source{Kind: "hook", Agent: []string{"hermes", "codex"}[i%2], Session: "s", Dir: "/srv/app"}
		}
		e := journal.End{Status: outcome.Complete, Summary: fmt.Sprintf("output complete (%d bytes)", i), DurationMS: int64(i)}
		if i%50 == 0 {
			e.Status, e.Error = outcome.Failed, "exit 1"
		}
		d.run(s, e)
	}
	d.b.Seen("")
	d.begin(cli("terminal", "sleep 1000"))
	return d
}

const many = 100_000

func TestDrawingDoesNotGrowWithTheBook(t *testing.T) {
	s := screen.New(80, 24, screen.Caps{UTF8: true})
	cost := func(n int) (draw, idle float64) {
		d := bigBook(n)
		p := &Tools{}
		p.Show(d.b, d.at)
		for _, keys := range []string{"", "G", "home"} {
			if keys != "" {
				press(t, p, keys)
			}
			draw += testing.AllocsPerRun(5, func() { p.Draw(s, 0, 0, 80, 24, true, unicodeTheme) })
		}
		return draw, testing.AllocsPerRun(5, func() { p.Show(d.b, d.at) })
	}
	few, idle := cost(200)
	lots, idleLots := cost(20_000)
	if lots > few*1.2 || idle > 2 || idleLots > 2 {
		t.Errorf("drawing 200 calls makes %.0f allocations and 20,000 make %.0f; with nothing new it is %.0f and %.0f", few, lots, idle, idleLots)
	}
}

func BenchmarkTools(b *testing.B) {
	d := bigBook(many)
	s := screen.New(80, 24, screen.Caps{UTF8: true})
	shown := func() *Tools {
		p := &Tools{}
		p.Show(d.b, d.at)
		p.Draw(s, 0, 0, 80, 24, true, unicodeTheme)
		return p
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			(&Tools{}).Show(d.b, d.at)
		}
	})
	b.Run("nothing-new", func(b *testing.B) {
		p := shown()
		for b.Loop() {
			p.Show(d.b, d.at)
		}
	})
	b.Run("one-more", func(b *testing.B) {
		p := shown()
		p.Key("j")
		for b.Loop() {
			d.begin(cli("terminal", "x"))
			p.Show(d.b, d.at)
		}
	})
	b.Run("draw", func(b *testing.B) {
		p := shown()
		p.Key("G")
		for b.Loop() {
			p.Draw(s, 0, 0, 80, 24, true, unicodeTheme)
		}
	})
	b.Run("filter-failed", func(b *testing.B) {
		p := shown()
		for b.Loop() {
			p.which = failedCalls
			p.filtered()
		}
	})
	b.Run("filter-text", func(b *testing.B) {
		p := shown()
		for b.Loop() {
			p.filter.Text = "number99"
			p.filtered()
		}
	})
}

func BenchmarkOutput(b *testing.B) {
	raw := []byte(strings.Repeat("\x1b[32mok\x1b[0m  \texample.org/app/store/package\t0.412s\n", outputMax/50))
	b.Run("rebuild-1MB", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			text, _ := cleanOutput(raw)
			displayLines(text, roleOutput)
		}
	})
	text, _ := cleanOutput(raw)
	v := viewOf(80, 24, textSection{title: headOutput, lines: displayLines(text, roleOutput)})
	s := screen.New(80, 24, screen.Caps{UTF8: true})
	b.Run("draw", func(b *testing.B) {
		v.end()
		for b.Loop() {
			v.draw(canvas{s, &unicodeTheme}, 0, 0, 80, 24, true)
		}
	})
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			v.search("nowhere at all")
			v.matches()
		}
	})
}
