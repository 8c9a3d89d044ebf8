package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// maxText is how much of a file is shown or compared line by line, in bytes.
// Above it, sizes and hashes tell.
const maxText = 4 << 20

// A Shown is one entry with its content, where that is text.
type Shown struct {
	Entry     Entry  `json:"checkpoint"`
	Intact    bool   `json:"intact"` // the content was read to its end and has the hash it was kept under
	Text      string `json:"text,omitempty"`
	Binary    bool   `json:"is_binary"`
	Truncated bool   `json:"truncated"` // Text is the beginning only
	ShownSize int64  `json:"shown_bytes"`
}

// Show reads a checkpoint. The policy decides by the path it was kept under
// whether its content may be read: a copy of a secret is a secret.
func (s *Store) Show(p safepath.Policy, id string) (Shown, error) {
	e, err := s.Find(id)
	if err != nil {
		return Shown{}, err
	}
	if _, err := p.Check(e.Path, "", safepath.Read); err != nil {
		return Shown{Entry: e}, err
	}
	head := &headBuffer{limit: maxText}
	if _, err := s.copyOut(e, head); err != nil {
		return Shown{Entry: e}, err
	}
	out := Shown{Entry: e, Intact: true, Truncated: e.Size > int64(len(head.b))}
	text, ok := asText(head.b, out.Truncated)
	if !ok {
		out.Binary, out.Truncated = true, false
		return out, nil
	}
	out.Text, out.ShownSize = text, int64(len(text))
	return out, nil
}

// CopyTo writes the content of a checkpoint to w. An error that matches
// ErrDamaged says that what was written is not what was kept.
func (s *Store) CopyTo(p safepath.Policy, id string, w io.Writer) (Entry, error) {
	e, err := s.Find(id)
	if err != nil {
		return Entry{}, err
	}
	if _, err := p.Check(e.Path, "", safepath.Read); err != nil {
		return e, err
	}
	_, err = s.copyOut(e, w)
	return e, err
}

// A headBuffer keeps the first bytes that are written to it.
type headBuffer struct {
	b     []byte
	limit int
}

func (h *headBuffer) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), h.limit-len(h.b))]...)
	return len(p), nil
}

// asText reports whether b is text. Where b is cut, a rune that the cut split
// is left out.
func asText(b []byte, cut bool) (string, bool) {
	if cut {
		for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
			if utf8.RuneStart(b[len(b)-n]) {
				if !utf8.FullRune(b[len(b)-n:]) {
					b = b[:len(b)-n]
				}
				break
			}
		}
	}
	return string(b), utf8.Valid(b) && !bytes.ContainsRune(b, 0)
}

// A Diff compares a checkpoint with the file as it is now.
type Diff struct {
	Entry   Entry  `json:"checkpoint"`
	Same    bool   `json:"same"`
	Absent  bool   `json:"absent"`              // there is no file now
	Size    int64  `json:"now_size"`            // -1 when there is none
	SHA256  string `json:"now_sha256"`          // empty when there is none
	Mode    string `json:"now_mode,omitempty"`  // only where it differs
	Unified string `json:"diff,omitempty"`      // from the checkpoint to now
	Why     string `json:"no_lines,omitempty"`  // why there is no Unified
	Coarse  bool   `json:"is_coarse,omitempty"` // too different to be compared line by line: replaced in one piece
}

// Diff compares a checkpoint with the file at its path.
func (s *Store) Diff(p safepath.Policy, id string) (Diff, error) {
	e, err := s.Find(id)
	if err != nil {
		return Diff{}, err
	}
	d := Diff{Entry: e, Size: -1}
	f, _, err := p.Open(e.Path, "", safepath.Read)
	if errors.Is(err, fs.ErrNotExist) {
		d.Absent = true
		d.Why = "there is no file at its path now"
		return d, s.intact(e)
	}
	if err != nil {
		return d, err
	}
	return d, errors.Join(s.compare(&d, f), f.Close())
}

func (s *Store) compare(d *Diff, f *os.File) error {
	before, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the file: %w", bare(err))
	}
	now := &headBuffer{limit: maxText}
	sum, n, err := hashOf(io.NewSectionReader(f, 0, before.Size()+1), now)
	if err != nil {
		return fmt.Errorf("read the file: %w", bare(err))
	}
	after, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the file: %w", bare(err))
	}
	if n != before.Size() || after.Size() != n || !after.ModTime().Equal(before.ModTime()) {
		return fmt.Errorf("compare with the file: %w", ErrChanged)
	}
	d.Size, d.SHA256, d.Same = n, sum, sum == d.Entry.SHA256
	if mode := before.Mode().Perm(); mode != d.Entry.Mode {
		d.Mode = fmt.Sprintf("%#o", mode)
	}
	old := &headBuffer{limit: maxText}
	if _, err := s.copyOut(d.Entry, old); err != nil || d.Same {
		return err
	}
	if n > maxText || d.Entry.Size > maxText {
		d.Why = "more than " + outcome.Size(maxText)
		return nil
	}
	a, textA := asText(old.b, false)
	b, textB := asText(now.b, false)
	if !textA || !textB {
		d.Why = "not text"
		return nil
	}
	d.Unified, d.Coarse = unified(a, b, "checkpoint "+d.Entry.ID, "now")
	return nil
}
