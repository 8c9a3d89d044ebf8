package transcript

import (
	"bytes"
	"cmp"
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

	"github.com/honestty/honestty/outcome"
)

// The agents whose transcripts are known.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
	Gemini     = "gemini"
)

// Agents are the agents whose transcripts are known.
var Agents = []string{ClaudeCode, Codex, Gemini}

// A Session is one transcript.
type Session struct {
	Agent   string
	ID      string // the agent's own, as the file is named by it
	Path    string // absolute
	Dir     string // where the agent works; empty where the beginning of the file does not say
	Parent  string // id of the session that this one helps; empty in a main session
	Changed time.Time
	Size    int64
}

// Roots are the folders in which agents keep their transcripts. An empty one
// is not looked in.
type Roots struct {
	Claude string // projects/DIR/UUID.jsonl, and subagents below
	Codex  string // sessions/YYYY/MM/DD/rollout-TIME-UUID.jsonl
	Gemini string // tmp/HASH/chats/session-TIME-ID.jsonl
}

// RootsOf are the usual folders of a home, or those that the environment names
// instead. getenv may be nil.
func RootsOf(home string, getenv func(string) string) Roots {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	pick := func(variable, usual string) string {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(home, usual)
	}
	return Roots{
		Claude: pick("CLAUDE_CONFIG_DIR", ".claude"),
		Codex:  pick("CODEX_HOME", ".codex"),
		Gemini: filepath.Join(home, ".gemini"),
	}
}

// Find lists the transcripts below a home, the one changed last first.
func Find(home string) ([]Session, error) { return RootsOf(home, nil).Find() }

// maxSessions bounds a list; headed is how many of it have their directory
// read from the file.
const (
	maxSessions = 10_000
	headed      = 64
)

// Find lists the transcripts in the folders, the one changed last first. A
// folder that is missing has none. The error tells what could not be read, and
// comes with all that could.
func (r Roots) Find() ([]Session, error) {
	var out []Session
	var errs []error
	for _, p := range []struct{ agent, root, pattern string }{
		{ClaudeCode, r.Claude, "projects/*/*.jsonl"},
		{ClaudeCode, r.Claude, "projects/*/*/subagents/*.jsonl"},
		{Codex, r.Codex, "sessions/*/*/*/rollout-*.jsonl"},
		{Gemini, r.Gemini, "tmp/*/chats/session-*.jsonl"},
		{Gemini, r.Gemini, "tmp/*/chats/*/*.jsonl"},
	} {
		if p.root == "" {
			continue
		}
		err := walk(p.root, strings.Split(p.pattern, "/"), func(path string, info fs.FileInfo) {
			if len(out) < maxSessions {
				out = append(out, sessionAt(p.agent, path, info))
			}
		})
		errs = append(errs, err)
	}
	slices.SortStableFunc(out, func(a, b Session) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(b.Path, a.Path))
	})
	for i := range out[:min(len(out), headed)] {
		out[i].Dir = dirOf(out[i])
	}
	return out, errors.Join(errs...)
}

// walk calls found for each regular file whose path below dir matches the
// pattern, one part for each folder. Links are not followed.
func walk(dir string, pattern []string, found func(string, fs.FileInfo)) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list transcripts: %s", outcome.Errno(err))
	}
	var errs []error
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern[0], e.Name()); !ok { // the patterns are ours
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case len(pattern) > 1 && e.IsDir():
			errs = append(errs, walk(path, pattern[1:], found))
		case len(pattern) == 1 && e.Type().IsRegular():
			if info, err := e.Info(); err == nil { // else it was removed just now
				found(path, info)
			}
		}
	}
	return errors.Join(errs...)
}

// sessionAt is what name and place of a transcript say.
func sessionAt(agent, path string, info fs.FileInfo) Session {
	s := Session{Agent: agent, Path: path, Changed: info.ModTime(), Size: info.Size()}
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	above := filepath.Dir(path)
	switch agent {
	case ClaudeCode:
		s.ID = name
		if filepath.Base(above) == "subagents" {
			s.Parent = filepath.Base(filepath.Dir(above))
		}
	case Codex:
		const uuidLength = 36
		s.ID = name[max(len(name)-uuidLength, 0):]
	case Gemini:
		s.ID = name[strings.LastIndexByte(name, '-')+1:]
		if filepath.Base(above) != "chats" {
			s.ID, s.Parent = name, filepath.Base(above)
		}
	}
	return s
}

// headSize is how much of the beginning of a file is read to know it.
const headSize = 32 << 10

// head reads the first whole lines of a file.
func head(path string) ([][]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, headSize)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	lines := bytes.Split(b[:n], []byte{'\n'})
	if n == headSize && len(lines) > 1 { // the last one is a part
		lines = lines[:len(lines)-1]
	}
	return lines, nil
}

// A headRecord is what the first records of all agents say of themselves.
type headRecord struct {
	Type        string          `json:"type"`
	CWD         string          `json:"cwd"`
	SessionID   string          `json:"sessionId"`
	ProjectHash string          `json:"projectHash"`
	Directories []string        `json:"directories"`
	UUID        string          `json:"uuid"`
	Payload     json.RawMessage `json:"payload"`
}

// dirOf reads where the agent works from the beginning of its transcript.
func dirOf(s Session) string {
	lines, err := head(s.Path)
	if err != nil {
		return ""
	}
	for _, line := range lines {
		var r headRecord
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		var p struct {
			CWD string `json:"cwd"`
		}
		_ = json.Unmarshal(r.Payload, &p) // stays empty where there is none
		switch {
		case r.CWD != "":
			return r.CWD
		case p.CWD != "":
			return p.CWD
		case len(r.Directories) > 0:
			return r.Directories[0]
		}
	}
	return ""
}

// ErrNotTranscript matches the error of a file that is none of the known kinds.
var ErrNotTranscript = errors.New("it is no transcript of " + strings.Join(Agents, ", "))

// At is the transcript at a path, wherever it lies. The agent is found out from
// the first records unless it is given.
func At(path, agent string) (Session, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return Session{}, fmt.Errorf("open transcript: %s", outcome.Errno(bare(err)))
	}
	f, err := openRegular(abs)
	if err != nil {
		return Session{}, fmt.Errorf("open transcript: %s", outcome.Errno(bare(err)))
	}
	info, err := f.Stat()
	_ = f.Close() // only read
	if err != nil {
		return Session{}, fmt.Errorf("open transcript: %s", outcome.Errno(bare(err)))
	}
	if agent == "" {
		if agent = identify(abs); agent == "" {
			return Session{}, fmt.Errorf("open transcript: %w; --agent says whose it is", ErrNotTranscript)
		}
	}
	if !slices.Contains(Agents, agent) {
		return Session{}, fmt.Errorf("open transcript: there is no agent called %q; there are %s", agent, strings.Join(Agents, ", "))
	}
	s := sessionAt(agent, abs, info)
	s.Dir = dirOf(s)
	return s, nil
}

// identify finds out whose transcript it is.
func identify(path string) string {
	lines, err := head(path)
	if err != nil {
		return ""
	}
	for _, line := range lines {
		var r headRecord
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		switch {
		case r.ProjectHash != "":
			return Gemini
		case len(r.Payload) > 0 && r.Type != "":
			return Codex
		case r.Type != "" && (r.SessionID != "" || r.UUID != ""):
			return ClaudeCode
		}
	}
	return ""
}

// openRegular opens a regular file for reading. A pipe in its place does not
// block and is refused.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

var errNotRegular = errors.New("it is not a regular file")

// bare takes the path out of an error of the file system.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
