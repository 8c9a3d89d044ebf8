package fdmeter

import "slices"

// A processTable is every process of the machine, as far as a Sampler has to
// know it: enough to say who belongs to a root.
type processTable struct {
	table map[int]*entry
	scan  Scan
	tree  *family // of table, unless that changed since
	stale bool    // whether it did
	kin   map[int]*kinship
	born  map[int]uint64

	newest int   // the last pid given out, when the source last said
	late   []int // given out, and not there yet when they were asked for
	looked int   // tick of the last list; 0 never
	lost   bool  // the next tick has to list: a process ended, or cannot be told
}

// A kinship is the members of a root by a tree.
type kinship struct {
	pids  []int
	known bool // false: tree changed since
}

func newProcessTable() processTable {
	return processTable{
		table: map[int]*entry{}, born: map[int]uint64{}, kin: map[int]*kinship{}, tree: newFamily(nil),
	}
}

// An entry is what is known of any process.
type entry struct {
	who   Proc
	seen  int   // last tick it was in the list
	read  int   // tick at which who was read
	err   error // why who is not known
	tried bool  // whether it was looked at
}

// renew brings the table of processes up to date. Pids are given out in order,
// so after a few new ones only those are asked for.
func (s *Sampler) renew(src source, roots []int) {
	newest, known := src.newest()
	every := listTicks
	if s.resting.Load() {
		every = listTicksAtRest
	}
	last := s.newest
	s.newest = newest
	if !known || s.looked == 0 || s.tick-s.looked >= every || s.lost || !s.scan.settled() ||
		newest < last || newest-last > probeLimit || !slices.Equal(roots, s.asked) {
		s.looked, s.lost, s.late = s.tick, false, s.late[:0]
		s.asked = append(s.asked[:0], roots...)
		s.refresh(src)
		return
	}
	for _, pid := range s.late {
		s.probe(src, pid)
	}
	s.late = s.late[:0]
	for pid := last + 1; pid <= newest; pid++ {
		if !s.probe(src, pid) {
			s.late = append(s.late, pid) // perhaps it is being made
		}
	}
}

// probe looks at a pid that was given out, and reports whether anything has it.
// What it cannot tell for certain, the next list will.
func (s *Sampler) probe(src source, pid int) (found bool) {
	e := s.table[pid]
	if e == nil && !src.alive(pid) {
		return false
	}
	who, err := src.identity(pid)
	switch {
	case err == nil && !who.thread:
		if e != nil {
			s.met(who, s.tick)
			break
		}
		e = &entry{who: who, seen: s.tick, read: s.tick, tried: true}
		s.table[pid] = e
		s.scan.Read++
		s.join(&e.who)
	case e != nil || err != nil && !isGone(err):
		s.lost = true
	}
	return !isGone(err)
}

// refresh lists the processes. When the list cannot be had, the table stays as
// it is and Scan says why.
func (s *Sampler) refresh(src source) {
	s.scan = Scan{}
	fresh := 0
	err := src.pids(func(pid int) {
		e := s.table[pid]
		if e == nil {
			e = &entry{}
			s.table[pid] = e
		}
		e.seen = s.tick
		switch {
		case !e.tried:
			if fresh == newBudget {
				return
			}
			fresh++
		case e.err != nil && causeOf(e.err) == NoDescriptors: // look again as soon as possible
		case e.who.kernel || s.tick-e.read < rereadTicks:
			return
		case e.err == nil && s.tracks[pid] != nil: // measure reads it more often
			return
		}
		first := !e.tried
		s.look(src, pid, e)
		if first {
			e.read = s.tick - pid%rereadTicks // so that they are not all read in one tick
		}
	})
	if err != nil {
		s.scan.Cause = causeOf(err)
		// The list may have broken off in its middle.
		for _, e := range s.table {
			e.seen = s.tick
		}
	} else {
		s.scan.Listed, s.scan.Hidden = true, src.partial()
	}
	s.sweep(src)
}

