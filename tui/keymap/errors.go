package keymap

import "fmt"

// An UnknownError reports a name that does not exist.
type UnknownError struct {
	Kind    string // "action", "preset", "key"
	Name    string
	Nearest string // the name that was perhaps meant, "" when none is near
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// A KeyError says why a text names no key.
type KeyError struct{ Key, Reason string }

func (e *KeyError) Error() string { return fmt.Sprintf("key %q: %s", e.Key, e.Reason) }

// A BindError says which setting is wrong and why, so that a config file can be
// shown with the line.
type BindError struct {
	Setting string // "preset", "prefix", or the name of an action
	Key     string // the text as it was given, "" when the setting itself is meant
	Cause   error
}

func (e *BindError) Error() string {
	if e.Setting == "preset" || e.Setting == "prefix" {
		return fmt.Sprintf("%s: %v", e.Setting, e.Cause)
	}
	return fmt.Sprintf("bind %s: %v", e.Setting, e.Cause)
}

func (e *BindError) Unwrap() error { return e.Cause }

// nearest returns the name with the fewest wrong, missing, added or exchanged
// letters, "" when all are too far away to be meant.
func nearest(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters by which two names differ; two neighbours that
// changed places count once (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range y {
		d[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			wrong := 1
			if x[i-1] == y[j-1] {
				wrong = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+wrong)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
