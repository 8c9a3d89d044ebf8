package ctl

import "golang.org/x/sys/unix"

// noSignal keeps a send to a closed end from raising SIGPIPE.
const noSignal = unix.MSG_NOSIGNAL
