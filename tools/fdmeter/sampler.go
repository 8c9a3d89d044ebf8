package fdmeter

import (
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// How often a Sampler does what it need not do at every tick, in ticks: a
// figure that is shown is never older. The work is spread over the ticks by
// pid. What a quiet process is asked comes together with its count: these are
// multiples of quietTicks.
const (
	quietTicks   = 3  // count of a process that is quiet among many
	highestTicks = 6  // highest number, while the count stays the same
	slowTicks    = 12 // limits
	whoTicks     = 24 // name, start time, parent, session; see source.count
	commandTicks = 60 // command line of a process that was not replaced by exec
	rereadTicks  = 16 // parent and session of processes that are not members
	// A process is quiet when its count has stayed the same for quietAfter ticks
	// and is near no line. Up to fewMembers are counted at every tick anyhow.
	quietAfter, fewMembers = 10, 64
	// listTicks is how often the processes are listed although the system says
	// which were made since; at rest a tick is several times longer.
	listTicks, listTicksAtRest = 10, 3
	// probeLimit is how many pids may have been given out since the last tick
	// for them to be asked one by one: to list all is cheaper from there on.
	probeLimit = 1024
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
// A tick is a second while somebody looks. What a tick costs is mostly what the
// kernel is asked, so each figure is asked for as often as it can matter:
//
//	figure             brought up to date
//	count              every tick; where more than fewMembers are counted while
//	                   somebody looks, every quietTicks for those that are
//	                   quiet. Reading.At is when
//	highest number     when the count changed, and every highestTicks: one that
//	                   was closed for a higher one at the same count is shown
//	                   for 6 s at most. A process that holds n descriptors may
//	                   wait n/1024 ticks more, and where those that are due hold
//	                   more than listBudget together they take turns: the time
//	                   of the listing goes with the number
//	who it is          when the count changed, or the pid may belong to another
//	                   process now, and every whoTicks; every slowTicks where
//	                   the source cannot say whether it may
//	limits             every slowTicks
//	command line       with who it is after an exec, and every commandTicks for
//	                   a process that writes over its own
//	new processes      in the tick after they were made, or the next one; every
//	                   listTicks where the system does not tell
type Sampler struct {
	resting atomic.Bool // see SetAttention

	meter *Meter
	self  int
	tick  int

	processTable
	tracks  map[int]*track // own process and members
	members []int          // pids of the tracks of this tick, in order
	listed  int            // descriptors listed in this tick

	system  System
	asked   []int // roots of the last tick
	changed int   // tick of the last change of a count
	urgent  bool  // a line is near, or will be before long
}

// A track is a process that is counted.
type track struct {
	process   Process
	history   history
	holder    uint64 // see source.count
	changed   int    // tick of the last change of the count
	cell      int64  // of the history, to which the last sample belongs
	used      int    // last tick it was a member
	listedAt  int    // tick of the last listing; 0 never
	listDue   bool
	image     uint64 // of the command line that was read
	commandAt int    // tick at which that was; 0 never
	ended     bool   // in the last tick
}

// NewSampler returns a Sampler that reads with m and counts the calling
// process as its own.
func NewSampler(m *Meter) *Sampler {
	return &Sampler{
		meter:        m,
		self:         os.Getpid(),
		processTable: newProcessTable(),
		tracks:       map[int]*track{},
	}
}

// Sample takes one tick. Roots may change from one call to the next. A root is
// remembered by its start time: when its pid is reused the root stays gone,
// until a call leaves it out.
func (s *Sampler) Sample(now time.Time, roots []int) Snapshot {
	s.tick++
	s.listed = 0
	src := s.meter.source()
	s.renew(src, roots)
	if s.tick%slowTicks == 1 || !s.system.PTYsMax.Known() {
		s.system = src.system()
	} else {
		src.moved(&s.system)
	}
	snap := Snapshot{At: now, System: s.system, Scan: s.scan}

	s.members = append(s.members[:0], s.self)
	snap.Roots = make([]Root, 0, len(roots))
	for _, pid := range roots {
		root := s.root(pid)
		s.members = append(s.members, root.Members...)
		snap.Roots = append(snap.Roots, root)
	}
	slices.Sort(s.members)
	s.members = slices.Compact(s.members)
	s.forget(roots)
	s.measureAll(src, now)
	s.fill(&snap)
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

// measureAll counts the members. Each tick begins at another one, so that the
// budget for listings does not always end before the same process.
func (s *Sampler) measureAll(src source, now time.Time) {
	s.measure(src, now, s.self)
	for i := range s.members {
		if pid := s.members[(i+s.tick)%len(s.members)]; pid != s.self {
			s.measure(src, now, pid)
		}
	}
	for pid, t := range s.tracks {
		if t.used != s.tick {
			delete(s.tracks, pid)
		}
	}
}

// due reports whether it is the turn of a process in what is done every so many
// ticks.
func (s *Sampler) due(pid, every int) bool { return (s.tick+pid)%every == 0 }

// measure brings one track up to date.
func (s *Sampler) measure(src source, now time.Time, pid int) {
	t := s.tracks[pid]
	first := t == nil
	if first {
		t = &track{}
		s.tracks[pid] = t
	}
	t.used = s.tick
	if !first && s.quiet(t) && !s.due(pid, quietTicks) {
		return
	}
	slow, listDue := first || s.due(pid, slowTicks), first || s.due(pid, highestTicks)
	count, method, holder := src.count(pid)
	changed := count != t.process.Count
	if changed {
		s.changed, t.changed = s.tick, s.tick
	}
	if first || changed || holder != t.holder || s.due(pid, whoTicks) || holder == 0 && slow {
		here, replaced := s.identify(src, pid, holder, t)
		if !here {
			count, method = Unknown(Gone), ByNone
		}
		slow, listDue = slow || replaced, listDue || replaced
	}
	r := &t.process.Reading
	r.PID, r.At, r.Count, r.Method = pid, now, count, method
	if cell := cellIndex(now, CellSpan); changed || cell != t.cell {
		// The same count again changes nothing in its cell.
		t.cell = cell
		t.history.add(now, count)
		t.process.Growth = t.history.growth(now)
		t.process.Spark = t.history.spark(now)
	}
	if slow {
		r.Soft, r.Hard, r.LimitsBy = src.limits(pid)
	}
	t.listDue = t.listDue || listDue || changed
	if t.listDue && s.mayList(t) {
		s.list(src, now, t)
	} else if n, known := r.Highest.Get(); known && count.Known() && n < count.n-1 {
		r.Highest = Unknown(Stale) // so many descriptors need a higher number
	}
	t.process.Line, t.process.HasLine = nearest(r)
}

// quiet reports whether a process need not be counted at every tick. At rest
// all are: a tick is so long then that each cell of the history needs one.
func (s *Sampler) quiet(t *track) bool {
	return len(s.members) > fewMembers && !s.resting.Load() && s.tick-t.changed >= quietAfter &&
		t.process.Count.Known() && !(t.process.HasLine && t.process.Line.Alert())
}

// identify checks that the pid still belongs to the same process, and starts
// the track anew when it does not.
func (s *Sampler) identify(src source, pid int, holder uint64, t *track) (here, replaced bool) {
	who, err := src.identity(pid)
	if isGone(err) {
		return false, false
	}
	if err != nil {
		return true, false // not proved otherwise; the count stands on its own
	}
	if birth := t.process.Birth; birth != 0 && birth != who.Birth {
		*t = track{used: t.used, changed: s.tick}
		replaced = true
	}
	t.holder = holder
	s.met(who, s.tick)
	again := t.commandAt == 0 || s.tick-t.commandAt >= commandTicks || t.process.Name != who.Name ||
		t.image != who.image || who.image == 0
	t.process.identify(who)
	if again {
		t.process.Command = commandLine(src, pid)
		t.process.NoSelect = s.meter.NoSelect != nil && s.meter.NoSelect(pid)
		t.image, t.commandAt = who.image, s.tick
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
	last := -1
	if n, known := r.Highest.Get(); known && r.Method == ByStat {
		last = int(n)
	}
	top, looked, err := src.highest(r.PID, last)
	s.listed += looked + 1
	t.listedAt, t.listDue = s.tick, false
	if err != nil {
		r.Highest, r.HighestAt = failed(err), time.Time{}
		return
	}
	r.Highest, r.HighestAt = Known(int64(top)), now
}

// fill puts the tracks into a snapshot. A member that ended during the tick
// holds nothing any more and is left out.
func (s *Sampler) fill(snap *Snapshot) {
	snap.Processes = make([]Process, 0, len(s.members))
	for _, pid := range s.members {
		t := s.tracks[pid]
		p := &t.process
		t.ended = !p.Count.Known() && p.Count.Cause() == Gone && pid != s.self
		if t.ended {
			s.lost = true
			continue
		}
		snap.Processes = append(snap.Processes, *p)
		if pid == s.self {
			snap.Own = *p
		}
		if !p.Count.Known() {
			snap.Unknown = append(snap.Unknown, Missing{pid, p.Name, p.Count.Reason(), p.Count.Cause()})
		}
	}
	for i := range snap.Roots {
		s.sum(&snap.Roots[i])
	}
	snap.nearest = pickNearest(snap.Processes)
	s.urgent = false
	for i := range snap.Processes {
		s.urgent = s.urgent || urgent(&snap.Processes[i])
	}
}

// sum counts a root together. Its list of members becomes its own.
func (s *Sampler) sum(root *Root) {
	kept := make([]int, 0, len(root.Members))
	for _, pid := range root.Members {
		t := s.tracks[pid]
		if t.ended {
			root.Gone = root.Gone || pid == root.PID
			continue
		}
		kept = append(kept, pid)
		if n, known := t.process.Count.Get(); known {
			root.Sum += n
			continue
		}
		if root.Unknown == 0 {
			root.Cause = t.process.Count.Cause()
		}
		root.Unknown++
	}
	slices.Sort(kept)
	root.Members = kept
}

// urgent reports whether a process is about to hit a line.
func urgent(p *Process) bool {
	const soon = 10 * time.Minute
	if p.HasLine && p.Line.Alert() && !p.Line.Passed() {
		return true
	}
	if p.Growth.Trend != Rising {
		return false
	}
	outlook, rising := p.Outlook()
	return rising && outlook.In < soon
}
