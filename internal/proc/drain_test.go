package proc

import (
	"testing"
	"time"
)

func TestDrainStopsOnlyWhenAllOfTheEndedProcessWasRead(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(0, 0).Add(time.Duration(s * float64(time.Second))) }
	d := Drain{Silence: time.Second, Total: 3 * time.Second}

	d.Empty() // before the end it proves nothing
	d.Progress(Backlog*2, at(1))
	if d.Over(at(100)) || d.Left(at(100)) != -1 {
		t.Error("a drain that has not begun is over, or limits the wait")
	}
	d.Begin(at(100))
	d.Begin(at(150)) // counts no more
	if got := d.Left(at(100.25)); got != 750*time.Millisecond {
		t.Errorf("left = %v", got)
	}
	if d.Over(at(1000)) {
		t.Error("over by time alone, with the process's own bytes unread")
	}
	d.Progress(1, at(1000))
	if got := d.Left(at(1000.5)); got != time.Second/2 {
		t.Errorf("left after a byte = %v", got)
	}
	if got := d.Left(at(1002)); got != 0 {
		t.Errorf("left after silence = %v, want 0 and never below: below 0 is for ever", got)
	}

	read := d
	read.Progress(Backlog, at(1000))
	if !read.Over(at(1000)) {
		t.Error("more than the stream can hold was read, and the drain goes on")
	}
	d.Empty()
	if !d.Over(at(1000)) || d.Over(at(102.9)) {
		t.Error("emptied: over by its total time and not before")
	}
}
