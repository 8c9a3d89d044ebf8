package process

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openStore takes the log that another host left. The number of its lines is
// -1 when nobody wrote it down; they are counted when somebody asks for lines.
func openStore(dir, id string, segs []segment, lines int64) *store {
	s := &store{dir: dir, id: id, segs: segs, found: true, known: lines}
	if len(segs) == 0 {
		return s
	}
	s.total = segs[len(segs)-1].end()
	s.unkept = s.total - segs[0].start
	for _, g := range segs {
		s.unkept -= g.size
	}
	return s
}

// ready counts the lines of a log that was found, once. For our own there is
// nothing to do.
func (s *store) ready() error {
	if !s.found {
		return nil
	}
	s.counting.Do(func() { s.countErr = s.count() })
	return s.countErr
}

// count makes the marks of a log that was found. Where its head is missing and
// the number of lines was not written down they are numbered from the first
// byte that is kept.
func (s *store) count() error {
	buf := make([]byte, markStep)
	var marks []mark
	var newline int64
	within := false
	for i, g := range s.segs {
		within = within || i == 0 && g.start > 0
		marks = append(marks, mark{g.start, newline, within})
		for at := g.start; at < g.end(); {
			n, err := s.readFile(g, at, buf)
			if err != nil {
				return err
			}
			at += int64(n)
			newline += int64(bytes.Count(buf[:n], []byte{'\n'}))
			within = buf[n-1] != '\n'
			marks = append(marks, mark{at, newline, within})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newline, s.within, s.marks = newline, within, marks
	if before := s.known - s.lines(); s.known > 0 && before > 0 {
		s.newline += before
		for i := range s.marks {
			s.marks[i].lines += before
		}
	}
	s.known = s.lines()
	return nil
}

// findSegments lists the files of every log in a folder, oldest first.
func findSegments(entries []os.DirEntry) map[string][]segment {
	logs := map[string][]segment{}
	for _, e := range entries {
		id, start, ok := segmentName(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err == nil { // else it was removed meanwhile
			logs[id] = append(logs[id], segment{start: start, size: fi.Size()})
		}
	}
	for _, segs := range logs {
		slices.SortFunc(segs, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
	}
	return logs
}

// segmentName takes the name of a log file apart.
func segmentName(name string) (id string, start int64, ok bool) {
	base, ok := strings.CutSuffix(name, logSuffix)
	if !ok {
		return "", 0, false
	}
	id, at, has := strings.Cut(base, ".")
	if has {
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil || n <= 0 {
			return "", 0, false
		}
		start = n
	}
	return id, start, validID(id)
}

// lastWrite is when the log was written to last.
func (s *store) lastWrite(otherwise time.Time) time.Time {
	if len(s.segs) == 0 {
		return otherwise
	}
	fi, err := os.Stat(s.path(s.segs[len(s.segs)-1].start))
	if err != nil || fi.Size() == 0 && fi.ModTime().Before(otherwise) {
		return otherwise
	}
	return fi.ModTime()
}
