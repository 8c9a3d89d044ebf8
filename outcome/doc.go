// Package outcome holds the words for what happened: every tool, pane and
// command reports in them, so that silence can never read as success.
//
//	what was asked ──▶ Result ── Status     did it do what was asked?
//	                     │
//	                     ├────── Capture    what is known of its output?
//	                     │         └─ State complete, truncated, detached, lost, unknown
//	                     ├────── Dropped    what was asked for and not delivered
//	                     └────── error      why, and nil only with Complete
//
// Rules:
//   - The zero value of every type here claims nothing.
//   - Only Complete is success. Only an end that was seen makes output whole.
//   - A count of -1 means "some, and nobody counted"; 0 means none.
//   - Errors are told apart by type or sentinel, never by their text.
package outcome
