package vtserve

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/honestty/honestty/vt"
)

// talk sends requests, one a line, and returns the answers.
func talk(t *testing.T, lines ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for dec := json.NewDecoder(&out); ; {
		var a map[string]any
		if err := dec.Decode(&a); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
}

func feedLine(s string) string {
	return `{"op":"feed","data":"` + base64.StdEncoding.EncodeToString([]byte(s)) + `"}`
}

func TestServeAnswersEveryRequestOfTheProtocol(t *testing.T) {
	a := talk(t,
		`{"op":"hello"}`,
		`{"op":"reset","cols":10,"rows":2,"scrollback":5}`,
		feedLine("a\r\n世\x1b[31mx\r\n\x1b]2;hi\x07\x1b[6n"),
		`{"op":"resize","cols":12,"rows":3}`,
		`{"op":"dump","scrollback":true}`,
		`{"op":"dump","scrollback":false}`,
		`{"op":"quit"}`,
		`{"op":"hello"}`)
	if len(a) != 6 {
		t.Fatalf("%d answers: %v", len(a), a)
	}
	if a[0]["name"] != "honestty" || a[0]["protocol"] != 1.0 {
		t.Errorf("hello: %v", a[0])
	}
	if a[1]["ok"] != true || a[3]["ok"] != true {
		t.Errorf("reset and resize: %v, %v", a[1], a[3])
	}
	if got, _ := base64.StdEncoding.DecodeString(a[2]["reply"].(string)); string(got) != "\x1b[2;1R" {
		t.Errorf("reply %q", got)
	}
	event := a[2]["events"].([]any)[0].(map[string]any)
	if event["kind"] != "title" || event["data"] != "hi" {
		t.Errorf("event %v", event)
	}
	if _, ok := a[5]["scrollback"]; ok {
		t.Error("a dump has a scrollback that was not asked for")
	}
	if _, ok := a[4]["scrollback"].([]any); !ok {
		t.Error("a dump lacks the scrollback that was asked for")
	}
}

func TestDumpDescribesCells(t *testing.T) {
	v := vt.New(6, 1, vt.Options{Scrollback: 5})
	v.Write([]byte("a\r\n世e\u0301\x1b[1;4:3;38;2;1;2;3;41mxyz"))
	s := Dump(v, true)
	l := s.Lines[0]
	if strings.Join(l.Text, ",") != "世,,e\u0301,x,y,z" || l.Widths != "201111" {
		t.Errorf("line %q widths %q", l.Text, l.Widths)
	}
	st := s.Styles[l.Styles[3]]
	if st.FG != "#010203" || st.BG != "i:1" || !st.Bold || st.Underline != 3 {
		t.Errorf("style %+v", st)
	}
	if s.Styles[0] != (Style{}) || l.Styles[0] != 0 {
		t.Errorf("style 0 is %+v", s.Styles[0])
	}
	if !s.Cursor.PendingWrap || s.Cursor.X != 5 || s.Cursor.Y != 0 {
		t.Errorf("cursor %+v", s.Cursor)
	}
	if len(s.Scrollback) != 1 || len(s.Scrollback[0].Text) != 6 {
		t.Errorf("scrollback %+v", s.Scrollback)
	}
}

func TestBadRequestsAreErrorsAndTheLoopGoesOn(t *testing.T) {
	a := talk(t, `not json`, `{"op":"dance"}`, `{"op":"feed","data":"%%%"}`, `{"op":"hello"}`)
	for _, bad := range a[:3] {
		if bad["error"] == nil {
			t.Errorf("no error: %v", bad)
		}
	}
	if a[3]["name"] != "honestty" {
		t.Errorf("after errors: %v", a[3])
	}
}

func TestPanicOfTheEngineIsAnErrorAnswer(t *testing.T) {
	s := &server{} // no engine: any use of it panics
	a, ok := s.answer(request{Op: "feed", Data: []byte("x")}).(map[string]string)
	if !ok || !strings.Contains(a["error"], "engine panic") {
		t.Errorf("answer %v", a)
	}
	if s.answer(request{Op: "reset", Cols: 4, Rows: 1}); s.t == nil {
		t.Error("no engine after reset")
	}
}

func TestServeReportsABrokenStream(t *testing.T) {
	if err := Serve(iotest.ErrReader(errors.New("gone")), io.Discard); err == nil || !strings.Contains(err.Error(), "read request") {
		t.Errorf("err = %v", err)
	}
}

func TestFeedAndDumpTellsWhatWasCut(t *testing.T) {
	var out bytes.Buffer
	if err := FeedAndDump(strings.NewReader("one\r\ntwo\r\nthree\r\nfour"), &out, 10, 1, 2, FormText); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "[1 earlier lines, 3 bytes, were cut]\ntwo\nthree\nfour\n"; got != want {
		t.Errorf("dump %q, want %q", got, want)
	}
	out.Reset()
	if err := FeedAndDump(strings.NewReader("x"), &out, 4, 1, 0, FormJSON); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("dump %q, err %v", out.String(), err)
	}
	if err := FeedAndDump(strings.NewReader("x"), &out, 4, 1, 0, "xml"); err == nil {
		t.Error("an unknown form was accepted")
	}
	if err := FeedAndDump(iotest.ErrReader(errors.New("gone")), &out, 4, 1, 0, FormText); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("err = %v", err)
	}
}
