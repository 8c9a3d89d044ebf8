package tts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

// resumeAge is how long finished chunks of a call that failed are kept.
const resumeAge = 24 * time.Hour

var (
	chunkName   = regexp.MustCompile(`^[0-9a-f]{64}(\.[A-Za-z0-9]+\.tmp)?$`)
	resumeName  = regexp.MustCompile(`^sp_[0-9a-f]{24}$`)
	errNoResume = errors.New("there is nothing to resume under this token; finished chunks are kept for 24 hours")
)

// A store keeps finished chunks under a hash of everything that shapes them. A
// nil store keeps nothing.
type store struct{ chunks, resume string }

func openStore(d Deps) (*store, error) {
	if d.StateDir == "" {
		return nil, nil
	}
	s := &store{d.chunkDir(), d.resumeDir()}
	for _, dir := range []string{s.chunks, s.resume} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// chunkKey names the audio of one request. Fields are framed by their length,
// so that no two requests share a key.
func chunkKey(p provider.Provider, r provider.Request) string {
	h := sha256.New()
	for _, f := range []string{p.Name(), p.Identity(), r.Voice, r.Language, fmt.Sprint(r.Speed), r.Instructions, r.Text} {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// load brings a kept chunk to path. It reports false when there is none, also
// when the one there is does not decode any more.
func (s *store) load(key, path string) bool {
	if s == nil {
		return false
	}
	from := filepath.Join(s.chunks, key)
	if _, err := audio.Inspect(from); err != nil {
		return false
	}
	if err := copyNew(from, path); err != nil {
		_ = os.Remove(path) // our own half of a copy, in our own folder
		return false
	}
	return true
}

// save keeps a chunk. It is there whole or not at all.
func (s *store) save(key, path string) error {
	if s == nil {
		return nil
	}
	to := filepath.Join(s.chunks, key)
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	beside := to + "." + hex.EncodeToString([]byte(fmt.Sprint(os.Getpid()))) + ".tmp"
	_ = os.Remove(beside) // of a process that had our number and is gone
	if err := copyNew(path, beside); err != nil {
		_ = os.Remove(beside)
		return err
	}
	return os.Rename(beside, to)
}

// forget removes what a call that succeeded needs no more.
func (s *store) forget(keys []string, token string) {
	if s == nil {
		return
	}
	for _, k := range keys {
		_ = os.Remove(filepath.Join(s.chunks, k))
	}
	if token != "" {
		_ = os.Remove(filepath.Join(s.resume, token))
	}
}

func copyNew(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// token names a call that can be resumed: the same text to the same voice has
// the same token.
func token(keys []string) string {
	h := sha256.New()
	for _, k := range keys {
		_, _ = io.WriteString(h, k)
	}
	return "sp_" + hex.EncodeToString(h.Sum(nil))[:24]
}

// remember writes down what was asked, so that the token alone resumes it.
func (s *store) remember(tok string, p Params) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.resume, tok), raw, 0o600)
}

// recall gives the parameters of an earlier call. What the new call says about
// the path and about replacing wins.
func recall(d Deps, now Params) (Params, error) {
	if d.StateDir == "" || !resumeName.MatchString(now.Resume) {
		return now, errNoResume
	}
	raw, err := os.ReadFile(filepath.Join(d.resumeDir(), now.Resume))
	if errors.Is(err, fs.ErrNotExist) {
		return now, errNoResume
	}
	if err != nil {
		return now, fmt.Errorf("read what to resume: %w", err)
	}
	var old Params
	if err := json.Unmarshal(raw, &old); err != nil {
		return now, fmt.Errorf("read what to resume: %w", err)
	}
	old.OutputPath = firstOf(now.OutputPath, old.OutputPath)
	old.NoClobber, old.Force = now.NoClobber || old.NoClobber && !now.Force, now.Force || old.Force && !now.NoClobber
	old.Resume = now.Resume
	return old, nil
}
