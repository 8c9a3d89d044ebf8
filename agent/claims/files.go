package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

// grain is how far the kernel's file times may lie behind the clock: they come
// from a clock that moves with the timer, at most 10 ms apart.
const grain = 20 * time.Millisecond

// A sight is what could be seen of one path.
type sight struct {
	why  string      // why nothing could be seen; empty when something was
	path string      // the file, links followed; it passed the policy
	info fs.FileInfo // nil when there is nothing
	link fs.FileInfo // the link that leads to it; nil when its name is its own
}

// heldSince reports whether the path led to this file, as it is, at that time.
func (s sight) heldSince(at time.Time) bool {
	return unchangedSince(s.info, at) && (s.link == nil || unchangedSince(s.link, at))
}

// look looks at a path by the policy for reading.
func (l *looking) look(path string) sight {
	if l.d.Elsewhere != "" {
		return sight{why: l.d.Elsewhere}
	}
	abs := filepath.IsAbs(path) || strings.HasPrefix(path, "~/")
	dir := l.call.Source.Dir
	if !abs && (!l.call.DirKnown || !filepath.IsAbs(dir)) {
		return sight{why: "it is a relative path, and from where is not known"}
	}
	if filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return sight{why: "the directory of the call is not on this machine, so its files need not be"}
		}
	}
	checked, err := l.d.Policy.Check(path, dir, safepath.Read)
	switch {
	case errors.Is(err, outcome.ErrRefused):
		return sight{why: "not looked at, by the rule: " + safepath.RuleOf(err)}
	case err != nil:
		return sight{why: "it could not be looked at: " + outcome.Errno(err)}
	}
	info, err := os.Lstat(checked.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sight{path: checked.Real}
	case err != nil:
		return sight{why: "it could not be looked at: " + outcome.Errno(bare(err))}
	case !info.Mode().IsRegular():
		return sight{why: "it is " + safepath.Kind(info.Mode())}
	}
	seen := sight{path: checked.Real, info: info}
	if named, err := os.Lstat(checked.Abs); err == nil && named.Mode()&fs.ModeSymlink != 0 {
		seen.link = named
	}
	return seen
}

// bare takes the path out of an error of the file system.
func bare(err error) error {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no
	}
	return errors.New("the system gave no reason")
}

// unchangedSince reports whether the file is as it was at that time: content,
// owner, name and mode all move the change time, and nobody can set it back.
func unchangedSince(info fs.FileInfo, at time.Time) bool {
	return !at.IsZero() && !changed(info).After(at.Add(-grain))
}

