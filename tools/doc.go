// Package tools says what a tool is and how one run of it is called.
//
//	cli · window · agent/mcp ──params──▶ Caller.Call ──▶ Tool.Run ──▶ Answer
//	                                        │ start, progress, end
//	                                        ▼
//	                                     journal ──▶ panels, honestty log
//
// Rules:
//   - A tool takes the JSON parameters that agents know it by and returns one
//     Answer. It knows neither who called it nor where it is shown.
//   - Every call is in the journal, from whatever source, also one that was
//     refused before it ran. Trouble with the journal never fails a call.
//   - A call runs once. Nothing here ever runs it again.
//   - The list of tools is written out where the program is put together.
//     Nothing registers itself.
package tools
