package slack

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

const (
	rightToken = "xoxb-4242-honestty-TokenOfTheTests"
	wrongToken = "xoxb-4242-honestty-TokenThatIsWrong"

	channel = "C0HONESTTY"
	thread  = "1700000000.000100"
	person  = "U0PERSON"
	dm      = "D0DIRECT"
)

// A fake is the Web API and its upload addresses.
type fake struct {
	*sendtest.HTTP

	mu     sync.Mutex
	next   int
	files  map[string]*file
	script map[string][]func(w http.ResponseWriter) bool // by method; false: go on
	calls  []string
}

// A file is an upload at one of its steps.
type file struct {
	name   string
	length int64
	size   int64 // -1: not uploaded
	sha    string
	shared bool
}

func newFake(t testing.TB) sendtest.Fake { return startFake(t) }

// startFake lacks two faults of the contract for files: before the last step
// they are no doubt here. The tests of this package play them step by step.
func startFake(t testing.TB) *fake {
	f := &fake{files: map[string]*file{}, script: map[string][]func(http.ResponseWriter) bool{}}
	f.HTTP = sendtest.NewHTTP(t, f.serve, sendtest.ServerError, sendtest.Silent, sendtest.OtherSize)
	return f
}

func (f *fake) Platform(base string) send.Platform { return with(base, rightToken) }
func (f *fake) Secret() string                     { return rightToken }
func (f *fake) Wrong(base string) (send.Platform, string) {
	return with(base, wrongToken), wrongToken
}

func with(base, token string) send.Platform {
	p, err := New(Config{Token: token, Server: base + "/api/"})
	if err != nil {
		panic(err)
	}
	return p
}

// on scripts the answer to the next call of a method that is not scripted yet.
func (f *fake) on(method string, answer func(w http.ResponseWriter) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script[method] = append(f.script[method], answer)
}

func (f *fake) methods() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, " ")
}

type object map[string]any

func write(w http.ResponseWriter, o object) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.NewEncoder(w).Encode(o)
}

func no(code string) object { return object{"ok": false, "error": code} }

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	if strings.HasPrefix(r.URL.Path, "/upload/") {
		method = "upload"
	}
	var form url.Values
	var up *received
	var err error
	if method == "upload" {
		up, err = f.receive(r)
	} else {
		form, err = f.form(r)
	}
	if err != nil {
		return // the client broke off
	}
	f.mu.Lock()
	f.calls = append(f.calls, method)
	var answer func(http.ResponseWriter) bool
	if s := f.script[method]; len(s) > 0 {
		answer, f.script[method] = s[0], s[1:]
	}
	f.mu.Unlock()
	if answer != nil && answer(w) {
		return
	}
	if method == "upload" {
		f.upload(w, r, up)
		return
	}
	if form.Get("token") != rightToken {
		write(w, no("invalid_auth"))
		return
	}
	act, ok := map[string]func(http.ResponseWriter, *http.Request, url.Values){
		"chat.postMessage": f.post, "conversations.open": f.open,
		"files.getUploadURLExternal": f.announce, "files.completeUploadExternal": f.complete,
	}[method]
	if !ok {
		f.Problem("method %s", method)
		write(w, no("unknown_method"))
		return
	}
	act(w, r, form)
}

func (f *fake) form(r *http.Request) (url.Values, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if ct := r.Header.Get("Content-Type"); ct != "application/x-www-form-urlencoded" {
		f.Problem("%s: content type %s", r.URL.Path, ct)
	}
	v, err := url.ParseQuery(string(body))
	if err != nil {
		f.Problem("%s: %v", r.URL.Path, err)
	}
	return v, nil
}

// place checks the channel and the thread.
func place(channelID, ts string) string {
	switch {
	case channelID != channel && channelID != dm && channelID != "#general":
		return "channel_not_found"
	case ts != "" && (ts != thread || channelID != channel):
		return "thread_not_found"
	}
	return ""
}

