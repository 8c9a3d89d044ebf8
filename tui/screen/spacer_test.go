package screen

import (
	"strings"
	"testing"

	"github.com/honestty/honestty/vt"
)

// TestTheColumnThatAWideCharacterLeavesFreeIsBlank wraps a wide character at the
// edge: the engine leaves the last column empty, and says so in the cell.
func TestTheColumnThatAWideCharacterLeavesFreeIsBlank(t *testing.T) {
	term := vt.New(5, 2, vt.Options{})
	term.Write([]byte("\x1b[44mab日本"))
	s := New(6, 2, Caps{UTF8: true, Depth: TrueColor})
	s.Blit(0, 0, 5, 2, term, &StyleMap{})
	rows := strings.Split(s.Text(), "\n")
	if strings.TrimRight(rows[0], " ") != "ab日" || strings.TrimRight(rows[1], " ") != "本" {
		t.Errorf("rows %q", rows)
	}
	if got := string(s.Diff(nil)); strings.Contains(got, "\uFFFD") {
		t.Errorf("the terminal gets %q", got)
	}
}
