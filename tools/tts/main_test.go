package tts

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

var poller *fdwait.Poller

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := proc.SealInherited(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if poller, err = fdwait.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer poller.Close()
	if path := os.Getenv(killedChild); path != "" {
		speakUntilKilled(path, os.Getenv(killedState), os.Getenv(killedStep))
		return 0
	}
	return m.Run()
}

// perLetter is how long the voice of the tests speaks a letter.
const perLetter = 20 * time.Millisecond

// toneWAV is a WAV of a tone that lasts as long as the text would.
func toneWAV(text string) []byte {
	const rate = 8000
	frames := max(rate/50, int(float64(len(text))*perLetter.Seconds()*rate))
	b, err := audio.WAVHeader(audio.Format{Rate: rate, Channels: 1}, int64(frames*2))
	if err != nil {
		panic(err)
	}
	for i := range frames {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(9000*math.Sin(float64(i)/8))))
	}
	return b
}

// toneMP3 makes MPEG 1 layer III frames, 44.1 kHz, mono, 64 kbit/s, each with
// one spectral line, for at least d.
func toneMP3(d time.Duration) []byte {
	const side = 17
	bits := func(b []byte, at, n int, v uint32) {
		for i := range n {
			if v>>(n-1-i)&1 == 1 {
				b[(at+i)/8] |= 0x80 >> ((at + i) % 8)
			}
		}
	}
	var out []byte
	frames := int(d.Seconds()*44100/1152) + 1
	for range frames {
		f := make([]byte, 144*64000/44100)
		binary.BigEndian.PutUint32(f, 0xFFFB50C0)
		for g := range 2 {
			at := 32 + 18 + g*59
			bits(f, at, 12, 3)     // part2_3_length
			bits(f, at+12, 9, 1)   // big_values
			bits(f, at+21, 8, 200) // global_gain
			bits(f, at+29+5, 5, 1) // table_select of the first region
			bits(f, (4+side)*8+g*3, 3, 0b010)
		}
		out = append(out, f...)
	}
	return out
}

// A voice is a provider inside the test.
type voice struct {
	mu    sync.Mutex
	asked []string
	chars int
	makes audio.Container
	do    func(ctx context.Context, n int, r provider.Request) error // nil: speaks; n counts from 1
}

func (v *voice) Name() string { return "voice" }
func (v *voice) Limits() provider.Limits {
	m := v.makes
	if m == audio.Unrecognised {
		m = audio.WAV
	}
	return provider.Limits{Chars: v.chars, Makes: m}
}
func (v *voice) Identity() string                    { return "voice of the tests" }
func (v *voice) Ready(context.Context, string) error { return nil }
func (v *voice) Speak(ctx context.Context, r provider.Request) (provider.Made, error) {
	v.mu.Lock()
	v.asked = append(v.asked, r.Text)
	n := len(v.asked)
	v.mu.Unlock()
	if v.do != nil {
		if err := v.do(ctx, n, r); err != nil {
			return provider.Made{}, err
		}
		if _, err := os.Lstat(r.Out); err == nil {
			return provider.Made{}, nil
		}
	}
	if v.makes == audio.MP3 {
		return provider.Made{}, os.WriteFile(r.Out, toneMP3(time.Duration(len(r.Text))*perLetter), 0o600)
	}
	return provider.Made{Voice: "tone"}, os.WriteFile(r.Out, toneWAV(r.Text), 0o600)
}

func (v *voice) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.asked)
}

// A vault is the checkpoint store of the tests.
type vault struct {
	mu   sync.Mutex
	kept []string
	err  error
}

func (v *vault) keep(f *os.File, _, _ string) (string, error) {
	b, err := io.ReadAll(f)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return "", v.err
	}
	v.kept = append(v.kept, string(b))
	return fmt.Sprintf("c%d", len(v.kept)), nil
}

// world is a home with nothing installed but what a test puts on PATH.
type world struct {
	Deps
	home  string
	bin   string
	vault *vault
}

func newWorld(t testing.TB, extra ...provider.Provider) *world {
	t.Helper()
	root := t.TempDir()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	w := &world{home: filepath.Join(root, "home"), bin: filepath.Join(root, "bin"), vault: &vault{}}
	for _, d := range []string{w.home, w.bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.Deps = Deps{
		Poller: poller, Env: []string{"PATH=" + w.bin, "HOME=" + w.home},
		Policy: safepath.Policy{Home: w.home}, Keep: w.vault.keep,
		AudioDir: filepath.Join(root, "cache"), StateDir: filepath.Join(root, "state"),
		Extra: extra,
	}
	return w
}

// program puts a shell script on the PATH of the world.
func (w *world) program(t testing.TB, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.bin, name), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (w *world) at(name string) string { return filepath.Join(w.home, name) }

func (w *world) speak(ctx context.Context, p Params) *Result {
	return Speak(ctx, w.Deps, p, tools.Call{ID: "call-1", Dir: w.home})
}

func (w *world) write(t testing.TB, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := w.at(name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// tree lists everything in the home with mode and content.
func (w *world) tree(t testing.TB) (out []string) {
	t.Helper()
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(path, w.home) + " " + st.Mode().String()
		switch {
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(b)
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + to
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) same(t testing.TB, before []string) {
	t.Helper()
	if after := w.tree(t); !slices.Equal(before, after) {
		t.Errorf("the home changed\nbefore %.300q\nafter  %.300q", before, after)
	}
}

func isAudio(t testing.TB, path string, want audio.Container) audio.Info {
	t.Helper()
	info, err := audio.Inspect(path)
	if err != nil || info.Container != want {
		t.Errorf("%s is %q: %v; want %q", filepath.Base(path), info.Container, err, want)
	}
	return info
}
