package discord

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const (
	token   = "MTk4NjIy.Cl2FMQ.ZnCjm1XVW7vRze"
	hookKey = "3d89bb7572e0fb30d8128367b3b1b44f"
	channel = "290926798999357250"
	thread  = "290926798999357999"
)

// A fake is the service, for a bot or for a webhook.
type fake struct {
	*sendtest.HTTP
	t   testing.TB
	bot bool
}

func refuse(w http.ResponseWriter, status, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q,"code":%d}`, why, code)
}

func newFake(bot bool) func(t testing.TB) sendtest.Fake {
	return func(t testing.TB) sendtest.Fake {
		f := &fake{t: t, bot: bot}
		f.HTTP = sendtest.NewHTTP(t, f.serve)
		return f
	}
}

// where finds the channel of a request, or answers that there is none.
func (f *fake) where(w http.ResponseWriter, r *http.Request) (chat, in string, ok bool) {
	if !f.bot {
		if r.URL.Path != "/api/webhooks/223704706495545344/"+hookKey {
			refuse(w, http.StatusUnauthorized, 50027, "Invalid Webhook Token")
			return "", "", false
		}
		if r.URL.Query().Get("wait") != "true" {
			f.Problem("a webhook that does not wait")
		}
		in = r.URL.Query().Get("thread_id")
		if in != "" && in != thread {
			refuse(w, http.StatusNotFound, codeUnknownChannel, "Unknown Channel")
			return "", "", false
		}
		return "", in, true
	}
	if r.Header.Get("Authorization") != "Bot "+token {
		refuse(w, http.StatusUnauthorized, 0, "401: Unauthorized")
		return "", "", false
	}
	chat = strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/channels/"), "/messages")
	if chat != channel {
		refuse(w, http.StatusNotFound, codeUnknownChannel, "Unknown Channel")
		return "", "", false
	}
	return chat, "", true
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	chat, in, ok := f.where(w, r)
	if !ok {
		return
	}
	if !strings.HasPrefix(r.Header.Get("User-Agent"), "DiscordBot (") {
		f.Problem("user agent %q", r.Header.Get("User-Agent"))
	}
	p, a, err := read(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		return
	}
	a.Chat, a.Thread, a.Text = chat, in, p.Content
	switch {
	case len(utf16.Encode([]rune(p.Content))) > 2000:
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body")
		return
	case p.Content == "" && a.Name == "":
		refuse(w, http.StatusBadRequest, 50006, "Cannot send an empty message")
		return
	case a.Size > DefaultFileBytes:
		refuse(w, http.StatusRequestEntityTooLarge, codeTooLarge, "Request entity too large")
		return
	case len(p.Nonce) > 25:
		refuse(w, http.StatusBadRequest, 50035, "Invalid Form Body")
		return
	}
	if p.Mentions.Parse == nil || len(p.Mentions.Parse) > 0 {
		f.Problem("mentions are not switched off")
	}
	f.Accept(a)
	answer := map[string]any{"id": "1163467890123456789", "channel_id": channel, "content": p.Content}
	attachments := []map[string]any{}
	if a.Name != "" {
		size := a.Size
		if f.Take(sendtest.OtherSize) {
			size++
		}
		attachments = append(attachments, map[string]any{"id": "11", "filename": a.Name, "size": size})
	}
	answer["attachments"] = attachments
	switch {
	case f.Take(sendtest.EmptyAnswer):
		return
	case f.Take(sendtest.NoID):
		delete(answer, "id")
	}
	json.NewEncoder(w).Encode(answer)
}

func read(r *http.Request) (p payload, a sendtest.Arrival, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return p, a, json.NewDecoder(r.Body).Decode(&p)
	}
	mr, err := r.MultipartReader()
	if err != nil {
		return p, a, err
	}
	for {
		part, err := mr.NextPart()
		if err == io.EOF {
			return p, a, nil
		}
		if err != nil {
			return p, a, err
		}
		switch part.FormName() {
		case "payload_json":
			err = json.NewDecoder(part).Decode(&p)
		case "files[0]":
			a.Name = part.FileName()
			a.Size, a.SHA256, err = sendtest.Hash(part)
		default:
			err = fmt.Errorf("part %q", part.FormName())
		}
		if err != nil {
			return p, a, err
		}
	}
}

func (f *fake) client(c Config) send.Platform {
	p, err := New(c)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *fake) Platform(base string) send.Platform {
	if f.bot {
		return f.client(Config{Token: token, API: base})
	}
	return f.client(Config{Webhook: base + "/api/webhooks/223704706495545344/" + hookKey})
}

func (f *fake) Wrong(base string) (send.Platform, string) {
	const wrong = "not-the-right-key"
	if f.bot {
		return f.client(Config{Token: wrong, API: base}), wrong
	}
	return f.client(Config{Webhook: base + "/api/webhooks/223704706495545344/" + wrong}), wrong
}

func (f *fake) Secret() string {
	if f.bot {
		return token
	}
	return hookKey
}

func TestABotKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	sendtest.Run(t, sendtest.Subject{
		New:     newFake(true),
		Target:  send.Target{Platform: "discord", Chat: channel},
		BadChat: send.Target{Platform: "discord", Chat: "1"},
	})
	before.Check(t)
}

func TestAWebhookKeepsTheContract(t *testing.T) {
	sendtest.Run(t, sendtest.Subject{
		New:     newFake(false),
		Target:  send.Target{Platform: "discord", Thread: thread},
		BadChat: send.Target{Platform: "discord", Thread: "1"},
	})
}

func TestAWebhookRefusesAChannelThatItCannotPostTo(t *testing.T) {
	f := newFake(false)(t)
	d := f.Platform(f.Base()).Send(t.Context(), send.Message{
		Target: send.Target{Platform: "discord", Chat: "4711"}, Texts: []string{"for another channel"}, Key: "k",
	})
	if o := d.Texts[0]; o.Status != send.Rejected || !strings.Contains(o.Reason, "no other") {
		t.Errorf("%+v", o)
	}
	if n := f.Requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestAFileBeyondTheServersLimitIsRejectedByName(t *testing.T) {
	f := newFake(true)(t)
	p, err := New(Config{Token: token, API: f.Base(), FileBytes: 1 << 40}) // a setting that is wrong
	if err != nil {
		t.Fatal(err)
	}
	d := p.Send(t.Context(), send.Message{
		Target: send.Target{Chat: channel},
		Items:  []send.Item{sendtest.Bytes(t, "big.bin", make([]byte, DefaultFileBytes+1))},
	})
	if o := d.Items[0]; o.Status != send.Rejected || !strings.Contains(o.Reason, "too big for this channel") {
		t.Errorf("%+v", o)
	}
}

func TestSettingsThatNameNeitherOrBothAreRefused(t *testing.T) {
	for _, c := range []Config{{}, {Webhook: "https://discord.com/api/webhooks/1/x", Token: "t"}, {Webhook: "ftp://x/webhooks/1"}, {Webhook: "https://example.org/"}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
