package send

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

func TestRetrySendsOnlyWhatWasNotSent(t *testing.T) {
	d := newDesk(t)
	files := []string{d.file(t, "a.pdf", "A"), d.file(t, "b.pdf", "B"), d.file(t, "c.pdf", "C")}
	late := filepath.Join(d.dir, "late.pdf")
	req := Request{Target: "telegram", Text: "four files", Attachments: append(files, late)}
	d.to.item = func(i int) Outcome {
		return []Outcome{SentAs("1"), Reject("busy"), Unsure("cut")}[i]
	}
	first := d.Send(t.Context(), req)
	checkResult(t, first)
	if first.Counts != (Counts{5, 2, 1, 1, 1}) {
		t.Fatalf("%+v", first.Counts)
	}
	raw, err := json.Marshal(first) // as the journal keeps it
	if err != nil {
		t.Fatal(err)
	}
	var earlier Result
	if err := json.Unmarshal(raw, &earlier); err != nil {
		t.Fatal(err)
	}
	d.file(t, "late.pdf", "L")
	d.to.item = nil
	for _, c := range []struct {
		unknown bool
		want    []string
	}{{false, []string{"B", "L"}}, {true, []string{"B", "C", "L"}}} {
		again, err := d.Retry(req, &earlier, c.unknown)
		if err != nil {
			t.Fatal(err)
		}
		d.to.bodies, d.to.got = nil, nil
		r := d.Send(t.Context(), again)
		checkResult(t, r)
		if !r.Success || !slices.Equal(d.to.bodies, c.want) || len(d.to.got[0].Texts) != 0 {
			t.Errorf("unknown %v: sent %q, texts %q", c.unknown, d.to.bodies, d.to.got[0].Texts)
		}
		if k := d.to.got[0].Items[0].Key; k != first.Delivery[2].Key {
			t.Errorf("key %q, was %q", k, first.Delivery[2].Key)
		}
	}
	other := req
	other.Text = "four files, and a word"
	if _, err := d.Retry(other, &earlier, false); !errors.Is(err, ErrRetry) {
		t.Errorf("another text: %v", err)
	}
	other = req
	other.Attachments = files[:1]
	if _, err := d.Retry(other, &earlier, false); !errors.Is(err, ErrRetry) {
		t.Errorf("other attachments: %v", err)
	}
}

func TestNothingIsRetriedWhenAllWasSent(t *testing.T) {
	d := newDesk(t)
	req := Request{Target: "telegram", Text: "x"}
	r := d.Send(t.Context(), req)
	if _, err := d.Retry(req, r, true); !errors.Is(err, ErrRetry) {
		t.Errorf("%v", err)
	}
}

func TestProgressIsOfAllFilesAndEndsAtTheirSum(t *testing.T) {
	d := newDesk(t)
	a, b := d.file(t, "a.pdf", strings.Repeat("a", 100_000)), d.file(t, "b.pdf", "bb")
	var last, total int64
	r := d.Send(t.Context(), Request{Target: "telegram", Attachments: []string{a, b}, Progress: func(done, of int64, _ string) {
		if done < last {
			t.Errorf("went back from %d to %d", last, done)
		}
		last, total = done, of
	}})
	if !r.Success || last != 100_002 || total != 100_002 {
		t.Errorf("%d of %d: %+v", last, total, r)
	}
}

func TestTheToolTakesAndGivesWhatAgentsKnow(t *testing.T) {
	d := newDesk(t)
	tool := Tool(d.Sender)
	call := &tools.Call{Dir: d.dir, Live: io.Discard, Report: func(int64, int64, string) {}, Ask: func(context.Context, tools.Question) error {
		return &outcome.RefusedError{Rule: "nobody"}
	}}
	for raw, want := range map[string]outcome.Status{
		`{"action":"send","target":"telegram","message":"hi"}`:             outcome.Complete,
		`{"target":"telegram:1:2","message":"hi MEDIA:/data/report.html"}`: outcome.Partial,
		`{"action":"list"}`:                outcome.Complete,
		`{"action":"dance"}`:               outcome.Refused,
		`{"target":"telegram"}`:            outcome.Refused,
		`{"message":"x"}`:                  outcome.Refused,
		`[`:                                outcome.Refused,
		`{"target":"fax","message":"x"}`:   outcome.Failed,
		`{"target":"slack","message":"x"}`: outcome.Failed,
		`{"target":"telegram","attachments":["/data/report.html"]}`:                          outcome.Failed,
		`{"target":"telegram","attachments":["/etc/shadow"]}`:                                outcome.Refused,
		`{"target":"telegram","message":"hi","attachments":["/data/r.html"],"dry_run":true}`: outcome.Partial,
	} {
		a := tool.Run(t.Context(), call, json.RawMessage(raw))
		if a.Status != want || (a.Err == nil) != (want == outcome.Complete) || a.Result == nil || a.Summary == "" {
			t.Errorf("%s: %+v", raw, a)
		}
		if tool.Title(json.RawMessage(raw)) == "" {
			t.Errorf("%s has no title", raw)
		}
	}
	a := tool.Run(t.Context(), call, json.RawMessage(`{"target":"slack","message":"x"}`))
	if got := a.Err.Error(); got != "slack is not set up: set SLACK_BOT_TOKEN" {
		t.Errorf("%q", got)
	}
}
