package fdmeter

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A socketTable is one question to sock_diag(7) and how its answers are read.
type socketTable struct {
	name  string
	body  []byte
	parse func(msg []byte) (Socket, error)
}

// inetRequest is struct inet_diag_req_v2: family, protocol, what to add, a
// byte of padding, a mask of states, and 48 bytes that ask for no one socket.
func inetRequest(family, protocol uint8) []byte {
	body := make([]byte, 56)
	body[0], body[1] = family, protocol
	binary.NativeEndian.PutUint32(body[4:], ^uint32(0))
	return body
}

// unixRequest is struct unix_diag_req: family, protocol, padding, a mask of
// states, inode, what to show, cookie.
func unixRequest() []byte {
	const showName, showPeer = 1, 4
	body := make([]byte, 24)
	body[0] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(body[4:], ^uint32(0))
	binary.NativeEndian.PutUint32(body[12:], showName|showPeer)
	return body
}

// netlinkRequest is struct netlink_diag_req: family, protocol, padding, inode,
// what to show, cookie.
func netlinkRequest() []byte {
	const everyProtocol = 255
	body := make([]byte, 20)
	body[0], body[1] = unix.AF_NETLINK, everyProtocol
	return body
}

func inetTable(name string, family, protocol uint8) socketTable {
	return socketTable{name, inetRequest(family, protocol), func(msg []byte) (Socket, error) {
		return parseInet(name, msg)
	}}
}

// sockets asks for one table after another. Each is had whole or is unknown.
func (systemFiles) sockets() Sockets {
	out := Sockets{ByInode: map[uint64]Socket{}, Unknown: map[string]Cause{}}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return noSockets(causeOf(err))
	}
	defer unix.Close(fd)
	// The kernel answers at once; the limit is for one that does not.
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	for _, table := range []socketTable{
		inetTable("tcp", unix.AF_INET, unix.IPPROTO_TCP),
		inetTable("tcp6", unix.AF_INET6, unix.IPPROTO_TCP),
		inetTable("udp", unix.AF_INET, unix.IPPROTO_UDP),
		inetTable("udp6", unix.AF_INET6, unix.IPPROTO_UDP),
		{"unix", unixRequest(), parseUnix},
		{"netlink", netlinkRequest(), parseNetlink},
	} {
		if err := dump(fd, table, out.ByInode); err != nil {
			out.Unknown[table.name] = causeOf(err)
		}
	}
	return out
}

// dumpSequence numbers the requests, so that what is left of a dump that was
// given up is not taken for the next one's answer.
var dumpSequence atomic.Uint32

var errInterrupted = errors.New("the table changed while it was read")

// dump reads one table into found. A table that changed meanwhile is read a
// second time; what was found stays, and the error says that it is not whole.
func dump(fd int, table socketTable, found map[uint64]Socket) error {
	err := dumpOnce(fd, table, found)
	if errors.Is(err, errInterrupted) {
		err = dumpOnce(fd, table, found)
	}
	return err
}

func dumpOnce(fd int, table socketTable, found map[uint64]Socket) error {
	seq := dumpSequence.Add(1)
	request := make([]byte, unix.NLMSG_HDRLEN, unix.NLMSG_HDRLEN+len(table.body))
	binary.NativeEndian.PutUint32(request, uint32(unix.NLMSG_HDRLEN+len(table.body)))
	binary.NativeEndian.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(request[8:], seq)
	request = append(request, table.body...)
	if err := again(func() error { return unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) }); err != nil {
		return err
	}
	buf := direntBuffers.Get().(*[32 << 10]byte)
	defer direntBuffers.Put(buf)
	interrupted := false
	for {
		var n int
		err := again(func() (err error) {
			n, _, err = unix.Recvfrom(fd, buf[:], unix.MSG_TRUNC)
			return err
		})
		if err != nil {
			return err
		}
		if n > len(buf) {
			return errFormat // a message that does not fit
		}
		done, cut, err := answers(buf[:n], seq, table, found)
		interrupted = interrupted || cut
		if err != nil {
			return err
		}
		if done && interrupted {
			return errInterrupted
		}
		if done {
			return nil
		}
	}
}

// answers reads the messages of one datagram. Cut says that the table changed
// while the kernel walked it.
func answers(buf []byte, seq uint32, table socketTable, found map[uint64]Socket) (done, cut bool, err error) {
	for len(buf) >= unix.NLMSG_HDRLEN {
		length := int(binary.NativeEndian.Uint32(buf))
		if length < unix.NLMSG_HDRLEN || length > len(buf) {
			return false, cut, errFormat
		}
		kind, flags := binary.NativeEndian.Uint16(buf[4:]), binary.NativeEndian.Uint16(buf[6:])
		body := buf[unix.NLMSG_HDRLEN:length]
		mine := binary.NativeEndian.Uint32(buf[8:]) == seq
		buf = buf[min((length+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1), len(buf)):]
		if !mine {
			continue
		}
		cut = cut || flags&unix.NLM_F_DUMP_INTR != 0
		switch kind {
		case unix.NLMSG_DONE:
			return true, cut, nil
		case unix.NLMSG_ERROR:
			if len(body) < 4 {
				return false, cut, errFormat
			}
			if errno := int32(binary.NativeEndian.Uint32(body)); errno != 0 {
				return false, cut, diagError(unix.Errno(-errno))
			}
		case unix.SOCK_DIAG_BY_FAMILY:
			socket, err := table.parse(body)
			if err != nil {
				return false, cut, err
			}
			if socket.Inode != 0 { // 0: in time-wait, nobody holds it
				found[socket.Inode] = socket
			}
		}
	}
	return false, cut, nil
}

// diagError tells a kernel without this table, which answers that there is no
// such file, from a table that could not be read.
func diagError(errno unix.Errno) error {
	if errno == unix.ENOENT || errno == unix.EPROTONOSUPPORT {
		return ErrUnsupported
	}
	return errno
}
