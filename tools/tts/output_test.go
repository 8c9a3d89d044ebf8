package tts

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

const greeting = "Guten Tag, wie geht es Ihnen?"

func hello(path string) Params {
	return Params{Text: greeting, OutputPath: path, Provider: "voice"}
}

func TestWithoutAnEncoderTheResultIsWAVUnderItsOwnName(t *testing.T) {
	w := newWorld(t, &voice{})
	mp3 := w.write(t, "notes.mp3", recording, 0o600)
	r := w.speak(t.Context(), hello("notes.mp3"))
	if r.Status != outcome.Complete || r.Path != w.at("notes.wav") || r.Requested != mp3 || r.Replaced != nil {
		t.Fatalf("%v, %v, %q for %q", r.Status, r.Err, r.Path, r.Requested)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "install ffmpeg or lame") }) {
		t.Errorf("notes %q", r.Notes)
	}
	isAudio(t, r.Path, audio.WAV)
	if b, err := os.ReadFile(mp3); err != nil || string(b) != recording {
		t.Errorf("notes.mp3 holds %.20q, %v", b, err)
	}
	before := w.tree(t)
	if r := w.speak(t.Context(), hello("notes.mp3")); r.Status != outcome.Refused || !errors.Is(r.Err, errSibling) || r.Kept == nil {
		t.Errorf("over a sibling that nobody named: %v, %v", r.Status, r.Err)
	}
	w.same(t, before)
	p := hello("notes.mp3")
	p.Force = true
	if r := w.speak(t.Context(), p); r.Status != outcome.Complete || r.Replaced == nil || r.Replaced.Path != w.at("notes.wav") || r.Replaced.Checkpoint == "" {
		t.Errorf("by force: %v, %v, %+v", r.Status, r.Err, r.Replaced)
	}
}

// fakeLame puts an encoder on PATH that writes what the file beside it holds.
func fakeLame(t *testing.T, w *world, writes []byte, exit int) {
	t.Helper()
	canned := filepath.Join(w.bin, "canned.mp3")
	if err := os.WriteFile(canned, writes, 0o600); err != nil {
		t.Fatal(err)
	}
	w.program(t, "lame", fmt.Sprintf(`for out; do :; done; cp %s "$out"; echo "lame: bad news" >&2; exit %d`, canned, exit))
}

func TestEncoderRunsOnceAndItsFileIsChecked(t *testing.T) {
	length := time.Duration(len(greeting)) * perLetter
	w := newWorld(t, &voice{chars: 12})
	fakeLame(t, w, toneMP3(length), 0)
	r := w.speak(t.Context(), hello("notes.mp3"))
	if r.Status != outcome.Complete || r.Path != w.at("notes.mp3") || r.Container != audio.MP3 || r.Chunks < 2 {
		t.Fatalf("%v, %v, %q", r.Status, r.Err, r.Path)
	}
	if off := (r.Duration - length).Abs(); off > 300*time.Millisecond {
		t.Errorf("it plays %v, want %v", r.Duration, length)
	}
	before := w.tree(t)
	for name, c := range map[string]struct {
		writes []byte
		exit   int
		want   string
	}{
		"exit 1":           {toneMP3(length), 1, "encode with lame: lame ended with exit 1: lame: bad news"},
		"a WAV":            {toneWAV(greeting), 0, "is wav and not mp3"},
		"nothing":          {nil, 0, "empty"},
		"a third of it":    {toneMP3(length / 3), 0, "truncated"},
		"a cut last frame": {toneMP3(length)[:1000], 0, "truncated"},
		"text":             {[]byte("usage: lame"), 0, "not audio"},
	} {
		fakeLame(t, w, c.writes, c.exit)
		r := w.speak(t.Context(), hello("notes.mp3"))
		if r.Status != outcome.Failed || !strings.Contains(r.ErrorLine(), c.want) {
			t.Errorf("%s: %v, %q", name, r.Status, r.ErrorLine())
		}
		w.same(t, before)
	}
}