// look reads who a process is.
func (s *Sampler) look(src source, pid int, e *entry) {
	who, err := src.identity(pid)
	if err == nil {
		s.met(who, s.tick)
		return
	}
	if causeOf(err) == NoDescriptors && e.tried && e.err == nil {
		return // what is known stays until it can be read again
	}
	if e.err == nil {
		s.stale = true
	}
	e.who, e.err, e.tried, e.read = Proc{}, err, true, s.tick
}

// met notes who a process of the table is, when that was read.
func (t *processTable) met(who Proc, tick int) {
	e := t.table[who.PID]
	if e == nil {
		return
	}
	if !e.tried || e.err != nil || !e.who.akin(who) {
		t.stale = true
	}
	e.who, e.err, e.tried, e.read = who, nil, true, tick
}

// join adds a new process to the tree, and has those roots looked at anew that
// it belongs to.
func (t *processTable) join(who *Proc) {
	if t.stale {
		return
	}
	t.tree.add(who)
	for root, k := range t.kin {
		for _, from := range []int{who.PID, who.Parent, who.Session} {
			_, member := slices.BinarySearch(k.pids, from)
			k.known = k.known && !member && from != root
		}
	}
}

// akin reports whether two looks at a pid say the same of who came from whom.
func (p Proc) akin(q Proc) bool {
	return p.PID == q.PID && p.Birth == q.Birth && p.Parent == q.Parent && p.Session == q.Session && p.kernel == q.kernel
}

// sweep removes the processes that ended, looks again at their children, who
// have another parent now, and counts what could not be looked at.
func (s *Sampler) sweep(src source) {
	gone := map[int]bool{}
	for pid, e := range s.table {
		if e.seen != s.tick || isGone(e.err) {
			gone[pid] = true
			delete(s.table, pid)
			s.stale = true
		}
	}
	for pid, e := range s.table {
		if len(gone) > 0 && e.err == nil && gone[e.who.Parent] {
			s.look(src, pid, e)
		}
		switch {
		case !e.tried:
			s.scan.Skipped++
		case e.err != nil:
			s.scan.note(e.err)
		default:
			s.scan.Read++
		}
	}
}

// kinOf returns the members of a root, until its next call. They are not to be
// written to.
func (t *processTable) kinOf(root int) []int {
	if t.stale {
		t.stale = false
		t.tree.clear()
		for _, e := range t.table {
			if e.tried && e.err == nil {
				t.tree.add(&e.who)
			}
		}
		for _, k := range t.kin {
			k.known = false
		}
	}
	k := t.kin[root]
	if k == nil {
		k = &kinship{}
		t.kin[root] = k
	}
	if !k.known {
		k.pids, k.known = t.tree.of(root, k.pids[:0]), true
	}
	return k.pids
}

// root returns a root with its members, not yet counted.
func (t *processTable) root(pid int) Root {
	members := t.kinOf(pid)
	who, exists := t.tree.procs[pid]
	birth, known := t.born[pid]
	switch {
	case exists && !known:
		t.born[pid] = who.Birth
	case exists && who.Birth != birth:
		return Root{PID: pid, Gone: true} // another process has the pid now
	case exists:
	case t.table[pid] != nil || !t.scan.Listed:
		// It could not be looked at. Counting it will show whether it is there.
		return Root{PID: pid, Members: append(slices.Clip(members), pid)}
	case !known:
		// It was gone before it was seen once; whoever gets the pid is not it.
		t.born[pid] = 0
	}
	return Root{PID: pid, Gone: !exists, Members: members}
}

// forget drops the roots that are not asked for any more.
func (t *processTable) forget(roots []int) {
	for pid := range t.kin {
		if !slices.Contains(roots, pid) {
			delete(t.born, pid)
			delete(t.kin, pid)
		}
	}
}
