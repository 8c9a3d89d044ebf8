package fdmeter

import "slices"

// A Tree is some processes and everything that came from them.
type Tree struct {
	// Procs are the members, roots included, by pid. A process that belongs
	// to two roots is listed once.
	Procs []Proc
	// Roots maps every root that was asked for to the pids of its members.
	// The root itself is missing from its list when it does not exist.
	Roots map[int][]int
	// Gone are the roots that do not exist any more. Survivors of their
	// session are still members.
	Gone []int
	// Denied are the roots that exist and could not be looked at.
	Denied []int
	// Scan says what could not be looked at.
	Scan Scan
}

// Tree returns the descendants of the roots. A process belongs to a root when
// its parent does, or when its session leader does: a child that outlived its
// parent is adopted by another process but keeps its session.
func (m *Meter) Tree(roots ...int) Tree {
	procs, scan := m.scan()
	family := newFamily(procs)
	tree := Tree{Roots: make(map[int][]int, len(roots)), Scan: scan}
	members := map[int]bool{}
	for _, root := range roots {
		pids := family.of(root, nil)
		if _, exists := family.procs[root]; !exists {
			if _, err := m.source().identity(root); err == nil || isGone(err) {
				tree.Gone = append(tree.Gone, root)
			} else {
				tree.Denied = append(tree.Denied, root)
			}
		}
		tree.Roots[root] = pids
		for _, pid := range pids {
			if !members[pid] {
				members[pid] = true
				tree.Procs = append(tree.Procs, *family.procs[pid])
			}
		}
	}
	slices.SortFunc(tree.Procs, func(a, b Proc) int { return a.PID - b.PID })
	return tree
}

// A family is who came from whom, at one moment. It may be used again for
// another one, which then costs no memory.
type family struct {
	procs    map[int]*Proc
	children map[int][]int // by parent
	sessions map[int][]int // by session id, the leader left out

	seen  map[int]bool // of one call of of
	queue []int
}

// newFamily does not copy the processes: they must not change in what akin
// compares.
func newFamily(procs []Proc) *family {
	f := &family{
		procs: map[int]*Proc{}, children: map[int][]int{}, sessions: map[int][]int{}, seen: map[int]bool{},
	}
	for i := range procs {
		f.add(&procs[i])
	}
	return f
}

func (f *family) add(who *Proc) {
	f.procs[who.PID] = who
	if who.kernel {
		return
	}
	f.children[who.Parent] = append(f.children[who.Parent], who.PID)
	if who.Session > 0 && who.Session != who.PID {
		f.sessions[who.Session] = append(f.sessions[who.Session], who.PID)
	}
}

// clear empties the family. Lists that stayed empty since the last time go, the
// others keep their memory.
func (f *family) clear() {
	clear(f.procs)
	for _, lists := range []map[int][]int{f.children, f.sessions} {
		for pid, list := range lists {
			if len(list) == 0 {
				delete(lists, pid)
			} else {
				lists[pid] = list[:0]
			}
		}
	}
}

// of appends the members of root to members, which is empty, by pid. Each
// process is visited once, so a loop in what the kernel said while processes
// moved cannot hold it up.
func (f *family) of(root int, members []int) []int {
	clear(f.seen)
	f.seen[root] = true
	f.queue = append(f.queue[:0], root)
	for next := 0; next < len(f.queue); next++ {
		pid := f.queue[next]
		if _, exists := f.procs[pid]; exists {
			members = append(members, pid)
		}
		f.follow(f.children[pid])
		f.follow(f.sessions[pid])
	}
	slices.Sort(members)
	return members
}

func (f *family) follow(pids []int) {
	for _, pid := range pids {
		if !f.seen[pid] {
			f.seen[pid] = true
			f.queue = append(f.queue, pid)
		}
	}
}
