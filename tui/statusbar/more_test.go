package statusbar

import (
	"strings"
	"testing"
)

func TestAnAlertThatCanBeReadWholeKeepsItsKeyWhereItIsCut(t *testing.T) {
	b := Bar{Tabs: two, Meter: calm, Help: "^B ? help", Alert: Alert{
		Mark: MarkAttention, Text: "the directory /home/ada/src/app is gone: started in /home/ada", Hint: "^B a reads it", More: true,
	}}
	for _, columns := range []int{64, 80, 140} {
		got := Text(b.Segments(columns))
		if textWidth(got) != columns || !strings.Contains(got, "^B a reads it") || !strings.Contains(got, "! the directory") {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	b.Alert.More = false
	if got := Text(b.Segments(64)); strings.Contains(got, "^B a reads it") {
		t.Errorf("an alert that is looked at elsewhere is cut for its key: %q", got)
	}
}
