package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/outcome"
)

const (
	maxTitle = 4 << 10  // bytes of one line that lists show
	maxError = 16 << 10 // bytes of why a call did not end well
)

// cut shortens a text to a number of bytes, never inside of a character, and
// shows that it did.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const more = "…"
	n := most - len(more)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}

// A Spilled stands in an event in the place of a result or of arguments that
// are too large for it.
type Spilled struct {
	Spilled string `json:"spilled"` // file beside the journal, relative to its folder; empty when it could not be written
	Bytes   int64  `json:"bytes"`   // of the whole
	Error   string `json:"error,omitempty"`
}

// ErrSpilled matches the error of a part that lay in a file of its own and
// cannot be had any more.
var ErrSpilled = errors.New("kept in a file of its own that cannot be read")

// spill returns raw when it is small enough, and otherwise puts it in a file
// and returns what stands in its place. What is no JSON is kept as a string:
// an event must not be lost for it.
func (j *Journal) spill(call, what string, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	if !json.Valid(raw) {
		raw = encode(string(raw))
	}
	if len(raw) <= j.o.MaxInline {
		return raw
	}
	s := Spilled{Spilled: filepath.Join(resultsName, spillName(call, what)), Bytes: int64(len(raw))}
	if err := j.keep(s.Spilled, raw); err != nil {
		s.Spilled, s.Error = "", outcome.Errno(err)
	}
	return encode(s)
}

func (j *Journal) keep(name string, raw []byte) error {
	j.mu.Lock()
	barred := j.barred
	j.mu.Unlock()
	if barred != nil {
		return barred
	}
	if err := makeFolder(j.dir); err != nil {
		return err
	}
	if err := makeFolder(j.path(resultsName)); err != nil {
		return err
	}
	if err := atomicfile.Write(j.path(name), raw, 0o600); err != nil {
		return err
	}
	j.mu.Lock()
	j.spilled += int64(len(raw))
	j.mu.Unlock()
	return nil
}

// marshal writes v on one line, without the escapes that only web pages need.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

func encode(v any) json.RawMessage {
	raw, err := marshal(v)
	if err != nil {
		panic("journal: a value of our own is not JSON: " + err.Error())
	}
	return raw
}

// spillName is a file name that a call's id cannot lead out of the folder
// with.
func spillName(call, what string) string {
	ok := call != "" && len(call) <= 64
	for _, b := range []byte(call) {
		ok = ok && (b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b == '-')
	}
	if !ok {
		sum := sha256.Sum256([]byte(call))
		call = "x" + hex.EncodeToString(sum[:16])
	}
	return call + "." + what + ".json"
}

// Resolve returns raw, or the whole of it where raw says that it was spilled.
// An error that matches ErrSpilled comes with raw as it is.
func Resolve(dir string, raw json.RawMessage) (json.RawMessage, error) {
	const longest = 4 << 10 // a Spilled is shorter
	if len(raw) > longest || !strings.Contains(string(raw[:min(len(raw), 16)]), `"spilled"`) {
		return raw, nil
	}
	var s Spilled
	if json.Unmarshal(raw, &s) != nil || s.Bytes <= 0 {
		return raw, nil
	}
	if s.Spilled == "" {
		return raw, fmt.Errorf("%w: it could not be written (%s)", ErrSpilled, s.Error)
	}
	if filepath.Dir(s.Spilled) != resultsName || !filepath.IsLocal(s.Spilled) {
		return raw, nil // a result that only looks like one of ours
	}
	whole, err := readOurs(filepath.Join(dir, s.Spilled), s.Bytes)
	switch {
	case err != nil:
		return raw, fmt.Errorf("%w: %w", ErrSpilled, err)
	case int64(len(whole)) != s.Bytes || !json.Valid(whole):
		return raw, fmt.Errorf("%w: it does not hold the %s it was written with", ErrSpilled, outcome.CountBytes(s.Bytes))
	}
	return whole, nil
}

// readOurs reads a file of ours up to one byte more than the limit.
func readOurs(path string, limit int64) ([]byte, error) {
	fd, _, err := openOurs(path, unix.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	return raw, errors.Join(err, f.Close())
}

// captureOf is the worst state of the captures in a result, nil when it has
// none.
func captureOf(result json.RawMessage) *outcome.State {
	var worst *outcome.State
	for key, raw := range fields(result, nil) {
		if key != "capture" && key != "stderr_capture" {
			continue
		}
		for key, word := range fields(raw, nil) {
			var s outcome.State
			if key == "state" && json.Unmarshal(word, &s) == nil && (worst == nil || badness(s) > badness(*worst)) {
				worst = &s
			}
		}
	}
	return worst
}

func badness(s outcome.State) int {
	switch s {
	case outcome.StateComplete:
		return 0
	case outcome.StateTruncated:
		return 1
	case outcome.StateDetached:
		return 2
	case outcome.StateUnknown:
		return 3
	}
	return 4
}

// sweep removes renamed files that are too old or too many, and the spilled
// parts of their calls. It runs under the folder's lock, once after each
// renaming, once after Open, and when much was spilled. What cannot be removed stays: it is no reason
// to lose an event.
func (w *writer) sweep() {
	w.swept = true
	firsts, err := olds(w.dir)
	if err != nil {
		return
	}
	type kept struct {
		path string
		size int64
		at   time.Time
	}
	var files []kept
	total := w.size
	for _, n := range firsts {
		if info, err := os.Lstat(w.path(oldName(n))); err == nil {
			files = append(files, kept{w.path(oldName(n)), info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	spilled, _ := os.ReadDir(w.path(resultsName)) // none is the usual case
	var parts []kept
	for _, e := range spilled {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			parts = append(parts, kept{filepath.Join(w.path(resultsName), e.Name()), info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	oldest := time.Now().Add(-w.o.MaxAge)
	for _, f := range files {
		if total <= w.o.MaxTotal && f.at.After(oldest) {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		total -= f.size
		gone := f.at // of the last event in the file
		for _, p := range parts {
			if !p.at.After(gone) && os.Remove(p.path) == nil {
				total -= p.size
			}
		}
		parts = slices.DeleteFunc(parts, func(p kept) bool { return !p.at.After(gone) })
	}
	// What is left may be too much because of large results alone.
	slices.SortFunc(parts, func(a, b kept) int { return a.at.Compare(b.at) })
	for _, p := range parts {
		if total <= w.o.MaxTotal {
			return
		}
		if os.Remove(p.path) == nil {
			total -= p.size
		}
	}
}
