package tts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

// These tell this test binary to be the process that is killed: the target, the
// state folder, and the step at which it kills itself; without a step it waits
// for that in its second chunk.
const (
	killedChild = "HONESTTY_TTS_TEST_KILLED"
	killedState = killedChild + "_STATE"
	killedStep  = killedChild + "_STEP"
)

func speakUntilKilled(path, state, step string) {
	v := &voice{chars: 40, do: func(_ context.Context, n int, r provider.Request) error {
		if n == 2 && step == "" {
			_ = os.WriteFile(r.Out, []byte("half a chunk"), 0o600)
			fmt.Print("x")
			select {}
		}
		return nil
	}}
	Speak(context.Background(), Deps{
		Poller: poller, StateDir: state, Extra: []provider.Provider{v},
		Keep: (&vault{}).keep, Policy: safepath.Policy{Home: filepath.Dir(path)},
		fault: func(s string) error {
			if s == step {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		},
	}, Params{Text: "Der Satz vor dem Ende von " + filepath.Base(path) + ". Nach " + filepath.Base(path) + " noch.", OutputPath: path, Provider: "voice"}, tools.Call{})
}

// killedAt runs a call that is killed at a step.
func killedAt(t *testing.T, w *world, target, step string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedChild+"="+target, killedState+"="+w.StateDir, killedStep+"="+step)
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Success() || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("%s was not reached: %v", step, err)
	}
}

func TestKilledAtEveryStepCostsNothingAndLeavesNothing(t *testing.T) {
	for _, step := range []string{
		"register the work folder", "create a folder", "create the work folder", "mark the work folder", "lock the marker",
		"create", "write", "close", "open", "sync", "keep the old content", "set the mode", "rename", "sync folder",
	} {
		for name, exists := range map[string]bool{"an existing file": true, "a new path": false} {
			if step == "create a folder" && exists || (step == "keep the old content" || step == "set the mode") && !exists {
				continue // there is no such step
			}
			w := newWorld(t)
			target := w.at("a/b/x.wav")
			if exists {
				target = w.write(t, "x.wav", recording, 0o640)
			}
			before := w.tree(t)
			killedAt(t, w, target, step)
			if _, err := SweepLeft(w.Deps); err != nil {
				t.Errorf("%s, %s: %v", step, name, err)
			}
			if step == "sync folder" { // published, and only the folder was not synced yet
				isAudio(t, target, audio.WAV)
				if entries, _ := os.ReadDir(filepath.Dir(target)); len(entries) != 1 {
					t.Errorf("%s, %s: left beside it: %v", step, name, entries)
				}
			} else if after := w.tree(t); !slices.Equal(before, after) {
				t.Errorf("%s, %s: the home changed\nbefore %.200q\nafter  %.200q", step, name, before, after)
			}
			if left, _ := os.ReadDir(w.registry()); len(left) > 0 {
				t.Errorf("%s, %s: left in the registry: %v", step, name, left)
			}
		}
	}
}

func TestKilledProcessLeavesNothingAfterTheNextStart(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "x.wav", recording, 0o600)
	before := w.tree(t)
	for name, target := range map[string]string{"existing": path, "new": w.at("a/b/new.wav")} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedChild+"="+target, killedState+"="+w.StateDir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // it has finished one of two chunks
			t.Fatalf("%s: %v", name, err)
		}
		if s, err := SweepLeft(w.Deps); err != nil || s.Folders != 0 {
			t.Errorf("%s: swept %+v of a living call, %v", name, s, err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if slices.Equal(before, w.tree(t)) {
			t.Fatalf("%s: nothing was left, so the test tests nothing", name)
		}
		if s, err := SweepLeft(w.Deps); err != nil || s.Folders != 1 {
			t.Errorf("%s: swept %+v, %v", name, s, err)
		}
		w.same(t, before)
	}
}
