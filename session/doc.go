// Package session holds what exists whether or not a window looks at it:
// panes and the meter. A window is one client of it.
//
//	client ──orders──▶ Session ──▶ Pane ──▶ ptybridge ──▶ child
//	   ▲                  │          │
//	   │                  │          └─ vt.Terminal, fed by the bridge's reader
//	   └───── facts ──────┴─ meter (fdmeter.Sampler, at its own pace)
//
// Rules:
//   - A pane always exists once it was opened. A command that could not start
//     is a state of the pane, not an error without a place to be seen.
//   - Facts say what happened and carry no screen: a client looks at a pane
//     when it wants to draw. Facts of one pane that nobody has taken yet are
//     merged, so a slow client holds nothing up and the queue stays bounded.
//   - A window in which nothing happens sleeps: the meter counts as seldom as
//     the sampler allows while nobody looks, and a pane is looked at when it put
//     something out.
//   - The lock of a pane is held while its engine runs and while a client
//     looks. Nothing is read, written or waited for under it.
package session
