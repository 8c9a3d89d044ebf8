package tts

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
)

// faultSteps are the named points at which a call can be made to fail, and the
// error that each fails with.
var faultSteps = map[string]error{
	"register the work folder": syscall.ENOSPC, "create a folder": syscall.EMFILE, "create the work folder": syscall.EMFILE,
	"mark the work folder": syscall.ENOSPC, "lock the marker": syscall.EIO, "log": syscall.EMFILE, "input": syscall.EMFILE, "start": syscall.EMFILE,
	"create": syscall.EMFILE, "write": syscall.ENOSPC, "short write": io.ErrShortWrite, "close": syscall.EIO, "open": syscall.EMFILE,
	"sync": syscall.EIO, "keep the old content": syscall.ENOSPC, "set the mode": syscall.EPERM, "rename": syscall.EIO, "sync folder": syscall.EIO,
}

// engines are the kinds of provider, each over an engine that works or, where
// it is told to, fails.
var engines = []string{"voice", "espeak-ng", "say", "piper", "mine", "openai", "elevenlabs", "piper-http", "wyoming"}

// targets are the kinds of target. Each is put into the home and gives the
// path to ask for, and whether a call that works may replace it.
var targets = []struct {
	name     string
	put      func(t *testing.T, w *world) string
	replaces bool
}{
	{"file", func(t *testing.T, w *world) string { return w.write(t, "x.wav", recording, 0o640) }, true},
	{"new path", func(_ *testing.T, w *world) string { return w.at("x.wav") }, true},
	{"missing parent", func(_ *testing.T, w *world) string { return w.at("a/b/x.wav") }, true},
	{"symlink", func(t *testing.T, w *world) string {
		w.write(t, "real.wav", recording, 0o600)
		check(t, os.Symlink("real.wav", w.at("x.wav")))
		return w.at("x.wav")
	}, true},
	{"dangling symlink", func(t *testing.T, w *world) string {
		check(t, os.Symlink("gone.wav", w.at("x.wav")))
		return w.at("x.wav")
	}, true},
	{"hard link", func(t *testing.T, w *world) string {
		check(t, os.Link(w.write(t, "other.wav", recording, 0o600), w.at("x.wav")))
		return w.at("x.wav")
	}, true},
	{"read-only file", func(t *testing.T, w *world) string { return w.write(t, "x.wav", recording, 0o444) }, false},
	{"folder", func(t *testing.T, w *world) string { check(t, os.Mkdir(w.at("x.wav"), 0o755)); return w.at("x.wav") }, false},
	{"folder without an extension", func(t *testing.T, w *world) string { check(t, os.Mkdir(w.at("x"), 0o755)); return w.at("x") }, false},
	{"named pipe", func(t *testing.T, w *world) string {
		check(t, syscall.Mkfifo(w.at("x.wav"), 0o600))
		return w.at("x.wav")
	}, false},
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakes are servers that speak with the tone of the tests, or fail.
type fakes struct {
	mu      sync.Mutex
	failing bool
	voice   func(text string) []byte // WAV
	url     string
	wyoming string
}

func (f *fakes) fail(v bool) { f.mu.Lock(); f.failing = v; f.mu.Unlock() }
func (f *fakes) fails() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.failing }

