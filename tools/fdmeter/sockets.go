package fdmeter

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Socket is what the kernel's tables say of one socket.
type Socket struct {
	Inode    uint64 `json:"inode,omitempty"`
	Protocol string `json:"protocol"`         // "tcp", "tcp6", "udp", "udp6", "unix", "netlink", or the kernel's name of another one
	Type     string `json:"type,omitempty"`   // of a unix socket: "stream", "dgram", "seqpacket"
	State    string `json:"state,omitempty"`  // "established", "listen", …; "" when not known
	Local    string `json:"local,omitempty"`  // address, path, or port id
	Remote   string `json:"remote,omitempty"` // "" when it has no peer
	Peer     uint64 `json:"peer,omitempty"`   // of a unix socket: the other end's inode
}

// Words says what the socket is connected to.
func (s Socket) Words() string {
	words := []string{s.Protocol}
	for _, word := range []string{s.Type, s.State, s.Local} {
		if word != "" {
			words = append(words, word)
		}
	}
	switch {
	case s.Remote != "":
		words = append(words, "to", s.Remote)
	case s.Peer != 0:
		words = append(words, "to socket", strconv.FormatUint(s.Peer, 10))
	}
	return strings.Join(words, " ")
}

// tables are the names of those that Sockets reads.
var tables = []string{"tcp", "tcp6", "udp", "udp6", "unix", "netlink"}

// Sockets are the socket tables of our network namespace at one moment.
type Sockets struct {
	ByInode map[uint64]Socket
	// Unknown are the tables that could not be read whole, with the reason. A
	// socket that is not in ByInode may be in one of them.
	Unknown map[string]Cause
}

func noSockets(why Cause) Sockets {
	s := Sockets{ByInode: map[uint64]Socket{}, Unknown: map[string]Cause{}}
	for _, table := range tables {
		s.Unknown[table] = why
	}
	return s
}

// Sockets reads the socket tables.
func (m *Meter) Sockets() Sockets { return m.source().sockets() }

// Join fills in the Socket of every descriptor of b that is one, and its
// SocketCause where there is nothing to fill in. A socket that is neither
// bound nor connected is in no table: then its protocol is all that is known.
func (m *Meter) Join(b *Breakdown, tables Sockets) {
	src := m.source()
	away := MaybeUnknown
	asked := false
	for i := range b.FDs {
		fd := &b.FDs[i]
		inode, ok := fd.Inode()
		if fd.Kind != KindSocket || !ok {
			continue
		}
		if socket, listed := tables.ByInode[inode]; listed {
			fd.Socket = &socket
			continue
		}
		if !asked {
			asked, away = true, src.elsewhere(b.PID)
		}
		name := protocolNames[src.protocol(b.PID, fd.Number)]
		switch {
		case away == MaybeYes:
			fd.SocketCause = Elsewhere
		case tables.Unknown[name] != NotRead:
			fd.SocketCause = tables.Unknown[name]
		case name == "" && len(tables.Unknown) > 0:
			fd.SocketCause = tables.Unknown[tables.firstUnknown()]
		default:
			fd.SocketCause = NotListed
		}
		if name != "" {
			fd.Socket = &Socket{Inode: inode, Protocol: name}
		}
	}
}

func (s Sockets) firstUnknown() string {
	for _, table := range tables {
		if _, missing := s.Unknown[table]; missing {
			return table
		}
	}
	return ""
}

// protocolNames turns the kernel's names into those of the tables.
var protocolNames = map[string]string{
	"": "", "TCP": "tcp", "TCPv6": "tcp6", "MPTCP": "mptcp", "UDP": "udp", "UDPv6": "udp6",
	"UNIX": "unix", "UNIX-STREAM": "unix", "UNIX-DGRAM": "unix", "NETLINK": "netlink",
	"PACKET": "packet", "RAW": "raw", "RAWv6": "raw6", "PING": "ping", "ALG": "alg", "AF_VSOCK": "vsock",
}

// PeerOf returns the other end of a connection when it is on this machine too.
func (s Sockets) PeerOf(socket Socket) (Socket, bool) {
	if socket.Peer != 0 {
		peer, ok := s.ByInode[socket.Peer]
		return peer, ok
	}
	if socket.Remote == "" || !strings.HasPrefix(socket.Protocol, "tcp") && !strings.HasPrefix(socket.Protocol, "udp") {
		return Socket{}, false
	}
	for _, other := range s.ByInode {
		if other.Local == socket.Remote && other.Remote == socket.Local && other.Protocol[:3] == socket.Protocol[:3] {
			return other, true
		}
	}
	return Socket{}, false
}

// Peers returns the sockets of a breakdown by protocol, state and peer, the
// largest group first. It needs Join before; without it, and for sockets of
// which nothing is known, a group says why.
func (b Breakdown) Peers() []Group {
	groups, at := []Group{}, map[string]int{}
	for _, fd := range b.FDs {
		if fd.Kind != KindSocket {
			continue
		}
		name := "unknown: " + fd.SocketCause.String()
		if s := fd.Socket; s != nil {
			name = peerGroup(*s, fd.SocketCause)
		}
		i, ok := at[name]
		if !ok {
			i = len(groups)
			at[name] = i
			groups = append(groups, Group{Target: name, Kind: KindSocket})
		}
		groups[i].Count++
		groups[i].FDs = append(groups[i].FDs, fd.Number)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Target, b.Target))
	})
	return groups
}

