package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const (
	rightToken = "424242:AAHonest-y_TokenOfTheTests"
	wrongToken = "424242:AAHonest-y_TokenThatIsWrong"

	group     = "-1001234" // a supergroup with topic 7
	oldGroup  = "-77"      // became newGroup
	newGroup  = "-100777"
	kicked    = "-1005555" // the bot was thrown out
	fullLimit = 50 << 20
)

// A fake is the Bot API's server with its rules for what it takes.
type fake struct {
	*sendtest.HTTP
	upload int64 // bytes of one file
	hasty  bool  // answers at the last byte of a form, before the end of the request

	mu     sync.Mutex
	id     int
	script []func(w http.ResponseWriter, c *call) bool // answers of the next calls; false: go on
	calls  []string                                    // methods, in order
}

func newFake(t testing.TB) sendtest.Fake { return startFake(t) }

func startFake(t testing.TB) *fake {
	f := &fake{id: 100, upload: fullLimit}
	f.HTTP = sendtest.NewHTTP(t, f.serve)
	return f
}

func (f *fake) Platform(base string) send.Platform { return f.with(base, rightToken) }
func (f *fake) Secret() string                     { return rightToken }
func (f *fake) Wrong(base string) (send.Platform, string) {
	return f.with(base, wrongToken), wrongToken
}

func (f *fake) with(base, token string) send.Platform {
	p, err := New(Config{Token: token, Server: base})
	if err != nil {
		panic(err)
	}
	return p
}

// next scripts the answer to the next call that is not scripted yet.
func (f *fake) next(answer func(w http.ResponseWriter, c *call) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = append(f.script, answer)
}

// methods lists what was called so far.
func (f *fake) methods() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, " ")
}

// A call is one request, read to its end.
type call struct {
	method string
	fields map[string]string
	files  map[string]upload
}

type upload struct {
	name   string
	size   int64
	sha    string
	config image.Config
	image  bool
}

// A refusal is what the Bot API says instead of a result.
type refusal struct {
	code    int
	text    string
	migrate string
}

