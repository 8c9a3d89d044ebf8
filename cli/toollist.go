package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/honestty/honestty/config"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/checkpoint"
	"github.com/honestty/honestty/tools/danger"
	"github.com/honestty/honestty/tools/execcode"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tools/process"
	"github.com/honestty/honestty/tools/readfile"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/discord"
	"github.com/honestty/honestty/tools/send/email"
	"github.com/honestty/honestty/tools/send/file"
	"github.com/honestty/honestty/tools/send/matrix"
	"github.com/honestty/honestty/tools/send/ntfy"
	"github.com/honestty/honestty/tools/send/slack"
	"github.com/honestty/honestty/tools/send/telegram"
	"github.com/honestty/honestty/tools/send/webhook"
	"github.com/honestty/honestty/tools/terminal"
	"github.com/honestty/honestty/tools/tts"
)

// tools is the list of tools, written out.
func (k *kit) tools() ([]tools.Tool, error) {
	var errs []error
	var out []tools.Tool
	for _, make := range []func() (tools.Tool, error){
		k.terminal, k.process, k.readFile, k.executeCode, k.speech, k.sender, k.descriptors, k.checkpoint,
	} {
		t, err := make()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, t)
	}
	return out, errors.Join(errs...)
}

// tool makes one tool. The others are not set up for it.
func (k *kit) tool(name string) (tools.Tool, error) {
	makers := map[string]func() (tools.Tool, error){
		"terminal": k.terminal, "process": k.process, "read_file": k.readFile, "execute_code": k.executeCode,
		"text_to_speech": k.speech, "send_message": k.sender, "checkpoint": k.checkpoint,
		"fd_report": k.descriptors,
	}
	if make, ok := makers[name]; ok {
		return make()
	}
	return tools.Tool{}, &tools.UnknownToolError{Name: name}
}

// gate is what a dangerous command meets.
func (k *kit) danger() danger.Policy {
	p := danger.Policy{Allow: k.conf.Tools.Allow, Deny: k.conf.Tools.Deny}
	if err := p.Mode.UnmarshalText([]byte(k.conf.Tools.Approval)); err != nil {
		p.Mode = danger.ModeAsk // not reached: the settings are checked
	}
	return p
}

func (k *kit) terminal() (tools.Tool, error) {
	t := terminal.Tool(terminal.Deps{
		Poller: k.poller, SpillDir: stateDir("spill"), Default: k.conf.Tools.Timeout,
		Check: danger.Gate(k.danger()), CheckDir: k.workdir, Background: background{k},
	})
	t.Streams = true
	return t, nil
}

// workdir is the directory that a call names for its command, past the policy
// of paths: an error of starting would repeat it.
func (k *kit) workdir(workdir, dir string) (string, error) {
	if workdir == "" {
		return dir, nil
	}
	if k.homeless != nil {
		return "", k.homeless
	}
	p, err := k.policy.Check(workdir, dir, safepath.Read)
	if said := safepath.Message("workdir", err); said != "" {
		return "", &outcome.RefusedError{Rule: said}
	}
	if err != nil {
		return "", fmt.Errorf("workdir: %w", err)
	}
	return p.Abs, nil
}

// A background starts what the terminal tool is asked to leave running.
type background struct{ k *kit }

// StartBackground passes no gate again: the terminal tool has judged the
// command and the directory.
func (b background) StartBackground(ctx context.Context, c *tools.Call, bg terminal.Background) tools.Answer {
	params, err := json.Marshal(process.Params{
		Action: "start", Command: bg.Command, Workdir: bg.Dir, PTY: bg.PTY, Watch: bg.WatchPatterns,
	})
	if err != nil {
		return tools.Answer{Status: outcome.Failed, Err: err, Result: map[string]string{"error": err.Error()}}
	}
	a := jobhost.Tool(b.k.app.jobs, jobhost.Gates{}).Run(ctx, c, params)
	if bg.NotifyOnComplete && a.Err == nil {
		a.Result = noted(a.Result, "notify_on_complete was not used: nothing can be told after an answer. The window shows the end; process with wait sees it")
	}
	return a
}

// noted adds a note to a result of the process tool, or leaves what is none.
func noted(result any, note string) any {
	raw, err := json.Marshal(result)
	if err != nil {
		return result
	}
	var r jobResult
	if json.Unmarshal(raw, &r) != nil {
		return result
	}
	r.Notes = append(r.Notes, note)
	return r
}

func (k *kit) process() (tools.Tool, error) {
	return jobhost.Tool(k.app.jobs, jobhost.Gates{Check: danger.Gate(k.danger()), Dir: k.workdir}), nil
}

func (k *kit) readFile() (tools.Tool, error) {
	if k.homeless != nil {
		return tools.Tool{}, k.homeless
	}
	t := readfile.Tool(k.policy)
	t.ReadOnly = true
	return t, nil
}

