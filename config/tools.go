package config

import (
	"regexp"
	"time"
)

// Tools say what commands and agents may do.
type Tools struct {
	Approval     string        // what a dangerous command meets: "ask", "allow" or "deny"
	ApprovalTime time.Duration // no answer by then is a refusal
	Allow        []string      // globs over commands that are never asked about
	Deny         []string      // globs over commands that are always refused
	Timeout      time.Duration // of a command in the foreground that names none
	Redact       bool          // secrets in what is shown and stored
}

// Speech says what speaks. Keys of servers are not here.
type Speech struct {
	Provider, Language, Voice, Format string

	PiperProgram, PiperModel, PiperURL string
	OpenAIURL, OpenAIModel             string
	ElevenLabsModel                    string
	Wyoming                            string   // host:port
	Command                            []string // a template of words
}

// Send says where messages go. Tokens are not here.
type Send struct {
	Default string // the target of a message that names none
	Outbox  string // folder of the file target; "": below our state folder
	Strict  bool   // only what is allowed, or was made in the last ten minutes, is attached

	Allow, Deny []string // folders: what may be attached, and what never
	Paths       []string // "/data=/home/me/data": a folder of a sandbox, and where it is here
	Homes       []string // "telegram=-100123": where the platform alone goes
	Names       []string // "slack:#ops=C01": names of chats

	TelegramURL, MatrixServer, NtfyServer string
	WebhookJSON                           bool // the webhook takes JSON and no files
	DiscordFile                           Size // largest file that the server takes
	EmailHost                             string
	EmailPort                             int
	EmailTLS                              string // "starttls", "tls" or "none"
	EmailFrom                             string
}

var (
	folderPath = regexp.MustCompile(`^(~|~?/[^\x00-\x1f\x7f]*)?$`)
	webAddress = regexp.MustCompile(`^(https?://[^\s\x00-\x1f\x7f]+)?$`)
	hostPort   = regexp.MustCompile(`^([^\s:/]+:[0-9]{1,5})?$`)
	someText   = regexp.MustCompile(`^[^\x00-\x1f\x7f-\x9f]+$`)
	onePath    = regexp.MustCompile(`^~?/[^\x00-\x1f\x7f]*$`)
	pathPair   = regexp.MustCompile(`^/[^=\x00-\x1f\x7f]*=~?/[^\x00-\x1f\x7f]*$`)
	homePair   = regexp.MustCompile(`^[a-z]+=[^\x00-\x1f\x7f]+$`)
	namePair   = regexp.MustCompile(`^[a-z]+:#[^=\x00-\x1f\x7f]+=[^\x00-\x1f\x7f]+$`)
)

