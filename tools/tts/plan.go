package tts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
	"github.com/honestty/honestty/tools/tts/publish"
	"github.com/honestty/honestty/tools/tts/script"
)

const (
	minSpeed, maxSpeed = 0.25, 4.0

	// maxText bounds one call: a million characters are some 20 hours of
	// speech.
	maxText = 1_000_000
)

// prepare decides everything that can be decided without writing a byte or
// asking a server, and refuses what has to be refused.
func prepare(ctx context.Context, d Deps, p Params, c tools.Call, r *Result) (*job, error) {
	j := &job{d: d, p: p, call: c, r: r}
	if err := j.readText(); err != nil {
		return nil, err
	}
	var checked safepath.Path
	if p.OutputPath != "" {
		var err error
		if checked, err = j.checkPath(ctx, p.OutputPath); err != nil {
			return nil, err
		}
		r.Requested = checked.Abs
	}
	if err := provider.CheckVoice(p.Voice); err != nil {
		return nil, wrap(r.Asked, err)
	}
	who, err := choose(ctx, d, p, j.text)
	if err != nil {
		return nil, err
	}
	j.who = who
	r.Used, r.Language = who.Name(), who.language
	if who.note != "" {
		r.note("%s", who.note)
	}
	if err := j.judgeText(); err != nil {
		return nil, err
	}
	j.setSpeed()
	j.cut()
	if err := j.planOutput(ctx, checked); err != nil {
		return nil, err
	}
	if j.store, err = openStore(d); err != nil {
		r.note("finished chunks cannot be kept (%s), so a failure cannot be resumed", outcome.Errno(bare(err)))
	}
	return j, nil
}

