package readfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
)

func ctxForHelper() context.Context { return context.Background() }

func anyPolicy() safepath.Policy { return safepath.Policy{Home: "/home/nobody-here"} }

func put(t *testing.T, name, content string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string, offset, limit int64) (Result, error) {
	t.Helper()
	p := Params{Path: path}
	if offset != 0 {
		p.Offset = &offset
	}
	if limit != 0 {
		p.Limit = &limit
	}
	r, err := Read(t.Context(), anyPolicy(), p, "")
	if (err == nil) != (r.Status == outcome.Complete) || (r.Error == nil) != (err == nil) {
		t.Errorf("status %v, error %v, in JSON %v", r.Status, err, r.Error)
	}
	return r, err
}

// number writes a count that may be unknown.
func number(n *int64) string {
	if n == nil {
		return "null"
	}
	return fmt.Sprint(*n)
}

func TestReadsLinesAndCountsAll(t *testing.T) {
	before := leak.Take(t)
	for _, c := range []struct {
		name, content string
		offset, limit int64
		want          string
		lines         int64
		next          string
		newline       string
	}{
		{"whole", "a\nb\nc\n", 0, 0, "1|a\n2|b\n3|c", 3, "null", "true"},
		{"no newline at the end", "a\nb", 0, 0, "1|a\n2|b", 2, "null", "false"},
		{"last line without newline is no line past the end", "a\nb", 2, 1, "2|b", 2, "null", "false"},
		{"window", "a\nb\nc\nd\n", 2, 2, "2|b\n3|c", 4, "4", "true"},
		{"window up to the end", "a\nb\nc\nd", 3, 2, "3|c\n4|d", 4, "null", "false"},
		{"empty", "", 0, 0, "", 0, "null", "null"},
		{"one newline", "\n", 0, 0, "1|", 1, "null", "true"},
		{"empty lines", "\n\nx\n\n", 0, 0, "1|\n2|\n3|x\n4|", 4, "null", "true"},
		{"carriage returns stay", "a\r\nb\r\n", 0, 0, "1|a\r\n2|b\r", 2, "null", "true"},
	} {
		r, err := read(t, put(t, "f.txt", c.content), c.offset, c.limit)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		newline := "null"
		if r.FinalNewline != nil {
			newline = fmt.Sprint(*r.FinalNewline)
		}
		if r.Content != c.want || number(r.TotalLines) != fmt.Sprint(c.lines) || number(r.NextOffset) != c.next || newline != c.newline {
			t.Errorf("%s: %q, %s lines, next %s, newline %s", c.name, r.Content, number(r.TotalLines), number(r.NextOffset), newline)
		}
		if size := fmt.Sprint(len(c.content)); number(r.FileSize) != size || fmt.Sprint(r.BytesRead) != size || !r.EOFSeen {
			t.Errorf("%s: size %s, read %d, end %v", c.name, number(r.FileSize), r.BytesRead, r.EOFSeen)
		}
	}
	before.Check(t)
}

func TestBadOffsetsAndLimitsAreOneClearErrorEach(t *testing.T) {
	path := put(t, "f.txt", "a\nb\n")
	for _, c := range []struct {
		offset, limit int64
		status        outcome.Status
		says          string
	}{
		{-1, 0, outcome.Refused, "offset below 1"},
		{0, -5, outcome.Refused, "limit below 1"},
		{3, 0, outcome.Failed, "line 3 was asked for, the last is line 2"},
	} {
		r, err := read(t, path, c.offset, c.limit)
		if r.Status != c.status || err == nil || !strings.Contains(*r.Error, c.says) || r.Content != "" {
			t.Errorf("%d %d: %v, %v", c.offset, c.limit, r.Status, err)
		}
	}
	if _, err := Read(t.Context(), anyPolicy(), Params{Path: path, Offset: new(int64)}, ""); !errors.Is(err, outcome.ErrRefused) {
		t.Errorf("offset 0: %v", err)
	}
	r, err := read(t, path, 0, 99999)
	if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "2000") {
		t.Errorf("limit above the most: %v, %q", err, r.Notes)
	}
}

