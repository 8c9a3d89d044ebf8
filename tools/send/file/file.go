package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/send"
	"golang.org/x/sys/unix"
)

const (
	tempPrefix = ".tmp-"

	// Manifest, TextFile and Files are what is in the folder of a message.
	Manifest = "message.json"
	TextFile = "text.txt"
	Files    = "files"
)

// An Outbox is a folder that takes messages.
type Outbox struct {
	dir string
	now func() time.Time

	mu    sync.Mutex
	swept map[string]time.Time // when a folder was last rid of what dead processes left

	// steps can be failed one at a time by a test.
	sync   func(f *os.File) error
	rename func(from, to string) error
}

// New takes messages into dir, which is made when the first one comes.
func New(dir string) (*Outbox, error) {
	if !filepath.IsAbs(dir) {
		return nil, errors.New("set up the outbox: its folder is not an absolute path")
	}
	return &Outbox{dir: filepath.Clean(dir), now: time.Now, swept: map[string]time.Time{}, sync: (*os.File).Sync, rename: os.Rename}, nil
}

// Name is "file".
func (o *Outbox) Name() string { return "file" }

// Limits are the disk's.
func (o *Outbox) Limits() send.Limits { return send.Limits{Attach: true, Subject: true} }

// A Record is message.json.
type Record struct {
	Key     string      `json:"key"`
	At      time.Time   `json:"at"`
	Target  send.Target `json:"target"`
	Subject string      `json:"subject,omitempty"`
	Text    bool        `json:"text"` // text.txt is there
	Files   []FileLine  `json:"files"`
}

// A FileLine is one file of a message.
type FileLine struct {
	Path   string `json:"path"` // within the message's folder
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Type   string `json:"type"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Send writes the message. Its texts stand or fall together; a file that
// changed since it was checked is left out, and its outcome says so.
func (o *Outbox) Send(ctx context.Context, m send.Message) send.Delivery {
	d := send.Delivery{Texts: make([]send.Outcome, len(m.Texts)), Items: make([]send.Outcome, len(m.Items))}
	all := func(x send.Outcome) send.Delivery {
		for i := range d.Texts {
			d.Texts[i] = x
		}
		for i := range d.Items {
			if d.Items[i].Reason == "" { // one that was left out keeps its own reason
				d.Items[i] = x
			}
		}
		return d
	}
	if ctx.Err() != nil {
		return all(send.Drop("not tried: it was cancelled"))
	}
	dir, err := o.place(m.Target.Chat)
	if err != nil {
		return all(send.Reject(err.Error()).Stop())
	}
	if o.sweepDue(dir) {
		sweep(dir)
	}
	t, err := newTemp(dir, m.Key)
	if err != nil {
		return all(send.Reject("the outbox could not be written: " + why(err)))
	}
	defer t.remove()
	rec, err := o.fill(ctx, t.path, m, d.Items)
	if err != nil {
		return all(send.Reject("the outbox could not be written: " + why(err)))
	}
	if !rec.Text && len(rec.Files) == 0 {
		return d // nothing is left to send; each item says why
	}
	name := rec.At.UTC().Format("20060102T150405.000000000Z") + "-" + safeKey(m.Key)
	if err := o.rename(t.path, filepath.Join(dir, name)); err != nil {
		return all(send.Reject("the message could not be put into the outbox: " + why(err)))
	}
	t.done()
	if err := o.syncDir(dir); err != nil {
		d.Warnings = append(d.Warnings, "the message is in the outbox, and may not survive a power cut: "+why(err))
	}
	for i := range d.Texts {
		d.Texts[i] = send.SentAs(name)
	}
	n := 0
	for i := range d.Items {
		if d.Items[i].Reason == "" {
			d.Items[i] = send.SentAs(name + "/" + rec.Files[n].Path)
			n++
		}
	}
	d.Note = "in " + send.Shown(filepath.Join(dir, name))
	return d
}

// sweepEvery keeps a flood of messages from looking at each other's folders.
const sweepEvery = time.Minute

// sweepDue reports whether it is the caller's turn to sweep dir.
func (o *Outbox) sweepDue(dir string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if last, ok := o.swept[dir]; ok && now.Sub(last).Abs() < sweepEvery {
		return false
	}
	o.swept[dir] = now
	return true
}

// place is the folder for a chat: the outbox, or a folder in it.
func (o *Outbox) place(chat string) (string, error) {
	dir := o.dir
	if chat != "" {
		if chat[0] == '.' || send.SafeName(chat) != chat {
			return "", errors.New("a chat of the outbox is the name of a folder in it")
		}
		dir = filepath.Join(dir, chat)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the outbox could not be made: %s", why(err))
	}
	return dir, nil
}

// fill writes everything into the temporary folder and syncs it. Items that
// changed are left out, with their outcomes set.
func (o *Outbox) fill(ctx context.Context, dir string, m send.Message, items []send.Outcome) (Record, error) {
	rec := Record{Key: m.Key, At: o.now(), Target: m.Target, Subject: m.Subject, Files: []FileLine{}}
	text := strings.Join(m.Texts, "\n")
	if m.Caption != "" {
		text = m.Caption
	}
	if text != "" {
		rec.Text = true
		if err := o.write(filepath.Join(dir, TextFile), strings.NewReader(text)); err != nil {
			return rec, err
		}
	}
	if len(m.Items) > 0 {
		if err := os.Mkdir(filepath.Join(dir, Files), 0o700); err != nil {
			return rec, err
		}
	}
	for i, it := range m.Items {
		if err := ctx.Err(); err != nil {
			return rec, err
		}
		line := FileLine{
			Path: fmt.Sprintf("%s/%02d-%s", Files, i+1, it.Name), Name: it.Name,
			Kind: it.Kind.String(), Type: it.Type, Size: it.Size, SHA256: it.SHA256,
		}
		path := filepath.Join(dir, filepath.FromSlash(line.Path))
		err := it.Check()
		if err == nil {
			body := m.Body(i)
			err = o.write(path, ctxReader{ctx, body})
			body.Close() // it has nothing to fail with
		}
		if errors.Is(err, send.ErrChanged) {
			items[i] = send.Reject(err.Error())
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return rec, err
			}
			continue
		}
		if err != nil {
			return rec, err
		}
		rec.Files = append(rec.Files, line)
	}
	raw, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return rec, err
	}
	if err := o.write(filepath.Join(dir, Manifest), strings.NewReader(string(raw)+"\n")); err != nil {
		return rec, err
	}
	if len(m.Items) > 0 {
		if err := o.syncDir(filepath.Join(dir, Files)); err != nil {
			return rec, err
		}
	}
	return rec, o.syncDir(dir)
}

type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// write makes a new file of what r holds and syncs it.
func (o *Outbox) write(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = o.sync(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// syncDir makes the names in a folder last. Some file systems cannot sync a
// folder and say so: there is nothing more to do there.
func (o *Outbox) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = o.sync(d)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// why is an error without the paths in it.
func why(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = le.Err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "it was cancelled"
	}
	return outcome.Errno(err)
}

// safeKey is a key as part of a folder's name.
func safeKey(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_':
			return r
		}
		return '_'
	}, key)
}