func bare(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// known is an error in the exact words that agents look for.
type known string

func (k known) Error() string { return string(k) }

const (
	errNoText      known = "Text is required"
	errNothingLeft known = "Text is empty after TTS cleanup"
)

func (j *job) readText() error {
	switch n := len(j.p.Text); {
	case strings.TrimSpace(j.p.Text) == "":
		return errNoText
	case n > maxText && utf8.RuneCountInString(j.p.Text) > maxText:
		return fmt.Errorf("the text has %s characters; at most %s are spoken in one call, so speak it in pieces",
			outcome.Count(int64(utf8.RuneCountInString(j.p.Text))), outcome.Count(maxText))
	}
	j.text, j.r.Removed = script.Clean(j.p.Text)
	var out []string
	for _, m := range j.r.Removed {
		out = append(out, fmt.Sprintf("%s (%d, %s)", m.What, m.Count, plural(m.Chars, "character")))
	}
	if out != nil {
		j.r.note("left out before speaking: %s", strings.Join(out, ", "))
	}
	switch {
	case j.text == "":
		return errNothingLeft
	case script.Speakable(j.text) == 0:
		return errors.New("the text has no speakable letters: only marks and symbols")
	}
	return nil
}

// checkPath passes the path through the gates, and asks where the policy wants
// approval.
func (j *job) checkPath(ctx context.Context, path string) (safepath.Path, error) {
	checked, err := j.d.Policy.Check(path, j.call.Dir, safepath.Write)
	if err != nil {
		if text := safepath.Message("output_path", err); text != "" {
			return checked, &refusal{text, err}
		}
		return checked, err
	}
	if strings.HasSuffix(path, "/") {
		return checked, publish.ErrFolder
	}
	if checked.Approve != "" {
		if err := j.call.Ask(ctx, tools.Question{Rule: checked.Approve, Detail: "write speech to " + checked.Real}); err != nil {
			return checked, err
		}
	}
	return checked, nil
}

// A refusal is an error with the words that agents know for it.
type refusal struct {
	text string
	err  error
}

func (e *refusal) Error() string { return e.text }
func (e *refusal) Unwrap() error { return e.err }

// judgeText refuses a text that the voice has no pronunciation for at all, and
// counts what it has none for. Servers speak many languages at once, so for
// them this is not known.
func (j *job) judgeText() error {
	language := j.who.language
	if !alone(j.who.Name()) || j.who.Name() == "piper" {
		return nil
	}
	if language == "" {
		language = j.p.Voice // espeak-ng names its voices after their language
		if language == "" && j.who.Name() == "espeak-ng" {
			language = "en"
		}
	}
	c, known := script.CoverageIn(j.text, language)
	if !known {
		return nil
	}
	j.r.Coverage = &c
	if c.Letters > 0 && c.Spoken == 0 {
		return &Error{Prefix: "TTS configuration error (" + j.who.Name() + "): ", Err: fmt.Errorf(
			"none of the %s of the text has a pronunciation in %s; name the language", plural(c.Letters, "letter"), language)}
	}
	if s := c.Sentence(language); s != "" {
		j.r.note("%s", s)
	}
	return nil
}

func (j *job) setSpeed() {
	asked := j.p.Speed
	if asked == 0 || math.IsNaN(asked) {
		asked = 1
	}
	low, high := minSpeed, maxSpeed
	if l := j.who.Limits(); l.MinSpeed > 0 {
		low, high = max(low, l.MinSpeed), min(high, l.MaxSpeed)
	}
	j.speed = max(low, min(high, asked))
	if j.speed != asked {
		j.r.note("speed %.2f was asked for; %s speaks at %.2f to %.2f, so it is %.2f", asked, j.who.Name(), low, high, j.speed)
	}
	if j.p.Instructions != "" && !j.who.Limits().Instructions {
		j.r.note("the instructions had no effect: %s takes none", j.who.Name())
	}
}

// minChars is the smallest piece that slow speech or a setting can make.
const minChars = 200

func (j *job) cut() {
	l := j.who.Limits()
	limit := l.Chars
	if c := j.d.Config.Chars; c > 0 && (limit == 0 || c < limit) {
		limit = c
	}
	if l.Bytes && j.speed < 1 {
		// Half the speed is twice the audio, and the body has its limit.
		limit = max(min(limit, minChars), int(float64(limit)*j.speed))
	}
	j.chunks = script.Chunks(j.text, limit)
	j.r.Chunks = len(j.chunks)
	for _, text := range j.chunks {
		j.keys = append(j.keys, chunkKey(j.who, j.request(text)))
	}
	j.token = token(j.keys)
}

func (j *job) request(text string) provider.Request {
	voice := j.p.Voice
	if voice == "" && strings.EqualFold(j.who.Name(), j.d.Config.Provider) {
		voice = j.d.Config.Voice
	}
	return provider.Request{Text: text, Voice: voice, Language: j.who.language, Speed: j.speed, Instructions: j.p.Instructions}
}

// An output is what the file becomes.
type output struct {
	want  audio.Container
	ext   string   // of the file, with dot
	with  *encoder // nil: nothing has to be encoded
	cache bool     // in the audio cache
}

// planOutput decides container, encoder and path, and looks at the target.
func (j *job) planOutput(ctx context.Context, checked safepath.Path) error {
	ext := strings.ToLower(filepath.Ext(checked.Real))
	if j.p.OutputPath == "" {
		return j.planCache()
	}
	path := checked.Real
	if ext == "" {
		// The name gets an extension; what stands there without one may be no
		// place for a file, and then the other name was not meant.
		if _, err := publish.Look(path, j.options()); errors.Is(err, publish.ErrFolder) || errors.Is(err, publish.ErrSpecial) {
			return err
		}
		out := j.withoutPath()
		j.plan = out
		path += out.ext
		j.r.note("the path had no extension; %s was added", out.ext)
		return j.look(ctx, path, true)
	}
	want := audio.ForExtension(ext)
	if want == audio.Unrecognised {
		return &Error{Prefix: "TTS configuration error (" + j.who.Name() + "): ", Err: errors.New("the extension of output_path is none of .wav .mp3 .ogg .opus .flac .m4a")}
	}
	out, ok := j.reach(want, ext)
	j.plan = out
	if ok {
		return j.look(ctx, path, false)
	}
	path = strings.TrimSuffix(path, filepath.Ext(path)) + ".wav"
	j.r.note("%s was asked for and no encoder for it was found (%s); the result is WAV under a .wav name", strings.ToUpper(ext[1:]), encodersFor(want))
	return j.look(ctx, path, true)
}

// reach says how a container is come by. It is false when it cannot be, and
// then the output is WAV.
func (j *job) reach(want audio.Container, ext string) (output, bool) {
	makes := j.who.Limits().Makes
	if want == audio.WAV || want == makes && (want == audio.MP3 || len(j.chunks) == 1) {
		return output{want: want, ext: ext}, true
	}
	if e := j.d.encoderFor(want); e != nil {
		return output{want: want, ext: ext, with: e}, true
	}
	return output{want: audio.WAV, ext: ".wav"}, false
}

// withoutPath is the format of a file whose name is ours to give.
func (j *job) withoutPath() output {
	format := strings.TrimPrefix(strings.ToLower(j.d.Config.Format), ".")
	want := audio.ForExtension("." + firstOf(format, "mp3"))
	if want == audio.Unrecognised {
		j.r.note("the configured format is none of wav, mp3, ogg, flac, m4a")
		want = audio.WAV
	}
	out, ok := j.reach(want, want.Extensions()[0])
	if !ok && format != "" {
		j.r.note("%s is configured and no encoder for it was found (%s); the result is WAV", strings.ToUpper(format), encodersFor(want))
	}
	return out
}

func (j *job) planCache() error {
	if j.d.AudioDir == "" {
		return errors.New("no output_path was given and there is no audio cache")
	}
	if err := os.MkdirAll(j.d.AudioDir, 0o700); err != nil {
		return fmt.Errorf("make the audio cache: %w", bare(err))
	}
	dir, err := filepath.EvalSymlinks(j.d.AudioDir)
	if err != nil {
		return fmt.Errorf("look at the audio cache: %w", bare(err))
	}
	j.plan = j.withoutPath()
	j.plan.cache = true
	// A name in the cache is new, and never anybody's file.
	opt := j.options()
	opt.NoClobber, opt.Force = true, false
	const tries = 1000
	for i := range tries {
		at := j.d.now().Add(time.Duration(i) * time.Microsecond)
		j.target, err = publish.Look(filepath.Join(dir, cacheFile(at, j.plan.ext)), opt)
		if !errors.Is(err, publish.ErrExists) {
			break
		}
	}
	return err
}

func (j *job) options() publish.Options {
	return publish.Options{
		NoClobber: j.p.NoClobber, Force: j.p.Force, Call: j.call.ID, Registry: j.d.registry(), Fault: j.d.fault,
	}
}

// errSibling refuses the second name that a missing encoder leads to.
var errSibling = &outcome.RefusedError{Rule: "the name that the audio would get instead is taken by a file that nobody named; --force replaces it"}

// look looks at the target. A path that differs from the one that was asked
// for passes the gates anew, and never replaces a file.
func (j *job) look(ctx context.Context, path string, renamed bool) error {
	if renamed {
		checked, err := j.checkPath(ctx, path)
		if err != nil {
			return err
		}
		path = checked.Real
	}
	t, err := publish.Look(path, j.options())
	if err != nil {
		return err
	}
	j.target = t
	if renamed && t.Exists && !j.p.Force {
		j.kept()
		return errSibling
	}
	if t.Exists && j.d.Keep == nil && !j.p.Force {
		j.kept()
		return publish.ErrNoKeeper
	}
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return outcome.Count(int64(n)) + " " + what + "s"
}
