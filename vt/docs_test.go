package vt

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheDocumentationNamesEveryModeAndEveryDrop reads docs/sequences.md.
func TestTheDocumentationNamesEveryModeAndEveryDrop(t *testing.T) {
	raw, err := os.ReadFile("../docs/sequences.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for d := range numDrops {
		if !strings.Contains(text, "`"+d.String()+"`") {
			t.Errorf("drop %q is not documented", d)
		}
	}
	_, modes, _ := strings.Cut(text, "## Modes")
	modes, _, _ = strings.Cut(modes, "## OSC")
	numbers := map[string]bool{}
	for _, n := range regexp.MustCompile(`\d+`).FindAllString(modes, -1) {
		numbers[n] = true
	}
	for _, e := range modeNumbers {
		if n := strconv.Itoa(int(e.n &^ decPrivate)); !numbers[n] {
			t.Errorf("mode %s is not documented", n)
		}
	}
	if !strings.Contains(text, "Unicode "+strings.Split(UnicodeVersion, ".")[0]) {
		t.Errorf("the Unicode version %s is not documented", UnicodeVersion)
	}
}