// absentSince reports whether nothing can have been removed at a missing path
// since that time: the nearest folder that is there was not changed.
func absentSince(path string, at time.Time) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil {
			return info.IsDir() && unchangedSince(info, at)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// since is the earliest time that the call can have seen things as they were.
func (l *looking) since() time.Time {
	if !l.call.Began.IsZero() {
		return l.call.Began
	}
	if !l.res.Ended.IsZero() && l.res.Took > 0 {
		return l.res.Ended.Add(-l.res.Took)
	}
	return time.Time{}
}

// there checks that a file is there, and returns it when it is.
func (l *looking) there(claim, path string) (sight, bool) {
	s := l.look(path)
	switch {
	case s.why != "":
		l.add(nameFile, claim, s.why, outcome.Unknown)
	case s.info == nil && absentSince(s.path, l.res.Ended):
		l.add(nameFile, claim, "there is no such file", outcome.Failed)
	case s.info == nil:
		l.add(nameFile, claim, "there is no such file now; its folder was changed since", outcome.Unknown)
	default:
		l.add(nameFile, claim, outcome.CountBytes(s.info.Size()), outcome.Complete)
		return s, true
	}
	return s, false
}

// fileRead compares the size of a file that was read.
func (l *looking) fileRead() {
	o := l.said.object
	path, _ := field(l.call.args(), "path", "file_path", "filePath")
	claimed, known := number(o, "file_size")
	empty := known && claimed == 0
	if f := object(o["file"]); f != nil { // Claude Code
		if p, ok := field(f, "filePath"); ok {
			path = p
		}
		content, ok := field(f, "content")
		_, ranged := l.call.args()["offset"]
		empty = ok && content == "" && !ranged
		known = known || empty
	}
	if path == "" || boolTrue(o["dedup"]) {
		return
	}
	s := l.look(path)
	claim := outcome.CountBytes(claimed)
	switch {
	case s.why != "" && known:
		l.add(nameSize, claim, s.why, outcome.Unknown)
	case s.why != "":
		return
	case s.info == nil && absentSince(s.path, l.since()):
		l.add(nameFile, "it was read", "there is no such file", outcome.Failed)
	case s.info == nil:
		l.add(nameFile, "it was read", "there is no such file now; its folder was changed since", outcome.Unknown)
	case !known:
		return
	case s.info.Size() == claimed:
		l.add(nameSize, claim, outcome.CountBytes(s.info.Size()), outcome.Complete)
	case !s.heldSince(l.since()):
		l.add(nameSize, claim, outcome.CountBytes(s.info.Size())+" now; the file was changed since the call began, or when is not known", outcome.Unknown)
	case empty:
		l.add(nameSize, claim, outcome.CountBytes(s.info.Size()), outcome.Failed)
	case boolTrue(o["extracted_document"]):
		l.add(nameSize, claim, outcome.CountBytes(s.info.Size())+"; the result is a text that was taken out of it", outcome.Unknown)
	default:
		l.add(nameSize, claim, outcome.CountBytes(s.info.Size()), outcome.Failed)
	}
}

func boolTrue(raw []byte) bool {
	b := boolean(raw)
	return b != nil && *b
}

// filesWritten checks that the files of a successful edit are there, and that
// one whose content was given is not empty.
func (l *looking) filesWritten() {
	args := l.call.args()
	content, given := field(args, "content")
	for _, path := range l.written(args) {
		if l.full() {
			return
		}
		s, ok := l.there("it was written", path)
		if !ok || !given || content == "" || s.info.Size() > 0 {
			continue
		}
		const claim = "content that is not empty"
		v := outcome.Unknown
		seen := "0 bytes now; the file was changed since"
		if s.heldSince(l.res.Ended) {
			v, seen = outcome.Failed, "0 bytes"
		}
		l.add(nameSize, claim, seen, v)
	}
}

// written are the paths that a successful edit must have left.
func (l *looking) written(args map[string]json.RawMessage) []string {
	if p, ok := field(l.said.object, "filePath"); ok && p != "" {
		return []string{p}
	}
	if p, ok := field(args, "file_path", "path", "filePath", "notebook_path"); ok && p != "" {
		return []string{p}
	}
	patch, ok := field(args, "patch", "input")
	if !ok {
		patch = text(l.call.Args)
	}
	return patched(patch)
}

// patched are the files that a patch in the "*** Begin Patch" form leaves.
func patched(patch string) []string {
	var out []string
	last := ""
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, head := range []string{"*** Add File: ", "*** Update File: "} {
			if p, ok := strings.CutPrefix(line, head); ok {
				out, last = append(out, p), p
			}
		}
		if p, ok := strings.CutPrefix(line, "*** Move to: "); ok && last != "" && len(out) > 0 {
			out[len(out)-1] = p
		}
	}
	return out
}

// speech checks the audio that a synthesis says it left.
func (l *looking) speech() {
	files := spoken(l.said.object)
	if len(files) == 0 {
		l.add(nameFile, "a success", "the result names no file", outcome.Failed)
		return
	}
	for _, path := range files {
		if l.full() {
			return
		}
		s, ok := l.there("an audio file", path)
		if !ok {
			continue
		}
		held := s.heldSince(l.res.Ended)
		if s.info.Size() == 0 {
			if held {
				l.add(nameAudio, "speech", "the file is empty", outcome.Failed)
			} else {
				l.add(nameAudio, "speech", "the file is empty now; it was changed since", outcome.Unknown)
			}
			continue
		}
		l.decode(s, held)
	}
}

// defaultDecode bounds the time that decoding takes: about a second.
const defaultDecode = 16 << 20

// decode reads the very file that was looked at to its end.
func (l *looking) decode(s sight, held bool) {
	most := l.d.MaxDecode
	if most <= 0 {
		most = defaultDecode
	}
	switch {
	case l.d.Decode == nil:
		l.add(nameAudio, "speech", "nobody here decodes audio", outcome.Unknown)
		return
	case s.info.Size() > most:
		l.add(nameAudio, "speech", fmt.Sprintf("not decoded: %s are more than the %s that are", outcome.Size(s.info.Size()), outcome.Size(most)), outcome.Unknown)
		return
	}
	f, _, err := l.d.Policy.Open(s.path, "", safepath.Read)
	if err != nil {
		l.add(nameAudio, "speech", "it could not be opened", outcome.Unknown)
		return
	}
	err = l.d.Decode(f)
	_ = f.Close() // only read
	switch {
	case err == nil:
		l.add(nameAudio, "speech", "it decodes to its end", outcome.Complete)
	case held:
		l.add(nameAudio, "speech", "it does not decode: "+outcome.Errno(err), outcome.Failed)
	default:
		l.add(nameAudio, "speech", "it does not decode now, and was changed since: "+outcome.Errno(err), outcome.Unknown)
	}
}

// spoken are the files of a result of text_to_speech.
func spoken(o map[string]json.RawMessage) []string {
	files := list(o["file_paths"])
	if p, ok := field(o, "file_path"); ok && p != "" && len(files) == 0 {
		files = []string{p}
	}
	return files
}
