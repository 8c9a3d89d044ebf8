// Package terminal runs one command to its end and says what is known of its
// output.
//
//	Spec ──▶ Run ──▶ child in its own session
//	           │        │ one pipe, two pipes, or a PTY
//	           │        ▼
//	           ├──▶ keeper: what fits in memory, the rest in a spill file
//	           ▼
//	        outcome.Result
//
// Rules:
//   - A command is run once. Nothing here ever runs it again.
//   - Both streams share one pipe unless they are asked to be kept apart: only
//     then is the order between them true.
//   - The end of the command and the end of its output are two facts. A
//     process that outlives the command and holds the stream makes the output
//     detached, never complete.
//   - A reader or waiter that fails makes the output lost. It is never an end.
package terminal
