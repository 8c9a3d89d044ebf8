package send

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// ErrNoSecret matches the error of a secret that is set nowhere.
var ErrNoSecret = errors.New("not set")

// maxSecret bounds a secret file: a private key of 16,384 bits has 13 KB.
const maxSecret = 64 << 10

// Secrets finds tokens and passwords, and knows every one that it gave out, so
// that a Scrubber can take them out of texts. The order is: the environment,
// the file that NAME_FILE in the environment names, the file of secrets, the
// settings. A secret is never taken from an argument of a command.
type Secrets struct {
	Env    func(name string) (string, bool) // nil: the process's environment
	File   string                           // lines NAME=value; empty or absent: none
	Config map[string]string

	Scrub *Scrubber // is told of every secret; may be nil
}

// Get finds the secret called name, for example TELEGRAM_BOT_TOKEN. Its errors
// name the secret and never carry it. One that is set nowhere matches
// ErrNoSecret.
func (s *Secrets) Get(name string) (string, error) {
	v, err := s.find(name)
	if err != nil {
		return "", err
	}
	s.Scrub.Know(name, v)
	return v, nil
}

func (s *Secrets) find(name string) (string, error) {
	env := s.Env
	if env == nil {
		env = os.LookupEnv
	}
	if v, ok := env(name); ok && v != "" {
		return v, nil
	}
	if path, ok := env(name + "_FILE"); ok && path != "" {
		b, err := readPrivate(path)
		if err != nil {
			return "", fmt.Errorf("read the file that %s_FILE names: %w", name, err)
		}
		if v := strings.TrimSpace(string(b)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("read the file that %s_FILE names: it is empty", name)
	}
	if s.File != "" {
		v, err := s.fromFile(name)
		if err != nil || v != "" {
			return v, err
		}
	}
	if v := s.Config[name]; v != "" {
		return v, nil
	}
	return "", fmt.Errorf("%s is %w", name, ErrNoSecret)
}

func (s *Secrets) fromFile(name string) (string, error) {
	b, err := readPrivate(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the file of secrets, %s: %w", Shown(s.File), err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		k, v, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(k) != name {
			continue
		}
		v = strings.TrimSpace(v)
		if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
			v = v[1 : len(v)-1]
		}
		return v, nil
	}
	return "", nil
}

// readPrivate reads a file that only its owner, who is us, can read. It looks
// at the descriptor and not at the path, so that what was checked is what is
// read. Its errors do not repeat the path.
func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return nil, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others can read it (mode %#o): run chmod 600 on it", info.Mode().Perm())
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return nil, errors.New("it belongs to another user")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSecret {
		return nil, fmt.Errorf("it has more than %d bytes", maxSecret)
	}
	return b, nil
}

// shortestSecret is the length from which a secret is taken out of texts.
// Shorter ones would take ordinary words with them and protect nothing.
const shortestSecret = 4

// A Scrubber takes secrets out of texts. A nil Scrubber knows none. It may be
// used by several goroutines.
type Scrubber struct {
	mu    sync.RWMutex
	known []secret // longest first, so that a part never hides the whole
}

type secret struct{ value, shown string }

// Know makes the scrubber take value out of every text from now on, also where
// it is escaped as in an address or encoded as in a header.
func (s *Scrubber) Know(name, value string) {
	if s == nil || len(value) < shortestSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := "[" + name + "]"
	for _, form := range []string{
		value, url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		if !slices.ContainsFunc(s.known, func(k secret) bool { return k.value == form }) {
			s.known = append(s.known, secret{form, shown})
		}
	}
	slices.SortStableFunc(s.known, func(a, b secret) int { return len(b.value) - len(a.value) })
}

// Text is t without any known secret.
func (s *Scrubber) Text(t string) string {
	if s == nil || t == "" {
		return t
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.known {
		t = strings.ReplaceAll(t, k.value, k.shown)
	}
	return t
}

// Error is err, saying the same without any known secret. What it wraps can
// still be found by errors.Is and errors.As, and is not to be shown.
func (s *Scrubber) Error(err error) error {
	if err == nil {
		return nil
	}
	if t := s.Text(err.Error()); t != err.Error() {
		return &scrubbedError{t, err}
	}
	return err
}

type scrubbedError struct {
	text  string
	cause error
}

func (e *scrubbedError) Error() string { return e.text }
func (e *scrubbedError) Unwrap() error { return e.cause }

// Outcome is o without any known secret.
func (s *Scrubber) Outcome(o Outcome) Outcome {
	o.Reason, o.ID = s.Text(o.Reason), s.Text(o.ID)
	return o
}
