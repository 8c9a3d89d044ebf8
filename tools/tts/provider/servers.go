package provider

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/honestty/honestty/tools/tts/audio"
)

// An OpenAI is a server with OpenAI's speech interface: OpenAI itself, Kokoro,
// and most servers that run at home.
type OpenAI struct {
	Client
	Label  string // the provider's name; empty: openai
	URL    string // up to and without /v1/audio/speech; empty: OpenAI's
	Key    string // a local server needs none
	Model  string
	Voice  string
	Format string // response_format: wav (default), pcm, mp3
	Chars  int    // 0: 4096
}

const (
	openAIURL     = "https://api.openai.com"
	openAIModel   = "gpt-4o-mini-tts"
	openAIVoice   = "alloy"
	openAIChars   = 4096
	openAIPCMRate = 24_000
)

// Name implements Provider.
func (p *OpenAI) Name() string { return firstOf(p.Label, "openai") }

// Limits implements Provider.
func (p *OpenAI) Limits() Limits {
	l := Limits{Chars: openAIChars, MinSpeed: 0.25, MaxSpeed: 4, Instructions: true, Bytes: true}
	if p.Chars > 0 {
		l.Chars = p.Chars
	}
	l.Makes = makes(p.format())
	return l
}

// makes is the container that a server's format name leads to: bare samples
// are stored as WAV.
func makes(format string) audio.Container {
	if name, _, _ := strings.Cut(format, "_"); name != "pcm" {
		return audio.ForExtension("." + name)
	}
	return audio.WAV
}

// Identity implements Provider.
func (p *OpenAI) Identity() string {
	return strings.Join([]string{p.Name(), p.base(), p.model(), firstOf(p.Voice, openAIVoice), p.format()}, "\x00")
}

func (p *OpenAI) base() string {
	return strings.TrimSuffix(strings.TrimSuffix(firstOf(p.URL, openAIURL), "/"), "/v1")
}
func (p *OpenAI) model() string  { return firstOf(p.Model, openAIModel) }
func (p *OpenAI) format() string { return firstOf(p.Format, "wav") }

// Ready looks at the settings. The key is needed for OpenAI's own server only.
func (p *OpenAI) Ready(context.Context, string) error {
	if err := checkURL(p.Name(), p.base()); err != nil {
		return err
	}
	if p.base() == openAIURL && p.Key == "" {
		return &Error{Kind: Config, What: "no key is set for " + p.Name(), Do: "set OPENAI_API_KEY"}
	}
	switch p.format() {
	case "wav", "pcm", "mp3":
		return nil
	}
	return newError(Config, "the response format of "+p.Name()+" must be wav, pcm or mp3", nil)
}

type openAIRequest struct {
	Model        string  `json:"model"`
	Input        string  `json:"input"`
	Voice        string  `json:"voice"`
	Format       string  `json:"response_format"`
	Speed        float64 `json:"speed"`
	Instructions string  `json:"instructions,omitempty"`
}

// Speak implements Provider.
func (p *OpenAI) Speak(ctx context.Context, r Request) (Made, error) {
	if err := p.Ready(ctx, ""); err != nil {
		return Made{}, err
	}
	voice := firstOf(r.Voice, p.Voice, openAIVoice)
	if err := CheckVoice(voice); err != nil {
		return Made{}, err
	}
	q := post{
		server: p.Name(), url: p.base() + "/v1/audio/speech", secret: p.Key,
		header: http.Header{},
		body:   openAIRequest{p.model(), r.Text, voice, p.format(), speedOf(r), r.Instructions},
	}
	if p.Key != "" {
		q.header.Set("Authorization", "Bearer "+p.Key)
	}
	if p.format() == "pcm" {
		q.pcm = &pcmWant{rate: openAIPCMRate, channels: 1}
	}
	made, err := p.fetch(ctx, q, r.Out)
	made.Voice, made.Model = voice, p.model()
	return made, err
}

// An ElevenLabs is the service of that name.
type ElevenLabs struct {
	Client
	URL    string // empty: theirs
	Key    string
	Model  string // empty: eleven_multilingual_v2
	Voice  string // a voice id
	Format string // output_format; empty: mp3_44100_128
	Chars  int    // 0: by model
}

const (
	elevenURL    = "https://api.elevenlabs.io"
	elevenModel  = "eleven_multilingual_v2"
	elevenFormat = "mp3_44100_128"
	elevenVoice  = "pNInz6obpgDQGcFmaJgB" // Adam
)

// Name implements Provider.
func (p *ElevenLabs) Name() string { return "elevenlabs" }

