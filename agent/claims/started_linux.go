package claims

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/journal"
)

// tick is the unit of a process's start time: USER_HZ, which is 100 on every
// architecture that Go knows (proc_pid_stat(5), field 22).
const tick = 10 * time.Millisecond

// started is when a process was started.
func started(pid int) (time.Time, bool) {
	began := journal.OwnerOf(pid).Began
	var now unix.Timespec
	if began == 0 || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return time.Time{}, false
	}
	age := time.Duration(now.Nano()) - time.Duration(began)*tick
	return time.Now().Add(-age), true
}
