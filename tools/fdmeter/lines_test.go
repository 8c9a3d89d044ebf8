package fdmeter

import (
	"testing"
	"time"
)

func reading(count, highest, soft, hard Value) Reading {
	return Reading{PID: 9, Name: "server", Count: count, Highest: highest, Soft: soft, Hard: hard}
}

func TestTheLineAt1024IsComparedWithTheHighestNumber(t *testing.T) {
	line, ok := Nearest(reading(Known(11), Known(900), Known(1024), Known(4096)))
	if !ok || line.Kind != LineSelect {
		t.Fatalf("nearest = %+v", line)
	}
	wantKnown(t, "used", line.Used, 901)
	if !line.Alert() || line.Passed() {
		t.Errorf("901 of 1024: alert %v passed %v", line.Alert(), line.Passed())
	}
}

func TestNearestChoosesByRatio(t *testing.T) {
	for _, test := range []struct {
		name                       string
		count, highest, soft, hard Value
		want                       LineKind
	}{
		{"low soft limit", Known(100), Known(120), Known(256), Known(4096), LineSoft},
		{"soft and hard equal", Known(100), Known(99), Known(256), Known(256), LineSoft},
		{"no soft limit", Known(100), Known(99), Unknown(Unlimited), Unknown(Unlimited), LineSelect},
		{"highest not known", Known(100), Unknown(Denied), Known(4096), Known(4096), LineSelect},
		{"passed 1024, far from the limit", Known(5000), Known(5001), Known(1 << 20), Known(1 << 20), LineSelect},
		{"passed 1024, limit at hand", Known(3900), Known(3900), Known(4096), Known(1 << 20), LineSoft},
	} {
		line, ok := Nearest(reading(test.count, test.highest, test.soft, test.hard))
		if !ok || line.Kind != test.want {
			t.Errorf("%s: %v %v, want %v", test.name, line.Kind, ok, test.want)
		}
	}
}

func TestAnUnknownCountHasNoNearestLine(t *testing.T) {
	r := reading(Unknown(Denied), Unknown(Denied), Known(1024), Known(4096))
	if line, ok := Nearest(r); ok {
		t.Errorf("nearest = %+v", line)
	}
	for _, line := range Lines(r) {
		if _, known := line.Ratio(); known || line.Alert() || line.Passed() {
			t.Errorf("%s claims to know: %+v", line.Name, line)
		}
	}
}

func TestAlertBeginsAtEightyPercent(t *testing.T) {
	for used, want := range map[int64]bool{0: false, 818: false, 819: false, 820: true, 1024: true} {
		if got := (Line{Limit: 1024, Used: Known(used), Kind: LineSelect}).Alert(); got != want {
			t.Errorf("%d of 1024: alert %v", used, got)
		}
	}
}

func TestAServerPast1024DoesNotHideOneAtItsLimit(t *testing.T) {
	past := Process{Reading: Reading{PID: 1}, HasLine: true, Line: Line{Limit: 1024, Used: Known(9000), Kind: LineSelect}}
	dying := Process{Reading: Reading{PID: 2}, HasLine: true, Line: Line{Limit: 1000, Used: Known(850), Kind: LineSoft}}
	calm := Process{Reading: Reading{PID: 3}, HasLine: true, Line: Line{Limit: 1024, Used: Known(700), Kind: LineSelect}}
	if got := pickNearest([]Process{past, calm, dying}); got != 2 {
		t.Errorf("picked %d, want the dying one", got)
	}
	if got := pickNearest([]Process{calm, past}); got != 1 {
		t.Errorf("picked %d, want the one past 1024", got)
	}
	if got := pickNearest([]Process{{}, {}}); got != -1 {
		t.Errorf("picked %d of two without a line", got)
	}
}

func TestThePTYLineLeavesOutTheReserve(t *testing.T) {
	lines := SystemLines(System{Known(10), Known(1000), Known(1 << 20), Known(2900), Known(4096), Known(1024)})
	line, ok := NearestOf(lines)
	if !ok || line.Kind != LinePTY || line.Limit != 3072 || !line.Alert() {
		t.Errorf("nearest = %+v", line)
	}
	if lines := SystemLines(System{}); len(lines) != 0 {
		t.Errorf("lines without figures: %+v", lines)
	}
}

func TestAProcessThatNeverSelectsHasNoLineAt1024(t *testing.T) {
	w := newWorld()
	w.born = 5000
	a := w.add(100, 1, upTo(1100))
	a.who.image, a.holder, a.soft = 77, 1, 1<<20
	ours := true
	s := NewSampler(&Meter{src: w, NoSelect: func(pid int) bool { return ours && pid == 100 }})
	snap := s.Sample(noon, []int{100})
	p := processOf(t, snap, 100)
	if n, _ := p.Highest.Get(); n < FDSetSize || !p.NoSelect || p.Line.Kind == LineSelect || len(snap.Alerts()) != 0 {
		t.Errorf("highest %v, line %+v, alerts %+v", p.Highest, p.Line, snap.Alerts())
	}
	if r := (&Meter{src: w, NoSelect: func(int) bool { return true }}).Read(100, noon); !r.NoSelect || Lines(r)[0].Kind == LineSelect {
		t.Errorf("read once: %+v", Lines(r))
	}
	ours, a.who.image = false, 78 // it has become another program
	for i := range whoTicks {
		snap = s.Sample(noon.Add(time.Duration(i+1)*time.Second), []int{100})
	}
	if p := processOf(t, snap, 100); p.NoSelect || p.Line.Kind != LineSelect || len(snap.Alerts()) != 1 {
		t.Errorf("after an exec: line %+v, alerts %+v", p.Line, snap.Alerts())
	}
}
