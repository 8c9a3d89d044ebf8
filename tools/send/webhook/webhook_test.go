package webhook

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const secret = "whsec_4f9a0c5d1e"

// A fake is a receiver that checks every signature, every hash, and ids.
type fake struct {
	*sendtest.HTTP
	t testing.TB
}

func newFake(t testing.TB) sendtest.Fake {
	f := &fake{t: t}
	seen := map[string]bool{}
	f.HTTP = sendtest.NewHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		p, a, err := read(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		raw, _ := json.Marshal(p)
		if want := "sha256=" + Sign(secret, r.Header.Get("X-Honestty-Timestamp"), raw); r.Header.Get("X-Honestty-Signature-256") != want {
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		if p.Chat == "nowhere" {
			http.Error(w, `{"error":"no such channel"}`, http.StatusNotFound)
			return
		}
		if seen[p.ID] {
			f.Problem("%s came twice", p.ID)
		}
		seen[p.ID] = true
		if p.Kind != send.TextKind && (p.Size == nil || *p.Size != a.Size || p.SHA256 != a.SHA256 || p.Name != a.Name) {
			http.Error(w, "the file is not what the payload says", http.StatusBadRequest)
			return
		}
		f.Accept(a)
		switch {
		case f.Take(sendtest.EmptyAnswer):
		case f.Take(sendtest.NoID):
			io.WriteString(w, `{"ok":true}`)
		default:
			io.WriteString(w, `{"ok":true,"message":{"id":`+"17"+`}}`)
		}
	}, sendtest.OtherSize)
	return f
}

func read(r *http.Request) (p Payload, a sendtest.Arrival, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &p)
		}
		return p, sendtest.Arrival{Chat: p.Chat, Thread: p.Thread, Text: p.Text}, err
	}
	mr, err := r.MultipartReader()
	if err != nil {
		return p, a, err
	}
	for {
		part, err := mr.NextPart()
		if err == io.EOF {
			a.Chat, a.Thread, a.Text = p.Chat, p.Thread, p.Text
			return p, a, nil
		}
		if err != nil {
			return p, a, err
		}
		switch part.FormName() {
		case "payload":
			err = json.NewDecoder(part).Decode(&p)
		case "file":
			a.Name = part.FileName()
			a.Size, a.SHA256, err = sendtest.Hash(part)
		}
		if err != nil {
			return p, a, err
		}
	}
}

func (f *fake) client(base, key string) send.Platform {
	p, err := New(Config{URL: base + "/hook", Secret: key, IDField: "message.id"})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *fake) Platform(base string) send.Platform { return f.client(base, secret) }
func (f *fake) Wrong(base string) (send.Platform, string) {
	return f.client(base, "other-key"), "other-key"
}
func (f *fake) Secret() string { return secret }

func TestWebhookKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	sendtest.Run(t, sendtest.Subject{
		New:     newFake,
		Target:  send.Target{Platform: "webhook", Chat: "ops", Thread: "7"},
		BadChat: send.Target{Platform: "webhook", Chat: "nowhere"},
	})
	before.Check(t)
}

func TestWithoutAnIDFieldAnyAcceptanceIsSuccess(t *testing.T) {
	f := newFake(t)
	p, err := New(Config{URL: f.Base(), Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	f.Arm(sendtest.EmptyAnswer)
	d := p.Send(t.Context(), send.Message{Key: "K", Texts: []string{"hello"}})
	if d.Texts[0].Status != send.Sent || d.Texts[0].ID != "K-t1" {
		t.Errorf("%+v", d)
	}
}

func TestAReceiverOfJSONTakesNoFiles(t *testing.T) {
	p, err := New(Config{URL: "https://example.org/hook", JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Limits().Attach {
		t.Error("files are taken")
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	f := sendtest.NewHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
	})
	p, err := New(Config{URL: f.Base()})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Send(t.Context(), send.Message{Key: "K", Texts: []string{"hello"}})
	if d.Texts[0].Status != send.Rejected || f.Requests() != 1 {
		t.Errorf("%+v after %d requests", d, f.Requests())
	}
}
