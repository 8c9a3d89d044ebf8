package safepath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links are followed before the path counts as a loop,
// as Linux counts.
const maxLinks = 40

// A look remembers what was seen of the file system during one check: the
// places share most of their folders.
type look struct {
	seen map[string]seen
}

type seen struct {
	info fs.FileInfo
	err  error
}

func newLook() *look { return &look{map[string]seen{}} }

func (l *look) lstat(path string) (fs.FileInfo, error) {
	s, ok := l.seen[path]
	if !ok {
		s.info, s.err = os.Lstat(path)
		l.seen[path] = s
	}
	return s.info, s.err
}

// resolve follows every link of an absolute clean path. Where the rest does
// not exist, also behind a dangling link, it is added as written: that is
// where a file would be created.
func (l *look) resolve(abs string) (string, error) {
	done := "/"
	todo := strings.TrimPrefix(abs, "/")
	missing := false
	for links := 0; todo != ""; {
		part, rest, _ := strings.Cut(todo, "/")
		todo = rest
		switch part {
		case "", ".":
			continue
		case "..": // only out of a link: the path itself has none
			done = filepath.Dir(done)
			missing = false
			continue
		}
		next := strings.TrimSuffix(done, "/") + "/" + part
		if missing {
			done = next
			continue
		}
		info, err := l.lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			done, missing = next, true
			continue
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		todo = target + "/" + todo
	}
	return done, nil
}

// An inode names a file whatever it is called.
type inode struct{ dev, ino uint64 }

// inodesAlong collects the file itself and every folder above it, except the
// root.
func (l *look) inodesAlong(path string) map[inode]bool {
	found := map[inode]bool{}
	for ; len(path) > 1; path = filepath.Dir(path) {
		if id, ok := l.inodeOf(path); ok {
			found[id] = true
		}
	}
	return found
}

func (l *look) inodeOf(path string) (inode, bool) {
	info, err := l.lstat(path)
	if err != nil {
		return inode{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Ino == 0 {
		return inode{}, false
	}
	return inode{uint64(st.Dev), uint64(st.Ino)}, true
}
