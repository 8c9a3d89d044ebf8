package fdmeter

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A planted program is how many descriptors it holds at each second.
type planted struct {
	name  string
	count func(s int) int64
	leak  bool
}

// verdicts samples a program every step for so long, and calls each once a
// minute from the third on.
func verdicts(p planted, step, length time.Duration, each func(at time.Duration, g Growth)) {
	h := &history{}
	for at := time.Duration(0); at < length; at += step {
		now := noon.Add(at)
		h.add(now, Known(p.count(int(at/time.Second))))
		if at >= 3*time.Minute && at%time.Minute < step {
			each(at, h.growth(now))
		}
	}
}

func TestAPlantedLeakIsFoundAndAQuietProgramIsNot(t *testing.T) {
	var programs []planted
	for phase := 0; phase < 60; phase += 7 {
		programs = append(programs,
			planted{"one a minute", func(s int) int64 { return 40 + int64((s+phase)/60) }, true},
			planted{"three a second", func(s int) int64 { return 40 + 3*int64(s+phase) }, true},
			planted{"one a minute under a sawtooth of 50 s", func(s int) int64 { return 40 + int64((s+phase)/60) + int64(s%50)/5 }, true})
	}
	for _, period := range []int{3, 11, 50, 90, 200, 420, 900} {
		programs = append(programs, planted{"sawtooth", func(s int) int64 { return 30 + int64(s%period) }, false})
	}
	for _, end := range []int{5, 40, 100, 400, 900} {
		programs = append(programs, planted{"plateau", func(s int) int64 { return 10 + int64(min(s, end)) }, false})
	}
	for _, step := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second} {
		for _, p := range programs {
			found := false
			verdicts(p, step, 45*time.Minute, func(at time.Duration, g Growth) {
				found = found || g.Trend == Rising
				// A leak is found within eight minutes and never lost again; what
				// is none may look like one for as long as it rises.
				settled := at >= 22*time.Minute
				if p.leak && at >= 8*time.Minute && g.Trend != Rising {
					t.Errorf("%s every %v: %v after %v", p.name, step, g.Trend, at)
				}
				if !p.leak && settled && g.Trend == Rising {
					t.Errorf("%s every %v: rising after %v", p.name, step, at)
				}
				if p.leak && g.Trend == Rising && g.Confidence == ConfidenceNone || g.Trend != Rising && g.Confidence != ConfidenceNone {
					t.Errorf("%s every %v: %v with confidence %v", p.name, step, g.Trend, g.Confidence)
				}
			})
			if p.leak && !found {
				t.Errorf("%s every %v: never found", p.name, step)
			}
		}
	}
}

func TestTheRateOfAPlantedLeakIsRight(t *testing.T) {
	for _, c := range []struct {
		planted
		want float64
	}{
		{planted{"one a minute", func(s int) int64 { return int64(s / 60) }, true}, 1},
		{planted{"three a second", func(s int) int64 { return 3 * int64(s) }, true}, 180},
	} {
		verdicts(c.planted, time.Second, 30*time.Minute, func(at time.Duration, g Growth) {
			if at < 10*time.Minute {
				return
			}
			if g.PerMinute < 0.8*c.want || g.PerMinute > 1.2*c.want || g.Confidence < Likely {
				t.Errorf("%s after %v: %.2f a minute, %v", c.name, at, g.PerMinute, g.Confidence)
			}
		})
	}
}

func TestAHundredQuietProgramsAreNoLeak(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		base, noise := int64(10+r.IntN(500)), r.IntN(4)
		count, burst := base, 0
		verdicts(planted{"quiet", func(int) int64 {
			// Now and then a burst of short work, and noise that goes nowhere.
			if burst > 0 {
				burst--
			} else if r.IntN(300) == 0 {
				burst = r.IntN(40)
			}
			count = base + int64(r.IntN(noise+1))
			if burst > 0 {
				count += int64(r.IntN(30))
			}
			return count
		}, false}, time.Second, 40*time.Minute, func(at time.Duration, g Growth) {
			if g.Trend == Rising {
				t.Errorf("program %d: rising after %v", seed, at)
			}
		})
	}
}

func TestALeakThatBeginsAfterLongQuietIsFoundAtOnce(t *testing.T) {
	first := time.Duration(0)
	verdicts(planted{"", func(s int) int64 { return 50 + 3*int64(max(0, s-1200)) }, true}, time.Second, 30*time.Minute,
		func(at time.Duration, g Growth) {
			if first == 0 && g.Trend == Rising {
				first = at
			}
		})
	if first < 20*time.Minute || first > 22*time.Minute {
		t.Errorf("found after %v; it began after 20 minutes", first)
	}
}

func TestALeakAfterASawtoothIsFoundWhenItLeavesTheTeethBehind(t *testing.T) {
	found := false
	verdicts(planted{"", func(s int) int64 {
		if s < 1800 {
			return 30 + int64(s%300)/3
		}
		return 30 + 3*int64(s-1800)
	}, true}, time.Second, 34*time.Minute, func(at time.Duration, g Growth) {
		if at < 30*time.Minute && g.Trend == Rising && at > 12*time.Minute {
			t.Errorf("a tooth is rising after %v", at)
		}
		found = found || at >= 30*time.Minute && g.Trend == Rising
	})
	if !found {
		t.Error("the leak was never found")
	}
}

func TestTheOutlookIsTheLineThatIsReachedFirst(t *testing.T) {
	p := Process{
		Reading: reading(Known(5000), Known(5001), Known(6000), Known(1<<20)),
		Growth:  Growth{PerMinute: 100, Trend: Rising, Confidence: Steady},
	}
	p.Line, p.HasLine = Nearest(p.Reading)
	out, ok := p.Outlook()
	if !ok || out.Line.Kind != LineSoft || out.In != 10*time.Minute || out.Confidence != Steady {
		t.Errorf("outlook %+v, %v; want the soft limit in 10 minutes although 1024 is passed", out, ok)
	}
	p.Growth.Trend = Oscillating
	if out, ok := p.Outlook(); ok {
		t.Errorf("an outlook of what does not rise: %+v", out)
	}
}
