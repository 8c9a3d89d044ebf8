// Package terminal runs one command to its end and says what is known of its
// output. It is the tool of that name, and the contract of execute_code.
//
//	Tool ──▶ parameters, rules, the person ──▶ Deps.Answer ──▶ Result in JSON
//	                                               │
//	                  control sequences off, secrets masked, meaning of the code
//	                                               │
//	Spec ──▶ Run ──▶ child in its own session
//	           │        │ one pipe, two pipes, or a PTY
//	           │        ▼
//	           ├──▶ keeper: beginning and end in memory, all of it in a spill file
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
//   - A command that is stopped gets TERM and, after a grace, KILL, and so does
//     what its process group left behind.
//   - What a result leaves out is counted exactly. Where the bytes as they came
//     are not in it, they lie in a private file, up to a limit that is told.
//   - An exit code is what the system gave. What it means is said beside it, and
//     only where it is known: 1 of grep is failed, with exit_code_meaning.
//   - A reader or waiter that fails makes the output lost. It is never an end.
package terminal
