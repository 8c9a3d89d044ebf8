package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

var errNoEvent = errors.New("not an event")

// fields yields the keys and values of a JSON object, in order. It is far
// quicker than decoding because values are only skipped. It ends at the first
// thing that is not as it should be. A key with an escape in it is none of
// ours and comes as it is written. whole, when it is not nil, is set when the
// object is closed and nothing follows.
func fields(raw []byte, whole *bool) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		i := blank(raw, 0)
		if i >= len(raw) || raw[i] != '{' {
			return
		}
		i = blank(raw, i+1)
		for i < len(raw) && raw[i] == '"' {
			end := skipString(raw, i)
			colon := blank(raw, end)
			if end < 0 || colon >= len(raw) || raw[colon] != ':' {
				return
			}
			key := raw[i+1 : end-1]
			from := blank(raw, colon+1)
			to := skip(raw, from)
			if to < 0 || !yield(string(key), raw[from:to]) {
				return
			}
			i = blank(raw, to)
			if i < len(raw) && raw[i] == '}' && whole != nil {
				*whole = blank(raw, i+1) == len(raw)
			}
			if i >= len(raw) || raw[i] != ',' {
				return
			}
			i = blank(raw, i+1)
		}
	}
}

// blank returns the place of the first byte from i on that is no white space.
func blank(raw []byte, i int) int {
	if i < 0 {
		return len(raw)
	}
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the place after the string at i, -1 when it has no end.
func skipString(raw []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		back := quote
		for back > i && raw[back-1] == '\\' {
			back--
		}
		if (quote-back)%2 == 0 {
			return quote + 1
		}
		i = quote
	}
}

// skip returns the place after the value at i, -1 when it has no end.
func skip(raw []byte, i int) int {
	if i >= len(raw) {
		return -1
	}
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		depth := 0
		for i < len(raw) {
			switch raw[i] {
			case '"':
				if i = skipString(raw, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	from := i
	for i < len(raw) && bytes.IndexByte([]byte(",]} \t\r\n"), raw[i]) < 0 {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// A decoder decodes events. It keeps one copy of what repeats.
type decoder struct {
	sources map[string]Source
	words   map[string]string
	full    bool // with arguments, results and the evidence of checks
}

func newDecoder(full bool) *decoder {
	return &decoder{sources: map[string]Source{}, words: map[string]string{}, full: full}
}

// maxRepeats bounds what a decoder keeps for what repeats.
const maxRepeats = 4096

// decode reads one line. An event without arguments and results is for lists:
// its strings hold no more of the line than they need.
func (d *decoder) decode(text []byte) (Event, error) {
	var e Event
	if d.full {
		if err := json.Unmarshal(text, &e); err != nil {
			return Event{}, err
		}
		return e, e.check()
	}
	whole := false
	for key, raw := range fields(text, &whole) {
		var err error
		switch key {
		case "seq":
			e.Seq, err = strconv.ParseInt(string(raw), 10, 64)
		case "at":
			e.At, err = time.Parse(`"`+time.RFC3339Nano+`"`, string(raw))
		case "writer":
			e.Writer, err = strconv.Atoi(string(raw))
		case "start":
			e.Start, err = d.start(raw)
		case "end":
			e.End, err = d.end(raw)
		case "progress":
			err = json.Unmarshal(raw, &e.Progress)
		case "gap":
			err = json.Unmarshal(raw, &e.Gap)
		}
		if err != nil {
			return Event{}, err
		}
	}
	if !whole {
		return Event{}, errNoEvent
	}
	return e, e.check()
}

// check reports whether the event is one: it has a number and says one thing.
func (e *Event) check() error {
	n := 0
	for _, is := range []bool{e.Start != nil, e.Progress != nil, e.End != nil, e.Gap != nil} {
		if is {
			n++
		}
	}
	if e.Seq <= 0 || e.Seq > 2*maxSeq || n != 1 {
		return errNoEvent
	}
	return nil
}

func (d *decoder) start(raw []byte) (*Start, error) {
	s := &Start{}
	for key, raw := range fields(raw, nil) {
		var err error
		switch key {
		case "call":
			s.Call, err = text(raw)
		case "tool":
			s.Tool, err = d.word(raw)
		case "title":
			s.Title, err = text(raw)
		case "source":
			s.Source, err = d.source(raw)
		case "live":
			s.Live, err = text(raw)
		case "redacted":
			s.Redacted, err = strconv.Atoi(string(raw))
		case "owner":
			err = json.Unmarshal(raw, &s.Owner)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (d *decoder) end(raw []byte) (*End, error) {
	e := &End{}
	for key, raw := range fields(raw, nil) {
		var err error
		switch key {
		case "call":
			e.Call, err = text(raw)
		case "status":
			err = word(raw, &e.Status)
		case "error":
			e.Error, err = text(raw)
		case "summary":
			e.Summary, err = text(raw)
		case "duration_ms":
			e.DurationMS, err = strconv.ParseInt(string(raw), 10, 64)
		case "checks":
			err = json.Unmarshal(raw, &e.Checks)
		case "redacted":
			e.Redacted, err = strconv.Atoi(string(raw))
		case "capture":
			var s outcome.State
			err = word(raw, &s)
			e.Capture = &s
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

func word(raw []byte, into interface{ UnmarshalText([]byte) error }) error {
	s, err := text(raw)
	if err != nil {
		return err
	}
	return into.UnmarshalText([]byte(s))
}

// text decodes a JSON string.
func text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errNoEvent
	}
	if in := raw[1 : len(raw)-1]; bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return string(in), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// word decodes a string of which there are few.
func (d *decoder) word(raw []byte) (string, error) {
	if s, ok := d.words[string(raw)]; ok {
		return s, nil
	}
	s, err := text(raw)
	if err == nil && len(d.words) < maxRepeats {
		d.words[string(raw)] = s
	}
	return s, err
}

func (d *decoder) source(raw []byte) (Source, error) {
	if s, ok := d.sources[string(raw)]; ok {
		return s, nil
	}
	var s Source
	err := json.Unmarshal(raw, &s)
	if err == nil && len(d.sources) < maxRepeats {
		d.sources[string(raw)] = s
	}
	return s, err
}
