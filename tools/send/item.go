package send

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync/atomic"
)

// ErrChanged matches the error of a file that is not what it was when it was
// checked.
var ErrChanged = errors.New("the file changed after it was checked")

// A Source is an opened file. *os.File is one.
type Source interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// An Item is one file of a message: opened, counted and hashed before the
// first network byte, and sent through the same descriptor.
type Item struct {
	Name   string // for the other end: no folder, no control character, no directive
	Kind   Kind
	Type   string // MIME type, never empty
	Size   int64  // bytes, when it was hashed
	SHA256 string // of these bytes, in hex
	Key    string // names this item of this message, also at a second try

	src  Source
	read *atomic.Bool // set when a Body was read to its end and was right
}

// Seal counts and hashes what src holds. The item reads from src from then on;
// closing src stays with the caller.
func Seal(ctx context.Context, name string, kind Kind, src Source) (Item, error) {
	info, err := src.Stat()
	if err != nil {
		return Item{}, fmt.Errorf("stat file: %w", err)
	}
	h := sha256.New()
	n, err := io.Copy(h, &ctxReader{ctx, io.NewSectionReader(src, 0, info.Size()+1)})
	if err != nil {
		return Item{}, fmt.Errorf("read file: %w", err)
	}
	if n != info.Size() {
		return Item{}, fmt.Errorf("%w: it had %d bytes when it was opened, and reading it gave another number", ErrChanged, info.Size())
	}
	name = SafeName(name)
	return Item{
		Name: name, Kind: kind, Type: mimeType(name), Size: n,
		SHA256: hex.EncodeToString(h.Sum(nil)), src: src, read: new(atomic.Bool),
	}, nil
}

type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Body opens the content from its start. Bodies of one item are independent.
func (it Item) Body() *Body { return &Body{it: it, h: sha256.New()} }

// Check looks whether the file still has the size that was checked, without
// reading it.
func (it Item) Check() error {
	info, err := it.src.Stat()
	if err != nil {
		return fmt.Errorf("stat file: %w", err)
	}
	if info.Size() != it.Size {
		return fmt.Errorf("%w: it had %d bytes and has %d now", ErrChanged, it.Size, info.Size())
	}
	return nil
}

// A Body reads an item once, in order, and checks it on the way. The last
// byte is handed out only after size and hash agree with what was checked, so
// that a file that changed is never sent whole: its reader gets ErrChanged
// where the end should be.
//
// Seek is there for libraries that ask for the size or start over: it goes to
// the start or to the end, and nowhere else.
type Body struct {
	it    Item
	h     hash.Hash
	off   int64 // next byte to read
	whole bool
	err   error
	tell  func(sent int64)
}

// Read hands out the next bytes.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	if b.tell != nil && n > 0 {
		b.tell(b.off)
	}
	return n, err
}

func (b *Body) read(p []byte) (int, error) {
	left := b.it.Size - b.off
	if left == 0 {
		if b.it.Size == 0 && !b.whole {
			if err := b.finish(); err != nil {
				return 0, err
			}
		}
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(int64(len(p)), left)]
	n, err := b.it.src.ReadAt(p, b.off)
	if n == 0 {
		if err == nil || err == io.EOF {
			return 0, fmt.Errorf("%w: it had %d bytes and ends after %d now", ErrChanged, b.it.Size, b.off)
		}
		return 0, fmt.Errorf("read file: %w", err)
	}
	b.h.Write(p[:n])
	if b.off+int64(n) == b.it.Size {
		if err := b.finish(); err != nil {
			return 0, err
		}
	}
	b.off += int64(n)
	return n, nil
}

// finish compares size and hash when everything was read.
func (b *Body) finish() error {
	var one [1]byte
	if n, _ := b.it.src.ReadAt(one[:], b.it.Size); n > 0 {
		return fmt.Errorf("%w: it had %d bytes and has more now", ErrChanged, b.it.Size)
	}
	if hex.EncodeToString(b.h.Sum(nil)) != b.it.SHA256 {
		return fmt.Errorf("%w: its content is not the one that was checked", ErrChanged)
	}
	b.whole = true
	b.it.read.Store(true)
	return nil
}

// Seek goes to the start or to the end.
func (b *Body) Seek(offset int64, whence int) (int64, error) {
	switch {
	case whence == io.SeekStart && offset == 0:
		b.off, b.whole, b.err = 0, false, nil
		b.h.Reset()
		return 0, nil
	case whence == io.SeekEnd && offset == 0:
		b.off = b.it.Size
		return b.off, nil
	case whence == io.SeekCurrent && offset == 0:
		return b.off, nil
	}
	return 0, errors.New("seek in an attachment: only its start and its end can be gone to")
}

// Close forgets the body. The file stays open: it belongs to the sender.
func (b *Body) Close() error {
	if b.err == nil {
		b.err = fs.ErrClosed
	}
	return nil
}

// Whole reports whether all bytes were handed out and agreed with the check.
func (b *Body) Whole() bool { return b.whole }

// Sent is how many bytes were handed out.
func (b *Body) Sent() int64 { return b.off }