func TestRealEncoderMakesWhatItsNameSays(t *testing.T) {
	found := false
	for name, want := range map[string]audio.Container{"lame": audio.MP3, "opusenc": audio.OggOpus, "ffmpeg": audio.OggOpus} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		found = true
		w := newWorld(t, &voice{})
		if err := os.Symlink(path, filepath.Join(w.bin, name)); err != nil {
			t.Fatal(err)
		}
		files := map[string]audio.Container{"x" + want.Extensions()[0]: want}
		proven := name != "opusenc"
		if name == "ffmpeg" {
			files["x.flac"], files["x.m4a"], files["x.mp3"] = audio.FLAC, audio.MP4, audio.MP3
		}
		if opusdec, err := exec.LookPath("opusdec"); err == nil && name == "opusenc" {
			proven = true
			if err := os.Symlink(opusdec, filepath.Join(w.bin, "opusdec")); err != nil {
				t.Fatal(err)
			}
		}
		for file, want := range files {
			r := w.speak(t.Context(), hello(file))
			length := time.Duration(len(greeting)) * perLetter
			if off := (r.Duration - length).Abs(); r.Status != outcome.Complete || r.Container != want || off > padding {
				t.Errorf("%s, %s: %v, %v, %q, %v", name, file, r.Status, r.Err, r.Container, r.Duration)
			}
			if believed := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "no program that decodes") }); believed == proven {
				t.Errorf("%s, %s: notes %q", name, file, r.Notes)
			}
		}
	}
	if !found {
		t.Skip("none of ffmpeg, lame, opusenc is installed")
	}
}

// fakeFFmpeg encodes by copying one file and decodes by copying another, and
// ends its decoding with an exit code.
func fakeFFmpeg(t *testing.T, w *world, encoded, decoded []byte, exit int) {
	t.Helper()
	for name, b := range map[string][]byte{"encoded": encoded, "decoded": decoded} {
		if err := os.WriteFile(filepath.Join(w.bin, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.program(t, "ffmpeg", fmt.Sprintf(`for out; do :; done
case " $* " in *" 8000 "*) cp '%[1]s/decoded' "$out"; echo "Invalid data found" >&2; exit %[2]d;; esac
cp '%[1]s/encoded' "$out"`, w.bin, exit))
}

// flacHead is the head of a FLAC file of 8 kHz, mono, 16 bit, that says how
// long it is; no samples follow.
func flacHead(length time.Duration) []byte {
	b := append([]byte("fLaC\x80\x00\x00\x22"), make([]byte, 34)...)
	frames := uint64(length.Seconds() * 8000)
	binary.BigEndian.PutUint64(b[18:], 8000<<44|15<<36|frames)
	return b
}

func TestFileThatIsNotDecodedHereIsDecodedByAProgram(t *testing.T) {
	length := time.Duration(len(greeting)) * perLetter
	w := newWorld(t, &voice{})
	before := w.tree(t)
	for name, c := range map[string]struct {
		decoded []byte
		exit    int
		want    string
	}{
		"exit 1":        {toneWAV(greeting), 1, "decoded with ffmpeg: ffmpeg ended with exit 1: Invalid data found"},
		"a third of it": {toneWAV(greeting[:len(greeting)/3]), 0, "truncated"},
		"no audio":      {[]byte("x"), 0, "not audio"},
		"nothing":       {nil, 0, "empty"},
	} {
		fakeFFmpeg(t, w, flacHead(length), c.decoded, c.exit)
		r := w.speak(t.Context(), hello("x.flac"))
		if r.Status != outcome.Failed || !strings.Contains(r.ErrorLine(), c.want) {
			t.Errorf("%s: %v, %q", name, r.Status, r.ErrorLine())
		}
		w.same(t, before)
	}
	says := func(r *Result) bool {
		return slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "only the encoder's word") })
	}
	fakeFFmpeg(t, w, flacHead(length), toneWAV(greeting), 0)
	if r := w.speak(t.Context(), hello("x.flac")); r.Status != outcome.Complete || says(r) {
		t.Errorf("decoded whole: %v, %v, %q", r.Status, r.Err, r.Notes)
	}
	fakeFFmpeg(t, w, flacHead(length), nil, 0)
	// The name is there and cannot be run: nobody can tell, and that is said.
	decoder := decoders[0]
	decoders[0].argv = func(string, string) []string { return []string{"no-such-decoder"} }
	defer func() { decoders[0] = decoder }()
	if r := w.speak(t.Context(), hello("y.flac")); r.Status != outcome.Complete || !says(r) {
		t.Errorf("not decoded: %v, %v, %q", r.Status, r.Err, r.Notes)
	}
}

