// Package theme holds the colours and glyphs of the window.
//
//	depth, UTF-8, plain, name ──New──▶ Theme ─▶ vt.Style   for cells
//	                                      │──▶ Lip()      for Lip Gloss
//	                                      └──▶ Glyphs     state glyph and word
//
// Rules:
//   - One accent, for focus only. Three state colours: ok, attention, failure.
//   - A state is always glyph and word; colour only repeats it. Without colour
//     nothing is lost, so every role differs by an attribute too where it must.
//   - The default theme uses the terminal's own palette and its own background.
//   - Pure: no environment, no terminal, no clock.
package theme
