package telegram

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

func TestAnswersThatDoNotProveAFileAreUnknown(t *testing.T) {
	write := func(body string) func(http.ResponseWriter, *call) bool {
		return func(w http.ResponseWriter, _ *call) bool { io.WriteString(w, body); return true }
	}
	status := func(n int, body string) func(http.ResponseWriter, *call) bool {
		return func(w http.ResponseWriter, _ *call) bool { w.WriteHeader(n); io.WriteString(w, body); return true }
	}
	one := []send.Item{as(t, send.Document, "a.pdf", []byte("aaaa"))}
	two := []send.Item{as(t, send.Video, "a.mp4", []byte("aaaa")), as(t, send.Video, "b.mp4", []byte("bbbb"))}
	photo := []send.Item{as(t, send.Photo, "a.png", picture(t, 8, 8, 1))}
	for name, c := range map[string]struct {
		items  []send.Item
		answer func(http.ResponseWriter, *call) bool
		want   string
	}{
		"no result":           {one, write(`{"ok":true}`), "unknown"},
		"no file":             {one, write(`{"ok":true,"result":{"message_id":5}}`), "unknown"},
		"a file without id":   {one, write(`{"ok":true,"result":{"message_id":5,"document":{"file_size":4}}}`), "unknown"},
		"a file without size": {one, write(`{"ok":true,"result":{"message_id":5,"document":{"file_id":"x"}}}`), "unknown"},
		"a smaller file":      {one, write(`{"ok":true,"result":{"message_id":5,"document":{"file_id":"x","file_size":3}}}`), "unknown"},
		"another kind":        {one, write(`{"ok":true,"result":{"message_id":5,"animation":{"file_id":"x","file_size":4},"document":{"file_id":"x","file_size":4}}}`), "sent"},
		"a page with 200":     {one, write(`<html>hello</html>`), "unknown"},
		"ok false, no code":   {one, write(`{"ok":false}`), "unknown"},
		"half an answer":      {one, write(`{"ok":true,"result":{"message_id":5,"docum`), "unknown"},
		"an inner error":      {one, status(500, `{"ok":false,"error_code":500,"description":"Internal Server Error"}`), "unknown"},
		"a gateway's error":   {one, status(502, `<html>Bad Gateway</html>`), "unknown"},
		"413 as JSON":         {one, status(413, `{"ok":false,"error_code":413,"description":"Request Entity Too Large"}`), "rejected"},
		"a redirect":          {one, status(302, ``), "rejected"},
		"a code nobody knows": {one, status(420, `{"ok":false,"error_code":420,"description":"FLOOD"}`), "rejected"},
		"a photo of none":     {photo, write(`{"ok":true,"result":{"message_id":5,"photo":[]}}`), "unknown"},
		"album as object":     {two, write(`{"ok":true,"result":{}}`), "unknown unknown"},
		"album of none":       {two, write(`{"ok":true,"result":[]}`), "unknown unknown"},
		"album of one":        {two, write(`{"ok":true,"result":[{"message_id":5,"video":{"file_id":"x","file_size":4}}]}`), "unknown unknown"},
		"album with a null":   {two, write(`{"ok":true,"result":[{"message_id":5,"video":{"file_id":"x","file_size":4}},null]}`), "sent unknown"},
	} {
		f := startFake(t)
		f.next(c.answer)
		d := f.Platform(f.Base()).Send(t.Context(), to(group, c.items...))
		if got := statuses(d.Items); got != c.want {
			t.Errorf("%s: %s (%+v), want %s", name, got, d.Items, c.want)
		}
		if n := f.Requests(); n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

func TestAnAnswerBeforeTheEndOfTheUploadProvesNothing(t *testing.T) {
	srv := serveRaw(t, func(w http.ResponseWriter, r *http.Request) {
		// The answer comes while almost all of the file is still to come.
		http.NewResponseController(w).EnableFullDuplex()
		r.Body.Read(make([]byte, 10))
		io.WriteString(w, `{"ok":true,"result":{"message_id":5,"document":{"file_id":"x","file_size":33554432}}}`)
	})
	p, err := New(Config{Token: rightToken, Server: srv})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Send(t.Context(), to(group, sendtest.Bytes(t, "a.bin", make([]byte, 32<<20))))
	if d.Items[0].Status == send.Sent {
		t.Errorf("%+v", d.Items[0])
	}
}

func TestARefusalBeforeTheUploadIsReadIsNeverSuccess(t *testing.T) {
	srv := serveRaw(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		io.WriteString(w, "<html>413 Request Entity Too Large</html>")
	})
	p, err := New(Config{Token: rightToken, Server: srv})
	if err != nil {
		t.Fatal(err)
	}
	// Whether the answer is read before the closed connection is seen is up to
	// the kernel: it is rejected or unknown, with a reason for each.
	o := p.Send(t.Context(), to(group, sendtest.Bytes(t, "a.bin", make([]byte, 16<<20)))).Items[0]
	if o.Status != send.Rejected && o.Status != send.Unknown || o.Reason == "" {
		t.Errorf("%+v", o)
	}
}

// TestWhateverTheServerAnswersEachFileHasOneTrueOutcome sends mixtures of
// files to a server that answers at random; deliver compares what is said with
// what arrived.
func TestWhateverTheServerAnswersEachFileHasOneTrueOutcome(t *testing.T) {
	answers := []func(w http.ResponseWriter, c *call) bool{
		func(w http.ResponseWriter, _ *call) bool { sendtest.TooMany(w, 1); return true },
		func(w http.ResponseWriter, _ *call) bool { w.WriteHeader(502); return true },
		func(w http.ResponseWriter, _ *call) bool { bad("IMAGE_PROCESS_FAILED").write(w); return true },
		func(w http.ResponseWriter, _ *call) bool { bad("anything").write(w); return true },
		func(http.ResponseWriter, *call) bool { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter, _ *call) bool {
			refusal{400, "Bad Request: group chat was upgraded to a supergroup chat", newGroup}.write(w)
			return true
		},
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		f := startFake(t)
		for range 12 {
			if k := r.IntN(3 * len(answers)); k < len(answers) {
				f.next(answers[k])
			} else {
				f.next(func(http.ResponseWriter, *call) bool { return false })
			}
		}
		var items []send.Item
		for n := range r.IntN(9) {
			switch r.IntN(4) {
			case 0:
				items = append(items, as(t, send.Photo, "p.png", picture(t, 8, 8, n)))
			case 1:
				items = append(items, as(t, send.Video, "v.mp4", fmt.Appendf(nil, "video %d", n)))
			case 2:
				items = append(items, as(t, send.Document, "d.pdf", fmt.Appendf(nil, "document %d", n)))
			default:
				s := &moving{data: fmt.Appendf(nil, "moving %d", n), at: 1 << 40}
				items = append(items, sealed(t, "m.mp4", send.Video, s))
				s.data = append(s.data, '!')
			}
		}
		m := to(group, items...)
		m.Texts = []string{"hello"}
		if d := deliver(t, f, m); len(d.Items) != len(items) || t.Failed() {
			t.Fatalf("seed %d: %+v", seed, d)
		}
	}
}

func TestAnAnswerAtTheLastByteOfTheFormCounts(t *testing.T) {
	f := startFake(t)
	f.hasty = true
	for n := range 50 {
		m := to(group, sendtest.Bytes(t, "a.bin", fmt.Appendf(nil, "content %d", n)))
		m.Caption = "a caption"
		if d := deliver(t, f, m); statuses(d.Items) != "sent" {
			t.Fatalf("%+v", d.Items)
		}
	}
}

func TestATokenThatTheServerRepeatsIsNotShown(t *testing.T) {
	f := startFake(t)
	for _, code := range []int{400, 403, 409, 429, 500} {
		f.next(func(w http.ResponseWriter, _ *call) bool {
			refusal{code: code, text: "no way with bot" + rightToken + " and " + rightToken[7:]}.write(w)
			return true
		})
		m := to(group)
		m.Texts = []string{"x"}
		m.Pace.Bound = -1
		d := deliver(t, f, m)
		if !strings.Contains(d.Texts[0].Reason, "***") {
			t.Errorf("%d: %+v", code, d.Texts[0])
		}
	}
}
