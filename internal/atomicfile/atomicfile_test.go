package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/honestty/honestty/internal/leak"
)

var errBroken = errors.New("broken on purpose")

// A brokenFile fails at one step of a real file.
type brokenFile struct {
	*os.File
	at string
}

func (f brokenFile) Write(p []byte) (int, error) {
	if f.at == "write" {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, errBroken
	}
	return f.File.Write(p)
}

func (f brokenFile) Chmod(m fs.FileMode) error {
	return f.step("chmod", func() error { return f.File.Chmod(m) })
}
func (f brokenFile) Sync() error { return f.step("sync", f.File.Sync) }
func (f brokenFile) Close() error {
	return errors.Join(f.File.Close(), f.step("close", func() error { return nil }))
}

func (f brokenFile) step(name string, do func() error) error {
	if f.at == name {
		return errBroken
	}
	return do()
}

func failAt(step string) steps {
	s := system
	s.create = func(path string) (file, error) {
		if step == "create" {
			return nil, errBroken
		}
		f, err := createExclusive(path)
		if err != nil {
			return nil, err
		}
		return brokenFile{f.(*os.File), step}, nil
	}
	if step == "rename" {
		s.rename = func(string, string) error { return errBroken }
	}
	if step == "folder" {
		s.syncDir = func(string) error { return errBroken }
	}
	return s
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteReplacesWithExactModeAndLeavesNothingBeside(t *testing.T) {
	before := leak.Take(t)
	path := filepath.Join(t.TempDir(), "state.json")
	for _, c := range []struct {
		data string
		mode fs.FileMode
	}{{"one", 0o600}, {"", 0o600}, {strings.Repeat("two", 100_000), 0o644}} {
		if err := Write(path, []byte(c.data), c.mode); err != nil {
			t.Fatal(err)
		}
		if content(t, path) != c.data {
			t.Errorf("content has %d bytes, want %d", len(content(t, path)), len(c.data))
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != c.mode {
			t.Errorf("mode = %v (%v), want %v", info.Mode(), err, c.mode)
		}
	}
	if got := names(t, filepath.Dir(path)); !slices.Equal(got, []string{"state.json"}) {
		t.Errorf("folder holds %q", got)
	}
	before.Check(t)
}

func TestFailedStepLeavesTargetAsItWas(t *testing.T) {
	for _, step := range []string{"create", "chmod", "write", "sync", "close", "rename"} {
		for _, exists := range []bool{true, false} {
			before := leak.Take(t)
			dir := t.TempDir()
			path := filepath.Join(dir, "state.json")
			var want []string
			if exists {
				want = []string{"state.json"}
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := failAt(step).write(path, []byte("new content"), 0o600)
			if !errors.Is(err, errBroken) {
				t.Errorf("%s: error = %v", step, err)
			}
			if got := names(t, dir); !slices.Equal(got, want) {
				t.Errorf("%s: folder holds %q, want %q", step, got, want)
			}
			if exists && content(t, path) != "old" {
				t.Errorf("%s: the old content is gone", step)
			}
			before.Check(t)
		}
	}
}

func TestFailedFolderSyncSaysSoAndKeepsNewContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	err := failAt("folder").write(path, []byte("new"), 0o600)
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "sync folder: ") {
		t.Errorf("error = %v", err)
	}
	if content(t, path) != "new" {
		t.Error("the new content is not in place")
	}
}

func TestTargetThatIsNotRegularIsRefusedAndUntouched(t *testing.T) {
	dir := t.TempDir()
	behind := filepath.Join(dir, "behind")
	if err := os.WriteFile(behind, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		put        func(path string) error
	}{
		{"link", "a symbolic link", func(p string) error { return os.Symlink(behind, p) }},
		{"dangling", "a symbolic link", func(p string) error { return os.Symlink("nowhere", p) }},
		{"folder", "a folder", func(p string) error { return os.Mkdir(p, 0o700) }},
		{"pipe", "a named pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }},
	} {
		path := filepath.Join(dir, c.name)
		if err := c.put(path); err != nil {
			t.Fatal(err)
		}
		before := names(t, dir)
		err := Write(path, []byte("x"), 0o600)
		if !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want one that says %q", c.name, err, c.want)
		}
		if got := names(t, dir); !slices.Equal(got, before) {
			t.Errorf("%s: folder holds %q, want %q", c.name, got, before)
		}
	}
	if content(t, behind) != "mine" {
		t.Error("the file behind the link was changed")
	}
}

func TestCreateIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(path, []byte("other's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := createExclusive(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a file of another = %v, want %v", err, fs.ErrExist)
	}
	if content(t, path) != "other's" {
		t.Error("a file of another was changed")
	}
}

func TestMissingFolderIsAnError(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "no", "f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want %v", err, fs.ErrNotExist)
	}
}
