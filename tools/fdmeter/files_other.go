//go:build !linux

package fdmeter

import (
	"errors"
	"os"
)

// systemFiles reads a tree laid out as /proc where there is no /proc. Sizes,
// limits and pids there say nothing about this machine, so it never claims to
// be a proc file system.
type systemFiles struct{}

func (systemFiles) isProc(string) bool { return false }

func (systemFiles) size(path cpath) (size int64, inode uint64, err error) {
	info, err := os.Stat(path.String())
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), 0, nil
}

func (systemFiles) read(path string, _ []byte) ([]byte, error) { return os.ReadFile(path) }

func (systemFiles) names(path cpath, _ int64, each func(name []byte)) (used int, err error) {
	entries, err := os.ReadDir(path.String())
	if err != nil {
		return -1, err
	}
	for _, entry := range entries {
		each([]byte(entry.Name()))
	}
	return -1, nil
}

func (systemFiles) link(path string) (string, error) { return os.Readlink(path) }

func (systemFiles) info(path string) (fileInfo, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return fileInfo{}, err
	}
	info := fileInfo{size: stat.Size()}
	switch mode := stat.Mode(); {
	case mode.IsRegular():
		info.mode = modeRegular
	case mode.IsDir():
		info.mode = modeDir
	case mode&os.ModeNamedPipe != 0:
		info.mode = modeFIFO
	case mode&os.ModeDevice != 0:
		info.mode = modeChar
	}
	return info, nil
}

func (systemFiles) protocol(string) string { return "" }

func (systemFiles) sockets() Sockets { return noSockets(Unsupported) }

func (systemFiles) same(_, _, _, _ int) (bool, error) { return false, errors.ErrUnsupported }

func (systemFiles) limits(int) (soft, hard uint64, err error) { return 0, 0, errors.ErrUnsupported }

func (systemFiles) exists(int) bool { return false }
