package readfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/honestty/honestty/tools/safepath"
)

const (
	maxSimilar = 5    // names that are suggested
	maxLooked  = 2000 // names of the folder that are compared
)

// similar are files beside the missing one with a name like it, best first.
// Only such that may be read are named.
func similar(policy safepath.Policy, missing safepath.Path) []string {
	if missing.Real == "" {
		return nil
	}
	dir, want := filepath.Split(missing.Real)
	d, err := os.Open(dir)
	if err != nil {
		return nil // a missing folder has no names to suggest
	}
	names, _ := d.Readdirnames(maxLooked) // what could be listed is compared
	if d.Close() != nil {
		return nil
	}
	type near struct {
		name string
		far  int
	}
	var found []near
	for _, name := range names {
		if far, ok := distance(strings.ToLower(want), strings.ToLower(name)); ok {
			found = append(found, near{name, far})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, n := range found {
		if len(out) == maxSimilar {
			break
		}
		checked, err := policy.Check(filepath.Join(dir, n.name), "", safepath.Read)
		if err != nil {
			continue
		}
		if info, err := os.Stat(checked.Real); err == nil && info.Mode().IsRegular() {
			out = append(out, checked.Abs)
		}
	}
	return out
}

// distance is how many characters must be changed to make b of a. It is not
// ok when that is more than a third of the name and none contains the other.
func distance(a, b string) (int, bool) {
	stem := strings.TrimSuffix(a, filepath.Ext(a))
	if len(stem) >= 3 && strings.Contains(b, stem) {
		return 0, true
	}
	x, y := []rune(a), []rune(b)
	most := max(1, len(x)/3)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return 0, false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(y)], row[len(y)] <= most
}
