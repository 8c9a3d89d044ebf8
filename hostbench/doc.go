// Package hostbench gives one task to several terminal hosts and counts what
// each kept, what each said, and what each kept silent about.
//
//	Run ─▶ for each host ─▶ for each measure ─▶ Task ─▶ host ─▶ Kept ─▶ Cell
//	          │                                  │
//	          │ looked up, version asked         ├ Held   descriptors it inherits
//	          ▼                                  └ Limit  descriptors it may have
//	       "not installed"
//
//	host          how it is driven                  what it gives back
//	honestty      the window, on a terminal of ours ctl wait, ctl capture
//	honestty run  run --json                        its JSON
//	tmux          new-session -d, own socket        display-message, capture-pane
//	screen        -D -m, own folder                 -Q windows, hardcopy -h
//	script        -qec                              its file
//	expect        spawn, expect eof, wait           its output
//	mprocs        on a terminal of ours             its log file, its list
//
// Rules:
//   - Every figure is a count of something that was asked for in the same run.
//     No time is a result; time only bounds.
//   - A host that is not there is "not installed", one that could not be driven
//     "cannot be measured" with the reason. Neither is a 0.
//   - A host gets a private folder, home and socket. Nothing of the user's
//     settings takes part, and nothing of a host is left when its run returns:
//     also when the run is interrupted.
//   - Our own program is driven from outside, like every other.
package hostbench
