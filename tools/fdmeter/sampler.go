package fdmeter

import (
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// How often a Sampler does what it need not do at every tick. The work is
// spread over the ticks by pid.
const (
	slowTicks   = 10 // identity, command line, limits, highest number
	rereadTicks = 16 // parent and session of processes that are not members
	// listTicks is how often the processes are listed although the system says
	// that none was made since; at rest a tick is several times longer.
	listTicks, listTicksAtRest = 10, 3
	// listBudget is how many descriptors are listed in one tick. A process
	// that holds more than it is listed alone, and the less often the more it
	// holds.
	listBudget = 4096
	// newBudget is how many new processes are looked at in one tick.
	newBudget = 2000
)

// How long Interval says to wait. At rest it is never longer than a cell of
// the history, so that each has a sample.
const (
	watchInterval = time.Second
	restInterval  = 5 * time.Second
	calmInterval  = 10 * time.Second // nothing has changed for calmTicks
	calmTicks     = 12
)

// A Sampler follows our own process and the trees of some roots. One goroutine
// owns it; its snapshots may go anywhere. It holds no descriptor and starts
// nothing.
//
// Every tick counts all members. New processes are looked for when the system
// says that one was made, and every listTicks anyhow. The highest number needs
// a listing, which costs hundreds of times more than a count: it is refreshed
// when the count changed, and every slowTicks anyhow.
type Sampler struct {
	resting atomic.Bool // see SetAttention

	meter *Meter
	self  int
	tick  int

	table map[int]*entry // every process of the machine
	scan  Scan
	tree  *family // of table; nil when table changed
	born  map[int]uint64

	tracks map[int]*track // own process and members
	listed int            // descriptors listed in this tick

	system  System
	newest  int   // what the source said when the processes were listed
	looked  int   // tick of that list; 0 never
	asked   []int // roots of the last tick
	lost    bool  // a member ended in the last tick
	changed int   // tick of the last change of a count
	urgent  bool  // a line is near, or will be before long
}

// An entry is what is known of any process.
type entry struct {
	who   Proc
	seen  int   // last tick it was in the list
	read  int   // tick at which who was read
	err   error // why who is not known
	tried bool  // whether it was looked at
}

// A track is a process that is counted.
type track struct {
	process  Process
	history  history
	used     int // last tick it was a member
	listedAt int // tick of the last listing; 0 never
	listDue  bool
}

// NewSampler returns a Sampler that reads with m and counts the calling
// process as its own.
func NewSampler(m *Meter) *Sampler {
	return &Sampler{
		meter:  m,
		self:   os.Getpid(),
		table:  map[int]*entry{},
		born:   map[int]uint64{},
		tracks: map[int]*track{},
	}
}

// Sample takes one tick. Roots may change from one call to the next. A root is
// remembered by its start time: when its pid is reused the root stays gone,
// until a call leaves it out.
func (s *Sampler) Sample(now time.Time, roots []int) Snapshot {
	s.tick++
	s.listed = 0
	src := s.meter.source()
	if s.mustRefresh(src, roots) {
		s.refresh(src)
	}
	if s.tick%slowTicks == 1 || !s.system.PTYsMax.Known() {
		s.system = src.system()
	} else {
		src.moved(&s.system)
	}
	snap := Snapshot{At: now, System: s.system, Scan: s.scan}

	members := map[int]bool{s.self: true}
	snap.Roots = make([]Root, 0, len(roots))
	for _, pid := range roots {
		root := s.root(pid)
		for _, member := range root.Members {
			members[member] = true
		}
		snap.Roots = append(snap.Roots, root)
	}
	s.forget(roots)
	s.measureAll(src, now, members)
	s.fill(&snap, now, members)
	return snap
}

// SetAttention says whether somebody looks at the figures: a panel, a person
// who waits. A new Sampler is looked at. It may be called from any goroutine.
func (s *Sampler) SetAttention(looked bool) { s.resting.Store(!looked) }

// Interval returns how long to wait before the next Sample. It is a second
// while somebody looks, and while a process that is about to hit a line moves,
// for then somebody should. Otherwise it is longer, most of all while nothing
// changes.
func (s *Sampler) Interval() time.Duration {
	switch {
	case !s.resting.Load() || s.tick == 0:
		return watchInterval
	case s.urgent && s.tick-s.changed < calmTicks:
		return watchInterval
	case s.tick-s.changed >= calmTicks:
		return calmInterval
	}
	return restInterval
}

// mustRefresh reports whether the table of processes may be out of date.
func (s *Sampler) mustRefresh(src source, roots []int) bool {
	newest, known := src.newest()
	every := listTicks
	if s.resting.Load() {
		every = listTicksAtRest
	}
	stale := !known || newest != s.newest || s.looked == 0 || s.tick-s.looked >= every ||
		s.lost || !s.scan.Complete() || !slices.Equal(roots, s.asked)
	if stale {
		s.newest, s.looked, s.lost = newest, s.tick, false
		s.asked = append(s.asked[:0], roots...)
	}
	return stale
}

// refresh brings the table of processes up to date. When the list cannot be
// had, the table stays as it is and Scan says why.
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
		case causeOf(e.err) == NoDescriptors: // look again as soon as possible
		case e.who.kernel || s.tick-e.read < rereadTicks:
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
		s.scan.Listed = true
	}
	s.sweep(src)
}

