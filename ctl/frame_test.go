package ctl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestFramesAreTheSameHoweverTheyArrive(t *testing.T) {
	const text = "one\n\ntwo two\nthree\r\n\x00\n"
	want := []string{"one", "", "two two", "three\r", "\x00"}
	for name, r := range map[string]io.Reader{
		"whole":       strings.NewReader(text),
		"by byte":     iotest.OneByteReader(strings.NewReader(text)),
		"by half":     iotest.HalfReader(strings.NewReader(text)),
		"with errors": iotest.DataErrReader(strings.NewReader(text)),
	} {
		b := bufio.NewReaderSize(r, 16)
		for _, w := range want {
			if got, err := readFrame(b, 8); err != nil || string(got) != w {
				t.Errorf("%s: %q, %v; want %q", name, got, err, w)
			}
		}
		if _, err := readFrame(b, 8); !errors.Is(err, io.EOF) {
			t.Errorf("%s: end = %v", name, err)
		}
	}
}

func TestFrameErrorsAreToldApart(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		r    io.Reader
		want error
	}{
		{"end", strings.NewReader(""), io.EOF},
		{"torn", strings.NewReader("abc"), errTorn},
		{"too long", strings.NewReader(strings.Repeat("x", 41) + "\n"), errFrameTooLong},
		{"too long and torn", strings.NewReader(strings.Repeat("x", 41)), errFrameTooLong},
		{"read error", iotest.ErrReader(broken), broken},
		{"read error within", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), broken},
	} {
		if _, err := readFrame(bufio.NewReaderSize(c.r, 16), 40); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if f, err := readFrame(bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 40)+"\n"), 16), 40); err != nil || len(f) != 40 {
		t.Errorf("frame of the limit: %d bytes, %v", len(f), err)
	}
}

// FuzzFrames reads any bytes as frames of requests. What it must hold: frames
// are what stands between newlines, whatever the buffer; nothing panics; each
// frame has an answer that is one line of JSON with its id; and no text turns
// into U+FFFD by itself.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		"", "\n", `{"id":1,"method":"list"}` + "\n", `{"id":1,"method":"send","params":{"text":"\ud83d\ude00"}}` + "\n",
		`{"id":2,"method":"\ud800"}` + "\n" + `{"id":3,"method":"\\ud800"}` + "\n", "{\"id\":4,\"method\":\"\xff\"}\n",
		`{"id":5,"method":"\ud83dx\ude00"}` + "\n", strings.Repeat("[", 200) + "\n", `{"ID":1,"Method":"x"} x` + "\ntorn",
	} {
		f.Add([]byte(s), uint8(16))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		const limit = 300
		r := bufio.NewReaderSize(iotest.HalfReader(bytes.NewReader(data)), int(size))
		rest := data
		for {
			frame, err := readFrame(r, limit)
			want, after, ended := bytes.Cut(rest, []byte("\n"))
			switch {
			case len(want) > limit:
				if !errors.Is(err, errFrameTooLong) {
					t.Fatalf("a frame of %d bytes: %v", len(want), err)
				}
				return
			case !ended && len(want) > 0:
				if !errors.Is(err, errTorn) {
					t.Fatalf("a torn frame: %v", err)
				}
				return
			case !ended:
				if !errors.Is(err, io.EOF) {
					t.Fatalf("the end: %v", err)
				}
				return
			case err != nil || !bytes.Equal(frame, want):
				t.Fatalf("frame %q, %v; want %q", frame, err, want)
			}
			checkFrame(t, frame)
			rest = after
		}
	})
}

func checkFrame(t *testing.T, frame []byte) {
	t.Helper()
	r, fail := parseRequest(frame)
	var answer []byte
	if fail != nil {
		answer = answerFrame(r.ID, nil, fail)
	} else {
		answer = answerFrame(r.ID, map[string]any{"method": r.Method, "params": r.Params}, nil)
		if !json.Valid(frame) || r.Method == "" {
			t.Fatalf("%q was taken for a request", frame)
		}
		said := bytes.ContainsRune(frame, utf8.RuneError) || bytes.Contains(bytes.ToLower(frame), []byte(`\ufffd`))
		if strings.ContainsRune(r.Method, utf8.RuneError) && !said {
			t.Fatalf("%q was read as method %q", frame, r.Method)
		}
	}
	line, more, ended := bytes.Cut(answer, []byte("\n"))
	if !ended || len(more) > 0 {
		t.Fatalf("answer to %q is %q", frame, answer)
	}
	back, err := parseResponse(line)
	if err != nil || (back.ID == nil) != (r.ID == nil) || back.ID != nil && *back.ID != *r.ID {
		t.Fatalf("answer to %q is %q: %v", frame, answer, err)
	}
}
