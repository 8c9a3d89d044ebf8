package ntfy

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const token = "tk_AgQdq7mVBoFD37zQ"

type fake struct {
	*sendtest.HTTP
	t testing.TB
}

// newFake is a server with one topic that is reserved.
func newFake(t testing.TB) sendtest.Fake {
	f := &fake{t: t}
	f.HTTP = sendtest.NewHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		refuse := func(status, code int, why string) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"code":%d,"http":%d,"error":%q,"link":"https://ntfy.sh/docs"}`, code, status, why)
		}
		if r.Method != http.MethodPut {
			f.Problem("%s", r.Method)
		}
		for k, vs := range r.Header {
			for _, v := range vs {
				if strings.ContainsFunc(v, func(c rune) bool { return c > 126 || c < 32 }) {
					f.Problem("header %s is not ASCII: %q", k, v)
				}
			}
		}
		if r.Header.Get("Authorization") != "Bearer "+token {
			refuse(http.StatusUnauthorized, 40101, "unauthorized")
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "reserved" {
			refuse(http.StatusForbidden, 40301, "forbidden")
			return
		}
		a := sendtest.Arrival{Chat: name}
		dec := mime.WordDecoder{}
		var attachment map[string]any
		if file := r.Header.Get("Filename"); file != "" {
			var err error
			if a.Name, err = dec.DecodeHeader(file); err != nil {
				f.Problem("file name %q: %v", file, err)
			}
			a.Text, _ = dec.DecodeHeader(r.Header.Get("X-Message"))
			if a.Size, a.SHA256, err = sendtest.Hash(r.Body); err != nil {
				return
			}
			if a.Size > DefaultFileBytes {
				refuse(http.StatusRequestEntityTooLarge, 41301, "attachment too large, or bandwidth limit reached")
				return
			}
			attachment = map[string]any{"name": a.Name, "size": a.Size, "url": "https://ntfy.example/file/x"}
			if f.Take(sendtest.OtherSize) {
				attachment["size"] = a.Size - 1
			}
		} else {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			a.Text = string(body)
			if len(body) > textBytes {
				f.Problem("a text of %d bytes becomes a file", len(body))
			}
		}
		f.Accept(a)
		answer := map[string]any{"id": "hwQ2YpKdmg", "event": "message", "topic": name, "message": a.Text}
		if attachment != nil {
			answer["attachment"] = attachment
		}
		switch {
		case f.Take(sendtest.EmptyAnswer):
			return
		case f.Take(sendtest.NoID):
			delete(answer, "id")
		}
		json.NewEncoder(w).Encode(answer)
	})
	return f
}

func (f *fake) client(base, key string) send.Platform {
	p, err := New(Config{Server: base, Token: key})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *fake) Platform(base string) send.Platform { return f.client(base, token) }
func (f *fake) Wrong(base string) (send.Platform, string) {
	return f.client(base, "tk_wrong"), "tk_wrong"
}
func (f *fake) Secret() string { return token }

func TestNtfyKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	sendtest.Run(t, sendtest.Subject{
		New:     newFake,
		Target:  send.Target{Platform: "ntfy", Chat: "builds"},
		BadChat: send.Target{Platform: "ntfy", Chat: "reserved"},
	})
	before.Check(t)
}

func TestATopicThatIsAPathIsRefusedWithoutARequest(t *testing.T) {
	f := newFake(t)
	for _, chat := range []string{"", "a/b", "../v1/account", "a b", "a?x=1"} {
		d := f.Platform(f.Base()).Send(t.Context(), send.Message{Target: send.Target{Chat: chat}, Texts: []string{"x"}})
		if d.Texts[0].Status != send.Rejected || f.Requests() != 0 {
			t.Errorf("%q: %+v", chat, d)
		}
	}
}

func TestTheCaptionGoesInAHeaderAsASCII(t *testing.T) {
	f := newFake(t)
	want := "Bericht für März\nzweite Zeile 🎉"
	d := f.Platform(f.Base()).Send(t.Context(), send.Message{
		Target: send.Target{Chat: "builds"}, Subject: "Grüße", Caption: want,
		Items: []send.Item{sendtest.Bytes(t, "bericht.pdf", []byte("x"))},
	})
	if d.Items[0].Status != send.Sent {
		t.Fatalf("%+v", d)
	}
	if got := f.Arrived()[0].Text; got != want {
		t.Errorf("caption %q", got)
	}
}
