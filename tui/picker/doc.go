// Package picker holds the dialogs of the window: a line of input, a list to
// pick from, a question, a prompt and a chooser.
//
//	            ┌ > spl ──────────────── 2 of 61 ┐
//	 Line ────▶ │›Split right              ^B %  │ ◀── Items, cut down by a Match
//	            │ Split down               ^B "  │
//	            │ Copy last output  no marks     │ ◀── disabled: stays and says why
//	            └ Enter runs it · Esc closes ────┘
//
//	keys, clicks ──▶ Dialog ──▶ Result: open, chosen or cancelled
//
// Rules:
//   - Pure: structs with methods, no Bubble Tea, no clock, nothing read or
//     written. The caller acts on a Result.
//   - A Dialog draws itself into a rectangle of a Screen, centred, and never
//     beyond it. Clicks are judged by where it was drawn last.
//   - A key that is shown works. What does not fit whole is left out, not cut:
//     half the name of a key would be another key.
//   - Enter on a disabled entry chooses nothing and says why.
//   - The entry that Enter would choose has a pointer, so it is found without
//     colours too. A plain theme has no lines around it.
package picker