func peerGroup(s Socket, why Cause) string {
	words := []string{s.Protocol}
	if s.State != "" {
		words = append(words, s.State)
	}
	switch {
	case s.Remote != "":
		words = append(words, "to", s.Remote)
	case s.Protocol == "unix" && s.Local != "":
		words = append(words, s.Local)
	case s.State == "listen" || strings.HasPrefix(s.Protocol, "udp"):
		words = append(words, s.Local)
	case s.State == "" && why != NotRead:
		words = append(words, "("+why.String()+")")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// tcpStates are the kernel's, by number. See include/net/tcp_states.h.
var tcpStates = [...]string{
	1: "established", 2: "syn-sent", 3: "syn-received", 4: "fin-wait-1", 5: "fin-wait-2", 6: "time-wait",
	7: "closed", 8: "close-wait", 9: "last-ack", 10: "listen", 11: "closing", 12: "syn-received",
}

// stateOf names a state. A datagram socket that is not connected is in state
// 7, which would read as if it were of no use.
func stateOf(protocol string, n uint8) string {
	if n == 7 && !strings.HasPrefix(protocol, "tcp") {
		return "unconnected"
	}
	if int(n) < len(tcpStates) && tcpStates[n] != "" {
		return tcpStates[n]
	}
	return "state " + strconv.Itoa(int(n))
}

// parseInet reads struct inet_diag_msg, see sock_diag(7): family, state, timer
// and retransmits in a byte each; source and destination port, both
// addresses of 16 bytes, interface, cookie; expires, two queues, uid, inode.
func parseInet(protocol string, msg []byte) (Socket, error) {
	const size, localAt, remoteAt, inodeAt = 72, 8, 24, 68
	if len(msg) < size {
		return Socket{}, fmt.Errorf("parse socket: %d bytes: %w", len(msg), errFormat)
	}
	ports := [2]uint16{binary.BigEndian.Uint16(msg[4:]), binary.BigEndian.Uint16(msg[6:])}
	var ends [2]string
	for i, at := range []int{localAt, remoteAt} {
		width := 4
		if strings.HasSuffix(protocol, "6") {
			width = 16
		}
		addr, _ := netip.AddrFromSlice(msg[at : at+width])
		if addr.Is4In6() {
			addr = addr.Unmap() // so that both ends of one connection read alike
		}
		if ports[i] != 0 || !addr.IsUnspecified() {
			ends[i] = netip.AddrPortFrom(addr, ports[i]).String()
		}
	}
	return Socket{
		Protocol: protocol, State: stateOf(protocol, msg[1]), Local: ends[0], Remote: ends[1],
		Inode: uint64(binary.NativeEndian.Uint32(msg[inodeAt:])),
	}, nil
}

// parseUnix reads struct unix_diag_msg (family, type, state, padding, inode,
// cookie) and its attributes name and peer.
func parseUnix(msg []byte) (Socket, error) {
	const size = 16
	if len(msg) < size {
		return Socket{}, fmt.Errorf("parse unix socket: %d bytes: %w", len(msg), errFormat)
	}
	s := Socket{Protocol: "unix", State: stateOf("unix", msg[2]), Inode: uint64(binary.NativeEndian.Uint32(msg[4:]))}
	s.Type = map[uint8]string{1: "stream", 2: "dgram", 5: "seqpacket"}[msg[1]]
	const name, peer = 0, 2 // UNIX_DIAG_NAME, UNIX_DIAG_PEER
	for attr, value := range attributes(msg[size:]) {
		switch {
		case attr == name && len(value) > 0 && value[0] == 0:
			s.Local = "@" + string(value[1:]) // an abstract name
		case attr == name:
			s.Local = strings.TrimRight(string(value), "\x00")
		case attr == peer && len(value) >= 4:
			s.Peer = uint64(binary.NativeEndian.Uint32(value))
		}
	}
	return s, nil
}

// parseNetlink reads struct netlink_diag_msg: family, type, protocol, state,
// port id, peer's port id, peer's group, inode, cookie.
func parseNetlink(msg []byte) (Socket, error) {
	const size = 28
	if len(msg) < size {
		return Socket{}, fmt.Errorf("parse netlink socket: %d bytes: %w", len(msg), errFormat)
	}
	s := Socket{
		Protocol: "netlink",
		Local:    "port " + strconv.FormatUint(uint64(binary.NativeEndian.Uint32(msg[4:])), 10),
		Inode:    uint64(binary.NativeEndian.Uint32(msg[16:])),
	}
	switch msg[3] { // NETLINK_UNCONNECTED, which a new socket may have as 7 too; NETLINK_CONNECTED
	case 0, 7:
		s.State = "unconnected"
	case 1:
		s.State = "connected"
	default:
		s.State = "state " + strconv.Itoa(int(msg[3]))
	}
	return s, nil
}

// attributes walks struct rtattr: length with its header, type, value, padded
// to 4 bytes.
func attributes(buf []byte) func(yield func(kind uint16, value []byte) bool) {
	return func(yield func(uint16, []byte) bool) {
		const header = 4
		for len(buf) >= header {
			length := int(binary.NativeEndian.Uint16(buf))
			if length < header || length > len(buf) {
				return
			}
			if !yield(binary.NativeEndian.Uint16(buf[2:]), buf[header:length]) {
				return
			}
			buf = buf[min((length+3)&^3, len(buf)):]
		}
	}
}
