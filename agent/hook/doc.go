// Package hook takes what an agent tells its hooks and puts it in the journal.
//
//	agent ── JSON on stdin ──▶ honestty hook ──▶ Handle ── before ──▶ Begin, and a mark
//	   │                            │                   └─ after ───▶ mark gone? End : Begin, End
//	   └ owner: the process that    └ one process an event: it ends at once
//	     the call lives and dies with
//
// Rules:
//   - A hook never fails and never holds up the agent. Whatever goes wrong is
//     an error of Handle, which its caller writes on stderr and exits with 0.
//     Nothing is written on stdout: agents read orders there.
//   - The event before a call and the one after it come in two processes. They
//     meet by an id that is derived from the agent's, or, where the agent's is
//     missing or short enough to come again, by a mark in a folder of ours.
//   - A mark is an empty file. The call whose mark is there runs; taking the
//     mark away is atomic, so that no call is begun or ended twice.
//   - What cannot be journaled leaves a mark of its own. The next event that can
//     be journaled tells how many are missing.
//   - The owner of a call is the agent's process: while it lives the call shows
//     as running, afterwards as unknown. Shells between the two are passed over.
package hook
