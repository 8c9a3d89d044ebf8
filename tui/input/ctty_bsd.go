//go:build freebsd || netbsd || openbsd || dragonfly

package input

// controllingTerminal is not known here: a standard stream that is /dev/tty
// itself is then used as it is.
func controllingTerminal(int) (uint64, bool) { return 0, false }
