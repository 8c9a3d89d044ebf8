package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// TestSoakKeepsEveryTail runs the promise as often as HONESTTY_SOAK says, with
// every core busy, half of the runs through a pane and half through run.
func TestSoakKeepsEveryTail(t *testing.T) {
	want := os.Getenv("HONESTTY_SOAK")
	if want == "" {
		t.Skip("skipped: `make soak` runs it")
	}
	total, err := strconv.Atoi(want)
	if err != nil || total < 1 {
		t.Fatalf("HONESTTY_SOAK is %q", want)
	}
	defer load()()
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			o, err := newOurs()
			if err != nil {
				t.Error(err)
				return
			}
			defer o.close()
			for i := range jobs {
				soakOnce(t, o, i)
			}
		})
	}
	for i := range total {
		jobs <- i
		if (i+1)%1000 == 0 {
			t.Logf("%d of %d runs", i+1, total)
		}
	}
	close(jobs)
	wg.Wait()
}

// soakTasks weighs the sizes: quick commands are what loses tails.
var soakTasks = []int{1, 1, 1, 1, 1, 1, 770, 770, 770, 770, 770, 770, 20_000, 20_000, 20_000, 50_000, 50_000, 750_000}

func soakOnce(t *testing.T, o *ours, i int) {
	last := soakTasks[rand.N(len(soakTasks))]
	host, h := "pane", o.pane
	if i%2 == 1 {
		host, h = "run", o.run
	}
	lines, says, err := h(last)
	if err != nil || lines != last {
		t.Errorf("run %d, %s of %d lines: %d held, %q, %v", i, host, last, lines, says, err)
	}
}
