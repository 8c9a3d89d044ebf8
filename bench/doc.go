// Command bench measures honestty beside its peers, in one run on one machine,
// so that its figures are ratios and counts and never absolute times.
//
//	go run ./bench                  what `make bench` prints
//	go run ./bench -only engine     one part: engine, memory, pty, tail or window
//	go run ./bench -quick           shorter: a first look, not a verdict
//	make soak                       the promise, ten thousand times under load
//
//	          ┌─ engine  the same bytes through each engine, a child per cell
//	bench ────┼─ memory  a full history: held by the engine, beside tmux
//	          ├─ pty     a pane, a reader that discards, and tmux, in turns
//	          ├─ tail    who keeps the end of a command's output
//	          └─ window  the binary on an outer terminal, beside tmux on one
//
// The rules of this folder:
//
//   - A target is printed beside its figure and never asserted.
//   - What is compared is measured in the same run, on the same input, in turns.
//   - An engine runs in a process of its own, so that its collector is counted
//     with it and its panic or hang is a figure, not the end of the run.
//   - A peer that is missing is installed where that is possible, and otherwise
//     named as skipped with the reason. No peer is a dependency of the product:
//     peers/ holds a module and a package of its own.
package main