func newFakes(t *testing.T) *fakes {
	t.Helper()
	f := &fakes{voice: toneWAV}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Text, Input string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		if f.fails() {
			http.Error(w, "out of voices", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(f.voice(body.Text + body.Input))
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.answer(conn)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { s.Close(); _ = l.Close(); wg.Wait() })
	f.url, f.wyoming = s.URL, l.Addr().String()
	return f
}

func (f *fakes) answer(conn net.Conn) {
	br := bufio.NewReader(conn)
	line, _ := br.ReadBytes('\n')
	var e struct {
		Length int `json:"data_length"`
	}
	_ = json.Unmarshal(line, &e)
	var data struct{ Text string }
	_ = json.NewDecoder(io.LimitReader(br, int64(e.Length))).Decode(&data)
	if f.fails() {
		fmt.Fprintln(conn, `{"type":"error","data":{"text":"out of voices"}}`)
		return
	}
	wav := f.voice(data.Text)
	pcm, rate := wav[44:], binary.LittleEndian.Uint32(wav[24:])
	fmt.Fprintf(conn, `{"type":"audio-start","data":{"rate":%d,"width":2,"channels":1}}`+"\n", rate)
	fmt.Fprintf(conn, `{"type":"audio-chunk","payload_length":%d}`+"\n", len(pcm))
	_, _ = conn.Write(pcm)
	fmt.Fprintln(conn, `{"type":"audio-stop"}`)
}

// matrixWorld is a world in which every kind of provider is at hand.
func matrixWorld(t *testing.T, f *fakes) *world {
	t.Helper()
	w := newWorld(t, &voice{})
	canned := filepath.Join(w.bin, "canned")
	check(t, os.WriteFile(canned, toneWAV(greeting), 0o600))
	does := `cp '` + canned + `' "$out"`
	if f.fails() {
		does = `echo "out of voices" >&2; exit 1`
	}
	for _, name := range []string{"espeak-ng", "say", "piper", "mine"} {
		w.program(t, name, `case "$1" in --help) echo --output-raw; exit;; --voices=*) printf 'head\n de\n'; exit;; esac
[ "$1 $2" = "-v ?" ] && exit
while [ $# -gt 0 ]; do case "$1" in -w|-o) out=$2;; -f) [ `+name+` = piper ] && out=$2;; esac; shift; done
`+does)
	}
	w.Config = Config{
		PiperModel: canned, PiperURL: f.url, Wyoming: f.wyoming,
		OpenAI: Server{URL: f.url, Key: "k"}, ElevenLabs: Server{URL: f.url, Key: "k", Format: "pcm_8000"},
		Commands: map[string]Command{"mine": {Words: []string{"mine", "-i", "{input_path}", "-w", "{output_path}"}}},
	}
	return w
}

// besideProvider are the steps that a provider has a part in.
var besideProvider = []string{"create", "write", "close", "log", "input", "start", "rename", "sync folder"}

// soak runs the whole product. Otherwise each step meets every target with the
// quick provider, and every provider meets an existing file in the steps that
// it has a part in.
var soak = os.Getenv("HONESTTY_SOAK") != ""

func TestFailureAtEveryStepCostsNothing(t *testing.T) {
	f := newFakes(t)
	for _, engine := range engines {
		for _, target := range targets {
			if !soak && engine != "voice" && target.name != "file" {
				continue
			}
			reached := map[string]bool{}
			for step, cause := range faultSteps {
				if !target.replaces && step != "create" {
					continue // refused before any step
				}
				if !soak && engine != "voice" && !slices.Contains(besideProvider, step) {
					continue
				}
				w := matrixWorld(t, f)
				path := target.put(t, w)
				before := w.tree(t)
				w.fault = func(s string) error {
					if s == step {
						reached[step] = true
						return cause
					}
					return nil
				}
				r := w.speak(t.Context(), Params{Text: greeting, OutputPath: path, Provider: engine, Voice: "de"})
				switch {
				case !target.replaces:
					if r.Status != outcome.Refused {
						t.Errorf("%s, %s, %s: %v, %v", engine, target.name, step, r.Status, r.Err)
					}
				case reached[step]:
					if r.Status != outcome.Failed || r.Path != "" || r.Replaced != nil {
						t.Errorf("%s, %s, %s: %v, %v", engine, target.name, step, r.Status, r.Err)
					}
				default:
					continue // this provider and target have no such step
				}
				if after := w.tree(t); !slices.Equal(before, after) {
					t.Errorf("%s, %s, %s: the home changed\nbefore %.200q\nafter  %.200q", engine, target.name, step, before, after)
				}
			}
			if n := len(reached); target.replaces && n < 5 {
				t.Errorf("%s, %s: only %d steps were reached", engine, target.name, n)
			}
		}
	}
}

func TestFailingProviderCostsNothingAndAWorkingOneDelivers(t *testing.T) {
	before := leak.Take(t)
	t.Run("all", func(t *testing.T) {
		f := newFakes(t)
		for _, engine := range engines[1:] {
			for _, target := range targets {
				f.fail(true)
				w := matrixWorld(t, f)
				path := target.put(t, w)
				before := w.tree(t)
				p := Params{Text: greeting, OutputPath: path, Provider: engine, Voice: "de"}
				r := w.speak(t.Context(), p)
				want := map[bool]outcome.Status{true: outcome.Failed, false: outcome.Refused}[target.replaces]
				if r.Status != want {
					t.Errorf("%s, %s: %v, %v", engine, target.name, r.Status, r.Err)
				}
				w.same(t, before)
				if !target.replaces {
					continue
				}
				f.fail(false)
				w = matrixWorld(t, f)
				path = target.put(t, w)
				r = w.speak(t.Context(), p2(p, path))
				if r.Status != outcome.Complete {
					t.Errorf("%s, %s: %v, %v", engine, target.name, r.Status, r.Err)
					continue
				}
				isAudio(t, path, "wav") // through the link, where there is one
				if (len(w.vault.kept) == 1) != (r.Replaced != nil) {
					t.Errorf("%s, %s: kept %d, replaced %+v", engine, target.name, len(w.vault.kept), r.Replaced)
				}
			}
		}
	})
	before.Check(t)
}

func p2(p Params, path string) Params {
	p.OutputPath = path
	return p
}

func TestSymlinkStaysAndItsFileIsReplaced(t *testing.T) {
	w := newWorld(t, &voice{})
	w.write(t, "real.wav", recording, 0o600)
	check(t, os.Symlink("real.wav", w.at("x.wav")))
	r := w.speak(t.Context(), hello("x.wav"))
	if r.Status != outcome.Complete || r.Path != w.at("real.wav") || r.Requested != w.at("x.wav") {
		t.Fatalf("%v, %v, %q", r.Status, r.Err, r.Path)
	}
	if to, err := os.Readlink(w.at("x.wav")); err != nil || to != "real.wav" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestCheckpointThatFailsStopsTheReplacing(t *testing.T) {
	w := newWorld(t, &voice{})
	w.vault.err = syscall.EDQUOT
	path := w.write(t, "x.wav", recording, 0o600)
	before := w.tree(t)
	if r := w.speak(t.Context(), hello(path)); r.Status != outcome.Failed {
		t.Errorf("%v, %v", r.Status, r.Err)
	}
	w.same(t, before)
	w.Keep = nil
	if r := w.speak(t.Context(), hello(path)); r.Status != outcome.Refused {
		t.Errorf("no store: %v, %v", r.Status, r.Err)
	}
	w.same(t, before)
	p := hello(path)
	p.NoClobber = true
	if r := w.speak(t.Context(), p); r.Status != outcome.Refused {
		t.Errorf("no clobber: %v, %v", r.Status, r.Err)
	}
	w.same(t, before)
}
