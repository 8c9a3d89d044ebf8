package tts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
	"github.com/honestty/honestty/tools/tts/script"
)

// A part is the audio of one chunk in the work folder.
type part struct {
	name string
	info audio.Info
}

// giveUp is how many chunks in a row may fail before the rest is left alone:
// by then it is the server and not the text.
const giveUp = 5

// speakChunks makes the audio of every chunk, one after the other. When some
// fail it goes on, so that what can be had is there for a resume, and returns
// the first error.
func (j *job) speakChunks(ctx context.Context) error {
	var first error
	inARow := 0
	n := len(j.chunks)
	j.parts = make([]part, n)
	for i := range j.chunks {
		if ctx.Err() != nil {
			first = firstError(first, &provider.Error{Kind: provider.Cancelled, What: "cancelled"})
			break
		}
		j.call.Report(int64(i), int64(n), fmt.Sprintf("chunk %d of %d", i+1, n))
		err := j.speakChunk(ctx, i)
		if err == nil {
			j.r.Made++
			inARow = 0
			continue
		}
		pe, _ := errors.AsType[*provider.Error](err)
		if pe != nil && pe.Kind == provider.Cancelled {
			first = firstError(first, pe)
			break
		}
		inARow++
		j.r.Failures = append(j.r.Failures, ChunkFailure{i + 1, oneLine(err.Error())})
		if n == 1 {
			first = wrap(j.who.Name(), err)
		} else {
			first = firstError(first, chunkError(j.who.Name(), i+1, err))
		}
		if pe == nil || pe.Kind.Final() {
			break
		}
		if inARow == giveUp {
			j.r.note("%d chunks in a row failed, so the rest was not tried", giveUp)
			break
		}
	}
	if first != nil {
		j.offerResume()
		return first
	}
	j.call.Report(int64(n), int64(n), "join")
	return nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// offerResume leaves what is needed to go on later.
func (j *job) offerResume() {
	switch {
	case j.r.Made == 0 || len(j.chunks) == 1:
	case j.store == nil:
		j.r.note("%d of %d chunks were made and are gone: there is no folder to keep them in", j.r.Made, len(j.chunks))
	default:
		if err := j.store.remember(j.token, j.p); err != nil {
			j.r.note("%d of %d chunks were made, and what was asked could not be written down (%s)", j.r.Made, len(j.chunks), outcome.Errno(bare(err)))
			return
		}
		j.r.Resume = j.token
		j.r.note("the finished chunks are kept for 24 hours, with the text")
	}
}

func (j *job) speakChunk(ctx context.Context, i int) error {
	name := fmt.Sprintf("part-%05d", i+1)
	path := j.work.Path(name)
	if j.store.load(j.keys[i], path) {
		if info, err := j.verify(path, j.chunks[i], provider.Made{}); err == nil {
			j.parts[i] = part{name, info}
			j.r.Reused++
			return nil
		}
		name += "-anew"
		path = j.work.Path(name)
	}
	req := j.request(j.chunks[i])
	req.Out = path
	made, err := j.who.Speak(ctx, req)
	if err != nil {
		return err
	}
	j.tell(made)
	info, err := j.verify(path, j.chunks[i], made)
	if err != nil {
		return err
	}
	j.parts[i] = part{name, info}
	if len(j.chunks) > 1 {
		if err := j.store.save(j.keys[i], path); err != nil {
			j.noteOnce("finished chunks cannot be kept (" + outcome.Errno(bare(err)) + ")")
		}
	}
	return nil
}

func (j *job) tell(m provider.Made) {
	j.r.Voice, j.r.Model = firstOf(m.Voice, j.r.Voice), firstOf(m.Model, j.r.Model)
	for _, n := range m.Notes {
		j.noteOnce(n)
	}
}

func (j *job) noteOnce(text string) {
	for _, n := range j.r.Notes {
		if n == text {
			return
		}
	}
	j.r.note("%s", text)
}

// verify reads a chunk to its end and judges whether it can be the text.
func (j *job) verify(path, text string, m provider.Made) (audio.Info, error) {
	info, err := audio.Inspect(path)
	if err != nil {
		kind := provider.NotAudio
		switch {
		case errors.Is(err, audio.ErrTruncated):
			kind = provider.Truncated
		case errors.Is(err, audio.ErrEmpty):
			kind = provider.Silent
		case !errors.Is(err, audio.ErrNotAudio) && !errors.Is(err, audio.ErrUnsupported):
			kind = provider.Local
		}
		return info, &provider.Error{Kind: kind, What: "the audio of " + j.who.Name() + " was checked", Err: err}
	}
	if m.Unproven && !info.Framed {
		return info, &provider.Error{Kind: provider.Truncated, What: "nothing proves that all of the audio came: neither the connection nor the file says how long it is"}
	}
	if info.Peak == 0 {
		return info, &provider.Error{Kind: provider.Silent, What: "the audio holds only silence"}
	}
	if err := plausible(info.Duration(), text, j.speed); err != nil {
		return info, &provider.Error{Kind: provider.NotAudio, What: "the audio cannot be this text", Err: err}
	}
	return info, nil
}

const (
	// The fastest speech that anybody understands has some 30 letters a
	// second; engines leave out letters they have no sound for.
	leastPerLetter = 8 * time.Millisecond

	// A digit, or a letter that an engine reads out as its name, can last over
	// a second.
	mostPerLetter = 2500 * time.Millisecond

	// Pauses, breath and padding that no letter accounts for.
	slack = 10 * time.Second
)

// plausible judges whether audio of that length can be the text. It is wide: it
// finds a third of a text and an hour of noise, not a missing word.
func plausible(d time.Duration, text string, speed float64) error {
	if d < 0 {
		return nil // not known
	}
	letters := script.Speakable(text)
	least := time.Duration(float64(letters) * float64(leastPerLetter) / speed)
	// A very short text may be one click of a voice.
	if letters < 10 {
		least = time.Millisecond
	}
	most := slack + time.Duration(float64(letters)*float64(mostPerLetter)/speed)
	switch {
	case d < least:
		return fmt.Errorf("%s of sound for %s is too short", outcome.Duration(d), plural(letters, "letter"))
	case d > most:
		return fmt.Errorf("%s of sound for %s is too long", outcome.Duration(d), plural(letters, "letter"))
	}
	return nil
}