func (k *kit) descriptors() (tools.Tool, error) {
	t := fdmeter.Tool(&fdmeter.Meter{NoSelect: neverSelects})
	t.ReadOnly = true
	return t, nil
}

func (k *kit) executeCode() (tools.Tool, error) {
	run := terminal.Deps{Poller: k.poller, SpillDir: stateDir("spill")}
	t := execcode.Tool(execcode.Deps{
		Run: runScript(run), Dir: stateDir("code"), Default: k.conf.Tools.Timeout,
		Check: danger.CodeGate(k.danger()), CheckDir: k.workdir,
	})
	t.Streams = true
	return t, nil
}

func (k *kit) checkpoint() (tools.Tool, error) {
	s, err := k.checkpoints()
	if err != nil {
		return tools.Tool{}, err
	}
	return checkpoint.Tool(s, k.policy), nil
}

func (k *kit) checkpoints() (*checkpoint.Store, error) {
	if k.homeless != nil {
		return nil, k.homeless
	}
	return checkpoint.Open(stateDir("checkpoints"), checkpoint.Limits{})
}

// speechDeps is what speech needs of the program around it.
func (k *kit) speechDeps() (tts.Deps, error) {
	s, err := k.checkpoints()
	if err != nil {
		return tts.Deps{}, err
	}
	c := k.conf.Speech
	conf := tts.Config{
		Provider: c.Provider, Language: c.Language, Voice: c.Voice, Format: c.Format,
		PiperProgram: c.PiperProgram, PiperModel: expand(c.PiperModel), PiperURL: c.PiperURL, Wyoming: c.Wyoming,
		OpenAI:     tts.Server{URL: c.OpenAIURL, Model: c.OpenAIModel},
		ElevenLabs: tts.Server{Model: c.ElevenLabsModel},
	}
	if len(c.Command) > 0 {
		conf.Commands = map[string]tts.Command{"command": {Words: c.Command}}
	}
	return tts.Deps{
		Poller: k.poller, Policy: k.policy, Config: conf,
		AudioDir: audioDir(), StateDir: stateDir(""),
		Keep: func(old *os.File, path, call string) (string, error) {
			e, err := s.Keep(old, path, call)
			return e.ID, err
		},
		Cost: func(id string) []string {
			e, err := s.Find(id)
			if err != nil {
				return nil // it was told when it was kept
			}
			return e.Cost()
		},
	}, nil
}

// audioDir is where speech goes that nobody named a file for (XDG base
// directories: cache).
func audioDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return stateDir("audio")
	}
	return filepath.Join(dir, "honestty", "audio")
}

func (k *kit) speech() (tools.Tool, error) {
	d, err := k.speechDeps()
	if err != nil {
		return tools.Tool{}, err
	}
	return tts.Tool(d), nil
}

func (k *kit) sender() (tools.Tool, error) {
	s, err := k.newSender()
	if err != nil {
		return tools.Tool{}, err
	}
	return send.Tool(s), nil
}

// secretsFile holds tokens, one NAME=value a line, readable by its owner only.
func secretsFile() string {
	return filepath.Join(filepath.Dir(config.UserPath(os.Getenv)), "secrets")
}

// newSender sets up every platform that has what it needs. The others are
// named with what they lack.
func (k *kit) newSender() (*send.Sender, error) {
	if k.homeless != nil {
		return nil, k.homeless
	}
	c := k.conf.Send
	s := &send.Sender{Policy: k.policy, Scrub: &send.Scrubber{}}
	s.Policy.Allow, s.Policy.Strict = expandAll(c.Allow), c.Strict
	for _, pair := range c.Paths {
		inside, here, _ := strings.Cut(pair, "=")
		s.Policy.Mounts = append(s.Policy.Mounts, safepath.Mount{Inside: inside, Here: expand(here)})
	}
	s.Places = send.Places{Homes: map[string]send.Target{}, Names: map[string]map[string]string{}, Missing: map[string]string{}}
	for _, pair := range c.Names {
		platform, rest, _ := strings.Cut(pair, ":")
		name, chat, _ := strings.Cut(rest, "=")
		if s.Places.Names[platform] == nil {
			s.Places.Names[platform] = map[string]string{}
		}
		s.Places.Names[platform][name] = chat
	}
	secrets := &send.Secrets{File: secretsFile(), Scrub: s.Scrub}
	for _, p := range platforms(c, secrets) {
		made, err := p.make()
		switch {
		case errors.Is(err, send.ErrNoSecret), errors.Is(err, errNotSet):
			s.Places.Missing[p.name] = "set " + p.needs
		case err != nil:
			s.Places.Missing[p.name] = s.Scrub.Text(oneLine(err))
		default:
			s.Platforms = append(s.Platforms, made)
			k.home(s, p.name)
		}
	}
	return s, nil
}

