package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/safepath"
)

func TestRestoreOfWhatIsGoneMakesItAnew(t *testing.T) {
	b := newBench(t, Limits{})
	path := b.file("a", "content")
	e := b.keep(path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID})
	if err != nil || r.Existed || r.Kept != nil || b.content(path) != "content" {
		t.Errorf("restored = %+v, %v", r, err)
	}
	other := filepath.Join(b.work, "elsewhere")
	if r, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID, Target: other}); err != nil || r.Path != other || b.content(other) != "content" {
		t.Errorf("elsewhere = %+v, %v", r, err)
	}
	if r, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID}); err != nil || !r.Same {
		t.Errorf("nothing to do = %+v, %v", r, err)
	}
}

func TestKeepingWhatIsThereNeverCostsWhatIsRestored(t *testing.T) {
	for what, limits := range map[string]Limits{"a full store": {Total: 100}, "an old checkpoint": {Age: time.Hour}} {
		b := newBench(t, limits)
		now := time.Now()
		b.now = func() time.Time { return now }
		old, fresh := strings.Repeat("1", 60), strings.Repeat("2", 60)
		e := b.keep(b.file("x", old))
		path := b.file("x", fresh)
		now = now.Add(2 * time.Hour)
		r, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID})
		if err != nil || r.Kept == nil || b.content(path) != old {
			t.Errorf("%s: %+v, %v; the file has %q", what, r, err, b.content(path))
			continue
		}
		if r, err := b.Restore(anyPolicy(), RestoreOrder{ID: r.Kept.ID}); err != nil || b.content(path) != fresh {
			t.Errorf("%s, and back: %+v, %v", what, r, err)
		}
	}
}

func TestRestoreRefusesWhatIsNoRegularFileAndTouchesNothing(t *testing.T) {
	before := leak.Take(t)
	b := newBench(t, Limits{})
	e := b.keep(b.file("a", "content"))
	behind := b.file("behind", "mine")
	for kind, put := range map[string]func(path string) error{
		"a symbolic link": func(p string) error { return os.Symlink(behind, p) },
		"a folder":        func(p string) error { return os.Mkdir(p, 0o700) },
		"a named pipe":    func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		target := filepath.Join(b.work, strings.ReplaceAll(kind, " ", "-"))
		if err := put(target); err != nil {
			t.Fatal(err)
		}
		_, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID, Target: target})
		if got := safepath.RuleOf(err); got != safepath.RuleKind+kind {
			t.Errorf("%s: %v", kind, err)
		}
	}
	dangling := filepath.Join(b.work, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID, Target: dangling}); !errors.Is(err, outcome.ErrRefused) {
		t.Errorf("dangling link: %v", err)
	}
	if b.content(behind) != "mine" {
		t.Error("the file behind the link was changed")
	}
	if _, err := os.Lstat(filepath.Join(b.work, "nowhere")); err == nil {
		t.Error("a file was made behind the dangling link")
	}
	before.Check(t)
}

