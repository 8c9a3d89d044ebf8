package fdmeter

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Meter reads descriptors on demand. Its zero value reads this machine; it
// may be used from several goroutines at once and holds no descriptor.
type Meter struct {
	// Root is where a proc file system is mounted; "" is the system's own.
	// It must not change after the first use.
	Root string

	// NoSelect, when set, reports whether a process is known never to wait with
	// select(). It must not change after the first use, and is asked when a
	// process is seen first and after it has become another program.
	NoSelect func(pid int) bool

	once sync.Once
	src  source // set by the first use, or before it by a test
}

func (m *Meter) source() source {
	m.once.Do(func() {
		switch {
		case m.src != nil:
		case m.Root != "":
			m.src = newProcfs(m.Root, systemFiles{})
		default:
			m.src = systemSource()
		}
	})
	return m.src
}

// A Proc is who a process is.
type Proc struct {
	PID     int
	Parent  int
	Session int // 0 when not known
	Name    string
	State   byte   // as in /proc/PID/stat ('R', 'S', 'Z', …); 0 when not known
	Birth   uint64 // see Reading.Birth
	Started time.Time
	kernel  bool // a thread of the kernel, which holds no descriptors
	thread  bool // not a process: a thread of one that is not its first
	// image is another number after every exec: where the stack begins, which
	// the kernel chooses by chance. 0 where it does not, or will not tell.
	image uint64
	tty   int // number of its controlling pseudo-terminal; -1: none
}

// Read takes one full reading: identity, count, highest number and limits. A
// process that does not exist gives a Reading whose Count is unknown as Gone.
func (m *Meter) Read(pid int, now time.Time) Reading {
	src := m.source()
	r := Reading{PID: pid, At: now}
	who, err := src.identity(pid)
	if err != nil && causeOf(err) != NoDescriptors {
		return r.unknown(failed(err))
	}
	// Without a free descriptor it can be counted and not identified: its name
	// and start time stay unknown.
	if err == nil {
		r.identify(who)
	}
	r.Command = commandLine(src, pid)
	r.NoSelect = m.NoSelect != nil && m.NoSelect(pid)
	r.Count, r.Method, _ = src.count(pid)
	r.Highest = highest(src, pid)
	if r.Highest.Known() {
		r.HighestAt = now
	}
	r.Soft, r.Hard, r.LimitsBy = src.limits(pid)
	// The figures were read one after another. They belong to this process
	// only when it is still the same one.
	if again, err := src.identity(pid); isGone(err) || err == nil && who.Birth != 0 && again.Birth != who.Birth {
		return r.unknown(Unknown(Gone))
	}
	return r
}

// ReadTypes is Read with Types filled in.
func (m *Meter) ReadTypes(pid int, now time.Time) Reading {
	r := m.Read(pid, now)
	types := m.Types(pid, now)
	r.Types = &types
	return r
}

// System reads what all processes share.
func (m *Meter) System() System { return m.source().system() }

// unknown returns r without any figure, for the reason in v.
func (r Reading) unknown(v Value) Reading {
	r.Count, r.Highest, r.Soft, r.Hard = v, v, v, v
	r.Method, r.LimitsBy, r.HighestAt = ByNone, LimitsByNone, time.Time{}
	return r
}

func (r *Reading) identify(who Proc) {
	r.PID, r.Parent, r.Session = who.PID, who.Parent, who.Session
	r.Name, r.Birth, r.Started = who.Name, who.Birth, who.Started
}

// commandLine returns argv as one line, or "" when it cannot be had.
func commandLine(src source, pid int) string {
	argv, err := src.command(pid)
	if err != nil {
		return ""
	}
	return strings.Join(argv, " ")
}

// highest lists the descriptors for the highest number; -1 means there is none.
func highest(src source, pid int) Value {
	top, _, err := src.highest(pid, -1)
	if err != nil {
		return failed(err)
	}
	return Known(int64(top))
}

