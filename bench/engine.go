package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The targets of the engine, printed beside the figures.
const (
	textTarget   = 100 // MB per CPU-second of what a person reads
	floodTarget  = 25  // MB per CPU-second of what only a program makes
	xtermTarget  = 8   // times xterm.js, geometric mean
	allocsTarget = 20  // allocations per MB
)

// scrollback is what every engine keeps.
const scrollback = 10_000

// inputSize is one pass of a workload, fed again and again.
const inputSize = 1 << 20

// sizes are columns and rows.
var sizes = [][2]int{{80, 24}, {200, 60}}

// A cell is one workload at one size, with a result or a misfit per engine.
type cell struct {
	w       workload
	results []feedResult
	errs    []error
}

// engines feeds the same bytes to every engine, each in a process of its own.
func engines(o options) error {
	fmt.Printf("\nEngine: MB per CPU-second (user and system, collector included), %d lines of history, %d KiB writes\n", scrollback, chunk>>10)
	list, err := allEngines()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-engine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	warm, budget := pick(o, 500*time.Millisecond, 100*time.Millisecond), pick(o, 1200*time.Millisecond, 300*time.Millisecond)
	var all []cell
	for _, size := range sizes {
		var cells []cell
		for _, w := range workloads {
			job := feedJob{size[0], size[1], scrollback, warm, budget, filepath.Join(dir, "input")}
			data, name := input(w, size[0], size[1])
			w.name = name
			if err := os.WriteFile(job.file, data, 0o600); err != nil {
				return err
			}
			cells = append(cells, feedAll(list, w, job))
		}
		printCells(fmt.Sprintf("%d×%d", size[0], size[1]), list, cells)
		all = append(all, cells...)
	}
	printMeans(list, all)
	return nil
}

// input is the workload's bytes and its name: vim's session is recorded where
// that is possible.
func input(w workload, cols, rows int) ([]byte, string) {
	if w.name == "vim" {
		b, err := recordVim(cols, rows)
		if err == nil {
			return b, "vim, recorded"
		}
		fmt.Printf("vim: made up, not recorded: %v\n", err)
	}
	return w.make(inputSize, cols, rows, "\r\n"), w.name
}

func feedAll(list []engine, w workload, job feedJob) cell {
	c := cell{w, make([]feedResult, len(list)), make([]error, len(list))}
	for i, e := range list {
		c.results[i], c.errs[i] = e.feed(job)
	}
	return c
}

func printCells(title string, list []engine, cells []cell) {
	head := []string{title, list[0].name}
	for _, e := range list[1:] {
		head = append(head, e.name)
	}
	for _, e := range list[1:] {
		head = append(head, "÷ "+e.name)
	}
	head = append(head, "target", "allocs/MB", "target")
	for _, e := range list[1:] {
		if e.name == "x/vt" {
			head = append(head, e.name)
		}
	}
	t := table{head}
	for _, c := range cells {
		row := []string{c.w.name}
		for i := range list {
			row = append(row, c.rate(i))
		}
		for i := range list[1:] {
			row = append(row, times(c.ratio(i+1)))
		}
		target := textTarget
		if c.w.kind == flood {
			target = floodTarget
		}
		row = append(row, fmt.Sprintf("≥ %d", target), c.allocs(0), fmt.Sprintf("≤ %d", allocsTarget))
		for i, e := range list {
			if e.name == "x/vt" {
				row = append(row, c.allocs(i))
			}
		}
		t.add(row...)
	}
	fmt.Println()
	t.print(os.Stdout)
	for _, c := range cells {
		for _, err := range c.errs {
			if err != nil {
				fmt.Printf("  %s: %v\n", c.w.name, err)
			}
		}
	}
}

// rate prints what engine i did, or why there is no figure.
func (c cell) rate(i int) string {
	if m, ok := errors.AsType[*misfit](c.errs[i]); ok {
		return m.short
	}
	return figure(c.results[i].rate())
}

// ratio is how many times faster ours is than engine i; -1 when unknown.
func (c cell) ratio(i int) float64 {
	ours, theirs := c.results[0].rate(), c.results[i].rate()
	if ours == 0 || theirs == 0 {
		return -1
	}
	return ours / theirs
}

func (c cell) allocs(i int) string {
	r := c.results[i]
	if c.errs[i] != nil || r.Allocs < 0 || r.Bytes == 0 {
		return none
	}
	return figure(float64(r.Allocs) / (float64(r.Bytes) / 1e6))
}

func printMeans(list []engine, cells []cell) {
	if len(list) == 1 {
		return
	}
	fmt.Println()
	t := table{{"geometric mean", "times as fast", "cells", "target"}}
	for i, e := range list[1:] {
		var ratios []float64
		for _, c := range cells {
			if r := c.ratio(i + 1); r > 0 {
				ratios = append(ratios, r)
			}
		}
		target := none
		if e.name == "xterm.js" {
			target = fmt.Sprintf("≥ %d×", xtermTarget)
		}
		t.add("honestty ÷ "+e.name, times(geomean(ratios)), fmt.Sprintf("%d of %d", len(ratios), len(cells)), target)
	}
	t.print(os.Stdout)
}
