package ptybridge

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// keepsSlave is false on Linux: output stays readable after the last slave
// has closed.
const keepsSlave = false

// slaveName names the other side of a master (TIOCGPTN, pts(4)).
func slaveName(master int) (string, error) {
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return "", fmt.Errorf("name the slave: %w", err)
	}
	return fmt.Sprintf("/dev/pts/%d", n), nil
}
