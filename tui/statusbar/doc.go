// Package statusbar turns what the bottom row has to say into segments that fit.
//
//	 1 app  2 logs ✗     ! send: 1 attachment dropped   ^B a looks   fd 31 ▁▁▂▂▂ /1024   ^B ? help
//	└──── tabs ─────┘   └────────── alert ──────────┘└── hint ──┘   └──── meter ─────┘   └─ help ─┘
//
// Rules:
//   - It is pure: plain values in, segments out. It knows no descriptor, no
//     clock and no colour; a [Role] says what a segment means and the theme
//     says how that looks.
//   - The segments of a bar fill the width exactly, at every width.
//   - What matters least goes first: help, hint, sparkline, names of other
//     tabs. An alert and a meter that needs attention go last. While one
//     tab is shown, those that are left out are counted. A number is never cut.
//   - A state is a glyph and a word. Unknown is "?" with its reason, never 0.
//   - Text from outside cannot move the cursor: control and bidi characters
//     are shown by name.
package statusbar
