package ctl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The limits of one frame in bytes, without its newline.
const (
	MaxRequest = 1 << 20  // a paste of a whole file fits
	MaxAnswer  = 16 << 20 // a full scrollback with its styles fits
)

// errFrameTooLong is a frame beyond its limit. The rest of it was not read, so
// nothing more can be read from its stream.
var errFrameTooLong = errors.New("frame too long")

// errTorn is a stream that ended within a frame.
var errTorn = errors.New("the stream ended within a frame: it has no newline")

// readFrame reads up to the next newline and returns what stands before it. It
// holds at most limit bytes and a buffer of r. io.EOF means that the stream
// ended between two frames.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	var frame []byte
	for {
		part, err := r.ReadSlice('\n')
		whole := err == nil
		if whole {
			part = part[:len(part)-1]
		}
		if len(frame)+len(part) > limit {
			return nil, errFrameTooLong
		}
		frame = append(frame, part...)
		switch {
		case whole:
			return frame, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(frame) > 0:
			return nil, errTorn
		default:
			return nil, err
		}
	}
}

// A request is one asking frame.
type request struct {
	ID     *int64 // the client's own number, given back with the answer
	Method string
	Params json.RawMessage
}

// parseRequest reads a request. With an error the id is still there when it
// could be read, so that the answer can carry it.
func parseRequest(frame []byte) (request, *Error) {
	var r request
	if err := checkText(frame); err != nil {
		return r, Errorf(BadRequest, "read request: %v", err)
	}
	var in struct {
		ID     json.RawMessage `json:"id"` // raw: a wrong one must not read as 0
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	err := strict(frame, &in)
	r.Method, r.Params = in.Method, in.Params
	if in.ID != nil {
		var id *int64
		if iderr := json.Unmarshal(in.ID, &id); iderr == nil {
			r.ID = id
		} else if err == nil {
			return r, Errorf(BadRequest, "read request: id is %.40s and must be a whole number", in.ID)
		}
	}
	switch {
	case err != nil:
		return r, Errorf(BadRequest, "read request: %v", err)
	case r.ID == nil:
		return r, Errorf(BadRequest, "read request: it has no id")
	case r.Method == "":
		return r, Errorf(BadRequest, "read request: it has no method")
	}
	return r, nil
}

// checkText refuses what the JSON reader would replace by U+FFFD without a
// word: bytes that are not UTF-8, and escapes of half a surrogate pair.
func checkText(frame []byte) error {
	if !utf8.Valid(frame) {
		return errors.New("it is not UTF-8; bytes travel in base64")
	}
	for rest := frame; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			return nil
		}
		unit, ok := unicodeEscape(rest[i:])
		if !ok {
			rest = rest[i+2:]
			continue
		}
		rest = rest[i+6:]
		if !utf16.IsSurrogate(unit) {
			continue
		}
		second, ok := unicodeEscape(rest)
		if !ok || utf16.DecodeRune(unit, second) == utf8.RuneError {
			return fmt.Errorf(`\u%04x is half a surrogate pair`, unit)
		}
		rest = rest[6:]
	}
}

// unicodeEscape reads a \uXXXX at the start of b.
func unicodeEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// strict reads one JSON value into v and refuses a field that v does not have
// and anything after the value.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return plain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// plain puts a JSON error into words that name the parameter.
func plain(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := t.Field
		if field == "" {
			field = "the value"
		}
		return fmt.Errorf("%s is a JSON %s and must be %s", field, t.Value, kindOf(t.Type.Kind().String()))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok { // the reader has no type for it
		return fmt.Errorf("unknown field %s", name)
	}
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON value is not complete")
	}
	return fmt.Errorf("it is no JSON: %w", err)
}

func kindOf(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case kind == "bool":
		return "true or false"
	case kind == "slice":
		return "a list"
	case kind == "struct", kind == "map":
		return "an object"
	}
	return "a " + kind
}

// A response is one answering frame. Exactly one of Result and Error is there.
type response struct {
	ID     *int64          `json:"id"` // null when the request's could not be read
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// encode writes v as one line of JSON without a newline. "<" stays "<":
// nothing here is HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// answerFrame writes an answer with its newline. A result that cannot be
// written, or is too long, becomes an error of the same id.
func answerFrame(id *int64, result any, fail *Error) []byte {
	if fail == nil {
		frame, err := encodeFrame(id, "result", result)
		switch {
		case err != nil:
			fail = Errorf(Internal, "write answer: %v", err)
		case len(frame)-1 > MaxAnswer:
			fail = Errorf(TooLarge, "the answer has %d bytes and %d are allowed: ask for less", len(frame)-1, MaxAnswer)
		default:
			return frame
		}
	}
	if len(fail.Message) > maxMessage {
		fail = &Error{Code: fail.Code, Message: strings.ToValidUTF8(fail.Message[:maxMessage], "") + "…"}
	}
	frame, err := encodeFrame(id, "error", fail)
	if err != nil { // two strings can always be written
		panic(err)
	}
	return frame
}

// maxMessage is how long an error may be; a request of one megabyte that is
// repeated in one helps nobody.
const maxMessage = 4096

func encodeFrame(id *int64, key string, value any) ([]byte, error) {
	body, err := encode(value)
	if err != nil {
		return nil, err
	}
	frame := make([]byte, 0, len(body)+40)
	frame = append(frame, `{"id":`...)
	if id == nil {
		frame = append(frame, "null"...)
	} else {
		frame = strconv.AppendInt(frame, *id, 10)
	}
	frame = append(frame, `,"`+key+`":`...)
	frame = append(frame, body...)
	return append(frame, "}\n"...), nil
}

// parseResponse reads an answer. A field that it does not know is a newer
// window's and is passed over.
func parseResponse(frame []byte) (response, error) {
	var r response
	if err := json.Unmarshal(frame, &r); err != nil {
		return r, fmt.Errorf("%w: %w", ErrProtocol, plain(err))
	}
	if (r.Result == nil) == (r.Error == nil) {
		return r, fmt.Errorf("%w: it must carry a result or an error", ErrProtocol)
	}
	return r, nil
}
