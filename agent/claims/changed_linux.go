package claims

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when the kernel last changed anything about the file. Where that
// cannot be had it is the far future, so that nothing is proved by it.
func changed(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Unix(1<<40, 0)
	}
	return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))
}
