package tts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
	"github.com/honestty/honestty/tools/tts/publish"
	"github.com/honestty/honestty/tools/tts/script"
)

// A Result is what one call did. The zero value claims nothing.
type Result struct {
	Status outcome.Status
	Err    error // nil only when Status is Complete

	Requested string // the path that was asked for, once it was accepted; empty: none was
	Path      string // the finished file; empty: there is none
	Container audio.Container
	Duration  time.Duration // of the audio; -1: not known
	Rate      int
	Channels  int
	Size      int64
	SHA256    string
	Levels    []int // peak levels over time, 0..15; nil: not known
	MediaTag  string

	Asked, Used string // provider; Used is empty when none was chosen
	Voice       string
	Model       string
	Language    string

	Chunks, Made, Reused int // pieces of the text; made and verified; of these, kept from before and not asked for again
	Failures             []ChunkFailure
	Resume               string // asks for the rest; empty: nothing to resume

	Replaced *publish.Replaced
	Kept     *Kept // the file that was at the path and still is
	Removed  []script.Removal
	Coverage *script.Coverage // nil: not known
	Sweep    Sweep
	Notes    []string
	Took     time.Duration
}

// A ChunkFailure is a piece of the text that has no audio.
type ChunkFailure struct {
	Chunk int    `json:"chunk"` // counted from 1
	Error string `json:"error"`
}

// A Kept is a file that a call was to replace and did not.
type Kept struct {
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mtime"`
}

// A Sweep says who removes the file, and what was removed at this occasion.
type Sweep struct {
	After   *time.Time `json:"after"` // nil: never by us
	Note    string     `json:"note"`
	Files   int        `json:"swept_files"`   // old files of the audio cache that this call removed
	Folders int        `json:"swept_folders"` // work folders of calls that were killed
}

// An Error is why a call failed, with the prefix that agents know.
type Error struct {
	Prefix string
	Err    error
}

