package fdmeter

import (
	"math"
	"testing"
	"time"
)

// record samples once a second and returns the history and its last moment.
func record(seconds int, count func(second int) Value) (*history, time.Time) {
	h := &history{}
	for s := range seconds {
		h.add(noon.Add(time.Duration(s)*time.Second), count(s))
	}
	return h, noon.Add(time.Duration(seconds-1) * time.Second)
}

func TestGrowthTellsALeakFromWhatOnlyMoves(t *testing.T) {
	for _, test := range []struct {
		name      string
		seconds   int
		count     func(s int) int64
		trend     Trend
		perMinute float64
	}{
		{"three a second", 120, func(s int) int64 { return 20 + 3*int64(s) }, Rising, 180},
		{"one a minute", 121, func(s int) int64 { return 20 + int64(s+20)/60 }, Rising, 1},
		{"one every ten seconds", 120, func(s int) int64 { return 100 + int64(s)/10 }, Rising, 6},
		{"quiet", 120, func(int) int64 { return 23 }, Flat, 0},
		{"blips", 120, func(s int) int64 { return 23 + int64(s%7/6)*40 }, Flat, 0},
		{"growing bursts over a quiet floor", 120, func(s int) int64 { return 23 + int64(s%15/14)*int64(s) }, Flat, 0},
		{"sawtooth within cells", 120, func(s int) int64 { return 30 + int64(s%10)*9 }, Flat, 0},
		{"sawtooth over cells", 120, func(s int) int64 { return 30 + int64(s%50)*4 }, Oscillating, 0},
		{"leak under a sawtooth", 120, func(s int) int64 { return 30 + int64(s) + int64(s%5)*8 }, Rising, 60},
		{"plateau after start", 120, func(s int) int64 { return min(60, int64(s)*4) }, Stepped, 0},
		{"one step", 120, func(s int) int64 { return 10 + 50*int64(s/60) }, Stepped, math.NaN()},
		{"emptying", 120, func(s int) int64 { return 500 - 2*int64(s) }, Falling, -120},
	} {
		h, now := record(test.seconds, func(s int) Value { return Known(test.count(s)) })
		g := h.growth(now)
		if g.Trend != test.trend {
			t.Errorf("%s: %v at %.2f a minute, want %v", test.name, g.Trend, g.PerMinute, test.trend)
		}
		if !math.IsNaN(test.perMinute) && math.Abs(g.PerMinute-test.perMinute) > max(0.5, 0.1*math.Abs(test.perMinute)) {
			t.Errorf("%s: %.2f a minute, want %.2f", test.name, g.PerMinute, test.perMinute)
		}
	}
}

func TestGrowthIsUnknownUntilThereAreEnoughSamples(t *testing.T) {
	line := Line{Limit: 1024, Used: Known(500), Kind: LineSelect}
	for seconds := 1; seconds <= 60; seconds++ {
		h, now := record(seconds, func(s int) Value { return Known(int64(s)) })
		g := h.growth(now)
		if g.Known() {
			t.Fatalf("after %d seconds: %+v", seconds, g)
		}
		if d, ok := g.FullIn(line); ok {
			t.Fatalf("after %d seconds: full in %v", seconds, d)
		}
	}
	h, now := record(61, func(s int) Value { return Known(int64(s)) })
	if g := h.growth(now); g.Trend != Rising {
		t.Errorf("after 61 seconds: %+v", g)
	}
}

func TestTimeToTheLineIsWhatIsLeftOverTheGrowth(t *testing.T) {
	h, now := record(120, func(s int) Value { return Known(800 + int64(s)/10) })
	g := h.growth(now)
	d, ok := g.FullIn(Line{Limit: 1024, Used: Known(812), Kind: LineSelect})
	if !ok || d < 33*time.Minute || d > 38*time.Minute {
		t.Errorf("full in %v, %v; want about 35 minutes", d, ok)
	}
	for name, line := range map[string]Line{
		"unknown use": {Limit: 1024, Kind: LineSelect},
		"passed":      {Limit: 1024, Used: Known(2000), Kind: LineSelect},
		"too far off": {Limit: 1 << 30, Used: Known(10), Kind: LineSystem},
	} {
		if d, ok := g.FullIn(line); ok {
			t.Errorf("%s: full in %v", name, d)
		}
	}
}

func TestAGapIsNotAZero(t *testing.T) {
	h, now := record(120, func(s int) Value {
		if s >= 30 && s < 60 {
			return Unknown(Denied)
		}
		return Known(40)
	})
	spark := h.spark(now)
	for i, v := range spark {
		if i == 2 || i == 3 {
			wantUnknown(t, "cell in the gap", v, NotRead)
		} else {
			wantKnown(t, "cell", v, 40)
		}
	}
	if g := h.growth(now); g.Trend != Flat {
		t.Errorf("a gap gave %+v", g)
	}
}

func TestSparkShowsPeaksAndForgetsAfterTwoMinutes(t *testing.T) {
	h, now := record(120, func(s int) Value { return Known(10 + int64(s/119)*5) })
	spark := h.spark(now)
	wantKnown(t, "first cell", spark[0], 10)
	wantKnown(t, "last cell", spark[SparkCells-1], 15)
	later := h.spark(now.Add(SparkCells * CellSpan))
	for _, v := range later {
		wantUnknown(t, "cell two minutes later", v, NotRead)
	}
}

func TestAClockThatJumpsBackDoesNotBreakTheHistory(t *testing.T) {
	h, now := record(120, func(int) Value { return Known(10) })
	back := now.Add(-time.Hour)
	h.add(back, Known(11))
	wantKnown(t, "cell after the jump", h.spark(back)[SparkCells-1], 11)
	h.add(time.Unix(-100, 0), Known(12))
	wantKnown(t, "cell before 1970", h.spark(time.Unix(-100, 0))[SparkCells-1], 12)
}

func TestTheSparkMovesOncePerCell(t *testing.T) {
	h, now := record(105, func(s int) Value { return Known(int64(s / 15)) })
	first := h.spark(now)
	for s := 1; s < 15; s++ {
		at := now.Add(time.Duration(s) * time.Second)
		h.add(at, Known(7))
		got := h.spark(at)
		if got[SparkCells-2] != first[SparkCells-1] {
			t.Fatalf("after %d s the sparkline moved: %v, first %v", s, got, first)
		}
	}
}
