// Package tui is one window onto a session: it owns the outer terminal while
// it is open and nothing else.
//
//	outer terminal ──▶ input.Reader ──▶ router ──exact bytes──▶ session.Pane
//	                                      │ keys of ours
//	                                      ▼
//	session facts ──────────────────▶ Model.Update ──▶ compose ──▶ screen.Diff
//	                                                                  │
//	outer terminal ◀── screen.Writer ◀──────── one frame at a time ───┘
//
// Rules:
//   - Bubble Tea owns model, update, commands and lifecycle. It neither reads
//     nor draws: its input loses bytes and its renderer parses strings.
//   - Update does no I/O: it composes cells and hands the frame to the Writer.
//   - A frame is composed only when something changed and the last one is
//     written. Frames are skipped, never queued.
//   - The router decides alone what a byte is for. After a key of ours it waits
//     until the Model has acted, so that what was typed behind it meets the
//     state that the key made.
//   - Whatever ends the program, the outer terminal is given back first.
package tui
