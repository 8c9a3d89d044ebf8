package terminal

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// groupLook is the time between two looks at who of a group still lives. The
// kernel tells the end of a child, not that of a grandchild.
const groupLook = 20 * time.Millisecond

// stop ends the command and its process group: TERM, killGrace, KILL. It
// returns when the command has ended and those of its group that outlived it
// have been killed.
func (p *pipeRun) stop() {
	_ = p.child.SignalGroup(unix.SIGTERM) // the only error is that it has ended
	_ = p.child.SignalGroup(unix.SIGCONT) // a stopped process cannot act on TERM
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-p.child.Exited():
		p.stopRest(grace.C)
		return
	case <-grace.C:
	}
	_ = p.child.SignalGroup(unix.SIGKILL)
	<-p.child.Exited()
	p.notes = append(p.notes, fmt.Sprintf("TERM did not end the command within %s: KILL did", outcome.Duration(killGrace)))
	p.stopRest(nil) // KILL went to the whole group
}

// stopRest gives those who outlived the leader of the group the rest of the
// grace, and then kills them. Until the leader is reaped the number of the
// group is its own. A nil channel means that KILL was sent already.
func (p *pipeRun) stopRest(grace <-chan time.Time) {
	look := time.NewTicker(groupLook)
	defer look.Stop()
	limit := time.NewTimer(2 * killGrace)
	defer limit.Stop()
	for {
		rest, err := proc.InSession(p.child.PID)
		if err == nil && !inGroup(rest, p.child.PID) {
			if len(rest) > 0 {
				p.notes = append(p.notes, fmt.Sprintf("%s of its session, in groups of their own, were not stopped", counted(rest)))
			}
			return
		}
		select {
		case <-look.C:
		case <-grace:
			grace = nil
			if err := p.child.SignalGroup(unix.SIGKILL); err == nil {
				p.notes = append(p.notes, fmt.Sprintf("the command ended by TERM and left %s that did not: they got KILL", counted(rest)))
			}
		case <-limit.C:
			p.notes = append(p.notes, fmt.Sprintf("%s of its session still ran after the command was stopped", counted(rest)))
			return
		}
	}
}

func counted(ps []outcome.Process) string {
	if len(ps) == 1 {
		return "one process"
	}
	return fmt.Sprintf("%d processes", len(ps))
}

// inGroup reports whether one of the processes is in the group.
func inGroup(ps []outcome.Process, group int) bool {
	for _, p := range ps {
		if g, err := unix.Getpgid(p.PID); err == nil && g == group {
			return true
		}
	}
	return false
}
