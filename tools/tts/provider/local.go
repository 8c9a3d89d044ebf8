package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/honestty/honestty/tools/tts/audio"
)

// engine is what the programs on this machine have in common: text by file or
// pipe, WAV by file.
type engine struct {
	Exec
	name string
}

func (e engine) Name() string { return e.name }

// noSound keeps espeak-ng from the sound server: it connects also when it
// writes to a file, and leaves folders in the home and in the temporary folder.
var noSound = []string{"PULSE_SERVER=/dev/null"}

// speak writes the text, runs argv and looks whether there is audio at r.Out.
func (e engine) speak(ctx context.Context, r Request, argv []string, byPipe bool) error {
	in := r.Out + ".txt"
	if err := writeNew(in, r.Text+"\n"); err != nil {
		return err
	}
	defer os.Remove(in)
	j := Job{Argv: argv, Dir: filepath.Dir(r.Out), Log: r.Out + ".log", Grows: []string{r.Out}, Env: noSound}
	if byPipe {
		j.Stdin = in
	}
	said, err := e.Run(ctx, j)
	if err != nil {
		return err
	}
	return expectAudio(r.Out, argv[0], said)
}

// expectAudio looks at the file that an engine says it made.
func expectAudio(path, program, said string) error {
	program = filepath.Base(program)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Error{Kind: Silent, What: program + " ended with exit 0 and wrote no file", Said: said}
	}
	if err != nil {
		return newError(Local, "open the audio", err)
	}
	defer f.Close()
	c, err := audio.Sniff(f)
	switch {
	case err != nil:
		return newError(Local, "read the audio", err)
	case sizeOf(path) == 0:
		return &Error{Kind: Silent, What: program + " ended with exit 0 and wrote an empty file", Said: said}
	case c == audio.Unrecognised:
		return &Error{Kind: NotAudio, What: program + " wrote a file that is no audio", Said: said}
	}
	return nil
}

// An Espeak is espeak-ng.
type Espeak struct {
	engine
	Voice string // empty: the language's own
}

// NewEspeak makes the provider "espeak-ng".
func NewEspeak(e Exec, voice string) *Espeak {
	return &Espeak{engine: engine{Exec: e, name: "espeak-ng"}, Voice: voice}
}

const (
	wordsPerMinute = 175 // of espeak-ng and say at speed 1

	// espeak-ng takes 80 to 450 words a minute and moves what lies outside
	// without a word.
	espeakMin, espeakMax = 80, 450

	// localChars makes progress visible and a failure cheap; the engine itself
	// has no limit.
	localChars = 5000
)

// Limits has the speeds that espeak-ng really speaks at.
func (p *Espeak) Limits() Limits {
	return Limits{Chars: localChars, Makes: audio.WAV, MinSpeed: float64(espeakMin) / wordsPerMinute, MaxSpeed: float64(espeakMax) / wordsPerMinute}
}

// Identity implements Provider.
func (p *Espeak) Identity() string { return "espeak-ng " + p.Voice }

// Install is the one line that gives this machine a voice.
func Install() string {
	if runtime.GOOS == "darwin" {
		return "brew install espeak-ng"
	}
	return "sudo apt install espeak-ng (or dnf, pacman, zypper, apk)"
}

// Ready looks for the program and, when a language is given, for a voice of it.
func (p *Espeak) Ready(ctx context.Context, language string) error {
	path, err := p.Look("espeak-ng")
	if err != nil {
		e := err.(*Error)
		e.Do = "install it: " + Install()
		return e
	}
	if language == "" {
		return nil
	}
	if CheckVoice(language) != nil {
		return newError(Config, "the language is no language tag", nil)
	}
	out, err := p.list(ctx, path, language)
	if err != nil {
		return err
	}
	// The first line is the head of the table, also when nothing follows.
	if strings.Count(strings.TrimSpace(out), "\n") == 0 {
		return newError(Missing, "espeak-ng has no voice for "+Message(language), nil)
	}
	return nil
}

func (p *Espeak) list(ctx context.Context, path, language string) (string, error) {
	return p.output(ctx, path, "--voices="+base(language))
}

// output runs a program for what it prints, whatever its exit code is.
func (e Exec) output(ctx context.Context, argv ...string) (string, error) {
	dir, err := os.MkdirTemp("", "honestty-ask-")
	if err != nil {
		return "", newError(Local, "make a folder", err)
	}
	defer os.RemoveAll(dir)
	var out string
	err = e.run(ctx, Job{Argv: argv, Dir: dir, Log: filepath.Join(dir, "log"), Env: noSound}, func(log *os.File) {
		b, _ := io.ReadAll(io.LimitReader(io.NewSectionReader(log, 0, maxLog), 64<<10))
		out = string(b)
	})
	if pe, ok := errors.AsType[*Error](err); ok && pe.Kind == Failed {
		err = nil
	}
	return out, err
}

// base is the language without its region.
func base(tag string) string {
	i := strings.IndexAny(tag, "-_.@")
	if i >= 0 {
		tag = tag[:i]
	}
	return strings.ToLower(tag)
}

// Speak implements Provider.
func (p *Espeak) Speak(ctx context.Context, r Request) (Made, error) {
	voice := firstOf(r.Voice, p.Voice, strings.ToLower(r.Language))
	if err := CheckVoice(voice); err != nil {
		return Made{}, err
	}
	argv := []string{"espeak-ng", "-b", "1", "-s", strconv.Itoa(perMinute(r, espeakMin, espeakMax))}
	if voice != "" {
		argv = append(argv, "-v", voice)
	}
	argv = append(argv, "-f", r.Out+".txt", "-w", r.Out)
	return Made{Voice: voice}, p.speak(ctx, r, argv, false)
}

