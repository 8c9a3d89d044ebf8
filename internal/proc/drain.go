package proc

import "time"

// Backlog is more than a pipe or a terminal holds unread (64 KiB, a pipe up to
// 1 MiB when its writer asked for it). Who read more than that after the end
// of a process has read everything that the process wrote.
const Backlog = 1 << 20

// A Drain decides when to stop reading a stream whose writer has ended and
// that shows no end of its own. Time alone never stops it: what the process
// had written before it ended is read whole first, however slowly the bytes
// are taken on a loaded machine.
type Drain struct {
	Silence time.Duration // this long without a byte, and the stream is held by somebody else
	Total   time.Duration // this long with bytes of somebody else

	start, last time.Time
	bytes       int64
	empty       bool
}

// Begin says that the process has ended. Only the first call counts.
func (d *Drain) Begin(now time.Time) {
	if d.start.IsZero() {
		d.start, d.last = now, now
	}
}

// Progress says that n bytes were read.
func (d *Drain) Progress(n int, now time.Time) {
	if !d.start.IsZero() {
		d.last = now
		d.bytes += int64(n)
	}
}

// Empty says that a read found nothing. Called after Begin it proves that
// everything of the ended process has been read.
func (d *Drain) Empty() { d.empty = d.empty || !d.start.IsZero() }

// Left is how long to wait for more: without limit, that is -1, while the
// process lives.
func (d *Drain) Left(now time.Time) time.Duration {
	if d.start.IsZero() {
		return -1
	}
	return max(0, d.Silence-now.Sub(d.last))
}

// Over reports whether what still comes is of others and has come for too long.
func (d *Drain) Over(now time.Time) bool {
	return !d.start.IsZero() && now.Sub(d.start) > d.Total && (d.empty || d.bytes > Backlog)
}
