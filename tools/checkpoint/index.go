package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
)

// A Listing is what the index says.
type Listing struct {
	Entries []Entry `json:"entries"` // newest first
	Damaged int     `json:"damaged"` // lines that could not be read: a write that a crash cut short
	Bytes   int64   `json:"bytes"`   // of all content, shared content counted once
	Limit   int64   `json:"limit"`   // of Bytes
}

// List reads the index.
func (s *Store) List() (Listing, error) {
	l, err := s.read()
	if err != nil {
		return Listing{}, err
	}
	slices.Reverse(l.Entries)
	slices.SortStableFunc(l.Entries, func(a, b Entry) int { return b.Time.Compare(a.Time) })
	return l, nil
}

// read reads the index in the order of its lines.
func (s *Store) read() (Listing, error) {
	l := Listing{Entries: []Entry{}, Limit: s.limits.Total}
	raw, err := os.ReadFile(s.at(indexName))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return Listing{}, fmt.Errorf("read index: %w", err)
	}
	counted := map[string]bool{}
	for line := range bytes.SplitSeq(raw, []byte{'\n'}) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Entry
		if json.Unmarshal(line, &e) != nil || !e.valid() {
			l.Damaged++
			continue
		}
		l.Entries = append(l.Entries, e)
		if !counted[e.SHA256] {
			counted[e.SHA256] = true
			l.Bytes += e.Size
		}
	}
	return l, nil
}

// valid keeps a damaged line from naming a file outside the store.
func (e Entry) valid() bool {
	const hex = "0123456789abcdef"
	return len(e.ID) >= minID && len(e.SHA256) == 64 && e.Size >= 0 && strings.Trim(e.ID+e.SHA256, hex) == ""
}

// append adds one line and makes it last. Where a crash cut the last line
// short, the new one starts a line of its own.
func (s *Store) append(e Entry) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	f, err := os.OpenFile(s.at(indexName), os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	if info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return fmt.Errorf("read index: %w", err)
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if err := s.step("index"); err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// rewrite replaces the index by these entries.
func (s *Store) rewrite(entries []Entry) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
	if err := s.step("rewrite"); err != nil {
		return err
	}
	if err := atomicfile.Write(s.at(indexName), b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// minID is how much of an id must be given.
const minID = 4

// Find returns the entry whose id is or starts with id.
func (s *Store) Find(id string) (Entry, error) {
	l, err := s.read()
	if err != nil {
		return Entry{}, err
	}
	id = strings.ToLower(strings.TrimSpace(id))
	if len(id) < minID {
		return Entry{}, fmt.Errorf("find checkpoint: %w: give at least %d characters of its id", ErrNotFound, minID)
	}
	var found []Entry
	for _, e := range l.Entries {
		if e.ID == id {
			return e, nil
		}
		if strings.HasPrefix(e.ID, id) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return Entry{}, fmt.Errorf("find checkpoint: %w", ErrNotFound)
	case 1:
		return found[0], nil
	}
	return Entry{}, fmt.Errorf("find checkpoint: %w", ErrAmbiguous)
}

// overLimits says which entries the limits cost when more bytes are to come,
// oldest first, and which stay. The content that comes costs no entry of its
// own, and what is about to be restored stays even where it is too old.
func (s *Store) overLimits(l Listing, limits Limits, coming int64, comes, restored string) (stay []Entry, drop []Drop) {
	byAge := slices.Clone(l.Entries)
	slices.SortStableFunc(byAge, func(a, b Entry) int { return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.ID, b.ID)) })
	uses := map[string]int{}
	for _, e := range byAge {
		uses[e.SHA256]++
	}
	total := l.Bytes + coming
	gone := map[string]bool{}
	for _, e := range byAge {
		why := ""
		switch {
		case e.SHA256 == restored:
			continue
		case s.now().Sub(e.Time) > limits.Age:
			why = whyAge
		case total > limits.Total && e.SHA256 != comes:
			why = whyFull
		default:
			continue
		}
		gone[e.ID] = true
		drop = append(drop, Drop{e.ID, e.Path, e.Size, why})
		if uses[e.SHA256]--; uses[e.SHA256] == 0 && e.SHA256 != comes {
			total -= e.Size
		}
	}
	for _, e := range l.Entries {
		if !gone[e.ID] {
			stay = append(stay, e)
		}
	}
	return stay, drop
}
