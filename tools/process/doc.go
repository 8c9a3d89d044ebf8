// Package process runs commands in the background and keeps what they wrote.
//
//	Table ──Start──▶ Job ──▶ pipes   stdin kept open, one pipe for the output
//	  │               │      terminal  a ptybridge.Bridge, when it was asked for
//	  │ List, Get     │ every byte read
//	  ▼               ▼
//	panels       store: <id>.<offset>.log, head dropped in blocks, tail in memory
//	             scanner: last error line, watch patterns
//	             record: <id>.json, for the host that comes after a crash
//
// Rules:
//   - Offsets count bytes from the start of the job and never move. What is no
//     longer kept is counted and named, and reading it is an error that says
//     where reading can go on.
//   - The end of the process and the end of its output are two facts. One that
//     outlived the job and holds the stream is named; the output is then
//     detached and never complete.
//   - There is no exit code before the end. The signal that is told is the one
//     the system says ended the process, not the one that was sent.
//   - A pid is signalled only after its start time was compared, and on Linux
//     through a pidfd that was opened before the comparison.
//   - A terminal that cannot be had is an error. It is never replaced by pipes.
//   - Input is bounded: what the process does not read and the queue does not
//     hold is refused, counted and told.
//   - A running job is never evicted. The table refuses a new one and names the
//     oldest.
//   - One host process writes a record. Others only read it, until that host
//     has ended.
//
// A running job costs four descriptors with pipes on Linux (output, input,
// pidfd, log file) and three with a terminal (master, pidfd, log file), and no
// thread. One that has ended costs none.
package process
