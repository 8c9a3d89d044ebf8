package tts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

// A player is a program that plays a file and ends.
type player struct {
	program string
	args    []string
	plays   []audio.Container // nil: whatever there is
}

var uncompressed = []audio.Container{audio.WAV, audio.FLAC, audio.AIFF}

// players in the order in which they are looked for. The first that is there
// and knows the container plays; when it fails no other takes its place.
func players() []player {
	if runtime.GOOS == "darwin" {
		return []player{
			{"afplay", nil, []audio.Container{audio.WAV, audio.MP3, audio.MP4, audio.AIFF, audio.FLAC}},
			{"ffplay", []string{"-nodisp", "-autoexit", "-loglevel", "error"}, nil},
		}
	}
	return []player{
		{"pw-play", nil, append([]audio.Container{audio.OggVorbis, audio.OggOpus, audio.MP3}, uncompressed...)},
		{"paplay", nil, append([]audio.Container{audio.OggVorbis}, uncompressed...)},
		{"ffplay", []string{"-nodisp", "-autoexit", "-loglevel", "error"}, nil},
		{"aplay", []string{"-q"}, []audio.Container{audio.WAV}},
	}
}

// A player that ends before this part of the audio, less what a clock may be
// off, has not played it: ffplay exits with 0 where there is no sound device.
const (
	leastPlayed = 0.8
	playSlack   = 200 * time.Millisecond
)

// maxPlay is longer than any speech of one call.
const maxPlay = 48 * time.Hour

func (d Deps) player(c audio.Container) (player, error) {
	var names []string
	for _, p := range players() {
		if p.plays != nil && !slices.Contains(p.plays, c) {
			continue
		}
		if _, err := d.exec().Look(p.program); err == nil {
			return p, nil
		}
		names = append(names, p.program)
	}
	return player{}, &provider.Error{Kind: provider.Missing, What: "no player for " + string(c) + " was found", Do: "install one of " + strings.Join(names, ", ")}
}

// Play plays the audio file at path to its end with a program of this machine,
// and stops when ctx ends. It returns the player's name. The error carries what
// the player said; it matches context.Canceled when ctx was cancelled.
func Play(ctx context.Context, d Deps, path string) (string, error) {
	path, err := filepath.Abs(path) // a name that begins with a dash is no option
	if err != nil {
		return "", fmt.Errorf("play: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("play: %w", bare(err))
	}
	if !st.Mode().IsRegular() {
		return "", errors.New("play: it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("play: %w", bare(err))
	}
	c, err := audio.Sniff(f)
	// A file that is damaged may still be heard; how long it is is not known.
	info, lengthErr := audio.InspectFile(f)
	_ = f.Close()
	if err != nil {
		return "", fmt.Errorf("play: %w", bare(err))
	}
	if c == audio.Unrecognised {
		return "", fmt.Errorf("play: %w", audio.ErrNotAudio)
	}
	p, err := d.player(c)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "honestty-play-")
	if err != nil {
		return p.program, fmt.Errorf("play: %w", bare(err))
	}
	defer os.RemoveAll(dir)
	ex := d.exec()
	ex.Timeout = maxPlay
	began := time.Now()
	said, err := ex.Run(ctx, provider.Job{
		Argv: slices.Concat([]string{p.program}, p.args, []string{path}), Dir: dir, Log: filepath.Join(dir, "log"),
	})
	took := time.Since(began)
	if length := info.Duration(); err == nil && lengthErr == nil && took+playSlack < time.Duration(leastPlayed*float64(length)) {
		return p.program, &provider.Error{
			Kind: provider.Failed, Said: said,
			What: fmt.Sprintf("play: %s ended with exit 0 after %s of %s", p.program, outcome.Duration(took), outcome.Duration(length)),
		}
	}
	if pe, ok := err.(*provider.Error); ok {
		pe.What = "play: " + pe.What
	}
	return p.program, err
}
