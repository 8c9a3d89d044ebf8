package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

func TestTelegramKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	t.Run("contract", func(t *testing.T) {
		sendtest.Run(t, sendtest.Subject{
			New:     newFake,
			Target:  send.Target{Platform: "telegram", Chat: group, Thread: "7"},
			BadChat: send.Target{Platform: "telegram", Chat: "-1009"},
		})
	})
	before.Check(t)
}

// picture is a PNG of w×h pixels, one of a kind for each n.
func picture(t testing.TB, w, h, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(b.Bytes(), "trailer %d", n)
}

// as is an item that is asked to go as kind.
func as(t testing.TB, kind send.Kind, name string, data []byte) send.Item {
	it := sendtest.Bytes(t, name, data)
	it.Kind = kind
	return it
}

// to is a message to a chat, which never waits.
func to(chat string, items ...send.Item) send.Message {
	chat, thread, _ := strings.Cut(chat, ":")
	return send.Message{
		Target: send.Target{Platform: "telegram", Chat: chat, Thread: thread}, Items: items, Key: "k",
		Pace: send.Pace{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}
}

// deliver sends m and compares what is said with what arrived.
func deliver(t *testing.T, f *fake, m send.Message) send.Delivery {
	t.Helper()
	d := f.Platform(f.Base()).Send(t.Context(), m)
	if strings.Contains(fmt.Sprintf("%+v", d), rightToken[7:]) {
		t.Errorf("the result carries the token: %+v", d)
	}
	counts := map[string]int{}
	for _, a := range f.Arrived() {
		counts[a.SHA256]++
	}
	for i, it := range m.Items {
		o := d.Items[i]
		if n := counts[it.SHA256]; n > 1 || n == 1 && o.Status != send.Sent && o.Status != send.Unknown || n == 0 && o.Status == send.Sent {
			t.Errorf("%s arrived %d times: %+v", it.Name, n, o)
		}
		if o.Status != send.Sent && o.Reason == "" || o.Status == send.Sent && o.ID == "" {
			t.Errorf("%s: %+v", it.Name, o)
		}
	}
	return d
}

// statuses writes outcomes as words.
func statuses(os []send.Outcome) string {
	var b strings.Builder
	for _, o := range os {
		b.WriteString(o.Status.String() + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestEachFileGoesByTheMethodThatShowsIt(t *testing.T) {
	small := []byte("not a picture, not a sound")
	for _, c := range []struct {
		item send.Item
		want string
		said string // in a warning; empty: none
	}{
		{as(t, send.Photo, "a.png", picture(t, 20, 10, 0)), "sendPhoto", ""},
		{as(t, send.Document, "a.png", picture(t, 20, 10, 1)), "sendDocument", ""},
		{as(t, send.Photo, "a.gif", small), "sendDocument", "would not move"},
		{as(t, send.Photo, "a.bmp", small), "sendDocument", "JPEG, PNG or WebP"},
		{as(t, send.Photo, "a.jpg", small), "sendDocument", "not a picture"},
		{as(t, send.Photo, "a.png", picture(t, 9990, 11, 2)), "sendDocument", "9990×11 pixels are too many"},
		{as(t, send.Photo, "a.png", picture(t, 4, 81, 3)), "sendDocument", "too narrow"},
		{as(t, send.Photo, "a.png", picture(t, 4, 80, 4)), "sendPhoto", ""},
		{as(t, send.Photo, "a.png", append(picture(t, 4, 4, 5), make([]byte, maxPhoto)...)), "sendDocument", "10 MB"},
		{as(t, send.Video, "a.mp4", small), "sendVideo", ""},
		{as(t, send.Video, "a.mkv", small), "sendDocument", "MPEG-4"},
		{as(t, send.Audio, "a.mp3", small), "sendAudio", ""},
		{as(t, send.Audio, "a.m4a", small), "sendAudio", ""},
		{as(t, send.Audio, "a.ogg", small), "sendDocument", ""},
		{as(t, send.Voice, "a.ogg", small), "sendVoice", ""},
		{as(t, send.Voice, "a.opus", small), "sendVoice", ""},
		{as(t, send.Voice, "a.mp3", small), "sendAudio", "Ogg Opus"},
		{as(t, send.Voice, "a.wav", small), "sendDocument", "Ogg Opus"},
		{as(t, send.Document, "a.pdf", small), "sendDocument", ""},
	} {
		f := startFake(t)
		d := deliver(t, f, to(group, c.item))
		warned := strings.Join(d.Warnings, "\n")
		if f.methods() != c.want || d.Items[0].Status != send.Sent {
			t.Errorf("%v %s: %s, %+v; want %s", c.item.Kind, c.item.Name, f.methods(), d.Items[0], c.want)
		}
		if c.said == "" && warned != "" || !strings.Contains(warned, c.said) {
			t.Errorf("%v %s: warned %q, want %q", c.item.Kind, c.item.Name, warned, c.said)
		}
	}
}

func TestPhotosAndVideosThatFollowEachOtherGoAsAlbums(t *testing.T) {
	photo := func(n int) send.Item { return as(t, send.Photo, "same name.png", picture(t, 8, 8, n)) }
	video := func(n int) send.Item { return as(t, send.Video, "v.mp4", fmt.Appendf(nil, "video %d", n)) }
	doc := as(t, send.Document, "d.pdf", []byte("pdf"))
	var twelve []send.Item
	for n := range 12 {
		twelve = append(twelve, photo(n))
	}
	for _, c := range []struct {
		items []send.Item
		want  string
	}{
		{[]send.Item{photo(1), video(1)}, "sendMediaGroup"},
		{[]send.Item{photo(1), doc, photo(2)}, "sendPhoto sendDocument sendPhoto"},
		{[]send.Item{doc, photo(1), photo(2), as(t, send.Voice, "v.ogg", []byte("v"))}, "sendDocument sendMediaGroup sendVoice"},
		{twelve[:11], "sendMediaGroup sendPhoto"},
		{twelve, "sendMediaGroup sendMediaGroup"},
	} {
		f := startFake(t)
		m := to(group+":7", c.items...)
		told := make([]int64, len(c.items))
		m.Progress = func(i int, n int64) { told[i] = n }
		d := deliver(t, f, m)
		ids := map[string]bool{}
		for i, o := range d.Items {
			ids[o.ID] = true
			if o.Status != send.Sent || told[i] != c.items[i].Size {
				t.Errorf("%s: item %d %+v, progress %d of %d", c.want, i, o, told[i], c.items[i].Size)
			}
		}
		if f.methods() != c.want || len(ids) != len(c.items) || d.Chat != group {
			t.Errorf("%s with %d ids in %q; want %s", f.methods(), len(ids), d.Chat, c.want)
		}
	}
}

func TestAnAlbumIsNoLargerThanAFile(t *testing.T) {
	f := startFake(t)
	p, err := New(Config{Token: rightToken, Server: f.Base(), FileBytes: 300})
	if err != nil {
		t.Fatal(err)
	}
	v := func(n int) send.Item { return as(t, send.Video, "v.mp4", bytes.Repeat([]byte{byte(n)}, 120)) }
	d := p.Send(t.Context(), to(group, v(1), v(2), v(3)))
	if f.methods() != "sendMediaGroup sendVideo" || statuses(d.Items) != "sent sent sent" {
		t.Errorf("%s: %+v", f.methods(), d.Items)
	}
}

func TestAPictureThatTelegramRefusesGoesAsADocument(t *testing.T) {
	f := startFake(t)
	refuse := func(w http.ResponseWriter, c *call) bool { bad("IMAGE_PROCESS_FAILED").write(w); return true }
	f.next(refuse) // the album
	f.next(refuse) // the first of its pictures alone
	d := deliver(t, f, to(group, as(t, send.Photo, "a.png", picture(t, 8, 8, 1)), as(t, send.Photo, "b.png", picture(t, 8, 8, 2))))
	if want := "sendMediaGroup sendPhoto sendDocument sendPhoto"; f.methods() != want || statuses(d.Items) != "sent sent" {
		t.Errorf("%s: %+v; want %s", f.methods(), d.Items, want)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "a.png went as a document") {
		t.Errorf("warnings: %q", d.Warnings)
	}
}

func TestAGroupThatMovedIsFollowedOnceAndSaid(t *testing.T) {
	f := startFake(t)
	m := to(oldGroup, sendtest.Bytes(t, "a.pdf", []byte("a")), sendtest.Bytes(t, "b.pdf", []byte("b")))
	m.Texts = []string{"hello"}
	d := deliver(t, f, m)
	if statuses(append(d.Texts, d.Items...)) != "sent sent sent" || d.Chat != newGroup {
		t.Errorf("%+v", d)
	}
	if f.methods() != "sendMessage sendMessage sendDocument sendDocument" {
		t.Errorf("calls: %s", f.methods())
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], newGroup) {
		t.Errorf("warnings: %q", d.Warnings)
	}

	f = startFake(t)
	again := func(w http.ResponseWriter, c *call) bool {
		refusal{400, "Bad Request: group chat was upgraded to a supergroup chat", "-100888"}.write(w)
		return true
	}
	f.next(again)
	f.next(again)
	m.Target.Chat = group
	d = deliver(t, f, m)
	if statuses(append(d.Texts, d.Items...)) != "rejected dropped dropped" || f.methods() != "sendMessage sendMessage" {
		t.Errorf("%s: %+v", f.methods(), d)
	}
}

func TestWhatHoldsForAChatIsTriedOnce(t *testing.T) {
	for _, c := range []struct{ chat, want string }{
		{group + ":8", "topic 8 does not exist there; nothing was put elsewhere"},
		{"-1009", "the id of a group is negative"},
		{kicked, "kicked"},
	} {
		f := startFake(t)
		m := to(c.chat, sendtest.Bytes(t, "a.pdf", []byte("a")))
		m.Texts = []string{"one", "two"}
		d := deliver(t, f, m)
		if f.methods() != "sendMessage" || statuses(append(d.Texts, d.Items...)) != "rejected dropped dropped" {
			t.Errorf("%s: %s, %+v", c.chat, f.methods(), d)
		}
		if !strings.Contains(d.Texts[0].Reason, c.want) || d.Items[0].Reason == "" {
			t.Errorf("%s: %q, want %q", c.chat, d.Texts[0].Reason, c.want)
		}
		if len(f.Arrived()) != 0 {
			t.Errorf("%s: arrived %+v", c.chat, f.Arrived())
		}
	}
}

func TestAMessageInAnotherTopicIsSaid(t *testing.T) {
	f := startFake(t)
	f.next(func(_ http.ResponseWriter, c *call) bool { delete(c.fields, "message_thread_id"); return false })
	m := to(group + ":7")
	m.Texts = []string{"hello"}
	d := deliver(t, f, m)
	if d.Texts[0].Status != send.Sent || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "topic 7") {
		t.Errorf("%+v", d)
	}
}

func TestTargetsThatCannotBeAreRefusedBeforeARequest(t *testing.T) {
	f := startFake(t)
	for _, chat := range []string{"", "0", "general", "@x", "-100 1", "@a/b", group + ":0", group + ":-1", group + ":seven"} {
		m := to(chat, sendtest.Bytes(t, "a.pdf", []byte("a")))
		m.Texts = []string{"hello"}
		if d := deliver(t, f, m); statuses(append(d.Texts, d.Items...)) != "rejected dropped" {
			t.Errorf("%q: %+v", chat, d)
		}
	}
	m := to("@honestty_news")
	m.Texts = []string{"hello"}
	if d := deliver(t, f, m); d.Texts[0].Status != send.Sent || d.Chat != "-100999" {
		t.Errorf("a channel's name: %+v", d)
	}
	if n := f.Requests(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestPatienceIsBoundedAndAnAlbumIsTriedAgainWhole(t *testing.T) {
	limit := func(w http.ResponseWriter, c *call) bool { sendtest.TooMany(w, 2); return true }
	album := []send.Item{as(t, send.Video, "a.mp4", []byte("a")), as(t, send.Video, "b.mp4", []byte("b"))}
	for _, c := range []struct {
		limits int
		want   string
		waited time.Duration
	}{
		{1, "sent sent", 2 * time.Second},
		{2, "sent sent", 4 * time.Second},
		{3, "rejected rejected", 4 * time.Second},
	} {
		f := startFake(t)
		for range c.limits {
			f.next(limit)
		}
		var waited time.Duration
		m := to(group, album...)
		m.Pace.Sleep = func(_ context.Context, d time.Duration) error { waited += d; return nil }
		d := deliver(t, f, m)
		if statuses(d.Items) != c.want || waited != c.waited {
			t.Errorf("%d refusals: %+v after %v", c.limits, d.Items, waited)
		}
	}
}

func TestACaptionGoesWithItsFile(t *testing.T) {
	for _, it := range []send.Item{
		as(t, send.Photo, "a.png", picture(t, 8, 8, 1)), as(t, send.Video, "a.mp4", []byte("v")),
		as(t, send.Audio, "a.mp3", []byte("a")), as(t, send.Voice, "a.ogg", []byte("o")), as(t, send.Document, "a.pdf", []byte("p")),
	} {
		f := startFake(t)
		m := to(group, it)
		m.Caption = "see <this> & that"
		if d := deliver(t, f, m); d.Items[0].Status != send.Sent || f.Arrived()[0].Text != m.Caption {
			t.Errorf("%v: %+v, %+v", it.Kind, d.Items[0], f.Arrived())
		}
	}
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	for _, token := range []string{"", "abc", "1:", "1:a/b", "1:a b", "1:a\nb", "1:a?x=1", ":abc", "../1:abc"} {
		_, err := New(Config{Token: token})
		if !errors.Is(err, ErrToken) || token != "" && len(token) > 4 && strings.Contains(err.Error(), token) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	for _, server := range []string{"ftp://x", "https://user:pass@x", "x", "https://", "https://x?y"} {
		if _, err := New(Config{Token: rightToken, Server: server}); err == nil || strings.Contains(err.Error(), server) {
			t.Errorf("server %q: %v", server, err)
		}
	}
	p, err := New(Config{Token: " " + rightToken + "\n"})
	if err != nil {
		t.Fatalf("a token with the line break of its file: %v", err)
	}
	if l := p.Limits(); p.Name() != "telegram" || l.Text != 4096 || l.Unit != send.UTF16 || l.FileBytes != 50<<20 {
		t.Errorf("%s %+v", p.Name(), l)
	}
}