func (f *fake) post(w http.ResponseWriter, _ *http.Request, v url.Values) {
	text := v.Get("text")
	bare := strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(text)
	if strings.ContainsAny(bare, "&<>") || v.Get("mrkdwn") != "false" {
		f.Problem("text that Slack reads as markup: %q, mrkdwn %q", text, v.Get("mrkdwn"))
	}
	if code := place(v.Get("channel"), v.Get("thread_ts")); code != "" {
		write(w, no(code))
		return
	}
	text = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(text)
	switch {
	case strings.TrimSpace(text) == "":
		write(w, no("no_text"))
		return
	case utf8.RuneCountInString(v.Get("text")) > 40000:
		f.Problem("a text that Slack would cut")
	}
	f.Accept(sendtest.Arrival{Chat: v.Get("channel"), Thread: v.Get("thread_ts"), Text: text})
	if f.hollow(w) {
		return
	}
	id := v.Get("channel")
	if id == "#general" {
		id = "C0GENERAL"
	}
	write(w, object{"ok": true, "channel": id, "ts": "1700000001.000200", "message": object{"thread_ts": v.Get("thread_ts")}})
}

// hollow plays the answers that prove nothing.
func (f *fake) hollow(w http.ResponseWriter) bool {
	switch {
	case f.Take(sendtest.EmptyAnswer):
	case f.Take(sendtest.NoID):
		write(w, object{"ok": true})
	default:
		return false
	}
	return true
}

func (f *fake) open(w http.ResponseWriter, _ *http.Request, v url.Values) {
	if v.Get("users") != person {
		write(w, no("user_not_found"))
		return
	}
	write(w, object{"ok": true, "channel": object{"id": dm}})
}

func (f *fake) announce(w http.ResponseWriter, r *http.Request, v url.Values) {
	n, err := strconv.ParseInt(v.Get("length"), 10, 64)
	if err != nil || n <= 0 || v.Get("filename") == "" {
		write(w, no("missing_argument"))
		return
	}
	f.mu.Lock()
	f.next++
	id := fmt.Sprintf("F%04d", f.next)
	f.files[id] = &file{name: v.Get("filename"), length: n, size: -1}
	f.mu.Unlock()
	write(w, object{"ok": true, "upload_url": "http://" + r.Host + "/upload/v1/" + id, "file_id": id})
}

type received struct {
	size int64
	sha  string
}

// receive reads an upload to its end.
func (f *fake) receive(r *http.Request) (*received, error) {
	if r.Header.Get("Authorization") != "" {
		f.Problem("the token was given to an upload's address")
	}
	mediaType, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		f.Problem("upload as %s", mediaType)
	}
	mr := multipart.NewReader(r.Body, params["boundary"])
	p, err := mr.NextPart()
	if err != nil {
		return nil, err
	}
	up := &received{}
	if up.size, up.sha, err = sendtest.Hash(p); err != nil {
		return nil, err
	}
	if _, err := mr.NextPart(); err != io.EOF {
		return nil, fmt.Errorf("after the file: %w", err)
	}
	return up, nil
}

func (f *fake) upload(w http.ResponseWriter, r *http.Request, up *received) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, ok := f.files[strings.TrimPrefix(r.URL.Path, "/upload/v1/")]
	if !ok || x.size >= 0 || x.length != up.size {
		http.Error(w, "the upload is not the one that was announced", http.StatusBadRequest)
		return
	}
	x.size, x.sha = up.size, up.sha
	fmt.Fprintf(w, "OK - %d", up.size)
}

func (f *fake) complete(w http.ResponseWriter, _ *http.Request, v url.Values) {
	var list []struct{ ID, Title string }
	if json.Unmarshal([]byte(v.Get("files")), &list) != nil || len(list) != 1 {
		write(w, no("invalid_arguments"))
		return
	}
	if code := place(v.Get("channel_id"), v.Get("thread_ts")); code != "" {
		write(w, no(code))
		return
	}
	f.mu.Lock()
	x, ok := f.files[list[0].ID]
	ok = ok && x.size >= 0 && !x.shared
	if ok {
		x.shared = true
	}
	f.mu.Unlock()
	if !ok {
		write(w, no("file_not_found"))
		return
	}
	f.Accept(sendtest.Arrival{Chat: v.Get("channel_id"), Thread: v.Get("thread_ts"), Name: x.name, Size: x.size, SHA256: x.sha})
	if f.hollow(w) {
		return
	}
	write(w, object{"ok": true, "files": []object{{"id": list[0].ID, "title": list[0].Title}}})
}
