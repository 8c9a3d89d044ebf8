package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/honestty/honestty/outcome"
)

// maxLine bounds one message of the client.
const maxLine = 16 << 20

// A lines passes on the lines of the client that are messages, and has the
// others refused: the SDK ends the whole conversation, with all calls that run,
// at the first line that it cannot read.
type lines struct {
	in     io.Closer
	r      *bufio.Reader
	refuse func(code int64, why string)

	rest    []byte // of the line that is passed on
	batches bool   // the version that was agreed on has lists of messages
}

func newLines(in io.ReadCloser, refuse func(code int64, why string)) *lines {
	return &lines{in: in, r: bufio.NewReaderSize(in, 64<<10), refuse: refuse}
}

// Read gives what is left of a line, or the next one that is good.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := l.next()
		switch {
		case err != nil:
			return 0, err
		case long:
			l.refuse(jsonrpc.CodeInvalidRequest, "the line has more than "+outcome.Size(maxLine)+" and was passed over")
		case len(line) > 0 && l.good(line):
			l.rest = append(line, '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lines) Close() error { return l.in.Close() }

// next reads a line, without the blanks around it. The last one may have no
// end. Of one that is too long nothing is kept.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, false, err
		}
		return bytes.TrimSpace(line), long, nil
	}
}

// good reports whether a line is a message, or a list of messages where the
// version has them.
func (l *lines) good(line []byte) bool {
	if !json.Valid(line) {
		l.refuse(jsonrpc.CodeParseError, "the line is no JSON and was passed over")
		return false
	}
	if line[0] != '[' {
		msg, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			l.refuse(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0 and was passed over")
			return false
		}
		l.agree(msg)
		return true
	}
	if !l.batches {
		l.refuse(jsonrpc.CodeInvalidRequest, "this version of the protocol has no lists of messages, and the line was passed over")
		return false
	}
	var list []json.RawMessage
	seen := map[jsonrpc.ID]bool{}
	ok := json.Unmarshal(line, &list) == nil && len(list) > 0
	for _, raw := range list {
		msg, err := jsonrpc.DecodeMessage(raw)
		req, is := msg.(*jsonrpc.Request)
		ok = ok && err == nil && (!is || !seen[req.ID])
		if is && req.ID.IsValid() {
			seen[req.ID] = true
		}
	}
	if !ok {
		l.refuse(jsonrpc.CodeInvalidRequest, "the list is empty, repeats an id, or has something that is no message, and was passed over")
	}
	return ok
}

// agree learns from the first request whether lists of messages may come: only
// the versions before 2025-06-18 have them.
func (l *lines) agree(msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || req.Method != "initialize" {
		return
	}
	var p struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(req.Params, &p) // stays empty where there is none
	l.batches = p.Version == "2024-11-05" || p.Version == "2025-03-26"
}
