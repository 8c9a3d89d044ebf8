package config

import "strings"

// longestCompared is the length in characters above which a word is not
// compared: no name is as long, and the work grows with the product.
const longestCompared = 64

// nearest returns the name that word was probably meant to be, or "" when none
// is close. Case does not count; a swap of neighbours counts as one slip. Of
// equally close names the first wins.
func nearest(word string, names []string) string {
	w := []rune(strings.ToLower(word))
	if len(w) == 0 || len(w) > longestCompared {
		return ""
	}
	best, bestSlips := "", 0
	for _, name := range names {
		n := []rune(strings.ToLower(name))
		if len(n) > longestCompared {
			continue
		}
		d := slips(w, n)
		if d <= allowedSlips(len(w), len(n)) && (best == "" || d < bestSlips) {
			best, bestSlips = name, d
		}
	}
	return best
}

// allowedSlips is how far two words may differ and still be taken for one
// another: a third of the shorter one, so that "on" is not near "off".
func allowedSlips(a, b int) int { return max(1, min(a, b)/3) }

// slips is the Levenshtein distance with swaps of neighbours (optimal string
// alignment).
func slips(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
