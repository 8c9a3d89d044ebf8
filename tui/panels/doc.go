// Package panels holds the dock and the panels in it.
//
//	facts of the session ──Show──▶ ┌ Panel ┐ ──Draw──▶ ─ FDs! ─ Jobs 2 ───────
//	keys, clicks ──▶ Dock ────────▶│  FDs  │           !4711 node  871  near
//	                               └───────┘            4720 zsh    11
//	                                   │
//	                                 Action ──▶ the window reads, or goes to a pane
//	                                   ▲
//	                 TakeTypes ────────┘ the result, when it is there
//
// Rules:
//   - Pure: structs with methods. A panel reads nothing by itself; what has to
//     be read it asks for with an Action, and takes the result by a method.
//   - A figure that is not known is a question mark with its reason, never 0.
//   - Nothing jumps: while a list is scrolled, the row at its top stays there,
//     and new rows above are counted. A selection is a process, not a place.
//   - A number is never cut. Columns that do not fit are left out whole, the
//     least telling first.
//   - Keys are shown only where they work: with the focus on the panel.
//   - A plain theme has words in the place of lines and sparklines.
package panels