// Limits has the length of a request by model.
func (p *ElevenLabs) Limits() Limits {
	l := Limits{Chars: 10_000, MinSpeed: 0.7, MaxSpeed: 1.2, Bytes: true}
	switch p.model() {
	case "eleven_flash_v2_5", "eleven_turbo_v2_5":
		l.Chars = 40_000
	case "eleven_flash_v2", "eleven_turbo_v2":
		l.Chars = 30_000
	case "eleven_v3":
		l.Chars = 5_000
	}
	if p.Chars > 0 {
		l.Chars = p.Chars
	}
	l.Makes = makes(p.format())
	return l
}

// Identity implements Provider.
func (p *ElevenLabs) Identity() string {
	return strings.Join([]string{"elevenlabs", p.base(), p.model(), firstOf(p.Voice, elevenVoice), p.format()}, "\x00")
}

func (p *ElevenLabs) base() string   { return strings.TrimSuffix(firstOf(p.URL, elevenURL), "/") }
func (p *ElevenLabs) model() string  { return firstOf(p.Model, elevenModel) }
func (p *ElevenLabs) format() string { return firstOf(p.Format, elevenFormat) }

// Ready looks at the settings.
func (p *ElevenLabs) Ready(context.Context, string) error {
	if p.Key == "" {
		return &Error{Kind: Config, What: "no key is set for elevenlabs", Do: "set ELEVENLABS_API_KEY"}
	}
	return checkURL("elevenlabs", p.base())
}

type elevenRequest struct {
	Text     string         `json:"text"`
	Model    string         `json:"model_id"`
	Settings *elevenSetting `json:"voice_settings,omitempty"`
}

type elevenSetting struct {
	Speed float64 `json:"speed"`
}

// Speak implements Provider.
func (p *ElevenLabs) Speak(ctx context.Context, r Request) (Made, error) {
	if err := p.Ready(ctx, ""); err != nil {
		return Made{}, err
	}
	voice := firstOf(r.Voice, p.Voice, elevenVoice)
	if err := CheckVoice(voice); err != nil {
		return Made{}, err
	}
	body := elevenRequest{Text: r.Text, Model: p.model()}
	if s := speedOf(r); s != 1 {
		body.Settings = &elevenSetting{Speed: s}
	}
	q := post{
		server: "elevenlabs", secret: p.Key, body: body,
		url:    p.base() + "/v1/text-to-speech/" + url.PathEscape(voice) + "?output_format=" + url.QueryEscape(p.format()),
		header: http.Header{"Xi-Api-Key": {p.Key}},
	}
	if rate, ok := strings.CutPrefix(p.format(), "pcm_"); ok {
		q.pcm = &pcmWant{rate: atoi(rate), channels: 1}
	}
	made, err := p.fetch(ctx, q, r.Out)
	made.Voice, made.Model = voice, p.model()
	return made, err
}

func atoi(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1_000_000 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// A PiperHTTP is the server that comes with Piper.
type PiperHTTP struct {
	Client
	URL   string // empty: http://127.0.0.1:5000
	Voice string
}

const piperURL = "http://127.0.0.1:5000"

// Name implements Provider.
func (p *PiperHTTP) Name() string { return "piper-http" }

// Limits implements Provider.
func (p *PiperHTTP) Limits() Limits {
	return Limits{Chars: localChars, Makes: audio.WAV, MinSpeed: 0.25, MaxSpeed: 4, Bytes: true}
}

// Identity implements Provider.
func (p *PiperHTTP) Identity() string { return "piper-http\x00" + p.base() + "\x00" + p.Voice }

func (p *PiperHTTP) base() string {
	return strings.TrimSuffix(strings.TrimSuffix(firstOf(p.URL, piperURL), "/"), "/synthesize")
}

// Ready looks at the address.
func (p *PiperHTTP) Ready(context.Context, string) error { return checkURL("piper-http", p.base()) }

type piperRequest struct {
	Text        string  `json:"text"`
	Voice       string  `json:"voice,omitempty"`
	LengthScale float64 `json:"length_scale,omitempty"`
}

// Speak implements Provider.
func (p *PiperHTTP) Speak(ctx context.Context, r Request) (Made, error) {
	if err := p.Ready(ctx, ""); err != nil {
		return Made{}, err
	}
	voice := firstOf(r.Voice, p.Voice)
	if err := CheckVoice(voice); err != nil {
		return Made{}, err
	}
	body := piperRequest{Text: r.Text, Voice: voice}
	if s := speedOf(r); s != 1 {
		body.LengthScale = 1 / s
	}
	made, err := p.fetch(ctx, post{server: "piper-http", url: p.base() + "/synthesize", body: body}, r.Out)
	made.Voice = voice
	return made, err
}
