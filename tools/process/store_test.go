package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/honestty/honestty/outcome"
)

const testID = "proc_0123456789ab"

func testStore(t rapid.TB, dir string, limit int64) *store {
	t.Helper()
	s, err := newStore(dir, testID, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fromFiles makes the store forget what it has in memory.
func fromFiles(s *store) { s.tail = nil }

// readable reads everything that can be read and returns it with its offsets.
func readable(t rapid.TB, s *store) map[int64]byte {
	t.Helper()
	got := map[int64]byte{}
	buf := make([]byte, 777)
	for at := int64(0); ; {
		n, err := s.readAt(at, buf)
		if gap, ok := errors.AsType[*NotKeptError](err); ok {
			if gap.From != at || gap.Next <= at {
				t.Fatalf("at %d: %+v", at, gap)
			}
			at = gap.Next
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return got
		}
		for i := range n {
			got[at+int64(i)] = buf[i]
		}
		at += int64(n)
	}
}

// TestStoreKeepsTheTailAndCountsTheRest writes at random, with a disk that
// fails at random, and reads everything back.
func TestStoreKeepsTheTailAndCountsTheRest(t *testing.T) {
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir, err := os.MkdirTemp("", "store")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s := testStore(t, dir, minLogLimit)
		now := time.Unix(0, 0)
		var whole []byte
		for i := range rapid.IntRange(1, 12).Draw(t, "writes") {
			p := make([]byte, rapid.IntRange(1, 9000).Draw(t, "size"))
			for k := range p {
				if p[k] = byte('a' + (len(whole)+k)%26); (len(whole)+k)%37 == 0 {
					p[k] = '\n'
				}
			}
			s.write = (*os.File).Write
			if rapid.IntRange(0, 5).Draw(t, "disk") == 0 {
				part := rapid.IntRange(0, 50).Draw(t, "part")
				s.write = func(f *os.File, p []byte) (int, error) {
					n, _ := f.Write(p[:min(part, len(p))])
					return n, unix.ENOSPC
				}
			}
			s.add(p, now.Add(time.Duration(i)*retryAfter))
			whole = append(whole, p...)
		}
		if rapid.Bool().Draw(t, "from files") {
			fromFiles(s)
		}
		k := s.kept()
		got := readable(t, s)
		for at, c := range got {
			if whole[at] != c {
				t.Fatalf("byte %d is %q, want %q", at, c, whole[at])
			}
		}
		if k.Total != int64(len(whole)) || k.Total-k.Discarded != int64(len(got)) {
			t.Fatalf("%+v, and %d bytes can be read of %d", k, len(got), len(whole))
		}
		if want := int64(bytes.Count(whole, []byte{'\n'})); k.Lines != want && k.Lines != want+1 {
			t.Fatalf("%d lines, want %d", k.Lines, want)
		}
		if s.failure == nil {
			if k.Total-k.Discarded < min(k.Total, minLogLimit*7/8-1) {
				t.Fatalf("only %d bytes kept: %+v", len(got), k)
			}
			checkLines(t, s, whole)
		}
		checkDisk(t, dir)
		s.finish()
		if err := s.remove(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Fatalf("left behind: %v", left)
		}
	})
}

