package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/slacktest"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

func TestSlackKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	t.Run("contract", func(t *testing.T) {
		sendtest.Run(t, sendtest.Subject{
			New:     newFake,
			Target:  send.Target{Platform: "slack", Chat: channel, Thread: thread},
			BadChat: send.Target{Platform: "slack", Chat: "C0NOTHERE"},
		})
	})
	before.Check(t)
}

// to is a message to a chat, which never waits.
func to(chat string, items ...send.Item) send.Message {
	chat, thread, _ := strings.Cut(chat, ":")
	return send.Message{
		Target: send.Target{Platform: "slack", Chat: chat, Thread: thread}, Items: items, Key: "k",
		Pace: send.Pace{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}
}

// deliver sends m and compares what is said with what arrived.
func deliver(t *testing.T, f *fake, m send.Message) send.Delivery {
	t.Helper()
	d := f.Platform(f.Base()).Send(t.Context(), m)
	if strings.Contains(fmt.Sprintf("%+v", d), rightToken) {
		t.Errorf("the result carries the token: %+v", d)
	}
	counts := map[string]int{}
	for _, a := range f.Arrived() {
		counts[a.SHA256+a.Text]++
	}
	check := func(what string, n int, o send.Outcome) {
		if n > 1 || n == 1 && o.Status != send.Sent && o.Status != send.Unknown || n == 0 && o.Status == send.Sent {
			t.Errorf("%s arrived %d times: %+v", what, n, o)
		}
		if o.Status != send.Sent && o.Reason == "" || o.Status == send.Sent && o.ID == "" {
			t.Errorf("%s: %+v", what, o)
		}
	}
	for i, it := range m.Items {
		check(it.Name, counts[it.SHA256], d.Items[i])
	}
	for i, s := range m.Texts {
		check(s, counts[s], d.Texts[i])
	}
	return d
}

func statuses(d send.Delivery) string {
	var b strings.Builder
	for _, o := range append(append([]send.Outcome{}, d.Texts...), d.Items...) {
		b.WriteString(o.Status.String() + " ")
	}
	return strings.TrimSpace(b.String())
}

const (
	post     = "chat.postMessage"
	open     = "conversations.open"
	announce = "files.getUploadURLExternal"
	complete = "files.completeUploadExternal"
)

// TestOnlyTheLastStepOfAFileIsInDoubt plays each answer at each step.
func TestOnlyTheLastStepOfAFileIsInDoubt(t *testing.T) {
	page := func(status int) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool {
			w.WriteHeader(status)
			io.WriteString(w, "<html>nginx</html>")
			return true
		}
	}
	say := func(body string) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool { io.WriteString(w, body); return true }
	}
	cut := func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) }
	limited := func(w http.ResponseWriter) bool { w.Header().Set("Retry-After", "3600"); return page(429)(w) }
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter) bool
		// what becomes of a file at the three steps, and of a text
		announce, upload, complete, post send.Status
	}{
		{"500", page(500), send.Rejected, send.Rejected, send.Unknown, send.Unknown},
		{"502", page(502), send.Rejected, send.Rejected, send.Unknown, send.Unknown},
		{"400", page(400), send.Rejected, send.Rejected, send.Rejected, send.Rejected},
		{"413", page(413), send.Rejected, send.Rejected, send.Rejected, send.Rejected},
		{"429 for an hour", limited, send.Rejected, send.Rejected, send.Rejected, send.Rejected},
		{"a cut", cut, send.Rejected, send.Rejected, send.Unknown, send.Unknown},
		{"an empty answer", say(""), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"{}", say("{}"), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"ok false", say(`{"ok":false}`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"ok alone", say(`{"ok":true}`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"another file", say(`{"ok":true,"files":[{"id":"F9999"}]}`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"two files", say(`{"ok":true,"files":[{"id":"F0001"},{"id":"F0002"}]}`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"half an answer", say(`{"ok":true,"ts":"170`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"fatal_error", say(`{"ok":false,"error":"fatal_error"}`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"internal_error", say(`{"ok":false,"error":"internal_error"}`), send.Rejected, send.Sent, send.Unknown, send.Unknown},
		{"file_uploads_disabled", say(`{"ok":false,"error":"file_uploads_disabled"}`), send.Rejected, send.Sent, send.Rejected, send.Rejected},
		{"a code nobody knows", say(`{"ok":false,"error":"whatever_this_is"}`), send.Rejected, send.Sent, send.Rejected, send.Rejected},
		{"another size", say("OK - 3"), send.Rejected, send.Rejected, send.Unknown, send.Unknown},
	} {
		for method, want := range map[string]send.Status{announce: c.announce, "upload": c.upload, complete: c.complete, post: c.post} {
			f := startFake(t)
			answer := c.answer
			if method == "upload" {
				// The bytes are there before the answer, so that only the answer
				// can keep the file from being shared.
				answer = func(w http.ResponseWriter) bool {
					f.mu.Lock()
					f.files["F0001"].size = 4
					f.mu.Unlock()
					return c.answer(w)
				}
			}
			f.on(method, answer)
			m := to(channel)
			if method == post {
				m.Texts = []string{"hello"}
			} else {
				m.Items = []send.Item{sendtest.Bytes(t, "a.bin", []byte("four"))}
			}
			d := f.Platform(f.Base()).Send(t.Context(), m)
			if o := append(d.Texts, d.Items...)[0]; o.Status != want || (o.Reason == "") != (want == send.Sent) {
				t.Errorf("%s at %s: %+v, want %v", c.name, method, o, want)
			}
			if n := strings.Count(f.methods(), method); n != 1 {
				t.Errorf("%s at %s: %s", c.name, method, f.methods())
			}
		}
	}
}

func TestAnUploadIsNotRepeatedWhenOnlySharingHasToWait(t *testing.T) {
	for method, want := range map[string]string{
		announce: announce + " " + announce + " upload " + complete,
		"upload": announce + " upload " + announce + " upload " + complete,
		complete: announce + " upload " + complete + " " + complete,
	} {
		f := startFake(t)
		f.on(method, func(w http.ResponseWriter) bool { w.Header().Set("Retry-After", "2"); w.WriteHeader(429); return true })
		var waited time.Duration
		m := to(channel, sendtest.Bytes(t, "a.bin", []byte("a")))
		m.Pace.Sleep = func(_ context.Context, d time.Duration) error { waited += d; return nil }
		d := deliver(t, f, m)
		if statuses(d) != "sent" || f.methods() != want || waited != 2*time.Second {
			t.Errorf("%s: %s, %v, %+v", method, f.methods(), waited, d.Items)
		}
	}
	f := startFake(t)
	f.on(post, func(w http.ResponseWriter) bool {
		write(w, object{"ok": false, "error": "ratelimited"})
		return true
	})
	m := to(channel)
	m.Texts = []string{"later"}
	if d := deliver(t, f, m); statuses(d) != "sent" {
		t.Errorf("ratelimited with 200: %+v", d)
	}
}

func TestAPersonGetsADirectMessageThatIsOpenedOnce(t *testing.T) {
	f := startFake(t)
	m := to(person, sendtest.Bytes(t, "a.bin", []byte("a")))
	m.Texts = []string{"one", "two"}
	d := deliver(t, f, m)
	if statuses(d) != "sent sent sent" || d.Chat != dm {
		t.Errorf("%+v", d)
	}
	if want := strings.Join([]string{open, post, post, announce, "upload", complete}, " "); f.methods() != want {
		t.Errorf("%s, want %s", f.methods(), want)
	}
	for _, a := range f.Arrived() {
		if a.Chat != dm {
			t.Errorf("arrived in %q", a.Chat)
		}
	}

	f = startFake(t)
	m.Target.Chat = "U0NOBODY"
	if d := deliver(t, f, m); statuses(d) != "rejected dropped dropped" || f.methods() != open {
		t.Errorf("a person that does not exist: %s, %+v", f.methods(), d)
	}
	f = startFake(t)
	f.on(open, func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) })
	m.Target.Chat = person
	m.Texts = m.Texts[:1]
	if d := deliver(t, f, m); d.Texts[0].Status != send.Rejected {
		t.Errorf("a cut before the direct message is open: %+v", d)
	}
}

func TestAChannelsNameIsGoodForTextOnly(t *testing.T) {
	f := startFake(t)
	d := deliver(t, f, to("#general", sendtest.Bytes(t, "a.bin", []byte("a"))))
	if statuses(d) != "dropped" || f.Requests() != 0 {
		t.Errorf("%+v", d)
	}
	m := to("#general")
	m.Texts = []string{"hello"}
	if d := deliver(t, f, m); statuses(d) != "sent" || d.Chat != "C0GENERAL" {
		t.Errorf("%+v", d)
	}
}

func TestTargetsThatCannotBeAreRefusedBeforeARequest(t *testing.T) {
	f := startFake(t)
	for _, chat := range []string{"", "general", "c123", "C0&x", "#a b", "#", channel + ":12", channel + ":1700000000.1"} {
		m := to(chat, sendtest.Bytes(t, "a.pdf", []byte("a")))
		m.Texts = []string{"hello"}
		if d := deliver(t, f, m); statuses(d) != "rejected dropped" || f.Requests() != 0 {
			t.Errorf("%q: %+v", chat, d)
		}
	}
}

func TestAThreadThatIsGoneIsSaidAndNothingIsPutElsewhere(t *testing.T) {
	f := startFake(t)
	m := to(channel+":1600000000.000000", sendtest.Bytes(t, "a.bin", []byte("a")))
	m.Texts = []string{"hello"}
	d := deliver(t, f, m)
	if statuses(d) != "rejected dropped" || !strings.Contains(d.Texts[0].Reason, "nothing was put elsewhere") || len(f.Arrived()) != 0 {
		t.Errorf("%+v", d)
	}
	f = startFake(t)
	f.on(post, func(w http.ResponseWriter) bool {
		f.Accept(sendtest.Arrival{Text: "hello"})
		write(w, object{"ok": true, "channel": channel, "ts": "1.2", "message": object{"thread_ts": "1600000000.000001"}})
		return true
	})
	m = to(channel + ":" + thread)
	m.Texts = []string{"hello"}
	if d := deliver(t, f, m); statuses(d) != "sent" || len(d.Warnings) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestAFileGoesOnlyToSlacksOwnAddresses(t *testing.T) {
	p := with("https://slack.com", rightToken).(*Platform)
	for address, want := range map[string]bool{
		"https://files.slack.com/upload/v1/a": true, "https://slack.com/x": true, "https://files.slack-gov.com/x": true,
		"http://files.slack.com/x": false, "https://slack.com.evil.example/x": false, "https://notslack.com/x": false,
		"https://a@files.slack.com/x": false, "": false, "https://\x7f": false, "file:///etc/passwd": false,
	} {
		if p.mayUpload(address) != want {
			t.Errorf("mayUpload(%q) = %v", address, !want)
		}
	}
	f, thief := startFake(t), startFake(t)
	f.on(announce, func(w http.ResponseWriter) bool {
		write(w, object{"ok": true, "upload_url": thief.Base() + "/upload/v1/steal", "file_id": "F1"})
		return true
	})
	d := deliver(t, f, to(channel, sendtest.Bytes(t, "a.bin", []byte("a"))))
	if statuses(d) != "rejected" || f.methods() != announce || thief.Requests() != 0 || strings.Contains(d.Items[0].Reason, "steal") {
		t.Errorf("%s, %+v", f.methods(), d)
	}
}

func TestATokenThatTheServerRepeatsIsNotShown(t *testing.T) {
	for _, method := range []string{post, announce, "upload", complete} {
		f := startFake(t)
		f.on(method, func(w http.ResponseWriter) bool {
			w.WriteHeader(400)
			io.WriteString(w, "no way with "+rightToken)
			return true
		})
		m := to(channel, sendtest.Bytes(t, "a.bin", []byte("a")))
		if method == post {
			m.Texts, m.Items = []string{"x"}, nil
		}
		d := deliver(t, f, m)
		if o := append(d.Texts, d.Items...)[0]; !strings.Contains(o.Reason, "***") {
			t.Errorf("%s: %+v", method, o)
		}
	}
}

func TestACancelledUploadShowsNowhere(t *testing.T) {
	f := startFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := to(channel, sendtest.Bytes(t, "a.bin", make([]byte, 8<<20)), sendtest.Bytes(t, "b.bin", []byte("b")))
	m.Progress = func(_ int, n int64) {
		if n > 1<<20 {
			cancel()
		}
	}
	d := f.Platform(f.Base()).Send(ctx, m)
	if statuses(d) != "rejected dropped" || !strings.Contains(d.Items[0].Reason, "cancelled") || len(f.Arrived()) != 0 {
		t.Errorf("%+v, arrived %+v", d.Items, f.Arrived())
	}
}

func TestNoAnswerToTheLastStepIsUnknown(t *testing.T) {
	for _, method := range []string{post, complete} {
		f := startFake(t)
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		f.on(method, func(http.ResponseWriter) bool { cancel(); <-release; return true })
		m := to(channel, sendtest.Bytes(t, "a.bin", []byte("a")))
		if method == post {
			m.Texts, m.Items = []string{"hello"}, nil
		}
		d := f.Platform(f.Base()).Send(ctx, m)
		close(release)
		if statuses(d) != "unknown" || strings.Count(f.methods(), method) != 1 {
			t.Errorf("%s: %s, %+v", method, f.methods(), d)
		}
	}
}

// TestSlackGosOwnServerTakesIt sends to the test server that slack-go ships,
// with handlers for the three steps of a file, which it lacks.
func TestSlackGosOwnServerTakesIt(t *testing.T) {
	var got []string
	var srv *slacktest.Server
	srv = slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/files.getUploadURLExternal", func(w http.ResponseWriter, r *http.Request) {
			write(w, object{"ok": true, "upload_url": srv.GetAPIURL() + "up", "file_id": "F1"})
		})
		c.Handle("/up", func(w http.ResponseWriter, r *http.Request) {
			_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
			p, err := multipart.NewReader(r.Body, params["boundary"]).NextPart()
			if err != nil {
				t.Error(err)
				return
			}
			_, sha, _ := sendtest.Hash(p)
			got = append(got, p.FileName()+" "+sha)
			io.WriteString(w, "OK - 4")
		})
		c.Handle("/files.completeUploadExternal", func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.FormValue("channel_id"))
			write(w, object{"ok": true, "files": []object{{"id": "F1"}}})
		})
	})
	srv.Start()
	t.Cleanup(srv.Stop)
	p, err := New(Config{Token: rightToken, Server: srv.GetAPIURL()})
	if err != nil {
		t.Fatal(err)
	}
	it := sendtest.Bytes(t, "a.bin", []byte("four"))
	m := to(channel, it)
	m.Texts = []string{"hello"}
	d := p.Send(t.Context(), m)
	if statuses(d) != "sent sent" || strings.Join(got, ",") != "a.bin "+it.SHA256+","+channel {
		t.Errorf("%+v, got %q", d, got)
	}
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	for _, token := range []string{"", "abc", "xoxb", "xoxb-a b", "xoxb-a\nb", "xoxb-a&b"} {
		if _, err := New(Config{Token: token}); !errors.Is(err, ErrToken) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	for _, server := range []string{"ftp://x", "https://user:pass@x", "x", "https://", "https://x?y"} {
		if _, err := New(Config{Token: rightToken, Server: server}); err == nil || strings.Contains(err.Error(), server) {
			t.Errorf("server %q: %v", server, err)
		}
	}
	p, err := New(Config{Token: rightToken + "\n"})
	if err != nil || p.Name() != "slack" || !p.Limits().NoEmpty || !p.UploadsFirst() {
		t.Errorf("%+v, %v", p, err)
	}
}
