// Package vt is honestty's terminal engine: bytes in, a screen out.
//
//	bytes ─▶ parser ─▶ actions ─▶ Terminal ─▶ Effects (replies, events)
//	          │table              │
//	          │                   ├─ screen: rows behind an order array
//	          └─ ground: fast     ├─ history: pages of text and style runs
//	             runs of text     └─ styles, links, clusters: interned, swept
//
// The rules of this folder:
//
//   - Pure. No os, no lock, no goroutine, no clock. One owner calls a Terminal.
//   - Write never fails, never panics and never blocks. What the engine would
//     say to the program or to the host comes back as Effects.
//   - The state survives any split of the input: one Write of n bytes and n
//     Writes of one byte give the same screen, the same replies, the same events.
//   - Nothing is allocated from a number that the input declares. Every bound is
//     a field of Limits; every time one is hit it is counted and becomes an event.
//   - Row and Col count from 0. Numbers in sequences count from 1; that
//     difference ends where a handler reads its parameters.
//   - Check states every invariant, one error each. Tests call it after each step.
//
// Reading order: cell.go and style.go (what a screen is made of), table.go (the
// state machine as data), parser.go (the loop), print.go (text), csi.go, esc.go,
// osc.go, dcs.go (what a sequence does), history.go, resize.go, check.go.
package vt