func TestLongLinesAndBudgetAreSaid(t *testing.T) {
	long := strings.Repeat("é", maxLine+1)
	r, err := read(t, put(t, "f.txt", long+"\n"+strings.Repeat("é", maxLine)+"\n"), 0, 0)
	if err != nil || r.LinesCut != 1 || !r.Truncated || !strings.HasPrefix(r.Content, "1|"+strings.Repeat("é", maxLine)+cutMark+"\n2|") {
		t.Errorf("cut %d, %v, truncated %v", r.LinesCut, err, r.Truncated)
	}
	r, err = read(t, put(t, "f.txt", strings.Repeat("x", 5<<20)), 0, 0)
	if err != nil || r.LinesCut != 1 || utf8.RuneCountInString(r.Content) != 2+maxLine+len(cutMark) || *r.TotalLines != 1 {
		t.Errorf("one huge line: cut %d, %v, %d characters", r.LinesCut, err, len(r.Content))
	}
	// 1,000 characters a line: the budget ends it between two lines, and the
	// parts join to the whole.
	var all, got []string
	for i := range 250 {
		all = append(all, strings.Repeat(string(rune('a'+i%26)), 1000))
	}
	path := put(t, "f.txt", strings.Join(all, "\n")+"\n")
	for next := int64(1); next != 0; {
		r, err := read(t, path, next, 2000)
		if err != nil || utf8.RuneCountInString(r.Content) > maxContent || *r.TotalLines != 250 {
			t.Fatalf("%v, %d characters", err, len(r.Content))
		}
		for l := range strings.SplitSeq(r.Content, "\n") {
			_, text, _ := strings.Cut(l, "|")
			got = append(got, text)
		}
		next = 0
		if r.NextOffset != nil {
			next = *r.NextOffset
			if r.TruncatedBy != "bytes" || !r.Truncated {
				t.Errorf("truncated %v by %q", r.Truncated, r.TruncatedBy)
			}
		}
	}
	if !slices.Equal(got, all) {
		t.Errorf("%d lines came out of %d", len(got), len(all))
	}
}

func TestWhatIsNoRegularFileIsRefusedByRule(t *testing.T) {
	before := leak.Take(t)
	dir := filepath.Dir(put(t, "f.txt", "x"))
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		dir:                        "not a regular file: a folder",
		fifo:                       "not a regular file: a named pipe",
		"/dev/zero":                "protected credential or system path: devices",
		"/proc/self/environ":       "protected credential or system path: secrets of a process",
		"/etc/shadow":              "protected credential or system path: password hashes",
		"x\nMEDIA:/tmp/evil":       "path contains control characters or line separators; use a plain filesystem path",
		"decoy/MEDIA:/tmp/e":       "path must not contain a media directive (MEDIA:<path>)",
		"../" + "f.txt":            "path contains '..' traversal component",
		"":                         "empty path",
		filepath.Join(dir, ".env"): "environment file",
	} {
		r, err := read(t, path, 0, 0)
		if err == nil || r.Status != outcome.Refused || !strings.Contains(*r.Error, says) || r.FileSize != nil || r.TotalLines != nil {
			t.Errorf("%q: %v, size %s", path, r.Error, number(r.FileSize))
		}
	}
	before.Check(t)
}

