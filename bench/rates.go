package main

import (
	"fmt"
	"os"
	"time"
)

// A lap is what one rival needed for its share of the work.
type lap struct {
	wall  time.Duration
	cpu   time.Duration // of the process that reads; 0 where it is not known
	bytes int64         // that were read
}

// timed is a lap of work that this process does.
func timed(do func() (int64, error)) (lap, error) {
	cpu, start := cpuTime(), time.Now()
	n, err := do()
	return lap{time.Since(start), cpuTime() - cpu, n}, err
}

// A rival does n units of work.
type rival struct {
	name   string
	target string // beside its ratio; empty where none is promised
	run    func(n int) (lap, error)
}

// A race is the rates of rivals that do the same. The first is the one that
// the others are compared with.
type race struct {
	rivals []rival
	wall   [][]float64 // units per second, by rival and round
	cpu    [][]float64 // units per CPU-second; empty where it is not known
}

// takeLaps lets each rival do n things in each round, each of so many units.
// Every round begins with another rival, so that none has the best place, and
// the first round is not counted: it fills caches.
func takeLaps(rivals []rival, rounds, n int, units float64) (*race, error) {
	r := &race{rivals, make([][]float64, len(rivals)), make([][]float64, len(rivals))}
	for round := range rounds + 1 {
		for k := range rivals {
			i := (round + k) % len(rivals)
			l, err := rivals[i].run(n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rivals[i].name, err)
			}
			if round == 0 {
				continue
			}
			r.wall[i] = append(r.wall[i], units*float64(n)/l.wall.Seconds())
			if l.cpu > 0 {
				r.cpu[i] = append(r.cpu[i], units*float64(n)/l.cpu.Seconds())
			}
		}
	}
	return r, nil
}

// print writes a row for each rival. A ratio is between laps of one round, so
// that a load that changes during the run touches both alike.
func (r *race) print(unit string) {
	limit := r.rivals[0].name
	t := table{{unit + " a second", "median (least–most)", "÷ " + limit, "of the best", "target", "a CPU-second", "÷ " + limit}}
	for i, v := range r.rivals {
		row := []string{v.name, spread(r.wall[i]), "", "", v.target, figure(median(r.cpu[i])), ""}
		if i > 0 {
			row[2], row[3] = spread(paired(r.wall[i], r.wall[0])), best(r.wall[i], r.wall[0])
			row[6] = spread(paired(r.cpu[i], r.cpu[0]))
		}
		t.add(row...)
	}
	fmt.Println()
	t.print(os.Stdout)
}
