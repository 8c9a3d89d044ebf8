package transcript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/outcome"
)

// ErrFollowed matches the error of a transcript that another process follows.
var ErrFollowed = errors.New("another process follows this transcript and tells its calls")

// A cursor is how far a transcript was told. It lies in a file of our own, one
// for each transcript.
type cursor struct {
	Path   string    `json:"path"`
	Dev    uint64    `json:"dev"`
	Ino    uint64    `json:"ino"`
	Offset int64     `json:"offset"`
	Before string    `json:"before"` // the bytes that end at Offset, as sum
	Last   time.Time `json:"last"`   // the newest time of a record that was told
	ID     string    `json:"session,omitempty"`
	Dir    string    `json:"dir,omitempty"`
	Open   []place   `json:"open,omitempty"` // calls without an end so far
}

// A place is where the record lies in which a call began.
type place struct {
	ID     string `json:"id"`
	Offset int64  `json:"offset"`
	Given  bool   `json:"given,omitempty"` // it was told that its end is not known
}

// cursors keeps the cursor of one transcript, and its lock.
type cursors struct {
	path string // of the cursor file; empty: nothing is kept
	lock *os.File
}

// openCursor takes the lock of a transcript's cursor and reads it. With an
// empty folder nothing is kept and nobody is kept out.
func openCursor(dir, transcript string) (*cursors, cursor, error) {
	if dir == "" {
		return &cursors{}, cursor{}, nil
	}
	sum := sha256.Sum256([]byte(transcript))
	c := &cursors{path: filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, cursor{}, fmt.Errorf("open cursor: %s", outcome.Errno(bare(err)))
	}
	lock, err := os.OpenFile(c.path+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, cursor{}, fmt.Errorf("open cursor: %s", outcome.Errno(bare(err)))
	}
	if err := flock(lock); err != nil {
		err = fmt.Errorf("follow transcript: %w", err)
		return nil, cursor{}, errors.Join(err, lock.Close())
	}
	c.lock = lock
	raw, err := os.ReadFile(c.path)
	var at cursor
	if err != nil || json.Unmarshal(raw, &at) != nil || at.Path != transcript || at.Offset < 0 {
		at = cursor{} // none, or not ours: the transcript is read from its beginning
	}
	return c, at, nil
}

// flock takes the lock of an open file without waiting.
func flock(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lerr error
	err = conn.Control(func(fd uintptr) { lerr = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(lerr, unix.EWOULDBLOCK) {
		return ErrFollowed
	}
	return errors.Join(err, lerr)
}

// save keeps the cursor.
func (c *cursors) save(at cursor) error {
	if c.path == "" {
		return nil
	}
	raw, err := json.Marshal(at)
	if err == nil {
		err = atomicfile.Write(c.path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep cursor: %s", outcome.Errno(err))
	}
	return nil
}

func (c *cursors) close() {
	if c.lock != nil {
		_ = c.lock.Close() // gives the lock back
		c.lock = nil
	}
}

// beforeSize is how many bytes before a place tell that it is still the same.
const beforeSize = 256

// before reads the bytes that end at off.
func before(f *os.File, off int64) ([]byte, error) {
	b := make([]byte, min(off, beforeSize))
	_, err := f.ReadAt(b, off-int64(len(b)))
	return b, err
}

// sumOf is the short form in which such bytes are kept.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// identity is which file this is.
func identity(info os.FileInfo) (dev, ino uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), st.Ino
}

// recent remembers the ids that were told last, so that a file that is read
// again tells none twice.
type recent struct {
	ids  map[[16]byte]struct{}
	ring [][16]byte
	at   int
}

// recentSize bounds what is remembered: about 3 MB.
const recentSize = 32 << 10

func idHash(id string) [16]byte {
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

func (r *recent) has(id string) bool {
	_, ok := r.ids[idHash(id)]
	return ok
}

func (r *recent) add(id string) {
	h := idHash(id)
	if r.ids == nil {
		r.ids = map[[16]byte]struct{}{}
	}
	if _, ok := r.ids[h]; ok {
		return
	}
	r.ids[h] = struct{}{}
	if len(r.ring) < recentSize {
		r.ring = append(r.ring, h)
		return
	}
	delete(r.ids, r.ring[r.at])
	r.ring[r.at] = h
	r.at = (r.at + 1) % recentSize
}

// readAgain reads the record that lies at off.
func readAgain(f *os.File, off int64) []byte {
	l := &lineReader{f: f, at: off, max: MaxLine}
	line, _, tooLong, ok, err := l.next()
	if err != nil || !ok || tooLong {
		return nil
	}
	return bytes.Clone(line)
}

// places are the open calls, oldest first.
func places(open map[string]*openCall) []place {
	var out []place
	for id, c := range open {
		out = append(out, place{id, c.off, c.given})
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.Offset, b.Offset) })
	return out
}
