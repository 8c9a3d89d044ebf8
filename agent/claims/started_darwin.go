package claims

import (
	"time"

	"github.com/honestty/honestty/journal"
)

// started is when a process was started. The journal's unit is microseconds
// since 1970 here.
func started(pid int) (time.Time, bool) {
	began := journal.OwnerOf(pid).Began
	return time.UnixMicro(int64(began)), began != 0
}
