package hostbench

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Hold opens descriptors until the numbers 3 to n+2 are all taken, and lets
// every one of them pass to a program that is executed next. Those that were
// open before count too: what matters is which number comes next.
func Hold(n int) error {
	last := 2 + n
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
		if err != nil {
			return fmt.Errorf("hold %d descriptors: %w", n, err)
		}
		if fd > last {
			if err := unix.Close(fd); err != nil {
				return fmt.Errorf("hold %d descriptors: %w", n, err)
			}
			break
		}
	}
	for fd := 3; fd <= last; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("pass descriptor %d on: %w", fd, err)
		}
	}
	return nil
}

// HoldAndExec holds n descriptors and becomes the command, which has them from
// its first instruction. It returns only when that did not work.
func HoldAndExec(n int, argv, env []string) error {
	if len(argv) == 0 {
		return errors.New("hold descriptors: no command given")
	}
	if err := Hold(n); err != nil {
		return err
	}
	return fmt.Errorf("become the command: %w", unix.Exec(argv[0], argv, env))
}