func TestMissingFileSaysSoAndNamesSimilarOnes(t *testing.T) {
	path := put(t, "config.yaml", "x")
	dir := filepath.Dir(path)
	for _, name := range []string{"config.yml.bak", "other.txt", ".env", "conf\nig.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := read(t, filepath.Join(dir, "confg.yaml"), 0, 0)
	if !errors.Is(err, fs.ErrNotExist) || r.Status != outcome.Failed || *r.Error != "there is no file at this path" || r.FileSize != nil {
		t.Errorf("%v, %v", r.Status, err)
	}
	if !slices.Equal(r.SimilarFiles, []string{path}) {
		t.Errorf("similar = %q", r.SimilarFiles)
	}
	if r, _ := read(t, filepath.Join(dir, ".en"), 0, 0); len(r.SimilarFiles) != 0 {
		t.Errorf("a file that may not be read is named: %q", r.SimilarFiles)
	}
	if r, _ := read(t, filepath.Join(dir, "gone/x"), 0, 0); len(r.SimilarFiles) != 0 || r.Status != outcome.Failed {
		t.Errorf("missing folder: %+v", r)
	}
}

func TestBinaryIsToldFromTextAndSampleIsCutAtARune(t *testing.T) {
	for name, c := range map[string]struct {
		content       string
		binary, image bool
	}{
		"png":                        {"\x89PNG\r\n\x1a\n\x00\x00", true, true},
		"jpeg":                       {"\xff\xd8\xff\xe0\x00", true, true},
		"webp":                       {"RIFF\x00\x00\x00\x00WEBPVP8 ", true, true},
		"wave":                       {"RIFF\x24\x00\x00\x00WAVEfmt ", true, false},
		"nul":                        {"text\x00text", true, false},
		"utf-16":                     {"\xff\xfea\x00b\x00", true, false},
		"noise":                      {strings.Repeat("\x01\xfe", 100), true, false},
		"text":                       {"plain ÄÖÜ 日本 🎉\n", false, false},
		"text like a format":         {"BZh is how it begins\n", false, false},
		"escape sequences":           {strings.Repeat("\x1b[31mred\x1b[0m\n", 50), false, false},
		"latin-1":                    {"Gr\xfc\xdfe aus K\xf6ln, und noch mehr Text dahinter\n", false, false},
		"rune across the sample":     {strings.Repeat("a", sampleSize-1) + "日本\n", false, false},
		"rune across, like a format": {"BZh" + strings.Repeat("a", sampleSize-4) + "日本\n", false, false},
		"rune across the old sample": {strings.Repeat("a", 999) + "日本\n", false, false},
	} {
		r, err := read(t, put(t, "f", c.content), 0, 0)
		if r.IsBinary != c.binary || r.IsImage != c.image || errors.Is(err, ErrBinary) != c.binary || number(r.FileSize) != fmt.Sprint(len(c.content)) {
			t.Errorf("%s: binary %v, image %v, %v", name, r.IsBinary, r.IsImage, err)
		}
		if c.binary && (r.Content != "" || r.TotalLines != nil) {
			t.Errorf("%s: %q", name, r.Content)
		}
		if strings.HasPrefix(name, "rune") && r.InvalidBytes != 0 {
			t.Errorf("%s: %d invalid bytes", name, r.InvalidBytes)
		}
	}
	r, _ := read(t, put(t, "f", "Gr\xfc\xdfe, mit genug Text dahinter\n"), 0, 0)
	if r.InvalidBytes != 2 || r.Content != "1|Gr\ufffd\ufffde, mit genug Text dahinter" || len(r.Notes) != 1 {
		t.Errorf("latin-1: %d, %q, %q", r.InvalidBytes, r.Content, r.Notes)
	}
}

// A movingFile changes behind the reader's back.
type movingFile struct {
	*os.File
	onRead func()
}

func (f *movingFile) Read(p []byte) (int, error) {
	if f.onRead != nil {
		f.onRead()
		f.onRead = nil
	}
	return f.File.Read(p)
}

func TestFileThatChangesWhileItIsReadIsSaid(t *testing.T) {
	content := strings.Repeat("line\n", 10)
	for name, change := range map[string]func(path string) error{
		"grew": func(p string) error {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more\n")
			return errors.Join(err, f.Close())
		},
		"shrank": func(p string) error { return os.Truncate(p, 10) },
		"was written to": func(p string) error {
			old := time.Now().Add(-time.Hour)
			return errors.Join(os.WriteFile(p, []byte(strings.Repeat("LINE\n", 10)), 0o600), os.Chtimes(p, old, old))
		},
	} {
		path := put(t, "f.log", content)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r := Result{Path: path}
		err = r.readOpen(t.Context(), &movingFile{f, func() {
			if err := change(path); err != nil {
				t.Error(err)
			}
		}}, 1, 100)
		changed, ok := errors.AsType[*ChangedError](err)
		if !ok || !strings.Contains(err.Error(), name) || changed.Before != 50 || statusOf(err) != outcome.Partial || r.BytesRead == 0 {
			t.Errorf("%s: %v, read %d", name, err, r.BytesRead)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReaderThatBreaksLosesNothingSilently(t *testing.T) {
	for _, after := range []int{0, 1, 7, 12} {
		s := newScan(1, 100)
		err := s.run(t.Context(), io.MultiReader(strings.NewReader("one\ntwo\nthree\n"[:after]), iotest.ErrReader(syscall.EIO)))
		lost, ok := errors.AsType[*outcome.LostError](err)
		if !ok || !errors.Is(err, syscall.EIO) || lost.After != int64(after) || lost.Bytes != outcome.Uncounted {
			t.Errorf("after %d: %v", after, err)
		}
		size := int64(14)
		r := Result{FileSize: &size}
		r.fill(s)
		if r.EOFSeen || r.TotalLines != nil || r.BytesRead != int64(after) || len(r.Notes) != 1 {
			t.Errorf("after %d: %+v", after, r)
		}
	}
}

func TestCountThatStopsIsUnknownAndNoTotal(t *testing.T) {
	s := newScan(1, 2)
	s.most = 8
	if err := s.run(t.Context(), &slowReader{strings.Repeat("a\n", 100), 4}); err != nil {
		t.Fatal(err)
	}
	size := int64(200)
	r := Result{FileSize: &size}
	r.fill(s)
	if r.TotalLines != nil || r.EOFSeen || r.BytesRead != 8 || number(r.NextOffset) != "3" || !r.Truncated ||
		len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "counted up to") {
		t.Errorf("%+v", r)
	}
}

func TestCancelledReadSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Read(ctx, anyPolicy(), Params{Path: put(t, "f.txt", "a\n")}, "")
	if !errors.Is(err, context.Canceled) || r.Status != outcome.Cancelled || r.TotalLines != nil {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestFilesOfTheKernelHaveNoSizeAndThatIsNoZero(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		t.Skip("no /proc here")
	}
	r, err := read(t, "/proc/meminfo", 0, 0)
	if err != nil || r.FileSize != nil || r.BytesRead == 0 || *r.TotalLines == 0 || len(r.Notes) != 1 {
		t.Errorf("%v, size %s, read %d", err, number(r.FileSize), r.BytesRead)
	}
}

func TestSecretsAreMaskedAndLineNumbersStay(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	key := []string{"-----BEGIN RSA PRIVATE KEY-----"}
	for range 6 {
		key = append(key, strings.Repeat("MIIEpAIBAAKCAQEA", 4))
	}
	key = append(key, "-----END RSA PRIVATE KEY-----")
	lines := append(append([]string{"first", "token: " + token}, key...), "last")
	path := put(t, "f.txt", strings.Join(lines, "\n")+"\n")
	for offset := int64(1); offset <= int64(len(lines)); offset++ {
		r, err := read(t, path, offset, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Content, token) || strings.Contains(r.Content, "MIIEpAIBAAKC") {
			t.Errorf("from line %d: %q", offset, r.Content)
		}
		if !strings.HasSuffix(r.Content, fmt.Sprintf("%d|last", len(lines))) || int64(strings.Count(r.Content, "\n")) != int64(len(lines))-offset {
			t.Errorf("from line %d the numbers are wrong: %q", offset, r.Content)
		}
		if want := offset < int64(len(lines)-1); (r.Redactions > 0) != want {
			t.Errorf("from line %d: %d redactions", offset, r.Redactions)
		}
	}
	// A secret that the end of a cut line goes through shows nothing of itself.
	r, err := read(t, put(t, "f.txt", strings.Repeat("x", maxLine-15)+" "+token+" tail\n"), 0, 0)
	if err != nil || strings.Contains(r.Content, token[:12]) {
		t.Errorf("cut secret: %v, %q", err, r.Content[maxLine-30:])
	}
}

func TestWindowsJoinToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\n", "日", "\r", "|", " "}), 0, 40).Draw(t, "text"), "")
		limit := rapid.Int64Range(1, 5).Draw(t, "limit")
		chunk := rapid.IntRange(1, 4).Draw(t, "chunk")
		var want []string
		if text != "" {
			want = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
		var got []string
		for first := int64(1); first <= int64(len(want)); first += limit {
			s := newScan(first, limit)
			if err := s.run(context.Background(), &slowReader{text, chunk}); err != nil {
				t.Fatal(err)
			}
			if s.lines != int64(len(want)) || s.bytes != int64(len(text)) {
				t.Fatalf("%d lines, %d bytes of %q", s.lines, s.bytes, text)
			}
			for _, l := range s.kept {
				got = append(got, l.text)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q came out of %q", got, want)
		}
	})
}

// A slowReader gives a few bytes at a time.
type slowReader struct {
	rest string
	n    int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.n, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}

func TestCompleteWithManyDescriptorsHeld(t *testing.T) {
	path := put(t, "f.txt", strings.Repeat("0123456789\n", 463)) // the 5,093 bytes that once read as 0
	for _, held := range []int{1100, 10_000} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprint("READFILE_HOLDS=", held), "READFILE_PATH="+path)
		out, err := cmd.CombinedOutput()
		if string(out) == "limit\n" && err == nil {
			t.Logf("%d descriptors: the system does not allow so many", held)
			continue
		}
		if want := "read 5093 5093 463 463"; err != nil || string(out) != want {
			t.Errorf("%d descriptors held: %v, %q, want %q", held, err, out, want)
		}
	}
}

