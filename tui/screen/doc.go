// Package screen composes the window out of packed cells, turns two frames
// into the shortest safe bytes between them, and owns the outer terminal's
// output and modes.
//
//	vt rows ──Blit──▶ ┌────────┐
//	text ───SetText─▶ │ Screen │ ──Diff──▶ frame ──Submit──▶ Writer ──▶ terminal
//	Lip Gloss ─Draw─▶ └────────┘                                ▲
//	                       ▲                                    │
//	 environment, replies ─┴──────────── Caps            modes, Pass
//
// Rules:
//   - Only the Writer writes to the outer terminal, and only whole frames:
//     Diff is against what was handed over, so a frame is written to its last
//     byte or the terminal is broken and the callback says so.
//   - No control or bidirectional character from outside reaches the terminal.
//     Chrome shows it as ^[ or <U+202E>; pane content drops it.
//   - Widths are never trusted further than one character: behind a character
//     that terminals measure differently the position is set again.
//   - What the terminal can do is Caps: detected, then corrected by replies,
//     never assumed.
//   - A frame is composed only when the Writer is not Busy: draw, Diff, Submit.
//     The callback is the time for the next one, if something changed.
//   - A Screen belongs to one goroutine. A Writer may be used by several.
package screen
