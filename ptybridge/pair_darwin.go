package ptybridge

import "errors"

// keepsSlave is true on macOS: it throws output away when the last slave
// closes before the master was read.
const keepsSlave = true

// slaveName is only needed to look for holders, which macOS cannot list.
func slaveName(int) (string, error) {
	return "", errors.New("macOS does not list who holds a terminal without cgo")
}
