package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// SocketDead is a Leftover.Dead for unix sockets: nobody answers on a dead one.
// It connects and says nothing.
func SocketDead(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return false, fmt.Errorf("look at socket: %w", errNoSocket)
	}
	const patience = time.Second // it answers at once, or its queue is full
	conn, err := net.DialTimeout("unix", path, patience)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("connect to socket: %w", err)
	}
	return false, conn.Close()
}

var errNoSocket = errors.New("not a socket")
