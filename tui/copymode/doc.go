// Package copymode reads a pane's history and screen: moving, searching,
// selecting, copying, and what the shell's marks tell of commands.
//
//	vt.Terminal ─Of─▶ Buffer ──Use──▶ ┌──────┐ ◀── Key, Press, Drag, Wheel
//	                    │             │ Mode │ ──▶ Result: copied text, a notice, more to do
//	                    │   Step ◀──▶ └──────┘ ──▶ View: rows, spans, cursor, status
//	                    └──Sync──▶ Index: commands of OSC 133, their output
//
// Rules:
//   - Pure. No lock, no goroutine, no clock, no file. The caller holds the
//     terminal still around a group of calls and gives it by Use first.
//   - A place is an absolute line number: lines cut from the history plus the
//     index among what is left. New output and trimming leave it on its text.
//     What was selected and has been cut is counted and told, never skipped.
//   - A row of history does not change, so what was found in it is kept. Rows of
//     the screen may change under the mode and are read anew each time.
//   - A logical line is one or more rows joined by soft wraps. Words, searches
//     and copies work on logical lines; folds hide whole rows and copy as text.
//   - Nothing takes longer than its budget of rows: Step searches in slices, and
//     More says that there is another.
//   - A pattern that is no regular expression says why and moves nothing.
package copymode
