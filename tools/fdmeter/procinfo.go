package fdmeter

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// This file reads what proc_info(2) and sysctl(3) of macOS return. It has no
// system call in it, so it is tested everywhere.

// Descriptor types of <sys/proc_info.h>, PROX_FDTYPE_*.
const (
	proxVnode  = 1
	proxSocket = 2
	proxPShm   = 3
	proxPSem   = 4
	proxKqueue = 5
	proxPipe   = 6
)

// A proxFD is struct proc_fdinfo: a number and a type, 4 bytes each.
type proxFD struct {
	number int32
	kind   uint32
}

const proxFDSize = 8

// parseProxFDs reads the answer to PROC_PIDLISTFDS. Its length is that of the
// answer, never of the buffer: the sizing call counts the table's free places
// too.
func parseProxFDs(answer []byte) ([]proxFD, error) {
	if len(answer)%proxFDSize != 0 {
		return nil, fmt.Errorf("parse descriptor list: %d bytes: %w", len(answer), errFormat)
	}
	fds := make([]proxFD, 0, len(answer)/proxFDSize)
	for ; len(answer) > 0; answer = answer[proxFDSize:] {
		fds = append(fds, proxFD{
			number: int32(binary.LittleEndian.Uint32(answer)),
			kind:   binary.LittleEndian.Uint32(answer[4:]),
		})
	}
	return fds, nil
}

func proxKind(kind uint32) Kind {
	switch kind {
	case proxSocket:
		return KindSocket
	case proxKqueue:
		return KindKqueue
	case proxPipe:
		return KindPipe
	case proxPShm, proxPSem:
		return KindOther
	}
	return KindOther
}

// Offsets in struct vnode_fdinfowithpath: proc_fileinfo (24 bytes) with
// fi_status at 4, vinfo_stat with vst_mode at 4, and 152 bytes of vnode_info
// before the path.
const (
	vnodeStatusAt = 4
	vnodeModeAt   = 24 + 4
	vnodePathAt   = 24 + 152
	vnodeSize     = vnodePathAt + 1024
	// statusCloseOnExec is PROC_FP_CLEXEC.
	statusCloseOnExec = 2
)

// parseVnode reads the answer to PROC_PIDFDVNODEPATHINFO.
func parseVnode(number int, answer []byte) (FD, error) {
	if len(answer) < vnodeSize {
		return FD{}, fmt.Errorf("parse vnode: %d bytes: %w", len(answer), errFormat)
	}
	path := answer[vnodePathAt:vnodeSize]
	if end := bytes.IndexByte(path, 0); end >= 0 {
		path = path[:end]
	}
	status := binary.LittleEndian.Uint32(answer[vnodeStatusAt:])
	mode := uint32(binary.LittleEndian.Uint16(answer[vnodeModeAt:])) & 0o170000
	fd := FD{
		Number:      number,
		Target:      string(path),
		Kind:        kindOfTarget(string(path)),
		CloseOnExec: maybe(status&statusCloseOnExec != 0),
	}
	if fd.Kind == KindOther {
		fd.Kind = kindOfMode(mode)
	}
	return fd, nil
}

// parseProcArgs reads the answer to sysctl kern.procargs2: argc, the path that
// was executed, NULs, and the arguments, each ended by a NUL.
func parseProcArgs(answer []byte) ([]string, error) {
	if len(answer) < 4 {
		return nil, fmt.Errorf("parse arguments: %d bytes: %w", len(answer), errFormat)
	}
	argc := int(int32(binary.LittleEndian.Uint32(answer)))
	rest := answer[4:]
	end := bytes.IndexByte(rest, 0)
	if end < 0 || argc < 0 {
		return nil, fmt.Errorf("parse arguments: no path: %w", errFormat)
	}
	rest = bytes.TrimLeft(rest[end:], "\x00")
	var argv []string
	for range argc {
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			break
		}
		argv = append(argv, string(rest[:end]))
		rest = rest[end+1:]
	}
	return argv, nil
}