func perMinute(r Request, low, high int) int {
	return max(low, min(high, int(math.Round(wordsPerMinute*speedOf(r)))))
}

func firstOf(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

// A Say is the say of macOS.
type Say struct {
	engine
	Voice string
}

// NewSay makes the provider "say".
func NewSay(e Exec, voice string) *Say {
	return &Say{engine: engine{Exec: e, name: "say"}, Voice: voice}
}

// Limits implements Provider.
func (p *Say) Limits() Limits {
	return Limits{Chars: localChars, Makes: audio.WAV, MinSpeed: 0.5, MaxSpeed: 4}
}

// Identity implements Provider.
func (p *Say) Identity() string { return "say " + p.Voice }

// Ready looks for the program and for a voice of the language.
func (p *Say) Ready(ctx context.Context, language string) error {
	path, err := p.Look("say")
	if err != nil {
		err.(*Error).Do = "it comes with macOS"
		return err
	}
	if language == "" || p.Voice != "" {
		return nil
	}
	voice, err := p.voiceFor(ctx, path, language)
	if err == nil && voice == "" {
		err = newError(Missing, "say has no voice for "+Message(language), nil)
	}
	return err
}

// voiceFor reads the table of say -v '?': name, locale with an underscore, and
// an example behind a #.
func (p *Say) voiceFor(ctx context.Context, path, language string) (string, error) {
	out, err := p.output(ctx, path, "-v", "?")
	if err != nil {
		return "", err
	}
	best := ""
	for line := range strings.Lines(out) {
		left, _, _ := strings.Cut(line, "#")
		f := strings.Fields(left)
		if len(f) < 2 || base(f[len(f)-1]) != base(language) {
			continue
		}
		name := strings.Join(f[:len(f)-1], " ")
		if strings.EqualFold(strings.ReplaceAll(f[len(f)-1], "_", "-"), language) {
			return name, nil
		}
		best = firstOf(best, name)
	}
	return best, nil
}

// Speak implements Provider.
func (p *Say) Speak(ctx context.Context, r Request) (Made, error) {
	voice := firstOf(r.Voice, p.Voice)
	if err := CheckVoice(voice); err != nil {
		return Made{}, err
	}
	if voice == "" && r.Language != "" {
		path, err := p.Look("say")
		if err != nil {
			return Made{}, err
		}
		if voice, err = p.voiceFor(ctx, path, r.Language); err != nil {
			return Made{}, err
		}
	}
	argv := []string{"say", "-r", strconv.Itoa(perMinute(r, 90, 700))}
	if voice != "" {
		argv = append(argv, "-v", voice)
	}
	argv = append(argv, "-o", r.Out, "--file-format=WAVE", "--data-format=LEI16@22050", "-f", r.Out+".txt")
	return Made{Voice: voice}, p.speak(ctx, r, argv, false)
}

// A Piper is the Piper program. There are two, and another program of the name
// that configures gaming mice; they are told apart by what --help says.
type Piper struct {
	engine
	Program string // empty: piper
	Model   string // path of the .onnx file
}

// NewPiper makes the provider "piper".
func NewPiper(e Exec, program, model string) *Piper {
	return &Piper{engine: engine{Exec: e, name: "piper"}, Program: firstOf(program, "piper"), Model: model}
}

// Limits implements Provider.
func (p *Piper) Limits() Limits {
	return Limits{Chars: localChars, Makes: audio.WAV, MinSpeed: 0.25, MaxSpeed: 4}
}

// Identity implements Provider.
func (p *Piper) Identity() string { return "piper " + p.Model }

// Ready asks the program who it is.
func (p *Piper) Ready(ctx context.Context, _ string) error {
	_, err := p.lengthOption(ctx)
	return err
}

// lengthOption finds out whether this is Piper, and how its option for the
// speed is written: the C++ program writes underscores.
func (p *Piper) lengthOption(ctx context.Context) (string, error) {
	if p.Model == "" {
		return "", &Error{Kind: Config, What: "no voice model is set for piper", Do: "set the path of an .onnx file"}
	}
	if _, err := os.Stat(p.Model); err != nil {
		return "", newError(Missing, "the voice model of piper cannot be read", errors.Unwrap(err))
	}
	path, err := p.Look(p.Program)
	if err != nil {
		return "", err
	}
	help, err := p.output(ctx, path, "--help")
	if err != nil {
		return "", err
	}
	switch {
	case strings.Contains(help, "--output-raw"):
		return "--length-scale", nil
	case strings.Contains(help, "--output_raw"):
		return "--length_scale", nil
	}
	return "", newError(Missing, fmt.Sprintf("the program %q is another piper, not the speech engine", Message(filepath.Base(p.Program))), nil)
}

// Speak implements Provider.
func (p *Piper) Speak(ctx context.Context, r Request) (Made, error) {
	option, err := p.lengthOption(ctx)
	if err != nil {
		return Made{}, err
	}
	scale := strconv.FormatFloat(1/speedOf(r), 'f', 3, 64)
	argv := []string{p.Program, "-m", p.Model, option, scale, "-f", r.Out}
	m := Made{Model: filepath.Base(p.Model)}
	if r.Voice != "" {
		m.Notes = append(m.Notes, "piper has one voice, that of its model; the voice that was asked for had no effect")
	}
	return m, p.speak(ctx, r, argv, true)
}