// checkLines asks for lines from the start and from the end.
func checkLines(t *rapid.T, s *store, whole []byte) {
	lines := bytes.SplitAfter(whole, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	first := rapid.IntRange(0, len(lines)).Draw(t, "first")
	limit := rapid.IntRange(1, 50).Draw(t, "lines")
	p, err := s.linePage(int64(first), limit, true)
	if err != nil {
		t.Fatal(err)
	}
	if p.FirstLine > 0 {
		want := bytes.Join(lines[p.FirstLine-1:p.LastLine], nil)
		if !bytes.HasSuffix(want, p.Bytes) || len(p.Bytes) != len(want) && len(p.Notes) == 0 {
			t.Fatalf("lines %d–%d: %q, want %q, %v", p.FirstLine, p.LastLine, p.Bytes, want, p.Notes)
		}
		if p.FirstLine != int64(first)+1 && (p.From != s.segs[0].start || len(p.Notes) == 0) {
			t.Fatalf("asked for line %d, got %d: %v", first+1, p.FirstLine, p.Notes)
		}
	} else if first < len(lines) {
		t.Fatalf("no line %d of %d", first, len(lines))
	}
	if p, err = s.lastLines(limit, true); err != nil {
		t.Fatal(err)
	}
	if want := bytes.Join(lines[max(0, len(lines)-limit):], nil); !bytes.HasSuffix(want, p.Bytes) || p.LastLine != int64(len(lines)) {
		t.Fatalf("last %d lines: %q, want %q", limit, p.Bytes, want)
	}
}

func checkDisk(t *rapid.T, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if sum += fi.Size(); fi.Mode().Perm() != 0o600 {
			t.Fatalf("%s has mode %v", e.Name(), fi.Mode())
		}
	}
	if sum > minLogLimit {
		t.Fatalf("%d bytes on disk, limit %d", sum, minLogLimit)
	}
}

func TestPagesGoThroughTheWholeAndNeverCutACharacter(t *testing.T) {
	s := testStore(t, t.TempDir(), 1<<20)
	whole := strings.Repeat("añ€😀\n", 500)
	s.add([]byte(whole), time.Now())
	fromFiles(s)
	for limit := 1; limit < 12; limit++ {
		var b strings.Builder
		for at := int64(0); at < int64(len(whole)); {
			p, err := s.page(at, limit, false)
			if err != nil {
				t.Fatal(err)
			}
			if p.From != at || p.To == at || !utf8.Valid(p.Bytes) || len(p.Bytes) > max(limit, utf8.UTFMax) {
				t.Fatalf("limit %d at %d: %q, %d–%d", limit, at, p.Bytes, p.From, p.To)
			}
			b.Write(p.Bytes)
			at = p.To
		}
		if b.String() != whole {
			t.Fatalf("limit %d: the pages are not the whole", limit)
		}
	}
	// Every offset within a character begins after it, and that is said.
	p, err := s.page(2, 10, false)
	if err != nil || p.From != 3 || len(p.Notes) != 1 || !strings.HasPrefix(p.Text(), "€") {
		t.Errorf("%+v, %v", p, err)
	}
	if got := p.Showing(); got != "showing bytes 3–11 of 5,500, 0 discarded" {
		t.Errorf("showing = %q", got)
	}
}

func TestHalfACharacterWaitsForItsOtherHalf(t *testing.T) {
	s := testStore(t, t.TempDir(), 0)
	s.add([]byte("a\xe2\x82"), time.Now())
	p, err := s.page(0, 100, false)
	if err != nil || string(p.Bytes) != "a" || p.To != 1 {
		t.Errorf("%q, %v", p.Bytes, err)
	}
	if p, err = s.page(1, 100, false); err != nil || len(p.Bytes) != 0 || p.To != 1 {
		t.Errorf("%q, %v", p.Bytes, err)
	}
	if p, err = s.page(0, 100, true); err != nil || string(p.Bytes) != "a\xe2\x82" || p.Text() != "a\uFFFD" {
		t.Errorf("after the end: %q, %v", p.Bytes, err)
	}
	s.add([]byte{0xac}, time.Now())
	if p, err = s.page(1, 1, false); err != nil || p.Text() != "€" {
		t.Errorf("%q, %v", p.Bytes, err)
	}
}

func TestPageOfWhatIsNoTextGoesOn(t *testing.T) {
	s := testStore(t, t.TempDir(), 0)
	whole := bytes.Repeat([]byte{0x80, 0xff, 0, 0xc3}, 300)
	s.add(whole, time.Now())
	var b []byte
	for at := int64(0); at < int64(len(whole)); {
		p, err := s.page(at, 7, true)
		if err != nil || p.To <= at {
			t.Fatalf("at %d: %+v, %v", at, p, err)
		}
		b = append(b, p.Bytes...)
		at = p.To
	}
	if !bytes.Equal(b, whole) {
		t.Errorf("%d bytes of %d", len(b), len(whole))
	}
}

