package panels

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/honestty/honestty/journal"
)

// A said is a field of a result. What is missing, null or of another kind is
// not known; told sets a null apart from a field that is not there.
type said[T any] struct {
	v     T
	known bool
	told  bool
}

// UnmarshalJSON never fails: a part that cannot be read does not hide the rest.
func (s *said[T]) UnmarshalJSON(raw []byte) error {
	s.told = true
	if string(raw) != "null" {
		s.known = json.Unmarshal(raw, &s.v) == nil
	}
	return nil
}

// is is the value, the zero of its type when it is not known.
func (s said[T]) is() T {
	if !s.known {
		var zero T
		return zero
	}
	return s.v
}

// readObject reads what it can of a JSON object, also of one that came as a
// text, as some agents give their results.
func readObject(raw json.RawMessage, into any) {
	var text string
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	// What is not there is not known, and says so where it would be shown.
	_ = json.Unmarshal(raw, into)
}

// speechArgs are the arguments of text_to_speech.
type speechArgs struct {
	Text     said[string] `json:"text"`
	Path     said[string] `json:"output_path"`
	Provider said[string] `json:"provider"`
	Voice    said[string] `json:"voice"`
	Language said[string] `json:"language"`
	Resume   said[string] `json:"resume"`
}

// A fileFact is a file as a result describes it.
type fileFact struct {
	Path       said[string]    `json:"path"`
	Size       said[int64]     `json:"size"`
	ModTime    said[time.Time] `json:"mtime"`
	Checkpoint said[string]    `json:"checkpoint"`
}

type chunkFailure struct {
	Chunk said[int64]  `json:"chunk"`
	Error said[string] `json:"error"`
}

type removal struct {
	What  said[string] `json:"what"`
	Count said[int64]  `json:"count"`
}

// speechResult is what text_to_speech gives, ours or Hermes'.
type speechResult struct {
	Error     said[string]   `json:"error"`
	FilePath  said[string]   `json:"file_path"`
	FilePaths said[[]string] `json:"file_paths"`
	Provider  said[string]   `json:"provider"`
	Chunks    said[int64]    `json:"chunk_count"`

	Requested  said[string]         `json:"requested_path"`
	Actual     said[string]         `json:"actual_path"`
	Container  said[string]         `json:"container"`
	DurationMS said[int64]          `json:"duration_ms"`
	Rate       said[int64]          `json:"sample_rate"`
	Channels   said[int64]          `json:"channels"`
	Size       said[int64]          `json:"size"`
	SHA256     said[string]         `json:"sha256"`
	Replaced   said[fileFact]       `json:"replaced"`
	Kept       said[fileFact]       `json:"kept"`
	Asked      said[string]         `json:"provider_asked"`
	Used       said[string]         `json:"provider_used"`
	Voice      said[string]         `json:"voice"`
	Model      said[string]         `json:"model"`
	Language   said[string]         `json:"language"`
	Made       said[int64]          `json:"chunks_done"`
	Reused     said[int64]          `json:"chunks_reused"`
	Failures   said[[]chunkFailure] `json:"chunk_failures"`
	Resume     said[string]         `json:"resume"`
	Removed    said[[]removal]      `json:"removed"`
	Coverage   said[struct {
		Letters said[int64] `json:"letters"`
		Spoken  said[int64] `json:"spoken"`
	}] `json:"coverage"`
	Sweep said[struct {
		After said[time.Time] `json:"after"`
		Note  said[string]    `json:"note"`
	}] `json:"sweep"`
	Levels said[[]int]    `json:"levels"`
	Notes  said[[]string] `json:"notes"`
}

// A spoken is what is read of one call of text_to_speech.
type spoken struct {
	args speechArgs
	speechResult
}

func speechOf(start journal.Start, end *journal.End) spoken {
	var s spoken
	readObject(start.Args, &s.args)
	if end != nil {
		readObject(end.Result, &s.speechResult)
	}
	return s
}

// path is the file that was made; "" when none is known.
func (s *spoken) path() string {
	switch {
	case s.Actual.is() != "":
		return s.Actual.v
	case s.FilePath.is() != "":
		return s.FilePath.v
	case len(s.FilePaths.is()) > 0:
		return s.FilePaths.v[0]
	}
	return ""
}

// requested is the path that was asked for; "" when none was, or none is known.
func (s *spoken) requested() string {
	if s.Requested.told {
		return s.Requested.is() // null: not accepted, and not to be repeated
	}
	return s.args.Path.is()
}

// used is the provider that made it, as far as it is known.
func (s *spoken) used() string {
	if s.Used.told {
		return s.Used.is()
	}
	return s.Provider.is()
}

// asked is the provider that was asked for; "" when any was welcome.
func (s *spoken) asked() string {
	name := s.Asked.is()
	if name == "" {
		name = s.args.Provider.is()
	}
	if name == "auto" {
		return ""
	}
	return name
}

// checkpoint is the one of the file that was replaced; "" when there is none.
func (s *spoken) checkpoint() string { return s.Replaced.is().Checkpoint.is() }
