package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/vt"
)

// echoCommand is the argument that turns this program into the child that
// echoes.
const echoCommand = "echo"

// echoReady stands behind the cell in which every key is shown.
const echoReady = " is where the key shows"

// echoMain shows each byte it reads in one cell, at once, until its input ends.
func echoMain() {
	out := []byte("\x1b[2J\x1b[3;5H@" + echoReady)
	buf := make([]byte, 1)
	for {
		if _, err := unix.Write(1, out); err != nil {
			return
		}
		n, err := unix.Read(0, buf)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Read(0, buf)
		}
		if err != nil || n == 0 {
			return
		}
		out = append(append(out[:0], "\x1b[3;5H"...), buf[0])
	}
}

// echoing is the command of a child that echoes, on a terminal made raw.
func (b *bed) echoing() []string {
	return []string{"/bin/sh", "-c", "stty raw -echo && exec '" + b.self + "' " + echoCommand}
}

// The pause between two keys, drawn at random so that no host's frames fall
// into step with it. The fastest typist is near the lower end.
const (
	leastPause = 20 * time.Millisecond
	mostPause  = 45 * time.Millisecond
)

// echoTarget is the 99th percentile that is promised beside a flood.
const echoTarget = 20 * time.Millisecond

// echoes types n keys and returns how long each took to be seen, in
// milliseconds.
func (o *outer) echoes(n int, rnd *rand.Rand) ([]float64, error) {
	if _, err := o.await(shows(echoReady)); err != nil {
		return nil, err
	}
	row, col := o.find(echoReady)
	var ms []float64
	for range n {
		time.Sleep(leastPause + rand.N(mostPause-leastPause))
		key := o.otherKey(row, col, rnd)
		await := o.expect(func(t *vt.Terminal) bool { return cellText(t, row, col) == key })
		start := time.Now()
		if err := o.send([]byte(key)); err != nil {
			return nil, err
		}
		at, err := await()
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key, err)
		}
		ms = append(ms, float64(at.Sub(start))/float64(time.Millisecond))
	}
	return ms, nil
}

// otherKey is a letter that the cell does not show.
func (o *outer) otherKey(row vt.Row, col vt.Col, rnd *rand.Rand) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if key := string(rune('a' + rnd.IntN(26))); cellText(o.term, row, col) != key {
			return key
		}
	}
}

// find returns the cell before a text that stands on the screen.
func (o *outer) find(text string) (vt.Row, vt.Col) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, rows := o.term.Size()
	for r := range vt.Row(rows) {
		if before, _, ok := strings.Cut(rowText(o.term, r), text); ok {
			return r, vt.Col(len([]rune(before)) - 1)
		}
	}
	return 0, 0
}

func cellText(t *vt.Terminal, row vt.Row, col vt.Col) string {
	line := t.Line(row)
	if int(col) >= len(line) {
		return ""
	}
	return string(t.AppendText(nil, line[col]))
}

// echo prints how long a key takes to be seen, alone and beside a flood.
func echo(b *bed, o options) error {
	n := pick(o, 300, 60)
	fmt.Printf("\nKeystroke to echo: %d keys on %d×%d, in turns, in ms from the typing to the byte on the outer terminal, load %s\n", n, windowCols, windowRows, loadAverage())
	b.skipTmux()
	flood := filepath.Join(b.dir, "flood")
	if err := writeFlood(flood); err != nil {
		return err
	}
	defer os.Remove(flood)
	t := table{{"", "host", "median", "p90", "p99", "most", "median ÷ bare", "median ÷ tmux", "p99 ÷ tmux", "target"}}
	for _, busy := range []bool{false, true} {
		names, got, err := echoTurns(b, n, busy, flood)
		if err != nil {
			return err
		}
		addEchoes(&t, names, got, busy)
	}
	fmt.Println()
	t.print(os.Stdout)
	fmt.Println("bare: the same child on a terminal without a host; beside a flood, its neighbour has a terminal of its own that is read at once")
	fmt.Printf("load %s at the end\n", loadAverage())
	return nil
}

// floodSize is the size of the file that is shown, again and again, while
// somebody types beside it.
const floodSize = 100_000_000

func writeFlood(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	block := makeASCII(1_000_000, 0, 0, "\n")
	for written := 0; written < floodSize && err == nil; written += len(block) {
		_, err = f.Write(block)
	}
	return errors.Join(err, f.Close())
}

// echoRounds is how many turns each host gets.
const echoRounds = 3

// echoTurns returns the milliseconds of n keys of each host. Each turn has a
// host of its own, so that nothing else runs beside the one that is measured.
func echoTurns(b *bed, n int, busy bool, flood string) (names []string, got [][]float64, err error) {
	list := b.starters()
	got = make([][]float64, len(list))
	for _, s := range list {
		names = append(names, s.name)
	}
	rnd := seeded(11)
	for range echoRounds {
		for i, s := range list {
			ms, err := echoTurn(b, s, n/echoRounds, busy, flood, rnd)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", s.name, err)
			}
			got[i] = append(got[i], ms...)
		}
	}
	return names, got, nil
}

func echoTurn(b *bed, s starter, n int, busy bool, flood string, rnd *rand.Rand) (ms []float64, err error) {
	h, err := s.start(b, b.echoing()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if _, err := h.outer.await(shows(echoReady)); err != nil {
		return nil, err
	}
	if busy {
		if err := h.beside("/bin/sh", "-c", "while cat '"+flood+"'; do :; done"); err != nil {
			return nil, err
		}
		time.Sleep(time.Second) // the window is divided and the flood runs
	} else {
		h.outer.quiet(200 * time.Millisecond) // what a host asks and does at its start is over
	}
	return h.outer.echoes(n, rnd)
}

// percentile is the least value that p of 100 values do not exceed.
func percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	return s[max(0, int(math.Ceil(p/100*float64(len(s))))-1)]
}

func addEchoes(t *table, names []string, got [][]float64, busy bool) {
	by := map[string][]float64{}
	for i, name := range names {
		by[name] = got[i]
	}
	for i, name := range names {
		what, target := "alone", ""
		if busy {
			what = "cat of 100 MB beside"
			if name == product {
				target = fmt.Sprintf("p99 < %d", echoTarget.Milliseconds())
			}
		}
		ms := got[i]
		t.add(what, name, figure(median(ms)), figure(percentile(ms, 90)), figure(percentile(ms, 99)), figure(percentile(ms, 100)),
			times(median(ms)/median(by[bare])), times(median(ms)/median(by[tmuxPeer])),
			times(percentile(ms, 99)/percentile(by[tmuxPeer], 99)), target)
	}
}
