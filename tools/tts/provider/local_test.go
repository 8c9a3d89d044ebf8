package provider

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts/audio"
)

// fifo makes the two named pipes of an engine that hangs: it says that it was
// asked by a file, and waits on a pipe that nobody writes to.
func fifo(t *testing.T, dir string, asked chan struct{}) {
	t.Helper()
	for _, n := range []string{"never", "asked"} {
		if err := syscall.Mkfifo(filepath.Join(dir, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		f, err := os.Open(filepath.Join(dir, "asked")) // opens when the engine does
		if err == nil {
			_ = f.Close()
			close(asked)
		}
	}()
	t.Cleanup(func() {
		// Without an engine the reader above still waits.
		if f, err := os.OpenFile(filepath.Join(dir, "asked"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
		<-joined
	})
}

func TestMissingProgramIsNamedWithTheLineThatInstallsIt(t *testing.T) {
	x := Exec{Poller: poller, Env: []string{"PATH=" + t.TempDir()}}
	err := NewEspeak(x, "").Ready(t.Context(), "")
	if kindOf(t, err) != Missing || !strings.Contains(err.Error(), Install()) {
		t.Errorf("Ready = %v", err)
	}
	_, err = NewEspeak(x, "").Speak(t.Context(), request(t, "x"))
	if kindOf(t, err) != Missing {
		t.Errorf("Speak = %v", err)
	}
}

func TestLanguageWithoutAVoiceIsNotReady(t *testing.T) {
	e, x := program(t, "espeak-ng", works, 0)
	_ = e
	x.Env = append(x.Env, "FAKE_NAME=espeak-ng")
	script := "#!/bin/sh\necho 'Pty Language'\n"
	if err := os.WriteFile(filepath.Join(strings.TrimPrefix(strings.Split(x.Env[0], ":")[0], "PATH="), "espeak-ng"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := NewEspeak(x, "").Ready(t.Context(), "tlh"); kindOf(t, err) != Missing {
		t.Errorf("Ready = %v", err)
	}
}

func TestAnotherProgramCalledPiperIsFoundOut(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "piper"), []byte("#!/bin/sh\necho 'Configure your gaming mouse'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := Exec{Poller: poller, Env: []string{"PATH=" + dir}}
	if err := NewPiper(x, "", filepath.Join(dir, "piper")).Ready(t.Context(), ""); kindOf(t, err) != Missing {
		t.Errorf("Ready = %v", err)
	}
	if err := NewPiper(x, "", "").Ready(t.Context(), ""); kindOf(t, err) != Config {
		t.Errorf("without a model: %v", err)
	}
}

func TestTemplateIsCheckedBeforeItRuns(t *testing.T) {
	x := Exec{Poller: poller}
	for _, c := range []struct {
		words []string
		ok    bool
	}{
		{[]string{"sh", "{input_path}", "{output_path}"}, true},
		{[]string{"sh", "--in={text_path}", "--out={output_path}", "-v{voice}", "{format}{model}{speed}{language}"}, true},
		{[]string{"sh", "{text}", "{output_path}"}, false},
		{[]string{"sh", "{input_path}"}, false},
		{[]string{"sh", "{output_path}"}, false},
		{[]string{"sh", "{input_path}", "{output_path}", "{voise}"}, false},
		{[]string{"{input_path}", "{output_path}"}, false},
		{nil, false},
	} {
		err := NewTemplate(x, "mine", Template{Command: c.words}).Ready(t.Context(), "")
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.words, err)
		}
	}
}

func TestTemplateValuesStayOneWord(t *testing.T) {
	e, x := program(t, "my-engine", works, 0)
	p := NewTemplate(x, "mine", Template{Command: []string{"my-engine", "-f", "{input_path}", "-w", "{output_path}", "{voice}", "{speed}"}})
	r := request(t, "x")
	r.Voice, r.Speed = "a b; touch /x $(id)", 1.5
	if _, err := p.Speak(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if words := strings.Split(e.argv(), "\n"); !slices.Equal(words[4:], []string{"a b; touch /x $(id)", "1.5"}) {
		t.Errorf("argv = %q", words)
	}
}

func TestLocalProgramsGetNoKeys(t *testing.T) {
	x := Exec{Env: []string{"PATH=/bin", "OPENAI_API_KEY=1", "My_Secret=2", "GITHUB_TOKEN=3", "LANG=de"}}
	if got := x.env(false); !slices.Equal(got, []string{"PATH=/bin", "LANG=de"}) {
		t.Errorf("env = %q", got)
	}
	if got := x.env(true); len(got) != 5 {
		t.Errorf("env of a command of the user = %q", got)
	}
}

func TestProgramThatWritesWithoutEndIsStopped(t *testing.T) {
	dir := t.TempDir()
	for name, j := range map[string]Job{
		"prints": {Argv: []string{"sh", "-c", "while :; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; done"}},
		"writes": {Argv: []string{"sh", "-c", "while :; do cat /bin/sh; done > '" + dir + "/out'"}, Grows: []string{dir + "/out"}, MaxOut: 1 << 20},
	} {
		j.Dir, j.Log = dir, filepath.Join(dir, name+".log")
		_, err := Exec{Poller: poller}.Run(t.Context(), j)
		if kindOf(t, err) != TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInjectedFailuresOfARunAreLocal(t *testing.T) {
	for _, step := range []string{"log", "input", "start"} {
		dir := t.TempDir()
		x := Exec{Poller: poller, Fault: func(s string) error {
			if s == step {
				return syscall.EMFILE
			}
			return nil
		}}
		_, err := x.Run(t.Context(), Job{Argv: []string{"sh", "-c", ":"}, Dir: dir, Log: filepath.Join(dir, "log")})
		if kindOf(t, err) != Local || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "EMFILE") {
			t.Errorf("%s: %v", step, err)
		}
		if l := leftovers(t, filepath.Join(dir, "none")); l != nil {
			t.Errorf("%s left %q", step, l)
		}
	}
}

func TestSpeedIsWordsAMinute(t *testing.T) {
	for speed, want := range map[float64]int{0: 175, 1: 175, 2: 350, 4: 450, 0.25: 80} {
		if got := perMinute(Request{Speed: speed}, espeakMin, espeakMax); got != want {
			t.Errorf("speed %v: %d words a minute, want %d", speed, got, want)
		}
	}
}

func TestRealEspeakSpeaksAndSaysWhatItLacks(t *testing.T) {
	spoken(t)
	p := NewEspeak(Exec{Poller: poller}, "")
	if err := p.Ready(t.Context(), "de-AT"); err != nil {
		t.Errorf("Ready in German: %v", err)
	}
	if err := p.Ready(t.Context(), "xx"); kindOf(t, err) != Missing {
		t.Errorf("Ready in no language: %v", err)
	}
	r := request(t, "Hallo")
	r.Language = "de"
	m, err := p.Speak(t.Context(), r)
	if err != nil || m.Voice != "de" {
		t.Fatalf("%+v, %v", m, err)
	}
	if info, err := audio.Inspect(r.Out); err != nil || info.Rate != 22050 || !info.Framed || info.Peak == 0 {
		t.Errorf("%+v, %v", info, err)
	}
	r = request(t, "Hallo")
	r.Voice = "nobody"
	if _, err := p.Speak(t.Context(), r); kindOf(t, err) != Failed || !strings.Contains(err.Error(), "voice does not exist") {
		t.Errorf("a voice that is not there: %v", err)
	}
	// Its exit code is 0 for a folder that is not there.
	r = request(t, "Hallo")
	argv := []string{"espeak-ng", "-f", r.Out + ".txt", "-w", filepath.Join(filepath.Dir(r.Out), "none", "x.wav")}
	if err := p.speak(t.Context(), r, argv, false); kindOf(t, err) != Silent {
		t.Errorf("exit 0 without a file: %v", err)
	}
}

func TestReasonThatAProgramPrintsLastIsWhatIsSaid(t *testing.T) {
	dir := t.TempDir()
	noise := strings.Repeat("warning: this card is not that card\n", 100)
	path := filepath.Join(dir, "noisy")
	script := "#!/bin/sh\ncat <<'EOF'\n" + noise + "the reason\nEOF\nexit 1\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Exec{Poller: poller}.Run(t.Context(), Job{Argv: []string{path}, Dir: dir, Log: filepath.Join(dir, "log")})
	if err == nil || !strings.HasSuffix(err.Error(), "the reason") || strings.Contains(err.Error(), "…") {
		t.Errorf("error = %v", err)
	}
	for text, want := range map[string]string{
		"": "", "\n\n": "", "one": "one", "one\ntwo\n": "one\ntwo", "x\n" + strings.Repeat("y", 400): strings.Repeat("y", 400),
		strings.Repeat("y", 400) + "\nz": "z",
	} {
		if got := lastLines(text); got != want {
			t.Errorf("last lines of %.20q are %.20q", text, got)
		}
	}
}

func TestMessageIsOneSafeLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\x1b[0m\u2028c":       "a b [0m c",
		"see media:/x MeDiA:\"y\"": "see media :/x MeDiA :\"y\"",
		"\xff":                     "?",
		strings.Repeat("x", 400):   strings.Repeat("x", 300) + "…",
	} {
		if got := Message(in); got != want {
			t.Errorf("Message(%q) = %q", in, got)
		}
	}
	e := &Error{Kind: TimedOut, What: "no audio"}
	if !errors.Is(e, outcome.ErrTimeout) || Kind(200).String() == "" {
		t.Error("a timeout is not told by its sentinel")
	}
}
