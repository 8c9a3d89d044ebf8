package provider

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/honestty/honestty/tools/tts/audio"
)

// A Wyoming is a speech server of the Wyoming protocol: events over TCP, each
// one line of JSON, then a block of JSON, then a payload.
//
//	us      synthesize{text,voice}
//	server  audio-start{rate,width,channels} · audio-chunk … · audio-stop
//	        or error{text,code}
//
// Audio whose audio-stop did not come is truncated, however much of it did.
type Wyoming struct {
	Client
	Address string // host:port; tcp:// in front is allowed
	Voice   string
}

const (
	wyomingPort = "10200"

	// Bounds of one event. A second of 48 kHz stereo is 192 kB; servers send
	// pieces far smaller than that.
	maxEventLine    = 64 << 10
	maxEventData    = 1 << 20
	maxEventPayload = 4 << 20
)

// Name implements Provider.
func (p *Wyoming) Name() string { return "wyoming" }

// Limits implements Provider.
func (p *Wyoming) Limits() Limits {
	return Limits{Chars: localChars, Makes: audio.WAV, Bytes: true, MinSpeed: 1, MaxSpeed: 1}
}

// Identity implements Provider.
func (p *Wyoming) Identity() string { return "wyoming\x00" + p.Address + "\x00" + p.Voice }

func (p *Wyoming) address() (string, error) {
	a := strings.TrimPrefix(p.Address, "tcp://")
	if a == "" {
		return "", newError(Config, "no address is set for wyoming", nil)
	}
	host, port, err := net.SplitHostPort(a)
	if err != nil {
		host, port = strings.Trim(a, "[]"), wyomingPort
	}
	if host == "" || strings.ContainsAny(host, "/ ") || atoi(port) == 0 || atoi(port) > 65535 {
		return "", newError(Config, "the address of wyoming is no host:port", nil)
	}
	return net.JoinHostPort(host, port), nil
}

// Ready looks at the address.
func (p *Wyoming) Ready(context.Context, string) error {
	_, err := p.address()
	return err
}

