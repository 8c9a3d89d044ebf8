package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/checkpoint"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts"
)

// recordingSize is the size of the file that must not be lost.
const recordingSize = 20_000

// The old ways, as shell scripts whose $1 is the path that was asked for. The
// provider is away in each.
const (
	// The file is opened for writing first, and then the provider is asked.
	writesInPlace = `exec >"$1"; echo "the provider is away" >&2; exit 1`
	// The path is remembered as the call's own, and cleaned up after a failure.
	cleansUp = `made="$1"; echo "the provider is away" >&2; rm -f "$made"; exit 1`
)

func speech(ctx context.Context, s *stage) error {
	s.part.Done = "A recording is at the path that a speech call is given. The provider is away, so the call fails. What is at the path afterwards?"
	for _, way := range []struct{ who, script string }{
		{"a tool that writes in place", writesInPlace},
		{"a tool that cleans up by name", cleansUp},
	} {
		path, sum, err := s.recording()
		if err != nil {
			return err
		}
		_, err = output(ctx, exec.Command("/bin/sh", "-c", way.script, "sh", path))
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			return fmt.Errorf("run the old way: %w", err)
		}
		n, says, err := fate(path, sum)
		if err != nil {
			return err
		}
		s.add(counted(false, way.who, n, recordingSize, "bytes at the path; "+says))
	}
	path, sum, err := s.recording()
	if err != nil {
		return err
	}
	r, err := s.speakInVain(ctx, path)
	if err != nil {
		return err
	}
	n, says, err := fate(path, sum)
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		return err
	}
	says += fmt.Sprintf("; it says %s; %d other files in the folder", r.Status, len(left)-1)
	s.add(counted(true, "honestty", n, recordingSize, "bytes at the path; "+says))
	s.judge(n == recordingSize && s.found(sumOf(path)) == sum && r.Status == outcome.Failed && len(left) == 1,
		"the recording is byte for byte what it was (SHA-256 "+sum[:12]+"…), the call is told as failed, and nothing lies beside it",
		"the recording changed, something lies beside it, or the failure was not told")
	return nil
}

// recording makes the file anew, alone in its folder.
func (s *stage) recording() (path, sum string, err error) {
	dir, err := os.MkdirTemp(s.dir, "")
	if err != nil {
		return "", "", err
	}
	content := make([]byte, recordingSize)
	for i := range content {
		content[i] = byte(i*i + i/251)
	}
	path = filepath.Join(dir, "meeting-notes.mp3")
	return path, hash(content), os.WriteFile(path, content, 0o600)
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// sumOf is the hash of a file, and empty where it cannot be read.
func sumOf(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return hash(b)
}

// fate says what is at the path.
func fate(path, sum string) (int64, string, error) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, "the file is gone", nil
	case err != nil:
		return 0, "", err
	case len(b) == 0:
		return 0, "the file is empty", nil
	case hash(b) == sum:
		return int64(len(b)), "unchanged", nil
	}
	return int64(len(b)), "the content is another", nil
}

// speakInVain is our call, with a provider that is away.
func (s *stage) speakInVain(ctx context.Context, path string) (*tts.Result, error) {
	store, err := checkpoint.Open(filepath.Join(s.dir, "checkpoints"), checkpoint.Limits{})
	if err != nil {
		return nil, err
	}
	d := s.speechDeps()
	d.Keep = func(old *os.File, path, call string) (string, error) {
		e, err := store.Keep(old, path, call)
		return e.ID, err
	}
	d.Config = tts.Config{Commands: map[string]tts.Command{"away": {
		Words: []string{"/bin/sh", "-c", "echo the provider is away >&2; exit 1", "sh", "{input_path}", "{output_path}"}, Format: "mp3",
	}}}
	p := tts.Params{Text: "The meeting is at nine.", OutputPath: path, Provider: "away"}
	return tts.Speak(ctx, d, p, tools.Call{ID: "demo", Dir: s.dir}), nil
}

func (s *stage) speechDeps() tts.Deps {
	return tts.Deps{
		Poller: s.conf.Poller, Policy: safepath.Policy{Home: s.dir},
		AudioDir: filepath.Join(s.dir, "audio"), StateDir: filepath.Join(s.dir, "speech"),
	}
}
