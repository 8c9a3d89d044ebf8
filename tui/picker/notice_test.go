package picker

import (
	"strings"
	"testing"

	"github.com/honestty/honestty/tui/screen"
	"github.com/honestty/honestty/tui/theme"
)

func TestANoticeShowsAllOfATextByScrolling(t *testing.T) {
	d := &Notice{Title: "Settings", Texts: []string{"first \x1b[31m", strings.Repeat("word ", 60), "the end"}}
	s := screen.New(40, 8, screen.Caps{UTF8: true})
	draw := func() string {
		s.Fill(0, 0, 40, 8, theme.New(theme.Options{UTF8: true}).Text)
		d.Draw(s, 0, 0, 40, 8, theme.New(theme.Options{UTF8: true}))
		return s.Text()
	}
	if got := draw(); !strings.Contains(got, "first ^[[31m") || strings.Contains(got, "the end") || !strings.Contains(got, "Up and Down scroll") {
		t.Errorf("at first\n%s", got)
	}
	d.Key("end", "")
	if got := draw(); !strings.Contains(got, "the end") {
		t.Errorf("at its end\n%s", got)
	}
	for range 100 {
		d.Key("up", "")
	}
	if got := draw(); !strings.Contains(got, "first") {
		t.Errorf("at its begin again\n%s", got)
	}
	if d.Key("x", "x").State != Open || d.Key("enter", "").State != Cancelled || d.Key("esc", "").State != Cancelled {
		t.Error("it is closed by Enter and Esc alone")
	}
}
