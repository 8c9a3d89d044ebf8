package matrix

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const (
	token = "syt_YW5u_kXQzWq_1A2b3C"
	room  = "!ops:example.org:8448"
	event = "$thread-root"
)

type stored struct {
	size int64
	sum  string
}

// A fake is a server with one room and one name for it.
type fake struct {
	*sendtest.HTTP
	t testing.TB

	mu    sync.Mutex
	media map[string]stored
	txns  map[string]string // transaction: event id
}

func refuse(w http.ResponseWriter, status int, code, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errcode":%q,"error":%q}`, code, why)
}

func newFake(t testing.TB) sendtest.Fake { return start(t) }

func start(t testing.TB) *fake {
	f := &fake{t: t, media: map[string]stored{}, txns: map[string]string{}}
	f.HTTP = sendtest.NewHTTP(t, f.serve, sendtest.OtherSize)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+token {
		refuse(w, http.StatusUnauthorized, "M_UNKNOWN_TOKEN", "Unrecognised access token")
		return
	}
	path := r.URL.EscapedPath()
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/_matrix/media/v3/upload":
		f.upload(w, r)
	case r.Method == http.MethodPut && strings.HasPrefix(path, "/_matrix/client/v3/rooms/"):
		f.event(w, r)
	case r.Method == http.MethodGet && r.URL.Path == "/_matrix/client/v3/directory/room/#ops:example.org":
		fmt.Fprintf(w, `{"room_id":%q,"servers":["example.org"]}`, room)
	default:
		refuse(w, http.StatusNotFound, "M_NOT_FOUND", "Room alias not found.")
	}
}

func (f *fake) upload(w http.ResponseWriter, r *http.Request) {
	size, sum, err := sendtest.Hash(r.Body)
	if err != nil {
		return
	}
	if r.ContentLength != size {
		f.Problem("an upload of %d bytes says %d", size, r.ContentLength)
	}
	f.mu.Lock()
	uri := fmt.Sprintf("mxc://example.org/%d", len(f.media))
	f.media[uri] = stored{size, sum}
	f.mu.Unlock()
	fmt.Fprintf(w, `{"content_uri":%q}`, uri)
}

func (f *fake) event(w http.ResponseWriter, r *http.Request) {
	rest := strings.TrimPrefix(r.URL.Path, "/_matrix/client/v3/rooms/")
	to, txn, ok := strings.Cut(rest, "/send/m.room.message/")
	if !ok || to != room {
		refuse(w, http.StatusForbidden, "M_FORBIDDEN", "User @ann:example.org not in room")
		return
	}
	var c content
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		refuse(w, http.StatusBadRequest, "M_NOT_JSON", "Content not JSON.")
		return
	}
	a := sendtest.Arrival{Chat: to}
	if c.Relates != nil && c.Relates.Type == "m.thread" {
		a.Thread = c.Relates.Event
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, ok := f.txns[txn]; ok {
		fmt.Fprintf(w, `{"event_id":%q}`, id)
		return
	}
	if c.Type == "m.text" {
		a.Text = c.Body
	} else {
		m, ok := f.media[c.URL]
		if !ok || c.Info == nil || c.Info.Size != m.size {
			f.Problem("an event about %q with %+v", c.URL, c.Info)
		}
		a.Name, a.Size, a.SHA256 = c.FileName, m.size, m.sum
	}
	id := fmt.Sprintf("$event%d", len(f.txns))
	f.txns[txn] = id
	f.Accept(a)
	switch {
	case f.Take(sendtest.EmptyAnswer):
	case f.Take(sendtest.NoID):
		fmt.Fprint(w, `{}`)
	default:
		fmt.Fprintf(w, `{"event_id":%q}`, id)
	}
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
	return f.client(base, "syt_wrong"), "syt_wrong"
}
func (f *fake) Secret() string { return token }

func TestMatrixKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	sendtest.Run(t, sendtest.Subject{
		New:     newFake,
		Target:  send.Target{Platform: "matrix", Chat: room, Thread: event},
		BadChat: send.Target{Platform: "matrix", Chat: "!gone:example.org"},
	})
	before.Check(t)
}

func TestARoomIsFoundByItsName(t *testing.T) {
	f := start(t)
	d := f.Platform(f.Base()).Send(t.Context(), send.Message{Target: send.Target{Chat: "#ops:example.org"}, Key: "K", Texts: []string{"one", "two"}})
	if d.Chat != room || d.Texts[1].Status != send.Sent || f.Requests() != 3 {
		t.Errorf("%+v after %d requests", d, f.Requests())
	}
	d = f.Platform(f.Base()).Send(t.Context(), send.Message{Target: send.Target{Chat: "#gone:example.org"}, Texts: []string{"one"}})
	if d.Texts[0].Status != send.Rejected {
		t.Errorf("%+v", d)
	}
}

func TestASecondTryWithTheSameKeyArrivesOnce(t *testing.T) {
	f := start(t)
	c := sendtest.NewCutter(t, f.Base(), -1, 0)
	m := send.Message{Target: send.Target{Chat: room}, Key: "K", Texts: []string{"once"}}
	if d := f.Platform(c.Base(f.Base())).Send(t.Context(), m); d.Texts[0].Status != send.Unknown {
		t.Errorf("cut: %+v", d)
	}
	if d := f.Platform(f.Base()).Send(t.Context(), m); d.Texts[0].Status != send.Sent {
		t.Errorf("again: %+v", d)
	}
	if got := f.Arrived(); len(got) != 1 {
		t.Errorf("arrived: %+v", got)
	}
}

func TestTargetsHaveColonsInThem(t *testing.T) {
	x := &Matrix{}
	for rest, want := range map[string][2]string{
		"!ops:example.org":           {"!ops:example.org", ""},
		"!ops:example.org:8448":      {"!ops:example.org:8448", ""},
		"!ops:example.org:$event":    {"!ops:example.org", "$event"},
		"#ops:example.org:8448:$e:f": {"#ops:example.org:8448", "$e:f"},
	} {
		chat, thread, err := x.ParseTarget(rest)
		if err != nil || chat != want[0] || thread != want[1] {
			t.Errorf("%s: %q %q %v", rest, chat, thread, err)
		}
	}
	if _, _, err := x.ParseTarget("ops"); err == nil {
		t.Error("a word was taken for a room")
	}
}
