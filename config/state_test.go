package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/internal/leak"
)

func stateFile(t *testing.T) StateFile {
	t.Helper()
	return StateFile{Path: StatePath(environ{"HOME": t.TempDir()}.get)}
}

func start(s *State) error { s.Starts++; return nil }

func TestStateSurvivesAndIsPrivate(t *testing.T) {
	before := leak.Take(t)
	f := stateFile(t)
	if s, err := f.Load(); err != nil || s.Starts != 0 {
		t.Fatalf("no file: %+v, %v", s, err)
	}
	if _, err := os.Lstat(filepath.Dir(f.Path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load made a folder (%v)", err)
	}
	_, err := f.Update(func(s *State) error {
		s.Starts, s.Dock = 2, DockState{SideBottom, 30, 25}
		return errors.Join(s.Remember("/usr/bin/vim", ConsentAllow), s.Remember("evil\x1b[2J", ConsentDeny))
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Load()
	if err != nil || got.Starts != 2 || got.Dock != (DockState{SideBottom, 30, 25}) || len(got.OSC52) != 2 ||
		got.OSC52["/usr/bin/vim"] != ConsentAllow || got.OSC52["evil\x1b[2J"] != ConsentDeny {
		t.Errorf("got %+v, %v", got, err)
	}
	for path, want := range map[string]fs.FileMode{f.Path: 0o600, f.Path + ".lock": 0o600, filepath.Dir(f.Path): fs.ModeDir | 0o700} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v (%v), want %v", path, info.Mode(), err, want)
		}
	}
	before.Check(t)
}

func TestHintsShowOnTheFirstThreeStarts(t *testing.T) {
	f := stateFile(t)
	for n := 1; n <= 5; n++ {
		s, err := f.Update(start)
		if err != nil || s.Starts != n || s.Hint() != (n <= 3) {
			t.Errorf("start %d: %+v, hint %v, %v", n, s, s.Hint(), err)
		}
	}
}

func TestBrokenStateIsSetAsideAndTold(t *testing.T) {
	for _, broken := range []string{"", "{", "[]", `{"starts":"x"}`, "{}{}", "\x1b[2J", `{"starts":1e99}`, strings.Repeat(" ", maxFile+1)} {
		for name, call := range map[string]func(StateFile) (State, error){
			"Load":   StateFile.Load,
			"Update": func(f StateFile) (State, error) { return f.Update(start) },
		} {
			f := stateFile(t)
			write(t, f.Path, broken)
			write(t, f.Path+".bad", "older")
			s, err := call(f)
			b, _ := errors.AsType[*BrokenStateError](err)
			if b == nil || b.Path != f.Path || b.Kept != f.Path+".bad" || !errors.Is(err, ErrStateBroken) {
				t.Errorf("%s %.10q: error = %v", name, broken, err)
				continue
			}
			if strings.Contains(err.Error(), "\x1b") || !strings.HasSuffix(err.Error(), "; the file is kept as "+f.Path+".bad") {
				t.Errorf("%s %.10q: error = %q", name, broken, err)
			}
			if kept, err := os.ReadFile(b.Kept); err != nil || string(kept) != broken {
				t.Errorf("%s %.10q: kept %.10q (%v)", name, broken, kept, err)
			}
			want := 0
			if name == "Update" {
				want = 1
			}
			if again, err := f.Load(); err != nil || s.Starts != want || again.Starts != want {
				t.Errorf("%s %.10q: %d starts, then %d (%v), want %d", name, broken, s.Starts, again.Starts, err, want)
			}
		}
	}
}

func TestBrokenStateThatCannotBeSetAsideIsNotOverwritten(t *testing.T) {
	f := stateFile(t)
	write(t, f.Path, "{broken")
	write(t, filepath.Join(f.Path+".bad", "in the way"), "")
	_, err := f.Update(start)
	b, _ := errors.AsType[*BrokenStateError](err)
	if b == nil || b.Kept != "" {
		t.Errorf("error = %v", err)
	}
	if got, err := os.ReadFile(f.Path); err != nil || string(got) != "{broken" {
		t.Errorf("the file is %q (%v)", got, err)
	}
}

func TestStateDropsWhatCannotBe(t *testing.T) {
	f := stateFile(t)
	write(t, f.Path, `{"starts":-4,"dock":{"side":"left","right":5,"bottom":80},"osc52_write":{"a":"allow","b":"ask","c":"yes"},"new":1}`)
	s, err := f.Load()
	if err != nil || s.Starts != 0 || s.Dock != (DockState{Bottom: 80}) || len(s.OSC52) != 1 || s.OSC52["a"] != ConsentAllow {
		t.Errorf("got %+v, %v", s, err)
	}
	s, err = f.Update(func(s *State) error {
		s.Starts, s.Dock.Right, s.OSC52["d"] = -1, 99, "maybe"
		return nil
	})
	text, rerr := os.ReadFile(f.Path)
	if err != nil || rerr != nil || s.Starts != 0 || s.Dock.Right != 0 || len(s.OSC52) != 1 || strings.Contains(string(text), "maybe") {
		t.Errorf("stored %+v as %s (%v)", s, text, err)
	}
}

func TestStateInPlaceOfAnotherKindOfFileIsRefused(t *testing.T) {
	f := stateFile(t)
	other := filepath.Join(t.TempDir(), "other.json")
	write(t, other, `{"starts":7}`)
	if err := errors.Join(os.MkdirAll(filepath.Dir(f.Path), 0o700), os.Symlink(other, f.Path)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(start); !errors.Is(err, atomicfile.ErrNotRegular) {
		t.Errorf("error = %v, want %v", err, atomicfile.ErrNotRegular)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != `{"starts":7}` {
		t.Errorf("the other file is %q (%v)", got, err)
	}
}

func TestFailedChangeStoresNothing(t *testing.T) {
	f := stateFile(t)
	if _, err := f.Update(func(s *State) error { s.Starts++; return s.Remember("q", ConsentAllow) }); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	s, err := f.Update(func(s *State) error {
		s.Starts = 50
		return errors.Join(s.Remember("p", ConsentDeny), no)
	})
	if !errors.Is(err, no) || s.Starts != 1 || len(s.OSC52) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := f.Load(); err != nil || s.Starts != 1 || len(s.OSC52) != 1 {
		t.Errorf("stored %+v, %v", s, err)
	}
}

func TestNoHomeIsSaid(t *testing.T) {
	f := StateFile{Path: StatePath(environ{}.get)}
	_, err := f.Load()
	_, uerr := f.Update(start)
	if !errors.Is(err, ErrNoState) || !errors.Is(uerr, ErrNoState) {
		t.Errorf("errors %v and %v, want %v", err, uerr, ErrNoState)
	}
}

func TestWindowsAtOnceLoseNoStart(t *testing.T) {
	f := stateFile(t)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 5 {
				_, err := f.Update(func(s *State) error {
					s.Starts++
					return s.Remember(fmt.Sprintf("program %d.%d", n, i), ConsentAllow)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if s, err := f.Load(); err != nil || s.Starts != 20 || len(s.OSC52) != 20 {
		t.Errorf("%d starts and %d programs (%v), want 20", s.Starts, len(s.OSC52), err)
	}
}

func TestStateThatAnotherWindowKeepsIsBusyAndNotWaitedForLong(t *testing.T) {
	before := leak.Take(t)
	f := stateFile(t)
	write(t, f.Path+".lock", "")
	l, err := os.OpenFile(f.Path+".lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(l.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(start); !errors.Is(err, ErrStateBusy) {
		t.Errorf("error = %v, want %v", err, ErrStateBusy)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := f.Update(start); err != nil || s.Starts != 1 {
		t.Errorf("after the other let go: %+v, %v", s, err)
	}
	before.Check(t)
}

func TestAnswersAreBoundedAndForgotten(t *testing.T) {
	f := stateFile(t)
	s, err := f.Update(func(s *State) error {
		for i := range maxPrograms {
			if err := s.Remember(fmt.Sprint(i, strings.Repeat("/long", 45)), ConsentAllow); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remember("one more", ConsentAllow); !errors.Is(err, ErrStateFull) {
		t.Errorf("error = %v, want %v", err, ErrStateFull)
	}
	known := fmt.Sprint(3, strings.Repeat("/long", 45))
	if err := s.Remember(known, ConsentDeny); err != nil || s.OSC52[known] != ConsentDeny {
		t.Errorf("a known program: %v", err)
	}
	if err := s.Remember(known, ConsentAsk); err != nil || len(s.OSC52) != maxPrograms-1 {
		t.Errorf("forget: %v, %d programs", err, len(s.OSC52))
	}
	if err := s.Remember(strings.Repeat("x", maxProgram+1), ConsentAllow); err == nil || len(s.OSC52) != maxPrograms-1 {
		t.Errorf("a name without end was kept")
	}
	if s, err := f.Load(); err != nil || len(s.OSC52) != maxPrograms {
		t.Errorf("stored %d programs (%v)", len(s.OSC52), err)
	}
}

func TestConsentIsTheStricterWhereConfigDenies(t *testing.T) {
	s := State{OSC52: map[string]Consent{"yes": ConsentAllow, "no": ConsentDeny}}
	for _, c := range []struct{ conf, yes, no, other Consent }{
		{ConsentAsk, ConsentAllow, ConsentDeny, ConsentAsk},
		{ConsentAllow, ConsentAllow, ConsentDeny, ConsentAllow},
		{ConsentDeny, ConsentDeny, ConsentDeny, ConsentDeny},
	} {
		conf := Defaults()
		conf.Clipboard.OSC52Write = c.conf
		if y, n, o := s.ConsentFor("yes", conf), s.ConsentFor("no", conf), s.ConsentFor("other", conf); y != c.yes || n != c.no || o != c.other {
			t.Errorf("%s: %s %s %s, want %v", c.conf, y, n, o, c)
		}
	}
}

func TestRememberedDockWinsOverTheConfiguredOne(t *testing.T) {
	c := Defaults()
	for _, k := range []struct {
		dock DockState
		want Dock
	}{
		{DockState{}, Dock{SideRight, 40}},
		{DockState{Right: 25, Bottom: 60}, Dock{SideRight, 25}},
		{DockState{Side: SideBottom, Right: 25}, Dock{SideBottom, 40}},
		{DockState{Side: SideBottom, Bottom: 60}, Dock{SideBottom, 60}},
	} {
		if got := (State{Dock: k.dock}).DockIn(c); got != k.want {
			t.Errorf("%+v: %+v, want %+v", k.dock, got, k.want)
		}
	}
}
