package readfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// The limits of one result.
const (
	DefaultLimit = 500     // lines, where the call does not say
	MaxLimit     = 2000    // lines
	maxLine      = 2000    // characters of one line
	maxContent   = 100_000 // characters of all lines with their numbers
	largeFile    = 512_000 // bytes; above it the hint says how to read in parts
)

// maxCounted is how far the lines of a file are counted past what is shown, in
// bytes.
const maxCounted = 1 << 30

// cutMark ends a line that was cut.
const cutMark = "... [truncated]"

// Params are the parameters of the tool.
type Params struct {
	Path   string `json:"path" jsonschema:"the file to read; relative paths are meant from the caller's directory"`
	Offset *int64 `json:"offset,omitempty" jsonschema:"number of the first line to return, from 1; 1 when not given"`
	Limit  *int64 `json:"limit,omitempty" jsonschema:"how many lines to return at most, up to 2000; 500 when not given"`
}

// A Result is what was read. Pointers that are nil are numbers that are not
// known.
type Result struct {
	Content      string         `json:"content"` // "N|text" lines
	Path         string         `json:"path,omitempty"`
	TotalLines   *int64         `json:"total_lines"`
	FileSize     *int64         `json:"file_size"`
	BytesRead    int64          `json:"bytes_read"`
	EOFSeen      bool           `json:"eof_seen"`
	FinalNewline *bool          `json:"final_newline"` // whether the last line ends with one
	Truncated    bool           `json:"truncated"`     // lines before or behind the content, or parts of lines, are not in it
	TruncatedBy  string         `json:"truncated_by,omitempty"`
	NextOffset   *int64         `json:"next_offset,omitempty"`
	LinesCut     int64          `json:"lines_cut,omitempty"`     // lines that were longer than 2000 characters
	InvalidBytes int64          `json:"invalid_bytes,omitempty"` // bytes that are not UTF-8, shown as U+FFFD
	IsBinary     bool           `json:"is_binary"`
	IsImage      bool           `json:"is_image"`
	Error        *string        `json:"error"`
	Hint         string         `json:"hint,omitempty"`
	SimilarFiles []string       `json:"similar_files,omitempty"`
	Status       outcome.Status `json:"status"`
	Redactions   int            `json:"redactions"`
	Notes        []string       `json:"notes"`
}

// ErrBinary says that the content is no text.
var ErrBinary = errors.New("the file is binary")

// ErrPastEnd says that the first line asked for is behind the last.
var ErrPastEnd = errors.New("past the end of the file")

// A ChangedError reports a file whose size and content did not agree, so that
// what was read may be old, new, or half of each.
type ChangedError struct {
	Before, Read, After int64 // sizes in bytes
}

func (e *ChangedError) Error() string {
	switch {
	case e.After > e.Before:
		return fmt.Sprintf("the file grew while it was read: %s at first, %s read, %s at last", size(e.Before), size(e.Read), size(e.After))
	case e.After < e.Before:
		return fmt.Sprintf("the file shrank while it was read: %s at first, %s read, %s at last", size(e.Before), size(e.Read), size(e.After))
	case e.Read != e.After:
		return fmt.Sprintf("the file has %s and gave %s before its end", size(e.After), size(e.Read))
	}
	return fmt.Sprintf("the file was written to while it was read (%s)", size(e.Read))
}

func size(n int64) string { return outcome.CountBytes(n) }

// Read reads what params ask for. The Result is filled in as far as things
// went, also with an error; the error is nil only when its Status is Complete.
func Read(ctx context.Context, policy safepath.Policy, params Params, dir string) (Result, error) {
	r := Result{Notes: []string{}}
	err := r.read(ctx, policy, params, dir)
	r.Status = statusOf(err)
	if err != nil {
		text := errorText(err)
		r.Error = &text
	}
	return r, err
}

func statusOf(err error) outcome.Status {
	_, changed := errors.AsType[*ChangedError](err)
	switch {
	case err == nil:
		return outcome.Complete
	case errors.Is(err, outcome.ErrRefused):
		return outcome.Refused
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return outcome.Cancelled
	case changed:
		return outcome.Partial
	}
	return outcome.Failed
}

func errorText(err error) string {
	if text := safepath.Message("path", err); text != "" {
		return text
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no file at this path"
	}
	return strings.ReplaceAll(outcome.Errno(err), "\n", "; ")
}