func TestEncoderHasAsLongAsTheAudioPlays(t *testing.T) {
	w := newWorld(t, &voice{})
	fakeLame(t, w, toneMP3(time.Duration(len(greeting))*perLetter), 0)
	w.Config.Timeout = time.Nanosecond // of one request; the voice of the tests has none
	if r := w.speak(t.Context(), hello("x.mp3")); r.Status != outcome.Complete {
		t.Errorf("%v, %v", r.Status, r.Err)
	}
}

func TestFailureAfterTheLastChunkCanBeResumed(t *testing.T) {
	v := &voice{chars: 12}
	w := newWorld(t, v)
	fakeLame(t, w, []byte("x"), 0)
	r := w.speak(t.Context(), hello("x.mp3"))
	if r.Status != outcome.Failed || r.Resume == "" || r.Made != r.Chunks || r.Chunks < 2 {
		t.Fatalf("%v, %v, resume %q", r.Status, r.Err, r.Resume)
	}
	asked := v.count()
	r = w.speak(t.Context(), Params{Resume: r.Resume, OutputPath: "x.wav"})
	if r.Status != outcome.Complete || v.count() != asked || r.Reused != r.Chunks || r.Resume != "" {
		t.Errorf("%v, %v: asked %d times more", r.Status, r.Err, v.count()-asked)
	}
}

func TestMP3OfAProviderIsJoinedByFramesOrDecoded(t *testing.T) {
	for file, want := range map[string]audio.Container{"x.mp3": audio.MP3, "x.wav": audio.WAV} {
		for chunks, chars := range map[string]int{"one": 0, "many": 12} {
			v := &voice{makes: audio.MP3, chars: chars}
			w := newWorld(t, v)
			r := w.speak(t.Context(), hello(file))
			if r.Status != outcome.Complete || r.Container != want {
				t.Errorf("%s of %s: %v, %v", file, chunks, r.Status, r.Err)
				continue
			}
			length := time.Duration(len(greeting)) * perLetter
			if off := (r.Duration - length).Abs(); off > time.Duration(r.Chunks)*50*time.Millisecond {
				t.Errorf("%s of %s: it plays %v, want %v", file, chunks, r.Duration, length)
			}
			if len(r.Levels) != audio.Levels || slices.Max(r.Levels) == 0 {
				t.Errorf("%s of %s: levels %v", file, chunks, r.Levels)
			}
		}
	}
}

func TestChunksThatDoNotFitTogetherAreAnError(t *testing.T) {
	w := newWorld(t, &voice{chars: 12, do: func(_ context.Context, n int, r provider.Request) error {
		if n == 2 {
			return os.WriteFile(r.Out, toneMP3(300*time.Millisecond), 0o600)
		}
		return nil
	}})
	r := w.speak(t.Context(), hello("x.wav"))
	if r.Status != outcome.Failed || !strings.Contains(r.ErrorLine(), "chunk 2 is mp3 and the first is wav") {
		t.Errorf("%v, %q", r.Status, r.ErrorLine())
	}
	w.same(t, []string{" drwxr-xr-x"})
}

func TestNamesThatPromiseNoAudio(t *testing.T) {
	w := newWorld(t, &voice{})
	if r := w.speak(t.Context(), hello("notes")); r.Status != outcome.Complete || r.Path != w.at("notes.wav") {
		t.Errorf("no extension: %v, %v, %q", r.Status, r.Err, r.Path)
	}
	if r := w.speak(t.Context(), hello("notes.txt")); r.Status != outcome.Failed || !strings.Contains(r.ErrorLine(), "none of .wav") {
		t.Errorf("text: %v, %v", r.Status, r.Err)
	}
}

func TestCacheNamesItsFilesAndSaysWhenTheyGo(t *testing.T) {
	w := newWorld(t, &voice{})
	w.Now = func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89_000, time.UTC) }
	r := w.speak(t.Context(), hello(""))
	if r.Status != outcome.Complete || filepath.Base(r.Path) != "tts_20260304_050607_000089.wav" || r.Requested != "" {
		t.Fatalf("%v, %v, %q", r.Status, r.Err, r.Path)
	}
	if r.Sweep.After == nil || !r.Sweep.After.Equal(time.Date(2026, 3, 5, 5, 6, 7, 0, time.UTC)) || !strings.Contains(r.Sweep.Note, "24 hours") {
		t.Errorf("sweep %+v", r.Sweep)
	}
	if r := w.speak(t.Context(), hello("")); r.Status != outcome.Complete || filepath.Base(r.Path) != "tts_20260304_050607_000090.wav" {
		t.Errorf("a second file of one microsecond: %v, %v, %q", r.Status, r.Err, r.Path)
	}
	if r := w.speak(t.Context(), hello("mine.wav")); r.Sweep.After != nil || !strings.Contains(r.Sweep.Note, "never") {
		t.Errorf("sweep of a path of the user %+v", r.Sweep)
	}
}

