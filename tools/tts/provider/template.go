package provider

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/honestty/honestty/tools/tts/audio"
)

// A Template is a command that a user wrote. Its words may hold {input_path}
// or {text_path}, {output_path}, {format}, {voice}, {model}, {speed} and
// {language}. They are replaced inside their word: no shell reads them, so
// nothing in a value can become a second word or a command.
type Template struct {
	engine
	Command []string
	Format  string // what the command writes: wav (default), mp3, ogg, flac
	Voice   string
	Model   string
	Chars   int // of one request; 0: 5000
}

// NewTemplate makes a provider of a command.
func NewTemplate(e Exec, name string, t Template) *Template {
	t.engine = engine{Exec: e, name: name}
	t.Format = firstOf(t.Format, "wav")
	if t.Chars <= 0 {
		t.Chars = localChars
	}
	return &t
}

// Limits implements Provider.
func (p *Template) Limits() Limits {
	return Limits{Chars: p.Chars, Makes: audio.ForExtension("." + p.Format)}
}

// Identity implements Provider.
func (p *Template) Identity() string {
	return strings.Join(append([]string{p.name, p.Format, p.Voice, p.Model}, p.Command...), "\x00")
}

// Ready checks the words of the command and looks for its program.
func (p *Template) Ready(context.Context, string) error {
	if err := p.check(); err != nil {
		return err
	}
	_, err := p.Look(p.Command[0])
	return err
}

var placeholder = regexp.MustCompile(`\{[A-Za-z_]+\}`)

func (p *Template) check() error {
	if len(p.Command) == 0 {
		return newError(Config, "the command is empty", nil)
	}
	if placeholder.MatchString(p.Command[0]) {
		return newError(Config, "the program of the command is a placeholder", nil)
	}
	known := p.values(Request{})
	var in, out bool
	for _, w := range p.Command {
		for _, m := range placeholder.FindAllString(w, -1) {
			switch {
			case m == "{text}":
				return newError(Config, "{text} would show the text to everyone on this machine; use {input_path}", nil)
			case known[m] == nil:
				return newError(Config, "the command holds a placeholder that is not known: "+Message(m), nil)
			}
			in = in || m == "{input_path}" || m == "{text_path}"
			out = out || m == "{output_path}"
		}
	}
	if !in || !out {
		return newError(Config, "the command needs {input_path} and {output_path}", nil)
	}
	return nil
}

func (p *Template) values(r Request) map[string]*string {
	in, speed := r.Out+".txt", strconv.FormatFloat(speedOf(r), 'f', -1, 64)
	voice, out := firstOf(r.Voice, p.Voice), r.Out+"."+p.Format
	return map[string]*string{
		"{input_path}": &in, "{text_path}": &in, "{output_path}": &out,
		"{format}": &p.Format, "{voice}": &voice, "{model}": &p.Model,
		"{speed}": &speed, "{language}": &r.Language,
	}
}

// Speak implements Provider.
func (p *Template) Speak(ctx context.Context, r Request) (Made, error) {
	if err := p.check(); err != nil {
		return Made{}, err
	}
	if err := CheckVoice(firstOf(r.Voice, p.Voice)); err != nil {
		return Made{}, err
	}
	values := p.values(r)
	argv := make([]string, len(p.Command))
	for i, w := range p.Command {
		argv[i] = placeholder.ReplaceAllStringFunc(w, func(m string) string { return *values[m] })
	}
	made := Made{Voice: *values["{voice}"], Model: p.Model}
	if err := writeNew(*values["{input_path}"], r.Text+"\n"); err != nil {
		return made, err
	}
	defer os.Remove(*values["{input_path}"])
	out := *values["{output_path}"]
	defer os.Remove(out) // not there after the rename below
	said, err := p.Run(ctx, Job{Argv: argv, Dir: filepath.Dir(r.Out), Log: r.Out + ".log", Grows: []string{out}, Keys: true})
	if err != nil {
		return made, err
	}
	if err := expectAudio(out, argv[0], said); err != nil {
		return made, err
	}
	if err := os.Rename(out, r.Out); err != nil {
		return made, newError(Local, "take the audio", err)
	}
	return made, nil
}