func (r refusal) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.code)
	params := ""
	if r.migrate != "" {
		params = `,"parameters":{"migrate_to_chat_id":` + r.migrate + `}`
	}
	text, _ := json.Marshal(r.text)
	fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%s%s}`, r.code, text, params)
}

func bad(text string) *refusal { return &refusal{code: 400, text: "Bad Request: " + text} }

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	if !ok || !strings.HasPrefix(r.URL.Path, "/bot") || r.Method != http.MethodPost {
		f.Problem("%s %s", r.Method, r.URL.Path)
		refusal{code: 404, text: "Not Found"}.write(w)
		return
	}
	if token != rightToken {
		io.Copy(io.Discard, r.Body)
		refusal{code: 401, text: "Unauthorized"}.write(w)
		return
	}
	c, no := f.read(r, method)
	if no != nil {
		no.write(w)
		return
	}
	if c == nil {
		return // the client broke off
	}
	f.mu.Lock()
	f.calls = append(f.calls, method)
	var answer func(http.ResponseWriter, *call) bool
	if len(f.script) > 0 {
		answer, f.script = f.script[0], f.script[1:]
	}
	f.mu.Unlock()
	if answer != nil && answer(w, c) {
		return
	}
	f.act(w, c)
}

// read reads the whole form. A nil call without a refusal is a client that
// broke off.
func (f *fake) read(r *http.Request, method string) (*call, *refusal) {
	mr, err := r.MultipartReader()
	if err != nil {
		f.Problem("%s: %v", method, err)
		return nil, bad("can't parse multipart")
	}
	c := &call{method: method, fields: map[string]string{}, files: map[string]upload{}}
	for {
		p, err := mr.NextPart()
		if err == io.EOF {
			if !f.hasty {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					return nil, nil
				}
			}
			return c, nil
		}
		if err != nil {
			return nil, nil
		}
		if p.FileName() == "" {
			b, err := io.ReadAll(io.LimitReader(p, 1<<16))
			if err != nil {
				return nil, nil
			}
			c.fields[p.FormName()] = string(b)
			continue
		}
		up, err := receive(p)
		if err != nil {
			return nil, nil
		}
		if up.size > f.upload {
			io.Copy(io.Discard, r.Body)
			return nil, &refusal{code: 413, text: "Request Entity Too Large"}
		}
		c.files[p.FormName()] = up
	}
}

func receive(p *multipart.Part) (upload, error) {
	var head bytes.Buffer
	up := upload{name: p.FileName()}
	io.CopyN(&head, p, 1<<16) // a short file ends early
	config, _, err := image.DecodeConfig(bytes.NewReader(head.Bytes()))
	up.config, up.image = config, err == nil
	up.size, up.sha, err = sendtest.Hash(io.MultiReader(&head, p))
	return up, err
}

// fields that each method of ours may have.
var allowed = map[string]string{
	"sendMessage": "text", "sendDocument": "caption", "sendPhoto": "caption", "sendAudio": "caption",
	"sendVoice": "caption", "sendVideo": "caption supports_streaming", "sendMediaGroup": "media",
}

func (f *fake) act(w http.ResponseWriter, c *call) {
	names, known := allowed[c.method]
	if !known {
		f.Problem("method %s", c.method)
		refusal{code: 404, text: "Not Found: method not found"}.write(w)
		return
	}
	for name := range c.fields {
		if name != "chat_id" && name != "message_thread_id" && !strings.Contains(" "+names+" ", " "+name+" ") {
			f.Problem("%s: field %s", c.method, name)
		}
	}
	if no := place(c); no != nil {
		no.write(w)
		return
	}
	msgs, arrivals, no := f.take(c)
	if no != nil {
		no.write(w)
		return
	}
	f.Accept(arrivals...)
	f.answer(w, c.method, msgs)
}

// place checks the chat and the topic.
func place(c *call) *refusal {
	thread := c.fields["message_thread_id"]
	switch c.fields["chat_id"] {
	case group:
		if thread != "" && thread != "7" {
			return bad("message thread not found")
		}
		return nil
	case newGroup, "55", "@honestty_news":
		if thread != "" {
			return bad("message thread not found")
		}
		return nil
	case oldGroup:
		return &refusal{400, "Bad Request: group chat was upgraded to a supergroup chat", newGroup}
	case kicked:
		return &refusal{code: 403, text: "Forbidden: bot was kicked from the supergroup chat"}
	}
	return bad("chat not found")
}

type object map[string]any

// take applies the rules of the method.
func (f *fake) take(c *call) ([]object, []sendtest.Arrival, *refusal) {
	if c.method == "sendMessage" {
		text := strings.TrimSpace(c.fields["text"])
		switch {
		case !utf8.ValidString(text):
			return nil, nil, bad("strings must be encoded in UTF-8")
		case text == "":
			return nil, nil, bad("message text is empty")
		case len(utf16.Encode([]rune(c.fields["text"]))) > 4096:
			return nil, nil, bad("message is too long")
		}
		return []object{f.message(c, object{"text": text})}, []sendtest.Arrival{arrival(c, upload{}, text)}, nil
	}
	if c.method == "sendMediaGroup" {
		return f.album(c)
	}
	kind := strings.ToLower(strings.TrimPrefix(c.method, "send"))
	up, ok := c.files[kind]
	caption := c.fields["caption"]
	switch {
	case !ok || len(c.files) != 1:
		return nil, nil, bad("there is no " + kind + " in the request")
	case len(utf16.Encode([]rune(caption))) > 1024:
		return nil, nil, bad("message caption is too long")
	}
	file, no := f.file(kind, up)
	if no != nil {
		return nil, nil, no
	}
	return []object{f.message(c, file)}, []sendtest.Arrival{arrival(c, up, caption)}, nil
}

// file makes the file object of an upload, or refuses it.
func (f *fake) file(kind string, up upload) (object, *refusal) {
	if up.size == 0 {
		return nil, bad("file must be non-empty")
	}
	size := up.size
	if f.Take(sendtest.OtherSize) {
		size--
	}
	if kind != "photo" {
		return object{kind: object{"file_id": "F" + up.sha[:8], "file_unique_id": "u", "file_size": size, "file_name": up.name}}, nil
	}
	w, h := up.config.Width, up.config.Height
	switch {
	case size > 10<<20:
		return nil, bad("file is too big")
	case !up.image:
		return nil, bad("IMAGE_PROCESS_FAILED")
	case w+h > 10000, max(w, h) > 20*min(w, h):
		return nil, bad("PHOTO_INVALID_DIMENSIONS")
	}
	return object{"photo": []object{
		{"file_id": "S" + up.sha[:8], "file_unique_id": "s", "width": 90, "height": 90, "file_size": 900},
		{"file_id": "P" + up.sha[:8], "file_unique_id": "p", "width": w, "height": h, "file_size": 4000},
	}}, nil
}

func (f *fake) album(c *call) ([]object, []sendtest.Arrival, *refusal) {
	var media []struct{ Type, Media, Caption string }
	if json.Unmarshal([]byte(c.fields["media"]), &media) != nil {
		return nil, nil, bad("can't parse media JSON object")
	}
	if len(media) < 2 || len(media) > 10 || len(media) != len(c.files) {
		return nil, nil, bad("wrong number of media in an album")
	}
	var msgs []object
	var got []sendtest.Arrival
	for _, m := range media {
		up, ok := c.files[strings.TrimPrefix(m.Media, "attach://")]
		if !ok || m.Type != "photo" && m.Type != "video" {
			return nil, nil, bad("wrong file in an album")
		}
		file, no := f.file(m.Type, up)
		if no != nil {
			return nil, nil, no
		}
		msgs = append(msgs, f.message(c, file))
		got = append(got, arrival(c, up, ""))
	}
	return msgs, got, nil
}

func arrival(c *call, up upload, text string) sendtest.Arrival {
	return sendtest.Arrival{
		Chat: c.fields["chat_id"], Thread: c.fields["message_thread_id"],
		Text: text, Name: up.name, Size: up.size, SHA256: up.sha,
	}
}

func (f *fake) message(c *call, content object) object {
	f.mu.Lock()
	f.id++
	m := object{"message_id": f.id, "date": 1700000000}
	f.mu.Unlock()
	chat, err := strconv.ParseInt(c.fields["chat_id"], 10, 64)
	if err != nil {
		chat = -100999 // what @honestty_news is
	}
	m["chat"] = object{"id": chat, "type": "supergroup"}
	if n, err := strconv.Atoi(c.fields["message_thread_id"]); err == nil {
		m["message_thread_id"] = n
	}
	for k, v := range content {
		m[k] = v
	}
	return m
}

func (f *fake) answer(w http.ResponseWriter, method string, msgs []object) {
	if f.Take(sendtest.EmptyAnswer) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if f.Take(sendtest.NoID) {
		io.WriteString(w, `{"ok":true,"result":{}}`)
		return
	}
	var result any = msgs
	if method != "sendMediaGroup" {
		result = msgs[0]
	}
	json.NewEncoder(w).Encode(object{"ok": true, "result": result})
}
