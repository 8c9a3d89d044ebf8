package panels

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
)

func TestTheScaleIsAsDrawn(t *testing.T) {
	k := fdmeter.Known
	var b strings.Builder
	for _, r := range []fdmeter.Reading{
		{Count: k(87), Highest: k(131), Soft: k(4096), Hard: k(1 << 20)},
		{Count: k(871), Highest: k(903), Soft: k(1024), Hard: k(1 << 20)},
		{Count: k(200), Highest: k(255), Soft: k(256), Hard: fdmeter.Unknown(fdmeter.Unlimited)},
		{Count: k(5000), Highest: k(6000), Soft: k(1 << 19), Hard: k(1 << 19)},
		{Count: k(0), Highest: k(-1), Soft: k(0), Hard: k(0)},
		{Count: fdmeter.Unknown(fdmeter.Denied)},
	} {
		for _, w := range []int{78, 50, 28} {
			s := screen.New(w, 2, screen.Caps{UTF8: true})
			canvas{s, &unicodeTheme}.drawScale(0, 0, w, r, unicodeTheme.Text)
			b.WriteString(s.Text())
		}
	}
	golden(t, "scale", b.String())
}

func TestMarksOfAScaleRiseAndStayOnIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.OneOf(rapid.Int64Range(0, 5000), rapid.Int64Range(0, 1<<62))
		r := fdmeter.Reading{Soft: fdmeter.Known(limit.Draw(t, "soft")), Hard: fdmeter.Known(limit.Draw(t, "hard"))}
		s := scale{rapid.IntRange(minScale, 200).Draw(t, "w"), limitsOf(r)}
		a, b := limit.Draw(t, "a"), limit.Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if x, y := s.place(a), s.place(b); x < 0 || x > y || y >= s.w {
			t.Fatalf("%d is at %d, %d at %d of %d", a, x, b, y, s.w)
		}
		for i, l := range s.limits {
			if s.place(l.at) != s.column(i) {
				t.Fatalf("limit %d is at %d and marked at %d", l.at, s.place(l.at), s.column(i))
			}
		}
	})
}

func TestWordsBelowAScaleNeverTouch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 80).Draw(t, "w")
		var marks []mark
		for i := range rapid.IntRange(0, 8).Draw(t, "n") {
			marks = append(marks, mark{
				col: rapid.IntRange(0, w-1).Draw(t, "col"), weight: i,
				text: rapid.StringMatching(`[a-z]{1,12}`).Draw(t, "text"),
			})
		}
		free := 0
		for _, m := range arrange(marks, w) {
			if m.start < free || m.start+len(m.text) > w {
				t.Fatalf("%+v begins before %d or ends behind %d", m, free, w)
			}
			free = m.start + len(m.text) + labelGap
		}
	})
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 256: "256", 1024: "1024", 4096: "4096", 10240: "10K", 1 << 19: "512K", 1 << 20: "1M", 1_000_000: "1,000,000"} {
		if got := limitText(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for per, want := range map[float64]string{3.5: "+3.5", 0.02: "0.0", -42: "-42.0", 12345: "+12,345", -100: "-100"} {
		if got := growth(fdmeter.Growth{PerMinute: per, Trend: fdmeter.Stepped}); got != want {
			t.Errorf("%v is %s, want %s", per, got, want)
		}
	}
	if got := growth(fdmeter.Growth{PerMinute: 3}); got != "?" {
		t.Errorf("an unknown growth is %s", got)
	}
	for d, want := range map[time.Duration]string{0: "now", -time.Hour: "now", 12 * time.Second: "12s ago", 125 * time.Second: "2m ago", 3 * time.Hour: "3h ago"} {
		if got := ago(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "<10s", 34 * time.Second: "~30s", 40 * time.Minute: "~40m", 3 * time.Hour: "~3h"} {
		if got := about(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

func TestNearestSaysHowNear(t *testing.T) {
	for _, c := range []struct {
		count, highest, soft int64
		growth               fdmeter.Growth
		want                 string
	}{
		{11, 255, 4096, fdmeter.Growth{}, "1024"},
		{100, 100, 256, fdmeter.Growth{}, "256 soft"},
		{871, 903, 4096, fdmeter.Growth{PerMinute: 3, Trend: fdmeter.Rising}, "1024 in ~40m"},
		{871, 903, 4096, fdmeter.Growth{}, "1024 near"},
		{256, 255, 256, fdmeter.Growth{}, "256 soft full"},
		{5000, 5000, 1 << 20, fdmeter.Growth{}, "past 1024"},
	} {
		p := process(1, "x", c.count, c.highest)
		p.Soft, p.Growth = fdmeter.Known(c.soft), c.growth
		if got := nearest(lined(p)); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
	if got := nearest(denied()); got != "not permitted" {
		t.Errorf("denied is %q", got)
	}
	p := denied()
	p.Highest = fdmeter.Known(1000)
	if got := nearest(lined(p)); got != "1024 near" {
		t.Errorf("an alarm by number is %q", got)
	}
}

func TestProgramsLoseTheirFolder(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"node", "/usr/bin/node server.js", "node server.js"},
		{"zsh", "-zsh", "zsh"},
		{"kworker", "", "kworker"},
		{"", "", "?"},
		{"x", "/usr/bin/", "/usr/bin/"},
	} {
		if got := program(fdmeter.Reading{Name: c.name, Command: c.command}); got != c.want {
			t.Errorf("%+v is %q", c, got)
		}
	}
	if got := fmt.Sprintln(called(row{}), called(row{Process: denied()})); got != "pid 0 postgres\n" {
		t.Errorf("called %q", got)
	}
}
