// Package fdmeter counts the descriptors that processes hold, and says so when it could not.
//
//	           every tick; what costs more, as often as Sampler says
//	/proc ──▶ new pids ──▶ process table ──▶ trees of the roots
//	                                             │
//	/proc/PID/fd  size ──▶ count ──┬─▶ history ──▶ growth, sparkline, time to the line
//	/proc/PID/fd  names ─▶ highest ┤
//	prlimit ─────────────▶ limits ─┴─▶ lines: 1024 · soft · hard · system · PTY pool
//
//	           when a person asks
//	links, fdinfo ─▶ Types ──▶ Compare, Record, Inherited, Own
//	sock_diag ─────▶ Sockets ─▶ Join: peers and states
//	every process ─▶ Survey ──▶ terminals without a live slave, deleted files, holders
//
// Rules:
//   - A figure is a [Value]. Its zero is unknown, and unknown carries a cause.
//     Denied, gone and unsupported are never shown as 0.
//   - A count says by which [Method] it was made. The size of /proc/PID/fd is
//     the count since Linux 6.2; a size of 0 proves nothing and is answered by
//     listing the folder.
//   - select() breaks on the descriptor's number, not on how many there are, so
//     the line at 1024 is compared with the highest number.
//   - A process is its pid together with its start time. A reused pid starts a
//     new history.
//   - What is not read anew in every tick has a bound on its age, which is in
//     the comment of [Sampler] and in a test.
//   - Counting needs no descriptor, so it goes on when none is left. Neither
//     does asking number after number, which stands in for a listing then. What
//     needs one (flags, socket tables, new processes) is unknown, with that
//     cause.
//   - A rise is called a leak by the lowest counts of its cells: what is opened
//     and closed again is none, nor is a sawtooth, nor what came to rest.
//   - What may be seen in part claims nothing of the rest: a terminal is a
//     ghost for certain only when every process was looked at.
//   - Nothing here changes a limit or sends a signal.
//
// Linux is read from /proc. macOS is asked through the proc_info system call,
// without cgo: it does not say the limits of another process, nor how many
// pseudo-terminals are in use, so these stay unknown. That part is compiled and
// its parsing is tested; it has not been run on a Mac. Elsewhere every figure
// is unknown.
package fdmeter
