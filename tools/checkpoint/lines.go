package checkpoint

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many unchanged lines stand on each side of a change.
const around = 3

// maxEdits bounds the search for the shortest way from one text to the other.
// It costs memory with its square.
const maxEdits = 1500

// An edit is one line of a comparison: ' ' both have it, '-' only the old
// text, '+' only the new one.
type edit struct {
	op   byte
	line string
}

// unified writes the difference as diff -u does. coarse says that the texts
// differ too much to be compared line by line.
func unified(a, b, nameA, nameB string) (text string, coarse bool) {
	edits, coarse := compareLines(splitLines(a), splitLines(b))
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", nameA, nameB)
	lineA, lineB := 1, 1 // of edits[at]
	at := 0
	for at < len(edits) {
		next := slices.IndexFunc(edits[at:], func(e edit) bool { return e.op != ' ' })
		if next < 0 {
			break
		}
		skip := max(0, next-around)
		at, lineA, lineB = at+skip, lineA+skip, lineB+skip
		end := hunkEnd(edits, at)
		countA, countB := count(edits[at:end])
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", place(lineA, countA), place(lineB, countB))
		for _, e := range edits[at:end] {
			out.WriteByte(e.op)
			out.WriteString(e.line)
			if !strings.HasSuffix(e.line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		at, lineA, lineB = end, lineA+countA, lineB+countB
	}
	return out.String(), coarse
}

// hunkEnd is where the hunk that starts at from ends: after the context of a
// change that no other follows closely.
func hunkEnd(edits []edit, from int) int {
	last := from
	for i := from; i < len(edits); i++ {
		if edits[i].op != ' ' {
			last = i
		} else if i-last > 2*around {
			break
		}
	}
	return min(len(edits), last+1+around)
}

func count(edits []edit) (a, b int) {
	for _, e := range edits {
		if e.op != '+' {
			a++
		}
		if e.op != '-' {
			b++
		}
	}
	return a, b
}

// place writes a range of lines. An empty range is named by the line before.
func place(line, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// splitLines keeps each line's end, so that a missing last one shows.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compareLines finds the edits that lead from a to b.
func compareLines(a, b []string) (edits []edit, coarse bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for _, l := range a[:head] {
		edits = append(edits, edit{' ', l})
	}
	middle, coarse := shortest(a[head:len(a)-tail], b[head:len(b)-tail])
	edits = append(edits, middle...)
	for _, l := range a[len(a)-tail:] {
		edits = append(edits, edit{' ', l})
	}
	return edits, coarse
}

// shortest is the greedy search of Myers, An O(ND) Difference Algorithm
// (1986): after d edits, reach[k] is how far along a the diagonal k gets. Past
// maxEdits the whole of a is replaced by the whole of b.
func shortest(a, b []string) (edits []edit, coarse bool) {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	reach := make([]int32, 2*limit+3)
	mid := limit + 1
	var trail [][]int32 // reach before the d-th round, from diagonal -d to d
	for d := 0; d <= limit; d++ {
		trail = append(trail, slices.Clone(reach[mid-d:mid+d+1]))
		for k := -d; k <= d; k += 2 {
			x := step(reach[mid+k-1], reach[mid+k+1], k, d)
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[mid+k] = int32(x)
			if x >= n && y >= m {
				return walkBack(a, b, trail), false
			}
		}
	}
	for _, l := range a {
		edits = append(edits, edit{'-', l})
	}
	for _, l := range b {
		edits = append(edits, edit{'+', l})
	}
	return edits, true
}

// step is where diagonal k starts in round d: one line of b more from the
// diagonal above, or one line of a less from the one below.
func step(below, above int32, k, d int) int {
	if k == -d || k != d && below < above {
		return int(above)
	}
	return int(below) + 1
}

// walkBack reads the way that was found from its end.
func walkBack(a, b []string, trail [][]int32) []edit {
	x, y := len(a), len(b)
	var back []edit
	same := func(untilX int) {
		for ; x > untilX; x, y = x-1, y-1 {
			back = append(back, edit{' ', a[x-1]})
		}
	}
	for d := len(trail) - 1; d > 0; d-- {
		reach := func(k int) int32 { // only asked where round d had an answer
			if k < -d || k > d {
				return 0
			}
			return trail[d][k+d]
		}
		k := x - y
		start := step(reach(k-1), reach(k+1), k, d) // where the equal lines of this round begin
		same(start)
		if k == -d || k != d && reach(k-1) < reach(k+1) {
			y--
			back = append(back, edit{'+', b[y]})
		} else {
			x--
			back = append(back, edit{'-', a[x]})
		}
	}
	same(0)
	slices.Reverse(back)
	return back
}