// look reads who a process is.
func (s *Sampler) look(src source, pid int, e *entry) {
	who, err := src.identity(pid)
	if causeOf(err) == NoDescriptors && e.tried && e.err == nil {
		return // what is known stays until it can be read again
	}
	e.tried, e.read = true, s.tick
	if who != e.who || (err == nil) != (e.err == nil) {
		s.tree = nil
	}
	e.who, e.err = who, err
}

// sweep removes the processes that ended, looks again at their children, who
// have another parent now, and counts what could not be looked at.
func (s *Sampler) sweep(src source) {
	gone := map[int]bool{}
	for pid, e := range s.table {
		if e.seen != s.tick || isGone(e.err) {
			gone[pid] = true
			delete(s.table, pid)
			s.tree = nil
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

func (s *Sampler) family() *family {
	if s.tree == nil {
		procs := make([]Proc, 0, len(s.table))
		for _, e := range s.table {
			if e.tried && e.err == nil {
				procs = append(procs, e.who)
			}
		}
		s.tree = newFamily(procs)
	}
	return s.tree
}

// root returns a root with its members, not yet counted.
func (s *Sampler) root(pid int) Root {
	family := s.family()
	members := family.of(pid)
	who, exists := family.procs[pid]
	birth, known := s.born[pid]
	switch {
	case exists && !known:
		s.born[pid] = who.Birth
	case exists && who.Birth != birth:
		return Root{PID: pid, Gone: true} // another process has the pid now
	case exists:
	case s.table[pid] != nil || !s.scan.Listed:
		// It could not be looked at. Counting it will show whether it is there.
		return Root{PID: pid, Members: append(members, pid)}
	case !known:
		// It was gone before it was seen once; whoever gets the pid is not it.
		s.born[pid] = 0
	}
	return Root{PID: pid, Gone: !exists, Members: members}
}

// forget drops the roots that are not asked for any more.
func (s *Sampler) forget(roots []int) {
	for pid := range s.born {
		if !slices.Contains(roots, pid) {
			delete(s.born, pid)
		}
	}
}

// measureAll counts the members. Each tick begins at another one, so that the
// budget for listings does not always end before the same process.
func (s *Sampler) measureAll(src source, now time.Time, members map[int]bool) {
	pids := slices.Sorted(maps.Keys(members))
	s.measure(src, now, s.self)
	for i := range pids {
		if pid := pids[(i+s.tick)%len(pids)]; pid != s.self {
			s.measure(src, now, pid)
		}
	}
	for pid, t := range s.tracks {
		if t.used != s.tick {
			delete(s.tracks, pid)
		}
	}
}

// measure brings one track up to date.
func (s *Sampler) measure(src source, now time.Time, pid int) {
	t := s.tracks[pid]
	first := t == nil
	if first {
		t = &track{}
		s.tracks[pid] = t
	}
	t.used = s.tick
	slow := first || (s.tick+pid)%slowTicks == 0
	count, method := src.count(pid)
	changed := count != t.process.Count
	if changed {
		s.changed = s.tick
	}
	if slow || changed {
		here, replaced := s.identify(src, pid, t, slow)
		if !here {
			count, method = Unknown(Gone), ByNone
		}
		slow = slow || replaced
	}
	r := &t.process.Reading
	r.PID, r.At, r.Count, r.Method = pid, now, count, method
	t.history.add(now, count)
	if slow {
		r.Soft, r.Hard, r.LimitsBy = src.limits(pid)
	}
	t.listDue = t.listDue || slow || changed
	if t.listDue && s.mayList(t) {
		s.list(src, now, t)
	} else if n, known := r.Highest.Get(); known && count.Known() && n < count.n-1 {
		r.Highest = Unknown(Stale) // so many descriptors need a higher number
	}
	t.process.Line, t.process.HasLine = Nearest(*r)
	t.process.Growth = t.history.growth(now)
	t.process.Spark = t.history.spark(now)
}

// identify checks that the pid still belongs to the same process, and starts
// the track anew when it does not.
func (s *Sampler) identify(src source, pid int, t *track, slow bool) (here, replaced bool) {
	who, err := src.identity(pid)
	if isGone(err) {
		return false, false
	}
	if err != nil {
		return true, false // not proved otherwise; the count stands on its own
	}
	if birth := t.process.Birth; birth != 0 && birth != who.Birth {
		*t = track{used: t.used}
		replaced = true
	}
	renamed := t.process.Name != who.Name
	t.process.identify(who)
	if slow || replaced || renamed {
		t.process.Command = commandLine(src, pid)
	}
	return true, replaced
}

// mayList reports whether a listing fits into this tick. A large process waits
// one tick for every listBudget/4 descriptors it holds.
func (s *Sampler) mayList(t *track) bool {
	size, known := t.process.Count.Get()
	if !known {
		size = 1 // one refusal costs as much as one descriptor
	}
	if t.listedAt > 0 && int64(s.tick-t.listedAt) < 1+size/(listBudget/4) {
		return false
	}
	return s.listed == 0 || int64(s.listed)+size <= listBudget
}

func (s *Sampler) list(src source, now time.Time, t *track) {
	r := &t.process.Reading
	top, n := -1, 0
	err := src.numbers(r.PID, func(fd int, _ uint32) {
		top = max(top, fd)
		n++
	})
	s.listed += n + 1
	t.listedAt, t.listDue = s.tick, false
	if err != nil {
		r.Highest, r.HighestAt = failed(err), time.Time{}
		return
	}
	r.Highest, r.HighestAt = Known(int64(top)), now
}

// fill puts the tracks into a snapshot. A member that ended during the tick
// holds nothing any more and is left out.
func (s *Sampler) fill(snap *Snapshot, now time.Time, members map[int]bool) {
	snap.Processes = make([]Process, 0, len(members))
	alive := make(map[int]Value, len(members))
	pids := slices.Sorted(maps.Keys(members))
	for _, pid := range pids {
		p := s.tracks[pid].process
		if !p.Count.Known() && p.Count.Cause() == Gone && pid != s.self {
			s.lost = true
			continue
		}
		alive[pid] = p.Count
		snap.Processes = append(snap.Processes, p)
	}
	for _, p := range snap.Processes {
		if p.PID == s.self {
			snap.Own = p
		}
		if !p.Count.Known() {
			snap.Unknown = append(snap.Unknown, Missing{p.PID, p.Name, p.Count.Reason(), p.Count.Cause()})
		}
	}
	for i := range snap.Roots {
		root := &snap.Roots[i]
		kept := make([]int, 0, len(root.Members))
		for _, pid := range root.Members {
			count, here := alive[pid]
			if !here {
				root.Gone = root.Gone || pid == root.PID
				continue
			}
			kept = append(kept, pid)
			if n, known := count.Get(); known {
				root.Sum += n
			} else {
				if root.Unknown == 0 {
					root.Cause = count.Cause()
				}
				root.Unknown++
			}
		}
		slices.Sort(kept)
		root.Members = kept
	}
	snap.nearest = pickNearest(snap.Processes)
	s.urgent = slices.ContainsFunc(snap.Processes, urgent)
}

// urgent reports whether a process is about to hit a line.
func urgent(p Process) bool {
	const soon = 10 * time.Minute
	outlook, rising := p.Outlook()
	return p.HasLine && p.Line.Alert() && !p.Line.Passed() || rising && outlook.In < soon
}
