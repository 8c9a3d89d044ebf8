package process

import (
	"cmp"
	"errors"
	"slices"

	"github.com/honestty/honestty/outcome"
)

// A ps is one process as the system lists it.
type ps struct {
	pid, parent, group, session int
	start                       uint64 // when it started, in the system's own units; tells two users of one pid apart
	ended                       bool   // a zombie: it only waits to be reaped
	name                        string
}

func (p ps) named() outcome.Process { return outcome.Process{PID: p.pid, Name: p.name} }

// errOtherProcess is why a pid was not signalled: the process that had it has
// ended, and the number belongs to another one now.
var errOtherProcess = errors.New("the pid belongs to another process now")

// A branch is a process of a job's tree and how far below the job's own
// process it is. Members of the session whose parents have ended are at 1.
type branch struct {
	ps
	depth int
}

// treeOf picks out of all those that belong to the process root that started
// at start: its descendants, and the members of its session. Those furthest
// down come first, the root itself is left out.
//
// A process that is older than its parent has a parent whose pid was given out
// anew; it and what is below it is not of the tree. When root is somebody else
// by now nothing is.
func treeOf(all []ps, root int, start uint64) []branch {
	children := map[int][]ps{}
	ours := false
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		ours = ours || p.pid == root && p.start == start
	}
	if !ours {
		return nil
	}
	seen := map[int]bool{root: true}
	var tree []branch
	add := func(parent ps, depth int) {
		level := []ps{parent}
		for ; len(level) > 0; depth++ {
			var next []ps
			for _, p := range level {
				for _, c := range children[p.pid] {
					if !seen[c.pid] && c.start >= p.start {
						seen[c.pid] = true
						tree = append(tree, branch{c, depth})
						next = append(next, c)
					}
				}
			}
			level = next
		}
	}
	add(ps{pid: root, start: start}, 1)
	for _, p := range all {
		if p.session == root && !seen[p.pid] && p.start >= start {
			seen[p.pid] = true
			tree = append(tree, branch{p, 1})
			add(p, 2)
		}
	}
	tree = slices.DeleteFunc(tree, func(b branch) bool { return b.ended })
	slices.SortStableFunc(tree, func(a, b branch) int { return cmp.Compare(b.depth, a.depth) })
	return tree
}
