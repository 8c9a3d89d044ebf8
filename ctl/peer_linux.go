package ctl

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peerUID asks the kernel who is at the other end: for a server the client as
// it connected, for a client the server as it began to listen. An error is
// never a permission.
func peerUID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("ask for the other end's uid: %w", err)
	}
	var cred *unix.Ucred
	cerr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(cerr, err); err != nil {
		return -1, fmt.Errorf("ask for the other end's uid: %w", err)
	}
	return int(cred.Uid), nil
}