func TestRestorePassesThePolicy(t *testing.T) {
	b := newBench(t, Limits{})
	e := b.keep(b.file("a", "x"))
	p := anyPolicy()
	p.Deny = []string{filepath.Join(b.work, "denied")}
	for target, rule := range map[string]string{
		filepath.Join(b.work, "denied"):            safepath.RuleProtected + "denied by configuration",
		"/etc/cron.d/x":                            safepath.RuleProtected + "scheduled commands",
		b.work + "/../x":                           safepath.RuleTraversal,
		b.work + "/x\n":                            safepath.RuleControl,
		b.work + "/MEDIA:/x":                       safepath.RuleMedia,
		filepath.Join(b.work, ".git/hooks/post-x"): ruleApproval + "git hooks",
	} {
		if _, err := b.Restore(p, RestoreOrder{ID: e.ID, Target: target}); safepath.RuleOf(err) != rule {
			t.Errorf("%q: %v, want rule %q", target, err, rule)
		}
	}
	if err := os.MkdirAll(filepath.Join(b.work, ".git/hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(b.work, ".git/hooks/post-x")
	if _, err := b.Restore(p, RestoreOrder{ID: e.ID, Target: hook, Approved: true}); err != nil || b.content(hook) != "x" {
		t.Errorf("approved: %v", err)
	}
}

func TestFailedRestoreLeavesTheTargetByteForByte(t *testing.T) {
	for _, step := range []string{"restore create", "restore write", "restore sync", "restore rename", "index"} {
		for _, exists := range []bool{true, false} {
			if step == "index" && !exists {
				continue // nothing is kept then
			}
			before := leak.Take(t)
			b := newBench(t, Limits{})
			path := b.file("a", "old")
			e := b.keep(path)
			want := []string{"a"}
			if exists {
				b.file("a", "present")
			} else {
				want = nil
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			b.step = func(name string) error {
				if name == step {
					return errBroken
				}
				return nil
			}
			if _, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID}); !errors.Is(err, errBroken) {
				t.Errorf("%s: %v", step, err)
			}
			if got := b.names(b.work); !slices.Equal(got, want) {
				t.Errorf("%s: folder holds %q", step, got)
			}
			if exists && b.content(path) != "present" {
				t.Errorf("%s: the file holds %q", step, b.content(path))
			}
			before.Check(t)
		}
	}
}

func TestWhatCannotBeKeptIsNotReplacedUnlessAsked(t *testing.T) {
	b := newBench(t, Limits{File: 10})
	path := b.file("a", "small")
	e := b.keep(path)
	b.file("a", "larger than ten bytes")
	_, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID})
	if !errors.Is(err, outcome.ErrRefused) || !errors.Is(err, ErrTooLarge) || b.content(path) != "larger than ten bytes" {
		t.Errorf("restore = %v, content %q", err, b.content(path))
	}
	r, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID, Unkept: true})
	if err != nil || r.Kept != nil || len(r.Notes) != 1 || b.content(path) != "small" {
		t.Errorf("restore = %+v, %v", r, err)
	}
}

func TestTargetThatChangesInBetweenIsNotReplaced(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"another file took the name": func(p string) error {
			return errors.Join(os.WriteFile(p+".new", []byte("theirs"), 0o600), os.Rename(p+".new", p))
		},
		"it was written to": func(p string) error { return os.WriteFile(p, []byte("theirs"), 0o600) },
		"it was removed":    func(p string) error { return os.Remove(p) },
	} {
		b := newBench(t, Limits{})
		path := b.file("a", "old")
		e := b.keep(path)
		b.file("a", "present, long")
		b.step = func(step string) error {
			if step == "restore rename" {
				return change(path)
			}
			return nil
		}
		if _, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID}); safepath.RuleOf(err) != safepath.RuleChanged {
			t.Errorf("%s: %v", name, err)
		}
		if raw, err := os.ReadFile(path); err == nil && string(raw) != "theirs" {
			t.Errorf("%s: the file holds %q", name, raw)
		}
	}
	// The same where nothing was there at first.
	b := newBench(t, Limits{})
	path := b.file("a", "old")
	e := b.keep(path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.step = func(step string) error {
		if step == "restore rename" {
			return os.WriteFile(path, []byte("theirs"), 0o600)
		}
		return nil
	}
	if _, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID}); safepath.RuleOf(err) != safepath.RuleChanged || b.content(path) != "theirs" {
		t.Errorf("a new file: %v, content %q", err, b.content(path))
	}
	if got := b.names(b.work); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
}

func TestRestoreIntoMissingFolderSaysSo(t *testing.T) {
	b := newBench(t, Limits{})
	e := b.keep(b.file("a", "x"))
	_, err := b.Restore(anyPolicy(), RestoreOrder{ID: e.ID, Target: filepath.Join(b.work, "gone/a")})
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
}
