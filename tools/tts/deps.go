package tts

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts/provider"
)

// Deps is what speech needs of the program around it.
type Deps struct {
	Poller *fdwait.Poller
	Env    []string // nil: our own environment
	Policy safepath.Policy

	// Keep keeps the content of a file that is about to be replaced. When it
	// is nil no file is replaced except by force.
	Keep func(old *os.File, path, call string) (id string, err error)

	// Cost says what the keeping of that id cost: which older checkpoints a
	// limit took out for it. Nil: nobody can tell, and nothing is said.
	Cost func(id string) []string

	// AudioDir gets the files that nobody named a path for. Files in it are
	// removed after MaxAge.
	AudioDir string

	// StateDir is a private folder of ours for finished chunks and for the
	// list of work folders. Empty: there is no resume, and the result says so.
	StateDir string

	// MaxAge is how long the audio cache keeps a file; 0 means DefaultMaxAge,
	// less than 0 for ever.
	MaxAge time.Duration

	Config Config

	// Extra are providers besides ours. They are never chosen by "auto".
	Extra []provider.Provider

	Now func() time.Time // nil: time.Now

	// fault is asked before each named step. Nil in the product.
	fault func(step string) error
}

// DefaultMaxAge is how long a file stays in the audio cache, as in Hermes.
const DefaultMaxAge = 24 * time.Hour

// Config is what a user sets about speech.
type Config struct {
	Provider string // "", "auto" or a name
	Language string
	Voice    string // for the configured provider
	Format   string // wav, mp3, ogg, flac, m4a: when nobody names a path; empty: mp3 where it can be made, else wav

	Timeout time.Duration // of one chunk; 0: 120 s
	Stall   time.Duration // how long a server may say nothing; 0: 30 s
	Chars   int           // characters in one chunk, at most; 0: the provider's own

	PiperProgram, PiperModel string
	PiperURL                 string
	OpenAI                   Server
	ElevenLabs               Server
	Wyoming                  string // host:port

	// Servers are more servers with OpenAI's interface, by name: kokoro.
	Servers map[string]Server

	// Commands are providers that are a command, by name.
	Commands map[string]Command
}

// A Server is how one server is reached. A key that is empty here is taken from
// the environment: OPENAI_API_KEY, ELEVENLABS_API_KEY, and NAME_API_KEY for
// the others.
type Server struct {
	URL, Key, Model, Voice, Format string
}

// A Command is a command template; see provider.Template for its placeholders.
type Command struct {
	Words                []string
	Format, Voice, Model string
	Chars                int
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

func (d Deps) getenv(name string) string {
	env := d.Env
	if env == nil {
		env = os.Environ()
	}
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

func (d Deps) exec() provider.Exec {
	return provider.Exec{Poller: d.Poller, Env: d.Env, Timeout: d.Config.Timeout, Fault: d.fault}
}

func (d Deps) client() provider.Client {
	return provider.Client{Timeout: d.Config.Timeout, Stall: d.Config.Stall, Fault: d.fault}
}

func (d Deps) maxAge() time.Duration {
	if d.MaxAge == 0 {
		return DefaultMaxAge
	}
	return d.MaxAge
}

// registry, chunkDir and resumeDir lie below StateDir; empty without one.
func (d Deps) registry() string  { return d.below("work") }
func (d Deps) chunkDir() string  { return d.below("chunks") }
func (d Deps) resumeDir() string { return d.below("resume") }

func (d Deps) below(name string) string {
	if d.StateDir == "" {
		return ""
	}
	return filepath.Join(d.StateDir, "speech", name)
}
