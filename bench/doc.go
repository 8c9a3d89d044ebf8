// Command bench measures honestty beside its peers, in one run on one machine,
// so that its figures are ratios and counts and never absolute times.
//
//	go run ./bench                  what `make bench` prints
//	go run ./bench -only engine     one part of the picture below
//	go run ./bench -quick           shorter: a first look, not a verdict
//	make soak                       the promise, ten thousand times under load
//
//	          ┌─ engine  the same bytes through each engine, a child per cell
//	          ├─ memory  a full history: held by the engine, beside tmux
//	          ├─ pty     a pane, a reader that discards, and tmux, in turns
//	bench ────┼─ tail    who keeps the end of a command's output
//	          ├─ window  the binary on an outer terminal, beside tmux on one
//	          ├─ calls   commands that are run and read, beside os/exec and Python
//	          ├─ meter   a reading of 1 to 1,000 processes, beside ls, lsof, gopsutil
//	          ├─ hook    what an agent waits for, beside cat
//	          └─ panels  a step in the panel of 100,000 calls, beside its limit
//
// The rules of this folder:
//
//   - A target is printed beside its figure and never asserted.
//   - What is compared is measured in the same run, on the same input, in turns.
//   - Who read less, or saw another number, did other work: that is an error or
//     said below the table, never a better figure.
//   - An engine runs in a process of its own, so that its collector is counted
//     with it and its panic or hang is a figure, not the end of the run.
//   - A peer that is missing is installed where that is possible, and otherwise
//     named as skipped with the reason. No peer is a dependency of the product:
//     peers/ holds modules, a package and a script of their own.
package main