func TestToolAnswersInJSON(t *testing.T) {
	path := put(t, "f.txt", "a\nb\n")
	tool := Tool(anyPolicy())
	c := &tools.Call{ID: "1", Dir: filepath.Dir(path), Live: io.Discard, Report: func(int64, int64, string) {}}
	a := tool.Run(t.Context(), c, json.RawMessage(`{"path":"f.txt","limit":1}`))
	raw, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"content":"1|a"`, `"total_lines":2`, `"file_size":4`, `"bytes_read":4`, `"eof_seen":true`, `"truncated":true`,
		`"truncated_by":"lines"`, `"next_offset":2`, `"is_binary":false`, `"is_image":false`, `"error":null`, `"status":"complete"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
	if a.Err != nil || a.Summary != "4 B, 2 lines, read to the end; shown up to line 1" {
		t.Errorf("summary = %q, %v", a.Summary, a.Err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "long.txt"), []byte(strings.Repeat("x", maxLine+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := tool.Run(t.Context(), c, json.RawMessage(`{"path":"long.txt"}`)); a.Summary != "2.0 KB, 1 line, read to the end; 1 line cut after 2,000 characters" {
		t.Errorf("summary = %q, %v", a.Summary, a.Err)
	}
	for _, params := range []string{`{`, `{"path":1}`, `{"path":"f.txt","offse":2}`, `{}`} {
		if a := tool.Run(t.Context(), c, json.RawMessage(params)); a.Status != outcome.Refused || a.Err == nil {
			t.Errorf("%s: %v", params, a)
		}
	}
	if got := tool.Title(json.RawMessage(`{"path":"x\nMEDIA:/tmp/evil"}`)); strings.Contains(got, "evil") {
		t.Errorf("title = %q", got)
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.txt")
	const size = 64 << 20
	if err := os.WriteFile(path, []byte(strings.Repeat("a line of text like many others\n", size/32)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if _, err := Read(b.Context(), anyPolicy(), Params{Path: path}, ""); err != nil {
			b.Fatal(err)
		}
	}
}