func TestDroppedHeadIsSaid(t *testing.T) {
	s := testStore(t, t.TempDir(), minLogLimit)
	for i := range 5000 {
		s.add(fmt.Appendf(nil, "line %d\n", i+1), time.Now())
	}
	fromFiles(s)
	k := s.kept()
	if k.Discarded == 0 || k.Discarded != k.From || k.Total-k.From > minLogLimit {
		t.Fatalf("%+v", k)
	}
	p, err := s.page(0, 1000, true)
	if err != nil || p.From != k.From || len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "are not kept") {
		t.Errorf("%d–%d %v, %v", p.From, p.To, p.Notes, err)
	}
	if want := fmt.Sprintf("showing bytes %s–%s of %s, %s discarded", outcome.Count(p.From), outcome.Count(p.To-1), outcome.Count(k.Total), outcome.Count(k.Discarded)); p.Showing() != want {
		t.Errorf("%q, want %q", p.Showing(), want)
	}
	if _, err := s.readAt(0, make([]byte, 1)); !errors.Is(err, ErrNotKept) {
		t.Errorf("read of what was dropped: %v", err)
	}
	if p, err = s.linePage(0, 3, true); err != nil || p.FirstLine < 2 || len(p.Notes) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = s.linePage(4998, 10, true); err != nil || p.Text() != "line 4999\nline 5000\n" || p.FirstLine != 4999 || p.LastLine != 5000 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = s.lastLines(1, true); err != nil || p.Text() != "line 5000\n" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestFullDiskIsCountedAndTheTailStaysReadable(t *testing.T) {
	dir := t.TempDir()
	s := testStore(t, dir, 0)
	now := time.Unix(0, 0)
	s.add([]byte("before\n"), now)
	s.write = func(*os.File, []byte) (int, error) { return 0, unix.ENOSPC }
	for i := range 40 {
		s.add([]byte(strings.Repeat("x", 9999)+"\n"), now.Add(time.Duration(i)*retryAfter))
	}
	k := s.kept()
	if !errors.Is(k.Err, unix.ENOSPC) || k.Total != 7+400_000 || k.Discarded == 0 || k.Lines != 41 {
		t.Errorf("%+v", k)
	}
	if p, err := s.lastLines(2, true); err != nil || len(p.Bytes) != 20_000 || p.LastLine != 41 {
		t.Errorf("%d bytes, %+v, %v", len(p.Bytes), p, err)
	}
	_, err := s.readAt(7, make([]byte, 1))
	if gap, ok := errors.AsType[*NotKeptError](err); !ok || gap.Cause == nil || gap.Next != k.Total-int64(len(s.tail)) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("a full disk collected %d files", len(left))
	}
	s.write = (*os.File).Write
	s.add([]byte("after\n"), now.Add(time.Hour))
	fromFiles(s)
	if p, err := s.lastLines(1, true); err != nil || p.Text() != "after\n" || p.LastLine != 42 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestLineLongerThanAPageIsReadOnByBytes(t *testing.T) {
	s := testStore(t, t.TempDir(), 0)
	s.add([]byte("first\n"+strings.Repeat("y", MaxPage+100)+"\nlast\n"), time.Now())
	p, err := s.linePage(1, 5, true)
	if err != nil || len(p.Bytes) != MaxPage || p.FirstLine != 2 || p.LastLine != 2 || len(p.Notes) != 1 {
		t.Errorf("%d bytes, lines %d–%d, %v, %v", len(p.Bytes), p.FirstLine, p.LastLine, p.Notes, err)
	}
	if p, err = s.linePage(2, 5, true); err != nil || p.Text() != "last\n" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = s.lastLines(3, true); err != nil || p.Text() != "last\n" || len(p.Notes) != 1 {
		t.Errorf("%d bytes, %v, %v", len(p.Bytes), p.Notes, err)
	}
}

func TestLogIsNeverWrittenOverSomebodyElsesFile(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, testID+logSuffix)
	if err := os.Symlink("/etc/hostname", at); err != nil {
		t.Fatal(err)
	}
	if _, err := newStore(dir, testID, 0); !errors.Is(err, os.ErrExist) {
		t.Errorf("log through a link: %v", err)
	}
}