func TestCacheSweepTakesOnlyOldFilesOfOurNames(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	old := now.Add(-25 * time.Hour)
	for _, n := range []string{"tts_20260101_000000_000001.wav", "tts_20260101_000000_000002.mp3", "mine.wav", "tts_20260101_000000_000003.wav.bak", "tts_x.wav"} {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, n), nil, 0o600), os.Chtimes(filepath.Join(dir, n), old, old)); err != nil {
			t.Fatal(err)
		}
	}
	young := "tts_20260101_000000_000004.wav"
	link := "tts_20260101_000000_000005.wav"
	if err := errors.Join(os.WriteFile(filepath.Join(dir, young), nil, 0o600), os.Symlink("mine.wav", filepath.Join(dir, link))); err != nil {
		t.Fatal(err)
	}
	if got, err := SweepCache(dir, -1, now); err != nil || got != nil {
		t.Errorf("a cache that keeps for ever: %q, %v", got, err)
	}
	got, err := SweepCache(dir, DefaultMaxAge, now)
	slices.Sort(got)
	if want := []string{"tts_20260101_000000_000001.wav", "tts_20260101_000000_000002.mp3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("removed %q, %v", got, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 5 {
		t.Errorf("left %v", left)
	}
}

func TestAutoTakesWhatIsConfiguredThenTheMachineThenRefuses(t *testing.T) {
	w := newWorld(t, &voice{})
	r := w.speak(t.Context(), Params{Text: "Guten Tag", OutputPath: "x.wav"})
	if r.Status != outcome.Refused || !strings.Contains(r.ErrorLine(), provider.Install()) || r.Used != "" || r.Asked != auto {
		t.Errorf("nothing there: %v, %q, used %q", r.Status, r.ErrorLine(), r.Used)
	}
	w.Config.Provider = "voice"
	r = w.speak(t.Context(), Params{Text: "Guten Tag", OutputPath: "x.wav"})
	if r.Status != outcome.Complete || r.Used != "voice" || !slices.Contains(r.Notes, "auto chose voice: it is configured") {
		t.Errorf("configured: %v, %v, %q, %q", r.Status, r.Err, r.Used, r.Notes)
	}
	r = w.speak(t.Context(), Params{Text: "Guten Tag", OutputPath: "y.wav", Provider: "edge"})
	if r.Status != outcome.Failed || !strings.Contains(r.ErrorLine(), "there is no provider of this name") || strings.Contains(r.ErrorLine(), "edge") {
		t.Errorf("unknown: %v, %q", r.Status, r.ErrorLine())
	}
	r = w.speak(t.Context(), Params{Text: "Guten Tag", OutputPath: "y.wav", Provider: "espeak"})
	if r.Status != outcome.Failed || !strings.HasPrefix(r.ErrorLine(), "TTS dependency missing (espeak-ng): ") {
		t.Errorf("asked for and missing: %v, %q", r.Status, r.ErrorLine())
	}
	r = w.speak(t.Context(), Params{Text: "Guten Tag", OutputPath: "x.wav", Provider: "openai"})
	if r.Status != outcome.Failed || r.Kept == nil || !strings.HasPrefix(r.ErrorLine(), "TTS configuration error (openai): ") {
		t.Errorf("asked for without a key: %v, %q", r.Status, r.ErrorLine())
	}
	states := Providers(t.Context(), w.Deps, "")
	if len(states) != 8 || states[7] != (State{Name: "voice", Ready: true}) || states[0].Ready || states[0].Why == "" || !states[5].Server || states[5].Name != "piper-http" {
		t.Errorf("providers %+v", states)
	}
}

