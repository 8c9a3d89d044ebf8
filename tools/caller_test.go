package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
)

// A record is a Log that keeps what it is told.
type record struct {
	starts   []journal.Start
	progress []journal.Progress
	ends     []journal.End
}

func (r *record) Begin(s journal.Start)       { r.starts = append(r.starts, s) }
func (r *record) Progress(p journal.Progress) { r.progress = append(r.progress, p) }
func (r *record) End(e journal.End)           { r.ends = append(r.ends, e) }

type echoed struct {
	Text string `json:"text"`
}

// echo writes its text to those who watch and returns it.
var echo = Tool{
	Name: "echo", Streams: true,
	Title: func(p json.RawMessage) string { return string(p) },
	Run: func(_ context.Context, c *Call, params json.RawMessage) Answer {
		var p echoed
		if err := json.Unmarshal(params, &p); err != nil {
			return Refuse("the parameters are no JSON object")
		}
		_, _ = c.Live.Write([]byte(p.Text))
		for i := range int64(10) {
			c.Report(i, 10, "parts")
		}
		return Answer{Status: outcome.Complete, Result: p, Summary: "echoed"}
	},
}

func TestEveryCallIsRecordedFromStartToEnd(t *testing.T) {
	log, dir := &record{}, t.TempDir()
	c := &Caller{Log: log, LiveDir: filepath.Join(dir, "live")}
	var out bytes.Buffer
	id, a := c.Call(t.Context(), echo, Request{Dir: "/", Params: json.RawMessage(`{"text":"hello"}`), Output: &out})
	if a.Status != outcome.Complete || a.Err != nil || out.String() != "hello" {
		t.Errorf("%+v, output %q", a, out.String())
	}
	if len(log.starts) != 1 || len(log.ends) != 1 || log.starts[0].Call != id || log.ends[0].Call != id {
		t.Fatalf("%+v", log)
	}
	if s := log.starts[0]; s.Tool != "echo" || s.Source.Dir != "/" || string(s.Args) != `{"text":"hello"}` {
		t.Errorf("%+v", s)
	}
	if e := log.ends[0]; e.Status != outcome.Complete || e.Error != "" || string(e.Result) != `{"text":"hello"}` || e.Summary != "echoed" {
		t.Errorf("%+v", e)
	}
	if n := len(log.progress); n != 1 { // the others came within reportGap
		t.Errorf("%d events of progress", n)
	}
	if live, err := os.ReadFile(log.starts[0].Live); err != nil || string(live) != "hello" {
		t.Errorf("live output %q, %v", live, err)
	}
	if info, err := os.Stat(log.starts[0].Live); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestSecretsDoNotReachTheRecord(t *testing.T) {
	log := &record{}
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	_, a := (&Caller{Log: log}).Call(t.Context(), echo, Request{Params: json.RawMessage(`{"text":"token ` + secret + `"}`)})
	if got := a.Result.(echoed).Text; !strings.Contains(got, secret) {
		t.Errorf("the caller got %q", got)
	}
	all, err := json.Marshal([]any{log.starts, log.ends})
	if err != nil || strings.Contains(string(all), secret) {
		t.Errorf("%s %v", all, err)
	}
	if log.starts[0].Redacted == 0 || log.ends[0].Redacted == 0 {
		t.Errorf("not counted: %+v", log)
	}
}

func TestAToolThatPanicsHasFailedAndIsRecorded(t *testing.T) {
	log := &record{}
	broken := Tool{Name: "broken", Run: func(context.Context, *Call, json.RawMessage) Answer { panic("on purpose") }}
	_, a := (&Caller{Log: log}).Call(t.Context(), broken, Request{Params: json.RawMessage(`{`)})
	if a.Status != outcome.Failed || a.Err == nil || !strings.Contains(a.Err.Error(), "on purpose") {
		t.Errorf("%+v", a)
	}
	if len(log.ends) != 1 || log.ends[0].Status != outcome.Failed || string(log.starts[0].Args) != `"{"` {
		t.Errorf("%+v", log)
	}
}

func TestAnAnswerWithoutAReasonIsNoSuccess(t *testing.T) {
	mute := Tool{Name: "mute", Run: func(context.Context, *Call, json.RawMessage) Answer { return Answer{} }}
	_, a := (&Caller{}).Call(t.Context(), mute, Request{})
	if a.Status != outcome.Unknown || a.Err == nil {
		t.Errorf("%+v", a)
	}
}

func TestAQuestionThatNobodyHearsIsRefused(t *testing.T) {
	asks := Tool{Name: "asks", Run: func(ctx context.Context, c *Call, _ json.RawMessage) Answer {
		if err := c.Ask(ctx, Question{Rule: "recursive delete", Detail: "rm -r x"}); err != nil {
			return Answer{Status: outcome.Refused, Err: err, Result: failure{}}
		}
		return Answer{Status: outcome.Complete, Result: failure{}}
	}}
	if _, a := (&Caller{}).Call(t.Context(), asks, Request{}); !errors.Is(a.Err, outcome.ErrRefused) {
		t.Errorf("%+v", a)
	}
	log := &record{}
	yes := &Caller{Log: log, Ask: func(_ context.Context, s journal.Start, _ Question) error {
		if len(log.progress) != 1 || log.progress[0] != (journal.Progress{Call: s.Call, What: journal.WaitsForApproval}) {
			t.Errorf("while it waits: %+v", log.progress)
		}
		return nil
	}}
	if _, a := yes.Call(t.Context(), asks, Request{}); a.Status != outcome.Complete {
		t.Errorf("%+v", a)
	}
	if len(log.progress) != 2 || log.progress[1].What == journal.WaitsForApproval {
		t.Errorf("after the answer: %+v", log.progress)
	}
}

func TestLiveOutputIsBoundedAndSaysWhatItLacks(t *testing.T) {
	l := (&Caller{}).live(filepath.Join(t.TempDir(), "x.raw"))
	for range 20 {
		if n, err := l.Write(make([]byte, 1<<20)); n != 1<<20 || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(l.path)
	if err != nil || len(b) > liveCap+100 || !strings.Contains(string(b[liveCap:]), "4,194,304 bytes more") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestLiveOutputThatCannotBeKeptFailsNoCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, a := (&Caller{LiveDir: file}).Call(t.Context(), echo, Request{Params: json.RawMessage(`{"text":"x"}`)})
	if a.Status != outcome.Complete || !strings.Contains(a.Summary, "could not be kept") {
		t.Errorf("%+v", a)
	}
}

func TestOldLiveOutputIsSweptAndOthersStay(t *testing.T) {
	const liveKept = time.Hour
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"old.raw": liveKept + time.Hour, "new.raw": 0, "other.txt": liveKept * 2} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := SweepLive(dir, liveKept, now); n != 1 || err != nil {
		t.Errorf("%d gone, %v", n, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%v", left)
	}
	if n, err := SweepLive(filepath.Join(dir, "none"), liveKept, now); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