// A Scan says how complete a walk over all processes was.
type Scan struct {
	Read    int  `json:"read"`    // processes whose identity was read
	Gone    int  `json:"gone"`    // ended between listing and reading; they hold nothing any more
	Denied  int  `json:"denied"`  // could not be looked at: they may belong to the answer
	Failed  int  `json:"failed"`  // any other failure
	Skipped int  `json:"skipped"` // not looked at because there were too many
	Listed  bool `json:"listed"`  // whether the list of processes was had
	// Hidden says that the list leaves out processes of other users, nobody
	// knows how many: a proc file system mounted with hidepid.
	Hidden bool  `json:"hidden"`
	Cause  Cause `json:"-"` // why there is no list
}

// Complete reports whether every living process was looked at.
func (s Scan) Complete() bool { return s.settled() && !s.Hidden }

// settled reports whether another walk would not find out more.
func (s Scan) settled() bool { return s.Listed && s.Unseen() == 0 }

// Unseen returns how many processes are known to be there and were not looked
// at.
func (s Scan) Unseen() int { return s.Denied + s.Failed + s.Skipped }

// ScanLimit bounds how many processes one walk reads. At about ten
// microseconds each it is a quarter of a second.
const ScanLimit = 1 << 15

// note counts an identity that could not be read.
func (s *Scan) note(err error) {
	switch causeOf(err) {
	case Gone:
		s.Gone++
	case Denied:
		s.Denied++
	default:
		s.Failed++
	}
}

// scan reads the identity of every process, in the order of their pids.
func (m *Meter) scan() ([]Proc, Scan) {
	src := m.source()
	var pids []int
	var scan Scan
	if err := src.pids(func(pid int) { pids = append(pids, pid) }); err != nil {
		scan.Cause = causeOf(err)
		return nil, scan
	}
	scan.Listed, scan.Hidden = true, src.partial()
	slices.Sort(pids)
	if len(pids) > ScanLimit {
		scan.Skipped = len(pids) - ScanLimit
		pids = pids[:ScanLimit]
	}
	procs := make([]Proc, 0, len(pids))
	for _, pid := range pids {
		who, err := src.identity(pid)
		if err != nil {
			scan.note(err)
			continue
		}
		scan.Read++
		procs = append(procs, who)
	}
	return procs, scan
}

// All returns every process, by pid.
func (m *Meter) All() ([]Proc, Scan) { return m.scan() }

// Find returns the processes called name: those whose short name, or whose
// argv[0] without its folder and without a login shell's leading dash, equals
// it. The kernel cuts the short name to 15 bytes; argv[0] is not cut.
func (m *Meter) Find(name string) ([]Proc, Scan) {
	procs, scan := m.scan()
	src := m.source()
	var found []Proc
	for _, who := range procs {
		if who.kernel {
			if who.Name == name {
				found = append(found, who)
			}
			continue
		}
		if who.Name == name {
			found = append(found, who)
			continue
		}
		argv, err := src.command(who.PID)
		if err != nil {
			scan.note(err)
			continue
		}
		if len(argv) > 0 && programName(argv[0]) == name {
			found = append(found, who)
		}
	}
	return found, scan
}

// Match returns the processes whose short name or whose command line, its
// arguments joined by spaces, matches.
func (m *Meter) Match(pattern *regexp.Regexp) ([]Proc, Scan) {
	procs, scan := m.scan()
	src := m.source()
	var found []Proc
	for _, who := range procs {
		if pattern.MatchString(who.Name) {
			found = append(found, who)
			continue
		}
		if who.kernel {
			continue
		}
		argv, err := src.command(who.PID)
		if err != nil {
			scan.note(err)
			continue
		}
		if len(argv) > 0 && pattern.MatchString(strings.Join(argv, " ")) {
			found = append(found, who)
		}
	}
	return found, scan
}

// OfUser returns the processes whose effective user is uid.
func (m *Meter) OfUser(uid int) ([]Proc, Scan) {
	procs, scan := m.scan()
	src := m.source()
	var found []Proc
	for _, who := range procs {
		owner, err := src.owner(who.PID)
		if err != nil {
			scan.note(err)
		} else if owner == uid {
			found = append(found, who)
		}
	}
	return found, scan
}

// programName returns the base name of argv[0]; "-bash" is a login shell.
func programName(argv0 string) string {
	return strings.TrimPrefix(filepath.Base(argv0), "-")
}
