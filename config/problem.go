package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrInvalid matches Problems and each Problem.
var ErrInvalid = errors.New("settings are not valid")

// maxProblems is how many problems are kept. A file that is no settings file
// at all would give one a line.
const maxProblems = 200

// A Problem is one thing that is wrong with the settings.
type Problem struct {
	File   string // as it was given; may hold anything a path may
	Line   int    // from 1; 0: the whole file
	Column int    // in characters, from 1; 0: the whole line
	Key    string // the key it is about, safe to show; "" for none
	Text   string // what is wrong and what is expected, safe to show
	Err    error  // why a file could not be read; nil otherwise
}

// Error returns "file:line:column: text". It is safe to show.
func (p Problem) Error() string {
	if p.File == "" {
		return p.Text
	}
	at := safe(p.File)
	if p.Line > 0 {
		at += fmt.Sprintf(":%d", p.Line)
	}
	if p.Line > 0 && p.Column > 0 {
		at += fmt.Sprintf(":%d", p.Column)
	}
	return at + ": " + p.Text
}

// Unwrap returns Err.
func (p Problem) Unwrap() error { return p.Err }

// Is reports whether target is ErrInvalid.
func (p Problem) Is(target error) bool { return target == ErrInvalid }

// Problems is everything that is wrong, in the order of the files and lines.
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each problem as an error.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// Is reports whether target is ErrInvalid.
func (ps Problems) Is(target error) bool { return target == ErrInvalid }

// A list collects problems up to maxProblems and counts the rest.
type list struct {
	kept Problems
	more int
}

// full reports whether only counting is left.
func (l *list) full() bool { return len(l.kept) == maxProblems }

func (l *list) add(p Problem) {
	if l.full() {
		l.more++
		return
	}
	l.kept = append(l.kept, p)
}

// sorted puts the problems of each file in the order of its lines. The files
// keep the order in which they were read.
func (l *list) sorted() Problems {
	if len(l.kept) == 0 {
		return nil
	}
	rank := map[string]int{}
	for _, p := range l.kept {
		if _, ok := rank[p.File]; !ok {
			rank[p.File] = len(rank)
		}
	}
	slices.SortStableFunc(l.kept, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if l.more > 0 {
		last := l.kept[len(l.kept)-1]
		return append(l.kept, Problem{File: last.File, Text: fmt.Sprintf("%s not listed", plural(l.more, "more problem is", "more problems are"))})
	}
	return l.kept
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
