package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A table is printed with its first column to the left, the others to the right.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) print(w io.Writer) {
	var widths []int
	for _, row := range t {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range t {
		var line strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i == 0 {
				line.WriteString(c + pad)
				continue
			}
			line.WriteString("  " + pad + c)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// none stands where there is no figure.
const none = "–"

// figure prints x with three significant digits and no exponent.
func figure(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x < 0:
		return none
	case x >= 100 || x == 0:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// times prints a ratio.
func times(x float64) string {
	if s := figure(x); s != none {
		return s + "×"
	}
	return none
}

// geomean is the geometric mean, NaN of nothing.
func geomean(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}

// median is the middle one, the mean of the two middle ones, or NaN of nothing.
func median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// spread prints the median with the least and the most.
func spread(xs []float64) string {
	if len(xs) == 0 {
		return none
	}
	return fmt.Sprintf("%s (%s–%s)", figure(median(xs)), figure(slices.Min(xs)), figure(slices.Max(xs)))
}