// toolKeys are those of the tools, of speech and of sending.
var toolKeys = []key{
	{
		"tools.approval",
		oneOf{"ask", "allow", "deny"},
		"ask",
		func(c *Config) any { return &c.Tools.Approval },
		"What happens when an agent or a command wants to run something dangerous (a recursive delete, a forced push): ask asks " +
			"in the window, and refuses where none is open. What could destroy the machine is refused in any case.",
	},
	{
		"tools.approval_time",
		span{5 * time.Second, 10 * time.Minute},
		time.Minute,
		func(c *Config) any { return &c.Tools.ApprovalTime },
		"How long a question waits. No answer is a refusal.",
	},
	{
		"tools.allow",
		texts{"a pattern over a command, with * and ?", someText},
		[]string{},
		func(c *Config) any { return &c.Tools.Allow },
		"Commands that are never asked about.",
	},
	{
		"tools.deny",
		texts{"a pattern over a command, with * and ?", someText},
		[]string{},
		func(c *Config) any { return &c.Tools.Deny },
		"Commands that are always refused.",
	},
	{
		"tools.timeout",
		span{time.Second, 10 * time.Minute},
		3 * time.Minute,
		func(c *Config) any { return &c.Tools.Timeout },
		"How long a command of an agent may run in the foreground when it names no limit itself.",
	},
	{
		"tools.redact",
		flag{},
		true,
		func(c *Config) any { return &c.Tools.Redact },
		"Replace tokens and passwords in what tools return. The journal never holds them, whatever stands here.",
	},

	{
		"speech.provider",
		words{"auto, espeak-ng, say, piper, openai, elevenlabs, wyoming or command", regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)},
		"auto",
		func(c *Config) any { return &c.Speech.Provider },
		"auto takes what is set up below, then what the machine has. The result always says who spoke.",
	},
	{
		"speech.language",
		words{"a language, as in de or en-GB", regexp.MustCompile(`^[A-Za-z0-9-]*$`)},
		"",
		func(c *Config) any { return &c.Speech.Language },
		"Empty: the language of the environment.",
	},
	{
		"speech.voice",
		words{"a voice of the provider", plainText},
		"",
		func(c *Config) any { return &c.Speech.Voice },
		"Empty: the provider's own.",
	},
	{
		"speech.format",
		oneOf{"", "wav", "mp3", "ogg", "flac", "m4a"},
		"",
		func(c *Config) any { return &c.Speech.Format },
		"Of files that nobody named. Empty: mp3 where it can be made, else wav.",
	},
	{
		"speech.piper_program",
		words{"a program", plainText},
		"",
		func(c *Config) any { return &c.Speech.PiperProgram },
		"The Piper that is run. Empty: piper, where that is the speech program.",
	},
	{
		"speech.piper_model",
		words{"the path of a voice", folderPath},
		"",
		func(c *Config) any { return &c.Speech.PiperModel },
		"The voice file for Piper.",
	},
	{
		"speech.piper_url",
		words{"an address that begins with http:// or https://", webAddress},
		"",
		func(c *Config) any { return &c.Speech.PiperURL },
		"A Piper server.",
	},
	{
		"speech.openai_url",
		words{"an address that begins with http:// or https://", webAddress},
		"",
		func(c *Config) any { return &c.Speech.OpenAIURL },
		"A server with OpenAI's interface, such as Kokoro. Empty: OpenAI's own, where OPENAI_API_KEY is set.",
	},
	{
		"speech.openai_model",
		words{"a model", plainText},
		"",
		func(c *Config) any { return &c.Speech.OpenAIModel },
		"Empty: the server's usual one.",
	},
	{
		"speech.elevenlabs_model",
		words{"a model", plainText},
		"",
		func(c *Config) any { return &c.Speech.ElevenLabsModel },
		"Empty: the usual one. The key comes from ELEVENLABS_API_KEY.",
	},
	{
		"speech.wyoming",
		words{"HOST:PORT", hostPort},
		"",
		func(c *Config) any { return &c.Speech.Wyoming },
		"A server that speaks the Wyoming protocol.",
	},
	{
		"speech.command",
		texts{"a word of a command, perhaps with a placeholder", someText},
		[]string{},
		func(c *Config) any { return &c.Speech.Command },
		"A program that speaks, as the provider named command. {input_path} and {output_path} stand for files; no shell takes it apart.",
	},

	{
		"send.default",
		words{"a target, as in telegram or slack:#ops", plainText},
		"",
		func(c *Config) any { return &c.Send.Default },
		"Where a message goes that names no target. Empty: it has to name one.",
	},
	{
		"send.outbox",
		words{"the path of a folder", folderPath},
		"",
		func(c *Config) any { return &c.Send.Outbox },
		"The folder of the target named file. Empty: outbox, beside the journal.",
	},
	{
		"send.strict",
		flag{},
		false,
		func(c *Config) any { return &c.Send.Strict },
		"Attach only what lies in an allowed folder or was changed in the last ten minutes.",
	},
	{
		"send.allow",
		texts{"an absolute path", onePath},
		[]string{},
		func(c *Config) any { return &c.Send.Allow },
		"Folders whose files may always be attached. They win over what is denied.",
	},
	{
		"send.deny",
		texts{"an absolute path", onePath},
		[]string{},
		func(c *Config) any { return &c.Send.Deny },
		"Folders whose files are never attached, besides those of the system and of credentials.",
	},
	{
		"send.paths",
		texts{"a folder there, =, and the folder here", pathPair},
		[]string{},
		func(c *Config) any { return &c.Send.Paths },
		"Folders of a sandbox, and where they are on this machine.",
	},
	{
		"send.homes",
		texts{"a platform, =, and a chat", homePair},
		[]string{},
		func(c *Config) any { return &c.Send.Homes },
		"Where the name of a platform alone goes. TELEGRAM_HOME_CHANNEL and the like do the same.",
	},
	{
		"send.names",
		texts{"a platform, :#name, =, and a chat", namePair},
		[]string{},
		func(c *Config) any { return &c.Send.Names },
		"Names of chats.",
	},
	{
		"send.telegram_url",
		words{"an address that begins with http:// or https://", webAddress},
		"https://api.telegram.org",
		func(c *Config) any { return &c.Send.TelegramURL },
		"The Bot API. The token comes from TELEGRAM_BOT_TOKEN.",
	},
	{
		"send.matrix_server",
		words{"an address that begins with http:// or https://", webAddress},
		"",
		func(c *Config) any { return &c.Send.MatrixServer },
		"The home server. The token comes from MATRIX_ACCESS_TOKEN.",
	},
	{
		"send.ntfy_server",
		words{"an address that begins with http:// or https://", webAddress},
		"https://ntfy.sh",
		func(c *Config) any { return &c.Send.NtfyServer },
		"The ntfy server. A token, where it wants one, comes from NTFY_TOKEN.",
	},
	{
		"send.webhook_json",
		flag{},
		false,
		func(c *Config) any { return &c.Send.WebhookJSON },
		"The webhook at WEBHOOK_URL takes JSON and no files. WEBHOOK_SECRET signs what is sent.",
	},
	{
		"send.discord_file",
		amount{1 << 20, 500 << 20},
		Size(10 << 20),
		func(c *Config) any { return &c.Send.DiscordFile },
		"The largest file that the Discord server takes: 10 MiB without boosts. DISCORD_WEBHOOK_URL or DISCORD_BOT_TOKEN opens it.",
	},
	{
		"send.email_host",
		words{"the name of a mail server", plainText},
		"",
		func(c *Config) any { return &c.Send.EmailHost },
		"EMAIL_USER and EMAIL_PASSWORD log in, where they are set.",
	},
	{
		"send.email_port",
		whole{1, 65535},
		587,
		func(c *Config) any { return &c.Send.EmailPort },
		"587 for STARTTLS, 465 for TLS, 25 for a relay.",
	},
	{
		"send.email_tls",
		oneOf{"starttls", "tls", "none"},
		"starttls",
		func(c *Config) any { return &c.Send.EmailTLS },
		"How the connection is secured. none also sends passwords in the clear, so it takes none.",
	},
	{
		"send.email_from",
		words{"an address", plainText},
		"",
		func(c *Config) any { return &c.Send.EmailFrom },
		"The sender.",
	},
}
