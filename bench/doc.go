// Command bench measures honestty beside its peers, in one run on one machine,
// so that its figures are ratios and counts and never absolute times.
//
//	go run ./bench          what `make bench` prints
//	make soak               the promise, ten thousand times under load
//
// A peer that is missing is installed where that is possible, and otherwise
// named as skipped.
package main
