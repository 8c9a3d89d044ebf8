package fdmeter

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SurveyLimit bounds how many descriptors one survey looks at, at about two
// microseconds each.
const SurveyLimit = 500_000

// A Holder is one descriptor of one process.
type Holder struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
	FD   int    `json:"fd"`
}

// A Survey is who holds what on the whole machine, at about one moment. It is
// made once for a question of a person, never at every tick.
type Survey struct {
	At time.Time `json:"at"`
	// Unseen are the processes whose descriptors could not be listed: what
	// seems to be held by nobody may be held by one of them.
	Unseen []Missing `json:"unseen"`
	Scan   Scan      `json:"scan"`
	// Cut is true when SurveyLimit or the context ended it early.
	Cut bool `json:"cut"`

	holders   map[uint64][]Holder // of sockets and pipes, by inode
	terminals map[int]*Terminal   // by the number of the slave
	unnamed   []Holder            // masters whose slave is not known
	deleted   []DeletedFile
}

// A Terminal is one pseudo-terminal as the processes hold it.
type Terminal struct {
	Slave   string   `json:"slave"` // "/dev/pts/7"
	Masters []Holder `json:"masters"`
	Slaves  []Holder `json:"slaves"`
	// Sessions are processes whose controlling terminal it is. They are seen
	// even where their descriptors are not.
	Sessions []int `json:"sessions"`
}

// A DeletedFile is a file without a name that a descriptor keeps on the disk.
type DeletedFile struct {
	Holder
	Path string `json:"path"`
	Size Value  `json:"bytes"`
}

// Complete reports whether every descriptor of every process was looked at.
func (s Survey) Complete() bool { return s.Scan.Complete() && len(s.Unseen) == 0 && !s.Cut }

// Survey looks at every descriptor of every process. It ends early, and says
// so, when ctx does.
func (m *Meter) Survey(ctx context.Context, now time.Time) Survey {
	procs, scan := m.scan()
	s := Survey{At: now, Scan: scan, holders: map[uint64][]Holder{}, terminals: map[int]*Terminal{}}
	looked := 0
	for _, who := range procs {
		if ctx.Err() != nil || looked >= SurveyLimit {
			s.Cut = true
			break
		}
		if who.tty >= 0 {
			t := s.terminal(who.tty)
			t.Sessions = append(t.Sessions, who.PID)
		}
		if !who.kernel && who.State != 'Z' {
			looked += m.surveyOne(&s, who)
		}
	}
	return s
}

// surveyOne adds the descriptors of one process and returns how many it has.
func (m *Meter) surveyOne(s *Survey, who Proc) int {
	src := m.source()
	type listed struct {
		number int
		hint   uint32
	}
	var fds []listed
	err := src.numbers(who.PID, func(fd int, hint uint32) { fds = append(fds, listed{fd, hint}) })
	if err != nil {
		if !isGone(err) {
			v := failed(err)
			s.Unseen = append(s.Unseen, Missing{who.PID, who.Name, v.Reason(), v.Cause()})
		}
		return 1
	}
	unreadable := 0
	for _, l := range fds {
		fd, err := src.target(who.PID, l.number, l.hint)
		if isGone(err) {
			continue
		}
		if err != nil || fd.Kind == KindUnreadable {
			unreadable++
			continue
		}
		m.place(s, Holder{who.PID, who.Name, l.number}, fd, l.hint)
	}
	if unreadable > 0 {
		s.Unseen = append(s.Unseen, Missing{who.PID, who.Name, counted(unreadable, "descriptor") + " not permitted", Denied})
	}
	return len(fds)
}

// place notes one descriptor where somebody may ask for it.
func (m *Meter) place(s *Survey, h Holder, fd FD, hint uint32) {
	if inode, ok := fd.Inode(); ok {
		s.holders[inode] = append(s.holders[inode], h)
	}
	if fd.Deleted && fd.Kind == KindFile {
		s.deleted = append(s.deleted, DeletedFile{h, fd.Target, fd.Detail.Size})
	}
	if fd.Kind != KindPTY {
		return
	}
	if number, found := strings.CutPrefix(fd.Target, "/dev/pts/"); found {
		if n, err := strconv.Atoi(number); err == nil {
			t := s.terminal(n)
			t.Slaves = append(t.Slaves, h)
			return
		}
	}
	// Only fdinfo says which slave a master has.
	whole, err := m.source().describe(h.PID, h.FD, hint)
	if isGone(err) {
		return
	}
	number, found := strings.CutPrefix(whole.Detail.Slave, "/dev/pts/")
	if n, err := strconv.Atoi(number); found && err == nil {
		t := s.terminal(n)
		t.Masters = append(t.Masters, h)
		return
	}
	s.unnamed = append(s.unnamed, h)
}

func (s *Survey) terminal(n int) *Terminal {
	t := s.terminals[n]
	if t == nil {
		t = &Terminal{Slave: "/dev/pts/" + strconv.Itoa(n)}
		s.terminals[n] = t
	}
	return t
}

// Holders returns who holds a socket or a pipe. Somebody else may hold it too
// unless the survey is complete.
func (s Survey) Holders(inode uint64) []Holder { return s.holders[inode] }

// Terminals returns every pseudo-terminal that was seen, by number.
func (s Survey) Terminals() []Terminal {
	numbers := make([]int, 0, len(s.terminals))
	for n := range s.terminals {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	out := make([]Terminal, 0, len(numbers))
	for _, n := range numbers {
		out = append(out, *s.terminals[n])
	}
	return out
}

// A Ghost is a pseudo-terminal whose master is open although nobody lives at
// its other end. It keeps a place of the pool taken.
type Ghost struct {
	Holder
	Slave string `json:"slave"` // "" when the kernel did not say which
	// Certain is MaybeYes when every process was looked at, and MaybeUnknown
	// when one that was not may hold the slave.
	Certain Maybe `json:"-"`
}

// Ghosts returns the masters without a live slave. Terminals of two mounts of
// devpts may have the same number: then one with a slave hides the other, so
// none is called a ghost that has one.
func (s Survey) Ghosts() []Ghost {
	certain := MaybeUnknown
	if s.Complete() {
		certain = MaybeYes
	}
	var out []Ghost
	for _, t := range s.Terminals() {
		if len(t.Slaves)+len(t.Sessions) > 0 {
			continue
		}
		for _, h := range t.Masters {
			out = append(out, Ghost{h, t.Slave, certain})
		}
	}
	for _, h := range s.unnamed {
		out = append(out, Ghost{Holder: h, Certain: MaybeUnknown})
	}
	return out
}

// Deleted returns the files that have no name and are open, the largest first.
func (s Survey) Deleted() []DeletedFile {
	out := slices.Clone(s.deleted)
	slices.SortStableFunc(out, func(a, b DeletedFile) int {
		return cmp.Or(cmp.Compare(b.Size.n, a.Size.n), cmp.Compare(a.PID, b.PID), cmp.Compare(a.FD, b.FD))
	})
	return out
}

// DeletedFiles returns those of one process.
func (b Breakdown) DeletedFiles() []FD {
	return b.where(func(fd FD) bool { return fd.Deleted && fd.Kind == KindFile })
}

// Leakable returns the descriptors that a child would inherit, the standard
// streams left out.
func (b Breakdown) Leakable() []FD {
	const streams = 2
	return b.where(func(fd FD) bool { return fd.CloseOnExec == MaybeNo && fd.Number > streams })
}

func (b Breakdown) where(keep func(FD) bool) []FD {
	var out []FD
	for _, fd := range b.FDs {
		if keep(fd) {
			out = append(out, fd)
		}
	}
	return out
}