// home finds the chat that the name of a platform alone stands for: the
// settings, then Hermes' variables.
func (k *kit) home(s *send.Sender, platform string) {
	t := send.Target{Platform: platform}
	for _, pair := range k.conf.Send.Homes {
		if name, chat, _ := strings.Cut(pair, "="); name == platform {
			t.Chat, t.Thread, _ = strings.Cut(chat, ":")
		}
	}
	if t.Chat == "" {
		t, _ = send.HomeFromEnv(platform, os.LookupEnv)
	}
	if t.Chat != "" {
		s.Places.Homes[platform] = t
	}
}

// errNotSet is why a platform without a secret is not set up.
var errNotSet = errors.New("not set")

// A platformMaker sets one platform up.
type platformMaker struct {
	name, needs string
	make        func() (send.Platform, error)
}

// platforms is the list of platforms, written out.
func platforms(c config.Send, secrets *send.Secrets) []platformMaker {
	wire := send.NewWire(send.WireConfig{})
	return []platformMaker{
		{"file", "send.outbox", func() (send.Platform, error) {
			return file.New(cmp.Or(expand(c.Outbox), stateDir("outbox")))
		}},
		{"telegram", "TELEGRAM_BOT_TOKEN", func() (send.Platform, error) {
			token, err := secrets.Get("TELEGRAM_BOT_TOKEN")
			if err != nil {
				return nil, err
			}
			return telegram.New(telegram.Config{Token: token, Server: c.TelegramURL, Wire: wire})
		}},
		{"discord", "DISCORD_WEBHOOK_URL or DISCORD_BOT_TOKEN", func() (send.Platform, error) {
			hook, err := secrets.Get("DISCORD_WEBHOOK_URL")
			token := ""
			if errors.Is(err, send.ErrNoSecret) {
				token, err = secrets.Get("DISCORD_BOT_TOKEN")
			}
			if err != nil {
				return nil, err
			}
			return discord.New(discord.Config{Webhook: hook, Token: token, FileBytes: int64(c.DiscordFile), Wire: wire})
		}},
		{"slack", "SLACK_BOT_TOKEN", func() (send.Platform, error) {
			token, err := secrets.Get("SLACK_BOT_TOKEN")
			if err != nil {
				return nil, err
			}
			return slack.New(slack.Config{Token: token, Wire: wire})
		}},
		{"email", "send.email_host and send.email_from", func() (send.Platform, error) {
			if c.EmailHost == "" || c.EmailFrom == "" {
				return nil, errNotSet
			}
			conf := email.Config{Host: c.EmailHost, Port: c.EmailPort, From: c.EmailFrom, Policy: email.Policy(c.EmailTLS)}
			user, err := secrets.Get("EMAIL_USER")
			if err == nil {
				conf.Username = user
				conf.Password, err = secrets.Get("EMAIL_PASSWORD")
			} else if errors.Is(err, send.ErrNoSecret) {
				err = nil // a relay that takes mail without a login
			}
			if err != nil {
				return nil, err
			}
			return email.New(conf)
		}},
		{"ntfy", "send.ntfy_server", func() (send.Platform, error) {
			token, err := secrets.Get("NTFY_TOKEN")
			if err != nil && !errors.Is(err, send.ErrNoSecret) {
				return nil, err
			}
			return ntfy.New(ntfy.Config{Server: c.NtfyServer, Token: token, Wire: wire})
		}},
		{"matrix", "send.matrix_server and MATRIX_ACCESS_TOKEN", func() (send.Platform, error) {
			if c.MatrixServer == "" {
				return nil, errNotSet
			}
			token, err := secrets.Get("MATRIX_ACCESS_TOKEN")
			if err != nil {
				return nil, err
			}
			return matrix.New(matrix.Config{Server: c.MatrixServer, Token: token, Wire: wire})
		}},
		{"webhook", "WEBHOOK_URL", func() (send.Platform, error) {
			url, err := secrets.Get("WEBHOOK_URL")
			if err != nil {
				return nil, err
			}
			secret, err := secrets.Get("WEBHOOK_SECRET")
			if err != nil && !errors.Is(err, send.ErrNoSecret) {
				return nil, err
			}
			return webhook.New(webhook.Config{URL: url, Secret: secret, JSON: c.WebhookJSON, Wire: wire})
		}},
	}
}

// runScript runs a script of execute_code under the contract of terminal.
func runScript(d terminal.Deps) execcode.Runner {
	return func(ctx context.Context, c *tools.Call, s execcode.Spec) tools.Answer {
		return d.Answer(ctx, c, terminal.Job{
			Argv: s.Argv, Dir: s.Dir, Env: s.Env, Stdin: s.Stdin, Timeout: s.Timeout, Script: s.Script, Notes: s.Notes, NotRun: s.NotRun,
		})
	}
}
