package fdmeter

import (
	"bytes"
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// systemFiles asks the kernel without os.File: a reading makes hundreds of
// small requests, and none of them needs the runtime's poller.
type systemFiles struct{}

func systemSource() source { return newProcfs("/proc", systemFiles{}) }

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func open(path string, flags int) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

func (systemFiles) isProc(path string) bool {
	var fs unix.Statfs_t
	return again(func() error { return unix.Statfs(path, &fs) }) == nil && fs.Type == unix.PROC_SUPER_MAGIC
}

func (systemFiles) size(path cpath) (size int64, inode uint64, err error) {
	var st unix.Stat_t
	for {
		if err := stat(path, &st); err != unix.EINTR {
			return st.Size, st.Ino, err
		}
	}
}

func (systemFiles) read(path string, buf []byte) ([]byte, error) {
	fd, err := open(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		var n int
		err := again(func() (err error) {
			n, err = unix.Read(fd, buf[len(buf):cap(buf)])
			return err
		})
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return buf, nil
		}
		buf = buf[:len(buf)+n]
	}
}

// direntBuffers are as large as one getdents call can fill usefully.
var direntBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (systemFiles) names(path cpath, from int64, each func(name []byte)) (used int, err error) {
	fd, err := openFolder(path)
	for err == unix.EINTR {
		fd, err = openFolder(path)
	}
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	if from > 0 {
		if _, err := unix.Seek(fd, from, unix.SEEK_SET); err != nil {
			return fd, err
		}
	}
	buf := direntBuffers.Get().(*[32 << 10]byte)
	defer direntBuffers.Put(buf)
	for {
		n, err := unix.Getdents(fd, buf[:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fd, err
		case n <= 0:
			return fd, nil
		default:
			eachDirent(buf[:n], each)
		}
	}
}

// eachDirent walks struct linux_dirent64: inode 8, offset 8, length 2, type 1,
// name up to a NUL. See getdents(2).
func eachDirent(buf []byte, each func(name []byte)) {
	const lengthAt, nameAt = 16, 19
	for len(buf) > nameAt {
		length := int(binary.NativeEndian.Uint16(buf[lengthAt:]))
		if length <= nameAt || length > len(buf) {
			return
		}
		name := buf[nameAt:length]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if s := string(name); s != "." && s != ".." {
			each(name)
		}
		buf = buf[length:]
	}
}

func (systemFiles) link(path string) (string, error) {
	// A path of /proc is never longer than a page.
	var buf [4096]byte
	var n int
	err := again(func() (err error) {
		n, err = unix.Readlink(path, buf[:])
		return err
	})
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (systemFiles) info(path string) (fileInfo, error) {
	const want = unix.STATX_TYPE | unix.STATX_SIZE | unix.STATX_INO | unix.STATX_UID
	var st unix.Statx_t
	err := again(func() error {
		return unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, want, &st)
	})
	return fileInfo{
		mode: uint32(st.Mode) & unix.S_IFMT, size: int64(st.Size), ino: st.Ino, uid: st.Uid,
		dev: unix.Mkdev(st.Dev_major, st.Dev_minor),
	}, err
}

// protocol asks for the extended attribute that sockets have for this.
func (systemFiles) protocol(path string) string {
	var buf [64]byte
	n, err := unix.Getxattr(path, "system.sockprotoname", buf[:])
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(buf[:n])
}

// same asks kcmp(2), KCMP_FILE. It needs no descriptor, but the right to trace
// both processes.
func (systemFiles) same(pidA, fdA, pidB, fdB int) (bool, error) {
	const kcmpFile = 0
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(pidA), uintptr(pidB), kcmpFile, uintptr(fdA), uintptr(fdB), 0)
	if errno != 0 {
		return false, errno
	}
	return order == 0, nil
}

func (systemFiles) limits(pid int) (soft, hard uint64, err error) {
	var limit unix.Rlimit
	// Only the old value is asked for; a new one is never given.
	err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit)
	return limit.Cur, limit.Max, err
}

func (systemFiles) exists(pid int) bool {
	_, err := unix.Getpgid(pid)
	return err == nil
}
