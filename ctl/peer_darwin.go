package ctl

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// xucredVersion is XUCRED_VERSION of <sys/ucred.h>: a structure with another
// number means something else.
const xucredVersion = 0

// peerUID asks the kernel who is at the other end: for a server the client as
// it connected, for a client the server as it began to listen. An error is
// never a permission.
func peerUID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("ask for the other end's uid: %w", err)
	}
	var cred *unix.Xucred
	cerr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err := errors.Join(cerr, err); err != nil {
		return -1, fmt.Errorf("ask for the other end's uid: %w", err)
	}
	if cred.Version != xucredVersion {
		return -1, fmt.Errorf("ask for the other end's uid: structure has version %d", cred.Version)
	}
	return int(cred.Uid), nil
}
