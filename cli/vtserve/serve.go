package vtserve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/honestty/honestty/vt"
)

// Protocol is the version of the adapter protocol that Serve speaks.
const Protocol = 1

// maxRequest bounds one request line: 64 MiB of data in base64, and its frame.
const maxRequest = 96 << 20

// A request is one line from the driver.
type request struct {
	Op         string `json:"op"`
	Cols       int    `json:"cols"`
	Rows       int    `json:"rows"`
	Scrollback any    `json:"scrollback"` // lines for reset, yes or no for dump
	Data       []byte `json:"data"`
}

// An event is one vt.Event, in the protocol's words.
type event struct {
	Kind string `json:"kind"`
	Data string `json:"data"`
	N    int    `json:"n,omitempty"`
}

type fed struct {
	Reply  []byte  `json:"reply"`
	Events []event `json:"events"`
	Micros int64   `json:"us"`
}

// A server holds the engine between requests.
type server struct {
	t *vt.Terminal
}

// newTerminal returns an engine as it is scored: with its usual limits, and
// without the screen read-back of DECRQCRA.
func newTerminal(cols, rows, scrollback int) *vt.Terminal {
	return vt.New(cols, rows, vt.Options{Scrollback: scrollback})
}

// Serve answers requests from in on out until quit or the end of in. It returns
// an error only when a stream fails.
func Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	s := &server{t: newTerminal(80, 24, 1000)}
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		var r request
		var answer any
		if err := json.Unmarshal(line, &r); err != nil {
			answer = failure(fmt.Errorf("parse request: %w", err))
		} else if r.Op == "quit" {
			return nil
		} else {
			answer = s.answer(r)
		}
		if err := enc.Encode(answer); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
}

// readLine returns one line of any length up to maxRequest. A last line without
// an end counts.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxRequest:
			return nil, fmt.Errorf("a request is longer than %d bytes", maxRequest)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

func failure(err error) any {
	return map[string]string{"error": err.Error()}
}

// answer carries out one request. A panic of the engine becomes an error answer.
func (s *server) answer(r request) (a any) {
	defer func() {
		if p := recover(); p != nil {
			a = failure(fmt.Errorf("engine panic: %v", p))
		}
	}()
	ok := map[string]bool{"ok": true}
	switch r.Op {
	case "hello":
		return map[string]any{"name": "honestty", "protocol": Protocol}
	case "reset":
		lines, _ := r.Scrollback.(float64)
		s.t = newTerminal(r.Cols, r.Rows, int(lines))
		return ok
	case "feed":
		return s.feed(r.Data)
	case "resize":
		s.t.Resize(r.Cols, r.Rows)
		return ok
	case "dump":
		all, _ := r.Scrollback.(bool)
		return Dump(s.t, all)
	}
	return failure(fmt.Errorf("unknown op %q", r.Op))
}

func (s *server) feed(data []byte) fed {
	start := time.Now()
	fx := s.t.Write(data)
	f := fed{Reply: fx.Reply, Events: []event{}, Micros: time.Since(start).Microseconds()}
	if f.Reply == nil {
		f.Reply = []byte{}
	}
	for _, e := range fx.Events {
		f.Events = append(f.Events, event{e.Kind, e.Data, e.N})
	}
	return f
}

// FeedAndDump feeds all of in to a new engine and writes one dump to out, with
// the scrollback when scrollback is not 0.
func FeedAndDump(in io.Reader, out io.Writer, cols, rows, scrollback int, form string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("engine panic: %v", p)
		}
	}()
	t := newTerminal(cols, rows, scrollback)
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		t.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read input: %w", err)
		}
	}
	return WriteDump(out, Dump(t, scrollback > 0), form)
}
