package tts

import (
	"context"
	"strings"

	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

// An encoder is a program that turns the joined WAV into what was asked for.
type encoder struct {
	program string
	decodes bool // it also reads other containers than WAV
	argv    func(want audio.Container, in, out string) []string
	makes   []audio.Container
}

// encoders, the best first.
var encoders = []encoder{
	{"ffmpeg", true, ffmpegArgs, []audio.Container{audio.MP3, audio.OggOpus, audio.FLAC, audio.MP4}},
	{"lame", false, func(_ audio.Container, in, out string) []string {
		return []string{"lame", "--quiet", "-V", "4", in, out}
	}, []audio.Container{audio.MP3}},
	{"opusenc", false, func(_ audio.Container, in, out string) []string {
		return []string{"opusenc", "--quiet", in, out}
	}, []audio.Container{audio.OggOpus}},
}

func ffmpegArgs(want audio.Container, in, out string) []string {
	argv := []string{"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-n", "-i", in, "-map_metadata", "-1"}
	switch want {
	case audio.MP3:
		argv = append(argv, "-codec:a", "libmp3lame", "-q:a", "4", "-f", "mp3")
	case audio.OggOpus: // as a voice message wants it
		argv = append(argv, "-codec:a", "libopus", "-b:a", "48k", "-ac", "1", "-application", "voip", "-f", "ogg")
	case audio.FLAC:
		argv = append(argv, "-codec:a", "flac", "-f", "flac")
	case audio.MP4:
		argv = append(argv, "-codec:a", "aac", "-b:a", "96k", "-f", "ipod")
	}
	return append(argv, out)
}

// encoderFor finds a program for a container, and nil when there is none.
func (d Deps) encoderFor(want audio.Container) *encoder {
	for i, e := range encoders {
		for _, c := range e.makes {
			if c != want {
				continue
			}
			if _, err := d.exec().Look(e.program); err == nil {
				return &encoders[i]
			}
		}
	}
	return nil
}

// encodersFor names the programs that would do, for the message that there is
// none.
func encodersFor(want audio.Container) string {
	var names []string
	for _, e := range encoders {
		for _, c := range e.makes {
			if c == want {
				names = append(names, e.program)
			}
		}
	}
	return "install " + strings.Join(names, " or ")
}

// encode runs the encoder on a file of the work folder. Its exit code is not
// believed: measure reads what it wrote.
func (j *job) encode(ctx context.Context, in string) (string, error) {
	out := "encoded" + j.plan.ext
	from, to := j.work.Path(in), j.work.Path(out)
	j.call.Report(int64(len(j.chunks)), int64(len(j.chunks)), "encode")
	_, err := j.patient().Run(ctx, provider.Job{
		Argv: j.plan.with.argv(j.plan.want, from, to), Dir: j.work.Dir(),
		Log: j.work.Path("encoder.log"), Grows: []string{to},
	})
	if err == nil {
		return out, nil
	}
	if pe, ok := err.(*provider.Error); ok {
		pe.What = "encode with " + j.plan.with.program + ": " + pe.What
	}
	return "", err
}
