package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SocketVariable names the socket of one window by its absolute path. A window
// sets it for the programs in its panes, so that they find their own window.
const SocketVariable = "HONESTTY_SOCKET"

// Latest names, for Dial, the window that was opened last.
const Latest = "latest"

const (
	folderName = "honestty"
	lockName   = "lock"
	suffix     = ".sock"
)

// maxPath is how many bytes a socket path may have: sun_path holds 108 on
// Linux and 104 on macOS, and the last is the closing NUL.
const maxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// An Env is what decides where sockets lie and what is told in hello. The zero
// Env is the environment of this process.
type Env struct {
	Getenv  func(string) string // nil: os.Getenv
	Version string              // of this program, told to the other side

	// Service names something else than windows that listens and is called the
	// same way. It has a folder of its own, in which only one listens at a time;
	// SocketVariable does not concern it.
	Service string

	// Patience is how long Dial waits for a window to greet; 0 is 5 seconds.
	Patience time.Duration

	pid     int    // 0: ours; a test opens several windows in one process
	runUser string // empty: /run/user
	temp    string // empty: os.TempDir
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return os.Getenv(name)
	}
	return e.Getenv(name)
}

// ownUID is who owns the files that this process makes, and what the kernel tells
// the other end of a connection.
func ownUID() int { return os.Geteuid() }

func (e Env) ownPID() int {
	if e.pid != 0 {
		return e.pid
	}
	return os.Getpid()
}

func pidName(pid int) string { return strconv.Itoa(pid) + suffix }

// namedPID is the process a socket is named after, or 0.
func namedPID(name string) int {
	digits, ok := strings.CutSuffix(name, suffix)
	pid, err := strconv.Atoi(digits)
	if !ok || err != nil || pid <= 0 || pidName(pid) != name {
		return 0
	}
	return pid
}

// A place is a folder that may hold sockets.
type place struct {
	base   string // what the system or the user provides
	folder string // ours, below base
	from   string // what named it, for errors
	must   bool   // the user chose it: an unusable one is an error and not passed over
}

// places lists the folders in the order in which they are tried.
func (e Env) places() []place {
	var out []place
	add := func(p place) {
		for _, have := range out {
			if have.folder == p.folder {
				return
			}
		}
		out = append(out, p)
	}
	if dir := e.get("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) { // the XDG text: others are to be ignored
		add(place{base: dir, folder: filepath.Join(dir, e.folderName()), from: "XDG_RUNTIME_DIR"})
	}
	run := e.runUser
	if run == "" {
		run = "/run/user"
	}
	run = filepath.Join(run, strconv.Itoa(ownUID()))
	add(place{base: run, folder: filepath.Join(run, e.folderName()), from: run})
	temp := e.temp
	if temp == "" {
		temp = os.TempDir()
	}
	add(place{
		base: temp, folder: filepath.Join(temp, e.folderName()+"-"+strconv.Itoa(ownUID())),
		from: "the folder for temporary files", must: true,
	})
	return out
}

func (e Env) folderName() string {
	if e.Service == "" {
		return folderName
	}
	return folderName + "-" + e.Service
}

// named is the socket that SocketVariable names, or "".
func (e Env) named() (string, error) {
	path := e.get(SocketVariable)
	if path == "" || e.Service != "" {
		return "", nil
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s is %q: it must be the absolute path of a socket", SocketVariable, path)
	}
	return filepath.Clean(path), checkLength(path)
}

func checkLength(path string) error {
	if len(path) > maxPath {
		return &LongPathError{Path: path}
	}
	return nil
}

// checkBase says why others could replace a folder of ours below base, or nil.
// base may be reached over links (/tmp is one on macOS): what counts is the
// folder at their end.
func checkBase(base string, uid int) error {
	info, err := os.Stat(base)
	if err != nil {
		return err
	}
	owner := ownerOf(info)
	switch {
	case !info.IsDir():
		return &UnsafeError{base, "is not a folder"}
	case owner != uid && owner != 0:
		return &UnsafeError{base, fmt.Sprintf("belongs to uid %d and not to uid %d", owner, uid)}
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return &UnsafeError{base, fmt.Sprintf("has mode %04o: others could replace what lies in it", info.Mode().Perm())}
	}
	return nil
}

// checkFolder says why a folder is not private, or nil. fs.ErrNotExist is
// passed on.
func checkFolder(folder string, uid int) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner := ownerOf(info)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &UnsafeError{folder, "is a symbolic link, and sockets are kept only in a real folder: remove it"}
	case !info.IsDir():
		return &UnsafeError{folder, "is not a folder: remove it"}
	case owner != uid:
		return &UnsafeError{folder, fmt.Sprintf("belongs to uid %d and not to uid %d", owner, uid)}
	case info.Mode().Perm() != 0o700:
		return &UnsafeError{folder, fmt.Sprintf("has mode %04o: others could have put something there; remove it, or chmod 700 it if you know what it holds", info.Mode().Perm())}
	}
	return nil
}

// ownerOf returns the uid of a file, or -1, which is nobody's.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// makeFolder makes the folder when it is not there, and checks it in any case.
func makeFolder(folder string, uid int) error {
	err := os.Mkdir(folder, 0o700)
	switch {
	case err == nil:
		// The umask can only have taken bits from the owner.
		if err := os.Chmod(folder, 0o700); err != nil {
			return fmt.Errorf("make socket folder: %w", err)
		}
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make socket folder: %w", err)
	}
	if err := checkFolder(folder, uid); err != nil {
		return fmt.Errorf("use socket folder: %w", err)
	}
	return nil
}

// A seat is where a window's socket goes.
type seat struct {
	folder string
	name   string
	notes  []string // every fallback, in plain words
}

func (s seat) path() string { return filepath.Join(s.folder, s.name) }

// seat chooses the folder and the name for a new window, and makes the folder.
func (e Env) seat() (seat, error) {
	path, err := e.named()
	if err != nil {
		return seat{}, err
	}
	if path != "" {
		return e.namedSeat(path)
	}
	own := pidName(e.ownPID())
	var notes []string
	for _, p := range e.places() {
		err := checkBase(p.base, ownUID())
		switch {
		case err != nil && p.must:
			return seat{}, fmt.Errorf("use %s: %w", p.from, err)
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s was passed over: %v", p.from, err))
			continue
		}
		s := seat{folder: p.folder, name: own, notes: notes}
		if err := checkLength(s.path()); err != nil {
			return seat{}, err
		}
		return s, makeFolder(p.folder, ownUID())
	}
	return seat{}, errors.New("find a place for the socket: there is none") // not reached: the last place must
}

// namedSeat is the seat that SocketVariable asks for. A socket that is named
// after another process belongs to the window around this one, alive or not;
// then the new window sits beside it.
func (e Env) namedSeat(path string) (seat, error) {
	s := seat{folder: filepath.Dir(path), name: filepath.Base(path)}
	if pid := namedPID(s.name); pid != 0 && pid != e.ownPID() {
		s.name = pidName(e.ownPID())
		s.notes = []string{fmt.Sprintf("%s names window %d: this window listens beside it", SocketVariable, pid)}
	}
	if s.name == lockName || s.name == Latest {
		return seat{}, fmt.Errorf("%s is %q: that name is taken by the folder itself", SocketVariable, path)
	}
	if err := checkLength(s.path()); err != nil {
		return seat{}, err
	}
	if err := checkBase(filepath.Dir(s.folder), ownUID()); err != nil {
		return seat{}, fmt.Errorf("use the folder of %s: %w", SocketVariable, err)
	}
	return s, makeFolder(s.folder, ownUID())
}
