package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
)

// The limits that hold where Limits says nothing.
const (
	DefaultTotal = 1 << 30             // all content together, in bytes
	DefaultFile  = 256 << 20           // one file, in bytes
	DefaultAge   = 30 * 24 * time.Hour // how long content is kept
)

// Sentinels: one for each kind of answer that a caller tells apart.
var (
	ErrTooLarge  = errors.New("too large to be kept")               // matches every TooLargeError
	ErrChanged   = errors.New("the file changed while it was kept") // nothing was kept
	ErrNotFound  = errors.New("no such checkpoint")
	ErrAmbiguous = errors.New("more than one checkpoint starts like that")
	ErrDamaged   = errors.New("the kept content is damaged or gone")
)

// A TooLargeError says which limit a file is over.
type TooLargeError struct {
	Size, Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("keep the file: %s is more than the limit of %s", outcome.Size(e.Size), outcome.Size(e.Limit))
}

// Is makes it match ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// Limits bound a store. A field that is 0 means the default.
type Limits struct {
	Total int64         // bytes of all content
	File  int64         // bytes of one file
	Age   time.Duration // entries older than this are dropped
}

func (l Limits) orDefault() Limits {
	if l.Total <= 0 {
		l.Total = DefaultTotal
	}
	if l.File <= 0 {
		l.File = DefaultFile
	}
	if l.Age <= 0 {
		l.Age = DefaultAge
	}
	return l
}

// An Entry is one kept content.
type Entry struct {
	ID     string      `json:"id"`   // hexadecimal, short enough to type
	Path   string      `json:"path"` // absolute, links followed
	Time   time.Time   `json:"time"`
	Size   int64       `json:"size"`
	SHA256 string      `json:"sha256"`
	Mode   fs.FileMode `json:"mode"` // permission bits
	UID    uint32      `json:"uid"`
	GID    uint32      `json:"gid"`
	Call   string      `json:"call,omitempty"` // which call was about to replace it

	// Shared says that the content was there already, for another entry.
	Shared bool `json:"shared,omitempty"`

	// Dropped are the entries that a limit cost when this one was kept.
	Dropped []Drop `json:"dropped,omitempty"`
}

// Cost says in sentences what limits took out when e was kept: one for each
// limit.
func (e Entry) Cost() []string {
	var out []string
	for _, why := range []string{whyAge, whyFull} {
		n, size := 0, int64(0)
		for _, d := range e.Dropped {
			if d.Why == why {
				n++
				size += d.Size
			}
		}
		switch n {
		case 0:
		case 1:
			out = append(out, fmt.Sprintf("1 older checkpoint (%s) was dropped: %s", outcome.Size(size), why))
		default:
			out = append(out, fmt.Sprintf("%s older checkpoints (%s) were dropped: %s", outcome.Count(int64(n)), outcome.Size(size), why))
		}
	}
	return out
}

// Why an entry is dropped.
const (
	whyAge  = "older than the limit"
	whyFull = "the store is full"
)

// A Drop is an entry that was taken out, and the limit that did it.
type Drop struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	Why  string `json:"why"`
}

// A Store is a folder of kept content. It holds no descriptor between calls,
// and its methods may be called at the same time, by several processes too.
type Store struct {
	dir    string
	limits Limits
	now    func() time.Time
	step   func(name string) error // called before each step; tests fail or die there
}

// Names inside the folder.
const (
	blobsName = "blobs"
	tempsName = "tmp"
	notesName = "restoring"
	indexName = "index.jsonl"
	lockName  = "lock"
)

// Open makes the folder where it is missing, for its owner only, and returns
// the store in it.
func Open(dir string, limits Limits) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, errors.New("open checkpoints: the folder is not an absolute path")
	}
	s := &Store{
		dir: filepath.Clean(dir), limits: limits.orDefault(), now: time.Now,
		step: func(string) error { return nil },
	}
	for _, d := range []string{s.dir, s.at(blobsName), s.at(tempsName), s.at(notesName)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("open checkpoints: %w", err)
		}
		info, err := os.Lstat(d)
		if err != nil {
			return nil, fmt.Errorf("open checkpoints: %w", err)
		}
		if !info.IsDir() {
			return nil, errors.New("open checkpoints: a file or a link stands where a folder should be")
		}
		if info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(d, 0o700); err != nil {
				return nil, fmt.Errorf("close checkpoints to others: %w", err)
			}
		}
	}
	return s, nil
}

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) at(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *Store) blob(sum string) string { return s.at(blobsName, sum[:2], sum) }

// locked runs do while no other process and no other goroutine has the store.
func (s *Store) locked(do func() error) (err error) {
	f, err := os.OpenFile(s.at(lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("open lock: %w", err)
	}
	// Closing the only descriptor of this opening lets the lock go.
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := flock(f, unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock checkpoints: %w", err)
	}
	return do()
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// syncDir makes a rename in the folder last. Some file systems have no sync
// for a folder and say EINVAL or ENOTSUP: there is nothing more to do there.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(d), d.Close())
}

func syncFolder(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