type event struct {
	Type          string          `json:"type"`
	Version       string          `json:"version,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
	DataLength    int             `json:"data_length,omitempty"`
	PayloadLength int             `json:"payload_length,omitempty"`
}

type wyomingVoice struct {
	Name     string `json:"name,omitempty"`
	Language string `json:"language,omitempty"`
}

type synthesize struct {
	Text  string        `json:"text"`
	Voice *wyomingVoice `json:"voice,omitempty"`
}

// Speak implements Provider.
func (p *Wyoming) Speak(ctx context.Context, r Request) (Made, error) {
	addr, err := p.address()
	if err != nil {
		return Made{}, err
	}
	voice := firstOf(r.Voice, p.Voice)
	if err := CheckVoice(voice); err != nil {
		return Made{}, err
	}
	limit := orDefault(p.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, context.DeadlineExceeded)
	defer cancel()
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return Made{}, p.failure(ctx, post{server: "wyoming"}, err, limit, 0)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	made := Made{Voice: voice}
	if err := p.ask(ctx, conn, r, voice); err != nil {
		return made, p.broken(ctx, err, limit)
	}
	return made, p.broken(ctx, p.receive(ctx, conn, r.Out), limit)
}

func (p *Wyoming) ask(ctx context.Context, conn net.Conn, r Request, voice string) error {
	s := synthesize{Text: r.Text}
	if voice != "" || r.Language != "" {
		s.Voice = &wyomingVoice{Name: voice, Language: r.Language}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return newError(Config, "write the request", err)
	}
	line, err := json.Marshal(event{Type: "synthesize", Version: "1.5.2", DataLength: len(data)})
	if err != nil {
		return newError(Config, "write the request", err)
	}
	p.alive(ctx, conn)
	_, err = conn.Write(append(append(line, '\n'), data...))
	return err
}

// alive gives the server its time anew, unless the call has ended: the end's
// deadline must stay.
func (p *Wyoming) alive(ctx context.Context, conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(orDefault(p.Stall, DefaultStall)))
	if ctx.Err() != nil {
		_ = conn.SetDeadline(time.Unix(1, 0))
	}
}

// broken names what ended a conversation; nil stays nil.
func (p *Wyoming) broken(ctx context.Context, err error, limit time.Duration) error {
	if err == nil {
		return nil
	}
	var timeout net.Error
	if ctx.Err() == nil && errors.As(err, &timeout) && timeout.Timeout() {
		return newError(TimedOut, "wyoming sent nothing for "+orDefault(p.Stall, DefaultStall).String(), nil)
	}
	return p.failure(ctx, post{server: "wyoming"}, err, limit, 0)
}

// receive takes events until audio-stop, and writes the samples to out.
func (p *Wyoming) receive(ctx context.Context, conn net.Conn, out string) error {
	in := &wyomingReader{br: bufio.NewReaderSize(conn, maxEventLine), left: orDefault(p.MaxBody, MaxBody), alive: func() { p.alive(ctx, conn) }}
	format, err := in.start()
	if err != nil {
		return err
	}
	return p.save(out, func(f *os.File) error {
		w, err := audio.NewWAVWriter(f, format)
		if err != nil {
			return newError(NotAudio, "wyoming announced a format that is none of speech", err)
		}
		for {
			e, data, payload, err := in.next()
			if err != nil {
				return err
			}
			switch e.Type {
			case "audio-chunk":
				if _, err := w.Write(payload); err != nil {
					return err
				}
			case "audio-stop":
				return w.Finish()
			case "error":
				return saidError(data)
			}
		}
	})
}

func saidError(data json.RawMessage) error {
	var e struct{ Text, Code string }
	_ = json.Unmarshal(data, &e) // an error without words is still an error
	return &Error{Kind: Failed, What: "wyoming reported an error", Said: Message(strings.TrimSpace(e.Code + " " + e.Text))}
}

type wyomingReader struct {
	br    *bufio.Reader
	left  int64 // bytes that may still come
	alive func()
}

// start waits for audio-start.
func (in *wyomingReader) start() (audio.Format, error) {
	for {
		e, data, _, err := in.next()
		if err != nil {
			return audio.Format{}, err
		}
		switch e.Type {
		case "error":
			return audio.Format{}, saidError(data)
		case "audio-stop":
			return audio.Format{}, newError(Silent, "wyoming ended the audio before it began", nil)
		case "audio-start":
			var f struct{ Rate, Width, Channels int }
			if err := json.Unmarshal(data, &f); err != nil {
				return audio.Format{}, newError(NotAudio, "wyoming sent a start that cannot be read", nil)
			}
			if f.Width != 2 {
				return audio.Format{}, newError(NotAudio, fmt.Sprintf("wyoming sent samples of %d bytes; 2 are supported", f.Width), nil)
			}
			return audio.Format{Rate: f.Rate, Channels: f.Channels}, nil
		}
	}
}

// next reads one event. The data of the line and of the block are merged by
// taking the block when there is one: no server sends both with different keys.
func (in *wyomingReader) next() (e event, data json.RawMessage, payload []byte, err error) {
	line, err := in.br.ReadSlice('\n')
	in.alive()
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return e, nil, nil, newError(NotAudio, "wyoming sent a line without an end", nil)
	case errors.Is(err, io.EOF):
		return e, nil, nil, io.ErrUnexpectedEOF
	case err != nil:
		return e, nil, nil, err
	}
	if in.left -= int64(len(line)); in.left < 0 {
		return e, nil, nil, errTooLarge
	}
	if json.Unmarshal(bytes.TrimSpace(line), &e) != nil || e.Type == "" {
		return e, nil, nil, &Error{Kind: NotAudio, What: "wyoming sent a line that is no event", Said: Message(string(line))}
	}
	if e.DataLength < 0 || e.DataLength > maxEventData || e.PayloadLength < 0 || e.PayloadLength > maxEventPayload {
		return e, nil, nil, newError(TooLarge, "wyoming announced an event that is too large", nil)
	}
	data = e.Data
	if e.DataLength > 0 {
		if data, err = in.block(e.DataLength); err != nil {
			return e, nil, nil, err
		}
	}
	if e.PayloadLength > 0 {
		payload, err = in.block(e.PayloadLength)
	}
	return e, data, payload, err
}

func (in *wyomingReader) block(n int) ([]byte, error) {
	if in.left -= int64(n); in.left < 0 {
		return nil, errTooLarge
	}
	b := make([]byte, n)
	for got := 0; got < n; {
		m, err := in.br.Read(b[got:])
		got += m
		in.alive()
		if err != nil && got < n {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}