func (r *Result) read(ctx context.Context, policy safepath.Policy, params Params, dir string) error {
	first, limit, err := r.bounds(params)
	if err != nil {
		return err
	}
	f, path, err := policy.Open(params.Path, dir, safepath.Read)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			r.SimilarFiles = similar(policy, path)
		}
		return err
	}
	r.Path = path.Real
	err = r.readOpen(ctx, f, first, limit)
	if cerr := f.Close(); cerr != nil && err == nil {
		err = fmt.Errorf("close the file: %w", cerr)
	}
	return err
}

func (r *Result) bounds(p Params) (first, limit int64, err error) {
	first, limit = 1, DefaultLimit
	if p.Offset != nil {
		first = *p.Offset
	}
	if p.Limit != nil {
		limit = *p.Limit
	}
	switch {
	case first < 1:
		return 0, 0, &outcome.RefusedError{Rule: "offset below 1: lines are counted from 1"}
	case limit < 1:
		return 0, 0, &outcome.RefusedError{Rule: "limit below 1"}
	case limit > MaxLimit:
		r.Notes = append(r.Notes, fmt.Sprintf("limit %d is more than %d lines; %d are returned at most", limit, MaxLimit, MaxLimit))
		limit = MaxLimit
	}
	return first, limit, nil
}

// A file is what readOpen needs of an *os.File.
type file interface {
	io.Reader
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

func (r *Result) readOpen(ctx context.Context, f file, first, limit int64) error {
	before, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the file: %w", bare(err))
	}
	r.setSize(before.Size())
	if err := r.refuseBinary(f); err != nil {
		return err
	}
	s := newScan(first, limit)
	err = s.run(ctx, f)
	r.fill(s)
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the file again: %w", bare(err))
	}
	if err := r.agree(before, after, s); err != nil {
		return err
	}
	if s.eof && first > max(s.lines, 1) {
		return fmt.Errorf("%w: line %d was asked for, the last is line %d", ErrPastEnd, first, s.lines)
	}
	return nil
}

func (r *Result) setSize(n int64) { r.FileSize = &n }

// agree compares the sizes with what was read. Files of the kernel have none:
// they say 0, or a page.
func (r *Result) agree(before, after fs.FileInfo, s *scan) error {
	kernel := strings.HasPrefix(r.Path, "/proc/") || strings.HasPrefix(r.Path, "/sys/")
	if kernel && s.bytes != after.Size() {
		r.FileSize = nil
		r.Notes = append(r.Notes, "the kernel makes this file when it is read and gives no size for it")
		return nil
	}
	r.setSize(after.Size())
	same := before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
	if same && (!s.eof || s.bytes == after.Size()) {
		return nil
	}
	return &ChangedError{before.Size(), s.bytes, after.Size()}
}

// fill takes over what the scan found.
func (r *Result) fill(s *scan) {
	r.BytesRead, r.EOFSeen = s.bytes, s.eof
	if s.eof {
		lines, newline := s.lines, s.newline
		r.TotalLines = &lines
		if s.bytes > 0 {
			r.FinalNewline = &newline
		}
	} else {
		why := "the end of the file was not reached, so nobody knows how many lines it has"
		if s.full && s.bytes >= s.most {
			why = fmt.Sprintf("lines are counted up to %s only, so nobody knows how many it has", outcome.Size(s.most))
		}
		r.Notes = append(r.Notes, why)
	}
	r.Content, r.Redactions, r.LinesCut, r.InvalidBytes = s.content()
	last := s.first + int64(len(s.kept)) - 1
	more := s.full && (!s.eof || s.lines > last)
	r.Truncated = more || r.LinesCut > 0 || s.first > 1 && len(s.kept) > 0
	switch {
	case more:
		next := last + 1
		r.NextOffset, r.TruncatedBy = &next, s.by
		if r.FileSize != nil && *r.FileSize > largeFile {
			r.Hint = "a large file: read it in parts with offset and limit"
		}
	case r.LinesCut > 0:
		r.TruncatedBy = "line length"
	}
	if r.InvalidBytes > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d bytes are not UTF-8 and show as U+FFFD", r.InvalidBytes))
	}
	if r.Redactions > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("secrets masked: %d", r.Redactions))
	}
}

// bare takes the path out of an error of the file system.
func bare(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// maskSecrets masks what looks like a secret, without changing the number of
// lines.
func maskSecrets(lines []string) (int, []string) {
	text, n := redact.String(strings.Join(lines, "\n"))
	if masked := strings.Split(text, "\n"); len(masked) == len(lines) {
		return n, masked
	}
	// A mask took a line break away: every line by itself, so that the numbers
	// stay right.
	n = 0
	out := make([]string, len(lines))
	for i, line := range lines {
		var k int
		out[i], k = redact.String(line)
		n += k
	}
	return n, out
}
