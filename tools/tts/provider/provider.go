package provider

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/honestty/honestty/tools/tts/audio"
)

// A Provider turns a piece of text into an audio file.
type Provider interface {
	// Name is the one word the provider is asked for by.
	Name() string

	// Limits says what one request may be.
	Limits() Limits

	// Identity names everything but the request that shapes the sound: server,
	// model, voice. Two providers of one identity make the same audio of one
	// request. It holds no key.
	Identity() string

	// Ready returns nil when the provider can be asked on this machine in this
	// language: program found, key present. An empty language stands for any.
	// It sends no byte to a server. The error is an *Error.
	Ready(ctx context.Context, language string) error

	// Speak makes the audio. On an error, which is always an *Error, Out may
	// be there in part. It returns soon after ctx ends.
	Speak(ctx context.Context, r Request) (Made, error)
}

// Limits is what a provider takes in one request.
type Limits struct {
	Chars int // characters of text; 0: no limit known

	// Bytes is true where audio is limited to MaxBody however short the text
	// is, so that slow speech needs shorter pieces.
	Bytes bool

	// Makes is the container that Speak leaves at Out; Unrecognised: it may
	// differ from call to call.
	Makes audio.Container

	MinSpeed, MaxSpeed float64 // a speed outside is moved to the nearest; 0: no limit
	Instructions       bool    // Request.Instructions has an effect
}

// A Request is one piece to speak.
type Request struct {
	Text         string // one line
	Voice        string // empty: the provider's own
	Language     string // "de", "de-AT"; empty: not known
	Speed        float64
	Instructions string

	// Out is where the audio has to be. Nothing is there. Its folder belongs
	// to the caller; names in it that begin with the base of Out belong to this
	// request.
	Out string
}

// Made is what is known of audio beyond the file itself.
type Made struct {
	Voice string // the voice that was asked of the engine; empty: it chose
	Model string // empty: the engine has one or did not say
	Notes []string

	// Unproven is true when the transport cannot tell that all of the audio
	// came: then the file's own header has to.
	Unproven bool
}

// Defaults for what a configuration leaves at zero.
const (
	// MaxBody is how much one request may bring. A piece of 5000 letters is some
	// 16 MB of WAV at 22.05 kHz, and figures that are read out are three times
	// that. It goes to a file, not to memory.
	MaxBody = 64 << 20

	// DefaultTimeout is how long one request may take altogether.
	DefaultTimeout = 120 * time.Second

	// DefaultStall is how long a server may say nothing.
	DefaultStall = 30 * time.Second
)

// messageLen is how much of an engine's own message is repeated.
const messageLen = 300

// Message makes one safe line of something that an engine said: control
// characters and line separators become spaces, a MEDIA directive is broken,
// and what is longer than 300 characters is cut with a mark.
func Message(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == 0x2028, r == 0x2029, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	s = breakMedia(s)
	if utf8.RuneCountInString(s) > messageLen {
		s = string([]rune(s)[:messageLen]) + "…"
	}
	return s
}

// breakMedia puts a space before the colon of "media:", in any case, so that no
// reader takes an engine's words for an order to deliver a file.
func breakMedia(s string) string {
	const word = "media:"
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			s = s[:i+len(word)-1] + " " + s[i+len(word)-1:]
		}
	}
	return s
}

// CheckVoice refuses a voice name that could be something else: an option, a
// path out of the voices' folder, a line.
func CheckVoice(v string) error {
	switch {
	case v == "":
		return nil
	case len(v) > 200:
		return newError(Config, "the voice has more than 200 bytes", nil)
	case strings.HasPrefix(v, "-"), strings.Contains(v, ".."):
		return newError(Config, "the voice begins with a dash or contains two dots", nil)
	case breakMedia(v) != v:
		return newError(Config, "the voice contains a media directive", nil)
	}
	for _, r := range v {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return newError(Config, "the voice contains characters that do not print", nil)
		}
	}
	return nil
}

func speedOf(r Request) float64 {
	if r.Speed == 0 {
		return 1
	}
	return r.Speed
}
