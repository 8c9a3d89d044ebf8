package tts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
	"github.com/honestty/honestty/tools/tts/publish"
)

// assemble makes one file of the parts and returns its name in the work folder.
func (j *job) assemble(ctx context.Context) (string, error) {
	first := j.parts[0].info.Container
	for i, p := range j.parts {
		if p.info.Container != first {
			return "", &provider.Error{Kind: provider.NotAudio, What: fmt.Sprintf("chunk %d is %s and the first is %s", i+1, p.info.Container, first)}
		}
	}
	switch {
	case first == audio.WAV || first == audio.MP3 && j.plan.want != audio.MP3:
		return j.fromSamples(ctx)
	case first == audio.MP3:
		return j.joinMP3()
	case first == j.plan.want && len(j.parts) == 1:
		return j.parts[0].name, nil
	case j.plan.with != nil && j.plan.with.decodes && len(j.parts) == 1:
		return j.encode(ctx, j.parts[0].name)
	}
	return "", &provider.Error{Kind: provider.Config, What: fmt.Sprintf("%s makes %s, which cannot be joined or turned into %s here", j.who.Name(), first, j.plan.want), Do: "let it make wav"}
}

// fromSamples joins the parts as samples, and encodes the whole once.
func (j *job) fromSamples(ctx context.Context) (string, error) {
	const joined = "joined.wav"
	if err := j.joinWAV(joined); err != nil {
		return "", err
	}
	if j.plan.with == nil {
		if j.plan.want != audio.WAV {
			// The provider said that it makes this container and made another.
			return "", &provider.Error{Kind: provider.NotAudio, What: fmt.Sprintf("%s was to make %s and made %s", j.who.Name(), j.plan.want, j.parts[0].info.Container)}
		}
		return joined, nil
	}
	return j.encode(ctx, joined)
}

func (j *job) joinWAV(name string) (err error) {
	var parts []audio.Part
	for _, p := range j.parts {
		f, err := j.work.Open(p.name)
		if err != nil {
			return &publish.StepError{Step: "open a chunk", Err: err}
		}
		defer f.Close()
		ap, err := samples(f, p.info)
		if err != nil {
			return err
		}
		parts = append(parts, ap)
	}
	out, err := j.work.Create(name)
	if err != nil {
		return err
	}
	levels, frames, err := audio.Join(out, parts)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	j.r.Levels = levels
	j.r.Rate, j.r.Channels = parts[0].Rate, parts[0].Channels
	j.r.Duration = audio.Info{Frames: frames, Rate: parts[0].Rate}.Duration()
	return nil
}

// samples opens the samples of a part that was verified.
func samples(f *os.File, info audio.Info) (audio.Part, error) {
	if info.Container == audio.WAV {
		w, err := audio.OpenWAV(f, info.Size)
		if err != nil {
			return audio.Part{}, err
		}
		return audio.Part{Format: w.Format, Frames: w.Frames(), Stream: w}, nil
	}
	pcm, rate, err := audio.DecodeMP3(f)
	if err != nil {
		return audio.Part{}, err
	}
	p := audio.Part{Format: audio.Format{Rate: rate, Channels: 2}, Frames: info.Frames, Stream: pcm}
	if info.Channels == 1 {
		p.Channels, p.Stream = 1, audio.Mono(pcm)
	}
	return p, nil
}

// joinMP3 joins MP3 parts frame by frame, without decoding and encoding them
// again.
func (j *job) joinMP3() (string, error) {
	if len(j.parts) == 1 {
		return j.parts[0].name, nil
	}
	const joined = "joined.mp3"
	out, err := j.work.Create(joined)
	if err != nil {
		return "", err
	}
	var files []io.Reader
	for _, p := range j.parts {
		f, ferr := j.work.Open(p.name)
		if ferr != nil {
			err = &publish.StepError{Step: "open a chunk", Err: ferr}
			break
		}
		defer f.Close()
		files = append(files, f)
	}
	if err == nil {
		err = audio.JoinMP3(out, files...)
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return joined, err
}

// measure reads the finished file to its end once more and fills in what the
// result says about it. What an encoder or a join lost is found here.
func (j *job) measure(ctx context.Context, name string) error {
	f, err := j.work.Open(name)
	if err != nil {
		return &publish.StepError{Step: "open the finished file", Err: err}
	}
	defer f.Close()
	info, err := audio.InspectFile(f)
	if err != nil {
		return &provider.Error{Kind: provider.NotAudio, What: "the finished file was checked", Err: err}
	}
	if info.Container != j.plan.want {
		return &provider.Error{Kind: provider.NotAudio, What: fmt.Sprintf("the finished file is %s and not %s", info.Container, j.plan.want)}
	}
	if err := j.sameLength(info); err != nil {
		return &provider.Error{Kind: provider.Truncated, What: "the finished file was checked", Err: err}
	}
	if info.Peak < 0 { // not decoded here
		if err := j.hear(ctx, name, &info); err != nil {
			return err
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return &publish.StepError{Step: "read the finished file", Err: err}
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return &publish.StepError{Step: "read the finished file", Err: err}
	}
	r := j.r
	r.Container, r.Size, r.SHA256 = info.Container, n, hex.EncodeToString(h.Sum(nil))
	if d := info.Duration(); d >= 0 {
		r.Duration = d
	}
	if info.Rate > 0 && info.Channels > 0 {
		r.Rate, r.Channels = info.Rate, info.Channels
	}
	if r.Levels == nil {
		r.Levels = levelsOf(f, info)
	}
	return nil
}

const (
	// An encoder puts its delay in front and fills its last frame: up to four
	// frames, which at 8 kHz is 288 ms.
	padding = 300 * time.Millisecond

	// Each MP3 part brings its own padding into a join by frames.
	seam = 150 * time.Millisecond
)

// sameLength compares the finished file with the sum of its parts.
func (j *job) sameLength(info audio.Info) error {
	var sum time.Duration
	for _, p := range j.parts {
		d := p.info.Duration()
		if d < 0 {
			return nil
		}
		sum += d
	}
	have := info.Duration()
	if have < 0 {
		return nil
	}
	allowed := time.Millisecond
	switch {
	case j.plan.with != nil:
		allowed = padding + sum/50
	case j.plan.want != audio.WAV || j.parts[0].info.Container != audio.WAV:
		allowed = seam*time.Duration(len(j.parts)) + sum/50
	}
	if (have - sum).Abs() > allowed {
		return fmt.Errorf("%w: it plays %v and its chunks %v", audio.ErrTruncated, have, sum)
	}
	return nil
}

// levelsOf decodes an MP3 for its line; nil when that cannot be done.
func levelsOf(f *os.File, info audio.Info) []int {
	if info.Container != audio.MP3 {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	pcm, _, err := audio.DecodeMP3(f)
	if err != nil {
		return nil
	}
	m := audio.NewMeter(info.Frames*2, audio.Levels)
	if _, err := io.Copy(m, pcm); err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return m.Levels()
}