func (e *Error) Error() string { return e.Prefix + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// wrap puts Hermes' prefix before an error of a provider.
func wrap(name string, err error) error {
	if err == nil {
		return nil
	}
	prefix := "TTS generation failed (" + name + "): "
	if pe, ok := errors.AsType[*provider.Error](err); ok {
		switch pe.Kind {
		case provider.Config, provider.Denied:
			prefix = "TTS configuration error (" + name + "): "
		case provider.Missing:
			prefix = "TTS dependency missing (" + name + "): "
		case provider.Silent:
			prefix = "TTS generation produced no output (provider: " + name + "): "
		}
	}
	return &Error{Prefix: prefix, Err: err}
}

func chunkError(name string, n int, err error) error {
	return &Error{Prefix: fmt.Sprintf("TTS chunk %d failed (%s): ", n, name), Err: err}
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// fail ends the result with an error.
func (r *Result) fail(ctx context.Context, err error) {
	r.Err = err
	switch {
	case errors.Is(err, outcome.ErrRefused):
		r.Status = outcome.Refused
	case errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		r.Status = outcome.Cancelled
	case len(r.Failures) > 0 && r.Made > 0:
		r.Status = outcome.Partial
	default:
		r.Status = outcome.Failed
	}
}

// resultJSON has Hermes' names first and then ours.
type resultJSON struct {
	Success       bool     `json:"success"`
	Error         *string  `json:"error"`
	FilePath      *string  `json:"file_path"`
	FilePaths     []string `json:"file_paths"`
	MediaTag      *string  `json:"media_tag"`
	Provider      *string  `json:"provider"`
	VoiceOK       bool     `json:"voice_compatible"`
	ChunkCount    int      `json:"chunk_count"`
	DeliveryFiles int      `json:"delivery_file_count"`
	Combined      bool     `json:"combined_chunks"`

	Status        outcome.Status    `json:"status"`
	Partial       bool              `json:"partial_success,omitempty"`
	Requested     *string           `json:"requested_path"`
	Actual        *string           `json:"actual_path"`
	Container     *audio.Container  `json:"container"`
	DurationMS    *int64            `json:"duration_ms"`
	SampleRate    *int              `json:"sample_rate"`
	Channels      *int              `json:"channels"`
	Size          *int64            `json:"size"`
	SHA256        *string           `json:"sha256"`
	Replaced      *publish.Replaced `json:"replaced"`
	Kept          *Kept             `json:"kept,omitempty"`
	ProviderAsked string            `json:"provider_asked"`
	ProviderUsed  *string           `json:"provider_used"`
	Voice         *string           `json:"voice"`
	Model         *string           `json:"model"`
	Language      *string           `json:"language"`
	ChunksMade    int               `json:"chunks_done"`
	ChunksReused  int               `json:"chunks_reused"`
	Failures      []ChunkFailure    `json:"chunk_failures"`
	Resume        *string           `json:"resume"`
	Removed       []script.Removal  `json:"removed"`
	Coverage      *script.Coverage  `json:"coverage"`
	Sweep         Sweep             `json:"sweep"`
	Levels        []int             `json:"levels"`
	Notes         []string          `json:"notes"`
	TookMS        int64             `json:"took_ms"`
}

// MarshalJSON writes the result. What is not known is null, never 0.
func (r *Result) MarshalJSON() ([]byte, error) {
	done := r.Path != ""
	j := resultJSON{
		Success: r.Status.OK(), Status: r.Status, Partial: r.Status == outcome.Partial,
		FilePaths: []string{}, MediaTag: some(r.MediaTag), Provider: some(r.Used), ProviderUsed: some(r.Used), ProviderAsked: provider.Message(r.Asked),
		VoiceOK: r.Container == audio.OggOpus, ChunkCount: r.Chunks, ChunksMade: r.Made, ChunksReused: r.Reused,
		Requested: some(r.Requested), Actual: some(r.Path), FilePath: some(r.Path),
		Replaced: r.Replaced, Kept: r.Kept, Voice: some(provider.Message(r.Voice)), Model: some(provider.Message(r.Model)), Language: some(provider.Message(r.Language)),
		Failures: append([]ChunkFailure{}, r.Failures...), Resume: some(r.Resume),
		Removed: append([]script.Removal{}, r.Removed...), Coverage: r.Coverage, Sweep: r.Sweep,
		Levels: r.Levels, Notes: []string{}, TookMS: r.Took.Milliseconds(),
	}
	for _, n := range r.Notes {
		j.Notes = append(j.Notes, oneLine(n))
	}
	if done {
		j.FilePaths, j.DeliveryFiles, j.Combined = []string{r.Path}, 1, r.Chunks > 1
		j.Container, j.Size, j.SHA256 = &r.Container, &r.Size, some(r.SHA256)
		if r.Duration >= 0 {
			ms := r.Duration.Milliseconds()
			j.DurationMS = &ms
		}
		if r.Rate > 0 && r.Channels > 0 {
			j.SampleRate, j.Channels = &r.Rate, &r.Channels
		}
	}
	if !r.Status.OK() {
		text := r.ErrorLine()
		j.Error = &text
	}
	return json.Marshal(j)
}

// ErrorLine is the error as one safe line, and empty when the call is complete.
func (r *Result) ErrorLine() string {
	switch {
	case r.Status.OK():
		return ""
	case r.Err == nil:
		return "nobody can tell how it ended"
	}
	return oneLine(r.Err.Error())
}

// lineLen bounds an error in a result. It is more than any message of ours.
const lineLen = 1000

// oneLine makes a text of several sources one safe line.
func oneLine(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ")
	var b strings.Builder
	for part := range strings.SplitSeq(s, "; ") {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(provider.Message(part))
		if b.Len() > lineLen {
			b.WriteString(" …")
			break
		}
	}
	return b.String()
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Summary is one line for lists.
func (r *Result) Summary() string {
	if r.Status == outcome.Partial {
		return fmt.Sprintf("%d of %d chunks made; %s", r.Made, r.Chunks, r.ErrorLine())
	}
	if !r.Status.OK() {
		return r.ErrorLine()
	}
	words := []string{outcome.Size(r.Size), strings.ToUpper(string(r.Container))}
	if r.Duration >= 0 {
		words = append(words, clock(r.Duration))
	}
	return strings.TrimSpace(strings.Join(append(words, r.Used, r.Voice), " "))
}

// clock writes a playing time as players do: 0:33, 1:02:03.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
