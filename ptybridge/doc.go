// Package ptybridge owns one pseudo-terminal and the process behind it, and
// carries bytes between them and the program without losing one unsaid.
//
//	Write ──▶ queue ──▶ writer ──▶ master ═══ slave ── child and its session
//	                                 │
//	Output ◀──────────── reader ◀────┘     reaper ── pidfd
//
// Start order: the pair, its waiter, its size, then the child, so that a
// failure anywhere aborts the start instead of losing output. End order: the
// child ends, the reader drains to the end it can prove, the survivors of the
// session are looked for, the child is reaped, reader and writer are joined,
// the waiter and then the master are closed, one Exit is published.
//
// Rules:
//   - The master is non-blocking and is read until EAGAIN, then waited for
//     through fdwait. Nothing here selects or polls.
//   - EIO means "hung up now" on Linux. It is the end only when the child had
//     ended before that read: until then it may open the terminal again, write
//     and end.
//   - On Linux the exit of the session leader hangs up the terminal. What other
//     processes of the session write after that reaches nobody; they are named.
//     While one that ignored SIGHUP keeps the slave open the master shows no
//     end at all, so the drain stops at DrainLimit. It is looked once more for
//     the end after the holders were looked for, so that one who was about to
//     end on a loaded machine is not called a holder.
//   - A child that no signal can end (another owner, or stuck in the kernel)
//     loses its terminal at Close and is named in the Exit. Its pidfd and one
//     goroutine stay until it ends.
//   - On macOS output is thrown away when the last slave closes before the
//     master is read, so our own slave stays open until the child has ended
//     and the master is drained.
//   - A live bridge costs two descriptors on Linux (master, pidfd) and no
//     thread; on macOS two (master, slave) and one thread in wait4.
package ptybridge
