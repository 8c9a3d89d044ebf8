package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts"
	"github.com/honestty/honestty/tui/screen"
)

// maxText bounds what is read from stdin to be spoken: hours of speech.
const maxText = 4 << 20

func (a *app) cmdSpeak() *cobra.Command {
	var p tts.Params
	var play, asJSON, list bool
	cmd := &cobra.Command{
		Use:     "speak [flags] [TEXT|-]",
		Aliases: []string{"tts"},
		Short:   "Speak a text into a file; an existing file is never lost",
		Long: `speak makes an audio file of TEXT, or of what stands on stdin. The audio is made
beside the file that --output names and takes its place only when it is whole
and was checked; the old file is kept as a checkpoint. When anything fails the
old file is as it was, byte for byte, and a new path has nothing.

Without --output the file goes into the audio cache, and the result says when it
is removed from there. With --play it is played afterwards.

Success means that the file is where it says and decodes to its end. It exits
with 1 when it is not, and with 2 on wrong use.`,
		Example: "  honestty speak -o ~/notes/meeting.wav 'The meeting is at nine'\n  honestty speak --language de --play - <brief.txt",
		Args:    atMostOne("give one text: put it in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				return a.listProviders(cmd.Context(), p.Language, asJSON)
			case p.NoClobber && p.Force:
				return usagef("--no-clobber and --force contradict each other")
			case cmd.Flags().Changed("speed") && !(p.Speed > 0):
				return usagef("--speed takes 0.25 to 4.0")
			case p.Resume != "" && len(args) > 0:
				return usagef("--resume has its text already: give no other")
			case p.Resume == "":
				text, err := a.textToSpeak(args)
				if err != nil {
					return err
				}
				p.Text = text
			}
			if p.Text == "" && p.Resume == "" {
				return usagef("no text: give it as an argument, or - to take it from stdin")
			}
			return a.speak(cmd.Context(), p, play, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.OutputPath, "output", "o", "", "where the audio goes")
	f.StringVar(&p.Voice, "voice", "", "a voice, in the provider's own words")
	f.StringVar(&p.Language, "language", "", "of the text, such as de or en-GB")
	f.StringVar(&p.Provider, "provider", "", "who speaks; see --list")
	f.Float64Var(&p.Speed, "speed", 0, "0.25 to 4.0; 1 is normal")
	f.BoolVar(&p.NoClobber, "no-clobber", false, "refuse a path where a file is")
	f.BoolVar(&p.Force, "force", false, "replace a read-only file too, and one that no checkpoint can be kept of")
	f.StringVar(&p.Resume, "resume", "", "finish an earlier call, by the token it gave")
	f.BoolVar(&play, "play", false, "play it afterwards")
	f.BoolVar(&list, "list", false, "list the providers and what each lacks")
	f.BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

func (a *app) textToSpeak(args []string) (string, error) {
	switch {
	case len(args) == 1 && args[0] != "-":
		return args[0], nil
	case len(args) == 0 && isTerminal(a.in):
		return "", nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.in, maxText+1))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	if len(raw) > maxText {
		return "", usagef("stdin has more than %s: speak it in pieces", outcome.Size(maxText))
	}
	return string(raw), nil
}

func (a *app) speak(ctx context.Context, p tts.Params, play, asJSON bool) error {
	k, err := a.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	params, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	answer := k.call(ctx, "text_to_speech", params, nil, a.progress())
	a.endProgress()
	r, ok := answer.Result.(*tts.Result)
	if asJSON || !ok {
		if err := a.printJSON(answer.Result); err != nil {
			return err
		}
	} else if err := a.printSpeech(r); err != nil {
		return err
	}
	if play && ok && r.Path != "" {
		if err := k.play(ctx, r.Path); err != nil {
			fmt.Fprintln(a.err, "honestty: it was not played: "+oneLine(err))
			return &codeError{exitNotComplete}
		}
	}
	return k.judged(answer, asJSON)
}

func (a *app) printSpeech(r *tts.Result) error {
	if r.Path != "" {
		if _, err := fmt.Fprintln(a.out, r.Path); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		fmt.Fprintln(a.err, "honestty: "+r.Summary())
		if r.Requested == "" {
			fmt.Fprintln(a.err, "honestty: "+r.Sweep.Note)
		}
	}
	if r.Replaced != nil && r.Replaced.Checkpoint != "" {
		fmt.Fprintf(a.err, "honestty: the file that was there is checkpoint %s: honestty checkpoint restore %s brings it back\n", r.Replaced.Checkpoint, r.Replaced.Checkpoint)
	}
	if r.Kept != nil {
		fmt.Fprintf(a.err, "honestty: %s is as it was (unchanged, %s)\n", screen.Visible(r.Kept.Path), outcome.Size(r.Kept.Size))
	}
	if r.Resume != "" {
		fmt.Fprintf(a.err, "honestty: %d of %d chunks are made: honestty speak --resume %s goes on from there\n", r.Made, r.Chunks, r.Resume)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(a.err, "honestty: "+screen.Visible(n))
	}
	return nil
}

func (k *kit) play(ctx context.Context, path string) error {
	d, err := k.speechDeps()
	if err != nil {
		return err
	}
	_, err = tts.Play(ctx, d, path)
	return err
}

func (a *app) listProviders(ctx context.Context, language string, asJSON bool) error {
	k, err := a.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	d, err := k.speechDeps()
	if err != nil {
		return err
	}
	states := tts.Providers(ctx, d, cmp.Or(language, k.conf.Speech.Language))
	if asJSON {
		return a.printJSON(states)
	}
	for _, s := range states {
		why := "ready"
		switch {
		case !s.Ready:
			why = s.Why
		case s.Server:
			why = "set up; whether its server answers is not known"
		}
		if _, err := fmt.Fprintf(a.out, "%-12s %s\n", s.Name, screen.Visible(why)); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
	}
	return nil
}

// progress draws how far a long call is on stderr, where that is a terminal.
func (a *app) progress() func(done, total int64, what string) {
	f, ok := a.err.(*os.File)
	if !ok || !isTerminal(f) {
		return nil
	}
	return func(done, total int64, what string) {
		text := screen.Visible(what)
		if total > 0 {
			text = fmt.Sprintf("%3d%% %s", done*100/total, text)
		}
		fmt.Fprintf(a.err, "\r\x1b[K%s", strings.TrimSpace(text))
	}
}

// endProgress takes the line of progress away.
func (a *app) endProgress() {
	if f, ok := a.err.(*os.File); ok && isTerminal(f) {
		fmt.Fprint(a.err, "\r\x1b[K")
	}
}
