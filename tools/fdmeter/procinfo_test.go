package fdmeter

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

func TestDescriptorListOfMacOSIsReadByItsOwnLength(t *testing.T) {
	answer := []byte{
		0, 0, 0, 0, 1, 0, 0, 0,
		5, 0, 0, 0, 2, 0, 0, 0,
		0xff, 3, 0, 0, 6, 0, 0, 0,
	}
	fds, err := parseProxFDs(answer)
	want := []proxFD{{0, proxVnode}, {5, proxSocket}, {1023, proxPipe}}
	if err != nil || !slices.Equal(fds, want) {
		t.Errorf("got %v, %v", fds, err)
	}
	if _, err := parseProxFDs(answer[:13]); !errors.Is(err, errFormat) {
		t.Errorf("a broken answer was accepted: %v", err)
	}
	for kind, want := range map[uint32]Kind{
		proxSocket: KindSocket, proxKqueue: KindKqueue, proxPipe: KindPipe, proxPShm: KindOther, proxPSem: KindOther, 99: KindOther,
	} {
		if got := proxKind(kind); got != want {
			t.Errorf("type %d = %v, want %v", kind, got, want)
		}
	}
}

func TestVnodeOfMacOSGivesPathTypeAndFlag(t *testing.T) {
	vnode := func(path string, mode uint16, status uint32) []byte {
		answer := make([]byte, vnodeSize)
		binary.LittleEndian.PutUint32(answer[vnodeStatusAt:], status)
		binary.LittleEndian.PutUint16(answer[vnodeModeAt:], mode)
		copy(answer[vnodePathAt:], path)
		return answer
	}
	for _, test := range []struct {
		path   string
		mode   uint16
		status uint32
		kind   Kind
		cloexe Maybe
	}{
		{"/Users/a/x.log", modeRegular | 0o644, 0, KindFile, MaybeNo},
		{"/Users/a", modeDir | 0o755, statusCloseOnExec, KindDir, MaybeYes},
		{"/dev/ttys004", modeChar, 0, KindPTY, MaybeNo},
		{"/dev/ptmx", modeChar, 0, KindPTY, MaybeNo},
		{"/dev/null", modeChar, 0, KindDevice, MaybeNo},
	} {
		fd, err := parseVnode(7, vnode(test.path, test.mode, test.status))
		if err != nil || fd.Number != 7 || fd.Target != test.path || fd.Kind != test.kind || fd.CloseOnExec != test.cloexe {
			t.Errorf("%s: %+v, %v", test.path, fd, err)
		}
	}
	if _, err := parseVnode(7, make([]byte, 24)); !errors.Is(err, errFormat) {
		t.Errorf("a short answer was accepted: %v", err)
	}
}

func TestArgumentsOfMacOSFollowThePath(t *testing.T) {
	answer := append([]byte{2, 0, 0, 0}, "/bin/zsh\x00\x00\x00-zsh\x00-i\x00HOME=/x\x00"...)
	argv, err := parseProcArgs(answer)
	if err != nil || !slices.Equal(argv, []string{"-zsh", "-i"}) {
		t.Errorf("got %q, %v", argv, err)
	}
	for _, broken := range [][]byte{nil, {1, 0}, {1, 0, 0, 0}, {1, 0, 0, 0, 'x'}} {
		if argv, err := parseProcArgs(broken); err == nil {
			t.Errorf("%v was read as %q", broken, argv)
		}
	}
}