func TestJSONHasTheNamesOfHermesAndNoNullThatLies(t *testing.T) {
	w := newWorld(t, &voice{})
	tool := Tool(w.Deps)
	call := func(params string) (map[string]any, tools.Answer) {
		t.Helper()
		c := complete(tools.Call{Dir: w.home})
		a := tool.Run(t.Context(), &c, json.RawMessage(params))
		raw, err := json.Marshal(a.Result)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if null := m["error"] == nil; null != (a.Status == outcome.Complete) || null != (a.Err == nil) || m["success"] != null {
			t.Errorf("%v with error %v and success %v", a.Status, m["error"], m["success"])
		}
		return m, a
	}
	m, a := call(`{"text":"Guten Tag","output_path":"x.wav","provider":"voice"}`)
	for key, want := range map[string]any{
		"file_path": w.at("x.wav"), "actual_path": w.at("x.wav"), "requested_path": w.at("x.wav"), "media_tag": "MEDIA:" + w.at("x.wav"),
		"provider": "voice", "provider_asked": "voice", "provider_used": "voice", "voice_compatible": false, "chunk_count": 1.0,
		"delivery_file_count": 1.0, "combined_chunks": false, "container": "wav", "status": "complete", "duration_ms": 180.0, "replaced": nil,
	} {
		if m[key] != want {
			t.Errorf("%s = %v, want %v", key, m[key], want)
		}
	}
	if len(m["levels"].([]any)) != audio.Levels || len(m["sha256"].(string)) != 64 || !strings.Contains(a.Summary, "WAV 0:00 voice") {
		t.Errorf("levels %v, sha256 %v, summary %q", m["levels"], m["sha256"], a.Summary)
	}
	m, a = call(`{"text":"...","output_path":"y.wav","provider":"voice"}`)
	if m["file_path"] != nil || m["duration_ms"] != nil || m["size"] != nil || m["container"] != nil || a.Status != outcome.Failed {
		t.Errorf("a failure claims %v", m)
	}
	for _, bad := range []string{`[]`, `{"text":7}`, `x`} {
		if _, a := call(bad); a.Status != outcome.Refused {
			t.Errorf("%s: %v", bad, a.Status)
		}
	}
	if got := tool.Title(json.RawMessage(`{"text":"# Hi\nthere"}`)); got != `"# Hi there"` {
		t.Errorf("title %s", got)
	}
}

func TestPlayerEndsFailsAndStopsAudibly(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.home, "x.wav")
	if err := os.WriteFile(file, toneWAV("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Play(t.Context(), w.Deps, file); err == nil || !strings.Contains(err.Error(), "no player") {
		t.Errorf("no player: %v", err)
	}
	w.program(t, "aplay", `[ "$1" = -q ] && [ -f "$2" ]`)
	w.program(t, "afplay", `[ -f "$1" ]`)
	name, err := Play(t.Context(), w.Deps, file)
	if err != nil || !strings.HasSuffix(name, "play") {
		t.Errorf("%q, %v", name, err)
	}
	w.program(t, name, `echo "no sound card" >&2; exit 1`)
	if _, err := Play(t.Context(), w.Deps, file); err == nil || !strings.Contains(err.Error(), "exit 1: no sound card") {
		t.Errorf("a player that fails: %v", err)
	}
	long := filepath.Join(w.home, "long.wav")
	if err := os.WriteFile(long, toneWAV(strings.Repeat("x", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.program(t, name, `echo "audio open failed" >&2`)
	if _, err := Play(t.Context(), w.Deps, long); err == nil || !strings.Contains(err.Error(), "ended with exit 0 after") || !strings.Contains(err.Error(), "of 20.0s: audio open failed") {
		t.Errorf("a player that ends at once and says 0: %v", err)
	}
	started := filepath.Join(w.home, "started")
	if err := exec.Command("mkfifo", started).Run(); err != nil {
		t.Fatal(err)
	}
	w.program(t, name, `: > "`+started+`"; exec sleep 1000`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := Play(ctx, w.Deps, file); done <- err }()
	f, err := os.Open(started) // opens when the player does
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	for path, want := range map[string]string{w.home: "no regular file", w.at("none"): "no such file", w.bin + "/aplay": "not audio"} {
		if _, err := Play(t.Context(), w.Deps, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestProgressIsTold(t *testing.T) {
	w := newWorld(t, &voice{chars: 12})
	var said []string
	Speak(t.Context(), w.Deps, hello("x.wav"), tools.Call{Dir: w.home, Report: func(done, total int64, what string) {
		said = append(said, fmt.Sprintf("%d/%d %s", done, total, what))
	}})
	want := []string{"0/3 chunk 1 of 3", "1/3 chunk 2 of 3", "2/3 chunk 3 of 3", "3/3 join", "3/3 publish"}
	if !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
}
