// Package proc starts child processes and follows them without ever losing
// track of which process a number means.
//
//	Start ──▶ running ──▶ Exited (a zombie: its pid cannot be reused)
//	             │            │
//	          Signal        Reap ──▶ Status; from here on Signal refuses
//
// Rules:
//   - A child is watched through a pidfd that waits in the process's one
//     fdwait.Poller, so a living child costs no thread. Where there is no pidfd
//     (macOS) a goroutine blocks in wait4 and signals check the start time.
//   - A pid is never signalled after it was reaped.
//   - Every descriptor but 0, 1 and 2 stays behind: all ours are CLOEXEC, and
//     SealInherited makes those we were started with CLOEXEC too.
//   - RLIMIT_NOFILE is never set here: the runtime gives children back the
//     soft limit that the user had.
package proc
