package tts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts/provider"
	"github.com/honestty/honestty/tools/tts/script"
)

const auto = "auto"

// all returns every provider there is, those that auto looks at first.
func (d Deps) all() []provider.Provider {
	c, ex, cl := d.Config, d.exec(), d.client()
	espeak, say := provider.Provider(provider.NewEspeak(ex, "")), provider.Provider(provider.NewSay(ex, ""))
	list := []provider.Provider{espeak, provider.NewPiper(ex, c.PiperProgram, c.PiperModel), say}
	if runtime.GOOS == "darwin" {
		list = []provider.Provider{say, espeak, list[1]}
	}
	list = append(list, d.server("openai", c.OpenAI),
		&provider.ElevenLabs{
			Client: cl, URL: c.ElevenLabs.URL, Key: d.key("elevenlabs", c.ElevenLabs.Key),
			Model: c.ElevenLabs.Model, Voice: c.ElevenLabs.Voice, Format: c.ElevenLabs.Format,
		},
		&provider.PiperHTTP{Client: cl, URL: c.PiperURL},
		&provider.Wyoming{Client: cl, Address: c.Wyoming},
	)
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		list = append(list, d.server(name, c.Servers[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Commands)) {
		t := c.Commands[name]
		list = append(list, provider.NewTemplate(ex, name, provider.Template{
			Command: t.Words, Format: t.Format, Voice: t.Voice, Model: t.Model, Chars: t.Chars,
		}))
	}
	return append(list, d.Extra...)
}

func (d Deps) server(name string, s Server) provider.Provider {
	return &provider.OpenAI{
		Client: d.client(), Label: name, URL: s.URL, Key: d.key(name, s.Key),
		Model: s.Model, Voice: s.Voice, Format: s.Format,
	}
}

func (d Deps) key(name, set string) string {
	if set != "" {
		return set
	}
	return d.getenv(strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_API_KEY")
}

// alone are the providers that auto takes without being told to: they run on
// this machine, cost nothing and send the text nowhere.
func alone(name string) bool { return name == "espeak-ng" || name == "say" || name == "piper" }

// A State says whether a provider can be asked.
type State struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Server bool   `json:"server"`        // Ready is about its settings: it was not asked
	Why    string `json:"why,omitempty"` // when not ready
}

// Providers lists all providers and whether they can be asked in a language; an
// empty language stands for any. No server is asked.
func Providers(ctx context.Context, d Deps, language string) []State {
	var out []State
	for _, p := range d.all() {
		s := State{Name: p.Name(), Ready: true, Server: isServer(p)}
		if err := p.Ready(ctx, language); err != nil {
			s.Ready, s.Why = false, provider.Message(err.Error())
		}
		out = append(out, s)
	}
	return out
}

func isServer(p provider.Provider) bool {
	switch p.(type) {
	case *provider.OpenAI, *provider.ElevenLabs, *provider.PiperHTTP, *provider.Wyoming:
		return true
	}
	return false
}

// A choice is who speaks, and in which language.
type choice struct {
	provider.Provider
	asked    string
	language string
	note     string
}

// choose finds the provider: the one that was asked for, the one that is
// configured, or what the machine has. It never falls from one to another
// except where auto was asked for.
func choose(ctx context.Context, d Deps, p Params, text string) (choice, error) {
	c := choice{asked: firstOf(p.Provider, auto)}
	language, how := d.language(p, text)
	name, byConfig := strings.ToLower(c.asked), false
	if name == auto && d.Config.Provider != "" && d.Config.Provider != auto {
		name, byConfig = strings.ToLower(d.Config.Provider), true
	}
	if name == "espeak" {
		name = "espeak-ng"
	}
	if name == auto {
		return c, c.automatic(ctx, d, language, how)
	}
	for _, have := range d.all() {
		if strings.EqualFold(have.Name(), name) {
			c.Provider = have
		}
	}
	if c.Provider == nil {
		return c, &Error{Prefix: "TTS configuration error (" + auto + "): ", Err: unknownProvider(d)}
	}
	c.language = language
	err := c.Ready(ctx, language)
	if pe, ok := errors.AsType[*provider.Error](err); ok && pe.Kind == provider.Missing && language != "" && how != languageAsked {
		// The language was only a guess: without it the engine's own voice speaks.
		if c.Ready(ctx, "") == nil {
			c.language, err = "", nil
			c.note = fmt.Sprintf("%s has no voice for %s (%s); its own default voice speaks", c.Name(), language, how)
		}
	}
	if byConfig && err == nil && c.note == "" {
		c.note = "auto chose " + c.Name() + ": it is configured"
	}
	return c, wrap(c.Name(), err)
}

func unknownProvider(d Deps) error {
	var names []string
	for _, p := range d.all() {
		names = append(names, p.Name())
	}
	return errors.New("there is no provider of this name; there are " + strings.Join(names, ", ") + " and auto")
}

// automatic takes the first provider of this machine that has the language.
func (c *choice) automatic(ctx context.Context, d Deps, language, how string) error {
	var reasons []string
	for _, p := range d.all() {
		if !alone(p.Name()) {
			continue
		}
		err := p.Ready(ctx, language)
		if err == nil {
			c.Provider, c.language = p, language
			c.note = "auto chose " + p.Name() + ": it is on this machine"
			if language != "" {
				c.note += " and has a voice for " + language + " (" + how + ")"
			}
			return nil
		}
		if ctx.Err() != nil {
			return wrap(auto, err)
		}
		if pe, ok := errors.AsType[*provider.Error](err); ok && pe.Kind == provider.Missing && strings.HasPrefix(pe.What, "the program") {
			continue // its absence is what the line below is about
		}
		if p.Name() != "piper" || d.Config.PiperModel != "" {
			reasons = append(reasons, provider.Message(err.Error()))
		}
	}
	what := "no speech engine was found on this machine and none is configured"
	if len(reasons) > 0 {
		what = strings.Join(reasons, "; ")
	}
	return &Error{Prefix: "TTS dependency missing (" + auto + "): ", Err: fmt.Errorf("%s; install one: %s%w", what, provider.Install(), errNothing{})}
}

// errNothing carries no words: it marks the refusal of auto.
type errNothing struct{}

func (errNothing) Error() string        { return "" }
func (errNothing) Is(target error) bool { return target == outcome.ErrRefused }

// How a language was found out.
const (
	languageAsked   = "asked for"
	languageSet     = "configured"
	languageGuessed = "guessed from the text"
	languageLocale  = "from the locale"
)

// language finds the language of a text. A voice that was asked for brings its
// own.
func (d Deps) language(p Params, text string) (tag, how string) {
	switch {
	case p.Language != "":
		return script.Tag(p.Language), languageAsked
	case p.Voice != "" || d.Config.Voice != "" && d.configured(p.Provider):
		return "", ""
	case d.Config.Language != "":
		return script.Tag(d.Config.Language), languageSet
	}
	if l := script.Guess(text); l != "" {
		return l, languageGuessed
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := d.getenv(name); v != "" {
			return script.Tag(v), languageLocale
		}
	}
	return "", ""
}

// configured reports whether a call for that provider goes to the configured
// one, whose voice is configured with it.
func (d Deps) configured(asked string) bool {
	return d.Config.Provider != "" && (asked == "" || asked == auto || strings.EqualFold(asked, d.Config.Provider))
}

func firstOf(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}
