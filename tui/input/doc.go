// Package input reads the outer terminal and turns its bytes into tokens that
// keep every byte they were made of.
//
//	terminal ──bytes──▶ Reader ──▶ Tokenizer ──tokens──▶ sink ─┬─ Translate ──▶ focused child
//	             (fdwait)      (pure, no clock)                ├─ Key, Mouse ─▶ the UI
//	                                                           └─ Reply ──────▶ what the terminal can
//
// Rules:
//
//   - The bytes of all tokens, put end to end, are the bytes that were read.
//     Nothing is swallowed, whatever arrives; what has no name is Unknown.
//   - How the bytes were split over reads changes nothing but where runs of
//     Text, PasteData and oversized Unknown are cut into pieces.
//   - Only a lone ESC waits for time, and the Reader owns that clock. An open
//     sequence or paste waits for bytes, never for time.
//   - A sequence opens only with bytes that a terminal really sends, and a
//     control character breaks it off, so that a lost terminator cannot eat
//     the keys that follow. Only a paste swallows everything up to its end.
//   - A reply of the terminal is the window's and never goes to a pane.
//   - A token's bytes belong to the reader: they are valid until the sink
//     returns.
package input
