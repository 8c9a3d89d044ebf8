package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func newStore(t *testing.T, text string) (*Store, string) {
	t.Helper()
	env, user := home(t)
	if text != "" {
		write(t, user, text)
	}
	s, err := NewStore(Options{Env: env.get})
	if err != nil {
		t.Fatal(err)
	}
	return s, user
}

func TestBadFileLeavesTheLastGoodConfigInForce(t *testing.T) {
	s, user := newStore(t, "ui.theme = \"dark\"\n")
	write(t, user, "ui.theme = \"nord\"\nui.mouse = 3\n")
	err := s.Reload()
	if !errors.Is(err, ErrInvalid) || len(s.Problems()) != 1 {
		t.Errorf("error = %v, problems = %v", err, s.Problems())
	}
	if got := s.Config().UI.Theme; got != "dark" {
		t.Errorf("theme = %q, want the last good one", got)
	}
	if s.Changed() {
		t.Error("a file that was read and found bad counts as changed again")
	}
	write(t, user, "ui.theme = \"nord\"\n")
	if err := s.Reload(); err != nil || s.Problems() != nil || s.Config().UI.Theme != "nord" {
		t.Errorf("mended file: %v, theme %q", err, s.Config().UI.Theme)
	}
}

func TestStoreThatStartsWithABadFileHoldsTheDefaults(t *testing.T) {
	env, user := home(t)
	write(t, user, "ui.theme = \"nord\"\nx = 1\n")
	s, err := NewStore(Options{Env: env.get})
	if s == nil || !errors.Is(err, ErrInvalid) {
		t.Fatalf("store %v, error %v", s, err)
	}
	assertSame(t, s.Config(), Defaults())
}

func TestChangedSeesEveryKindOfChange(t *testing.T) {
	s, user := newStore(t, "")
	step := func(name string, do func() error) {
		t.Helper()
		if s.Changed() {
			t.Errorf("%s: changed before", name)
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if !s.Changed() {
			t.Errorf("%s: not seen", name)
		}
		if err := s.Reload(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	later := time.Now().Add(time.Hour)
	step("came", func() error { write(t, user, "ui.mouse = true\n"); return nil })
	step("size", func() error { write(t, user, "ui.mouse = false\n"); return os.Chtimes(user, later, later) })
	step("time", func() error { return os.Chtimes(user, later, later.Add(time.Second)) })
	step("mode", func() error { return os.Chmod(user, 0o400) })
	step("inode", func() error {
		other := filepath.Join(filepath.Dir(user), "other")
		write(t, other, "ui.mouse = true \n")
		if err := errors.Join(os.Chmod(other, 0o400), os.Chtimes(other, later, later.Add(time.Second))); err != nil {
			return err
		}
		return os.Rename(other, user)
	})
	if !s.Config().UI.Mouse {
		t.Error("the renamed file is not in force")
	}
	step("went", func() error { return os.Remove(user) })
	step("behind a link", func() error {
		target := filepath.Join(t.TempDir(), "dotfiles.toml")
		write(t, target, "ui.mouse = false\n")
		return os.Symlink(target, user)
	})
	target, err := os.Readlink(user)
	if err != nil {
		t.Fatal(err)
	}
	step("target of the link", func() error { write(t, target, "ui.mouse = true  \n"); return os.Chtimes(target, later, later) })
}

func TestStoreIsSafeForManyGoroutines(t *testing.T) {
	s, user := newStore(t, "terminal.scrollback = 1\n")
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 40 {
				tmp := fmt.Sprintf("%s.%d", user, n)
				text := fmt.Sprintf("terminal.scrollback = %d\nkeys.bind.zoom = [\"z\"]\n", i+1)
				if i%3 == 0 {
					text += "x = 1\n"
				}
				if os.WriteFile(tmp, []byte(text), 0o600) == nil {
					_ = os.Rename(tmp, user)
				}
				_ = s.Reload()
			}
		})
		wg.Go(func() {
			for range 200 {
				c := s.Config()
				c.Keys.Bind["mine"] = []string{"x"}
				for _, keys := range c.Keys.Bind {
					keys[0] = "changed"
				}
				if c.Terminal.Scrollback < 1 || c.Origin("terminal.scrollback") == "" {
					t.Errorf("scrollback %d from %q", c.Terminal.Scrollback, c.Origin("terminal.scrollback"))
				}
				_, _ = s.Changed(), s.Problems()
			}
		})
	}
	wg.Wait()
	write(t, user, "terminal.scrollback = 77\nkeys.bind.zoom = [\"z\"]\n")
	if err := s.Reload(); err != nil || s.Config().Terminal.Scrollback != 77 || s.Config().Keys.Bind["zoom"][0] != "z" {
		t.Errorf("at the end: %v, %+v", err, s.Config())
	}
}

// TestReloadThatBeganLaterDecides runs a second Reload inside the first, by
// way of the check of its keys.
func TestReloadThatBeganLaterDecides(t *testing.T) {
	env, user := home(t)
	write(t, user, "ui.theme = \"dark\"\n")
	var s *Store
	inside := false
	check := func(Keys) []KeyProblem {
		if s == nil || inside {
			return nil
		}
		inside = true
		write(t, user, "ui.theme = \"gruvbox\"\n")
		if err := s.Reload(); err != nil {
			t.Error(err)
		}
		return nil
	}
	made, err := NewStore(Options{Env: env.get, Check: check})
	if err != nil {
		t.Fatal(err)
	}
	s = made
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := s.Config().UI.Theme; got != "gruvbox" || s.Changed() {
		t.Errorf("theme = %q, changed = %v; the later Reload read gruvbox", got, s.Changed())
	}
}
