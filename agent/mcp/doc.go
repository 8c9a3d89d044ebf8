// Package mcp offers our tools to agents over the Model Context Protocol, on
// standard input and output.
//
//	agent ──stdin──▶ lines ──▶ conn ──▶ SDK server ──▶ Call ──▶ tools.Caller ──▶ tool
//	      ◀─stdout──            │ counts what is unanswered        │
//	                            └─ holds the end of stdin back     └─▶ journal ──▶ windows
//
// Rules:
//   - A result that is no success keeps its structure: isError is set and
//     structuredContent carries everything, the same object that the command
//     line prints with --json.
//   - Every call that was read is answered, also when stdin ends meanwhile. The
//     SDK stops at the end of its input (issue 1061 there), so the end is given
//     to it only once nothing is unanswered.
//   - A line that is no message is refused and ends nothing. So is a request whose
//     id another one still has: the SDK would end everything, or never answer.
//   - A server that is told to end cancels its calls and answers them. A client
//     that does not read is waited for a moment, and no longer.
//   - The caller's words are parameters and nothing else. Whether a call needs a
//     person is the tool's to say, and the person's at a window to decide.
//   - displayed says whether a window is open that shows the call.
package mcp
