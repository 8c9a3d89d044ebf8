package tts

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

// A decoder is a program that reads what is not decoded here: all but WAV and
// most MP3. Where it can, it writes one channel at 8 kHz: enough to prove the end
// and to see the peaks, and small.
type decoder struct {
	program string
	argv    func(in, out string) []string
	reads   []audio.Container
}

// decoders, the best first.
var decoders = []decoder{
	{"ffmpeg", func(in, out string) []string {
		return []string{
			"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-xerror", "-n",
			"-i", in, "-ac", "1", "-ar", "8000", "-codec:a", "pcm_s16le", "-f", "wav", out,
		}
	}, []audio.Container{audio.MP3, audio.OggOpus, audio.OggVorbis, audio.FLAC, audio.MP4}},
	{"lame", func(in, out string) []string {
		return []string{"lame", "--quiet", "--decode", in, out}
	}, []audio.Container{audio.MP3}},
	{"opusdec", func(in, out string) []string {
		return []string{"opusdec", "--quiet", "--force-wav", "--rate", "8000", in, out}
	}, []audio.Container{audio.OggOpus}},
}

func (d Deps) decoderFor(c audio.Container) *decoder {
	for i, one := range decoders {
		if !slices.Contains(one.reads, c) {
			continue
		}
		if _, err := d.exec().Look(one.program); err == nil {
			return &decoders[i]
		}
	}
	return nil
}

// hear has the finished file decoded to its end by a program, and compares what
// came out with the chunks. Where no program can do it a note says what stands
// instead.
func (j *job) hear(ctx context.Context, name string, info *audio.Info) error {
	d := j.d.decoderFor(info.Container)
	proof := "only the encoder's word says that it is whole"
	if info.Framed {
		proof = "it was read to its end and nobody heard what it holds"
	}
	if d == nil {
		j.r.note("no program that decodes %s was found (ffmpeg does): %s", info.Container, proof)
		return nil
	}
	const out = "decoded.wav"
	_, err := j.patient().Run(ctx, provider.Job{
		Argv: d.argv(j.work.Path(name), j.work.Path(out)), Dir: j.work.Dir(),
		Log: j.work.Path("decoder.log"), Grows: []string{j.work.Path(out)},
	})
	what := "the finished file was decoded with " + d.program
	if pe, ok := errors.AsType[*provider.Error](err); ok {
		switch pe.Kind {
		case provider.Cancelled:
			return pe
		case provider.Failed:
			return &provider.Error{Kind: provider.NotAudio, What: what, Said: provider.Message(pe.Error())}
		}
		j.r.note("the finished file could not be decoded (%v): %s", pe, proof)
		return nil
	}
	f, err := j.work.Open(out)
	if err != nil {
		return &provider.Error{Kind: provider.Silent, What: what, Err: err}
	}
	defer f.Close()
	heard, err := audio.InspectFile(f)
	switch {
	case err != nil:
		return &provider.Error{Kind: provider.NotAudio, What: what, Err: err}
	case heard.Peak == 0:
		return &provider.Error{Kind: provider.Silent, What: "the finished file holds only silence"}
	}
	if err := j.sameLength(heard); err != nil {
		return &provider.Error{Kind: provider.Truncated, What: what, Err: err}
	}
	if info.Frames < 0 {
		info.Frames, info.Rate = heard.Frames, heard.Rate
	}
	if j.r.Levels == nil {
		j.r.Levels = wavLevels(f, heard)
	}
	return nil
}

// wavLevels reads the line of levels off a WAV; nil when that cannot be done.
func wavLevels(f *os.File, info audio.Info) []int {
	w, err := audio.OpenWAV(f, info.Size)
	if err != nil {
		return nil
	}
	m := audio.NewMeter(info.Frames*int64(info.Channels), audio.Levels)
	if _, err := io.Copy(m, w); err != nil {
		return nil
	}
	return m.Levels()
}

// patient runs programs that have to go through all of the audio: they get as
// long as it plays on top of the time of one request.
func (j *job) patient() provider.Exec {
	e := j.d.exec()
	if e.Timeout <= 0 {
		e.Timeout = provider.DefaultTimeout
	}
	for _, p := range j.parts {
		e.Timeout += max(0, p.info.Duration())
	}
	return e
}
