package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEachBadFrameGetsItsErrorAndTheNextIsAnswered(t *testing.T) {
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), Methods(&fakeWindow{}))
	c := connect(t, s.Path())
	for _, f := range []struct {
		frame string
		id    string
		code  Code
		says  string
	}{
		{"", "null", BadRequest, "empty"},
		{"   ", "null", BadRequest, "empty"},
		{"hello", "null", BadRequest, "no JSON"},
		{"[]", "null", BadRequest, "must be an object"},
		{"null", "null", BadRequest, "no id"},
		{`"x"`, "null", BadRequest, "must be an object"},
		{`{"id":1`, "null", BadRequest, "not complete"},
		{`{"id":1,"method":"list"}{}`, "1", BadRequest, "follows"},
		{`{"method":"list"}`, "null", BadRequest, "no id"},
		{`{"id":null,"method":"list"}`, "null", BadRequest, "no id"},
		{`{"id":"a","method":"list"}`, "null", BadRequest, `id is "a"`},
		{`{"id":1.5,"method":"list"}`, "null", BadRequest, "whole number"},
		{`{"id":[1],"method":7}`, "null", BadRequest, "method is a JSON number"},
		{`{"id":3}`, "3", BadRequest, "no method"},
		{`{"id":4,"method":7}`, "4", BadRequest, "method is a JSON number"},
		{`{"id":5,"method":"list","extra":1}`, "5", BadRequest, `unknown field "extra"`},
		{"{\"id\":6,\"method\":\"\xff\"}", "null", BadRequest, "not UTF-8"},
		{`{"id":7,"method":"send","params":{"text":"\ud83d"}}`, "null", BadRequest, "surrogate"},
		{strings.Repeat("[", 100_000), "null", BadRequest, "depth"},
		{`{"id":-8,"method":"splti"}`, "-8", UnknownMethod, `"splti"`},
		{`{"id":9,"method":"split","params":{"dirction":"right"}}`, "9", InvalidParams, `unknown field "dirction"`},
		{`{"id":10,"method":"split","params":[1]}`, "10", InvalidParams, "must be an object"},
		{`{"id":11,"method":"split","params":{"pane":"1","direction":"down"}}`, "11", InvalidParams, "pane is a JSON string"},
		{`{"id":12,"method":"split"}`, "12", InvalidParams, "direction"},
		{`{"id":13,"method":"wait","params":{"until":"exit","timeout_ms":99999999999999999999}}`, "13", InvalidParams, "timeout_ms"},
		{`{"id":14,"method":"list","params":null}`, "14", "", ""},
		{`{"id":15,"method":"list","params":{}}` + "\r", "15", "", ""},
		{`{"id":16,"method":"send","params":{"text":"\ud83d\ude00 \\ud83d"}}`, "16", "", ""},
	} {
		c.say(f.frame + "\n")
		a := c.answer()
		id, _ := json.Marshal(a.ID)
		if string(id) != f.id {
			t.Errorf("%.60q: id = %s, want %s", f.frame, id, f.id)
		}
		switch {
		case f.code == "" && a.Error != nil:
			t.Errorf("%.60q: %v", f.frame, a.Error)
		case f.code != "" && (a.Error == nil || a.Error.Code != f.code || !strings.Contains(a.Error.Message, f.says)):
			t.Errorf("%.60q: %v, want %s with %q", f.frame, a.Error, f.code, f.says)
		}
	}
	if got := s.Stats(); got.Malformed != 19 || got.Calls != 28 {
		t.Errorf("stats = %+v, want 19 malformed of 28", got)
	}
}

func TestFrameOfTheLimitPassesAndOneByteMoreEndsTheConnection(t *testing.T) {
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(_ context.Context, _ string, p json.RawMessage) (any, error) {
		return len(p), nil
	}))
	frame := func(size int) string {
		head, tail := `{"id":1,"method":"x","params":"`, `"}`
		return head + strings.Repeat("p", size-len(head)-len(tail)) + tail + "\n"
	}
	c := connect(t, s.Path())
	c.say(frame(MaxRequest))
	if a := c.answer(); a.Error != nil {
		t.Errorf("a frame of the limit: %v", a.Error)
	}
	c.say(frame(MaxRequest + 1))
	if got := c.code(); got != TooLarge {
		t.Errorf("a frame beyond the limit: %q", got)
	}
	c.ends()
}

func TestEndlessFrameIsCutOffAtTheLimit(t *testing.T) {
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), echo)
	c := connect(t, s.Path())
	chunk := []byte(strings.Repeat("x", 1<<20))
	wrote := 0
	for range 1024 { // one gigabyte
		n, err := c.Write(chunk)
		wrote += n
		if err != nil {
			break
		}
	}
	if wrote > 16<<20 {
		t.Errorf("the server took %d bytes of one frame", wrote)
	}
	if got := c.code(); got != TooLarge {
		t.Errorf("code = %q", got)
	}
	if got := s.Stats(); got.Malformed != 1 {
		t.Errorf("stats = %+v", got)
	}
}

func TestTornLastFrameIsNotCarriedOut(t *testing.T) {
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), handlerFunc(nil))
	c := connect(t, s.Path())
	c.say(`{"id":1,"method":"list"}`)
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := c.code(); got != BadRequest {
		t.Errorf("code = %q", got)
	}
	c.ends()
}

func TestAnswerBeyondTheLimitIsAnErrorAndTheConnectionGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("writes two answers of 16 MiB")
	}
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		size := MaxAnswer - len(`{"id":1,"result":""}`)
		if method == "more" {
			size++
		}
		return strings.Repeat("<", size), nil // one byte each: nothing here is HTML
	}))
	c := connect(t, s.Path())
	c.say(`{"id":1,"method":"limit"}` + "\n" + `{"id":2,"method":"more"}` + "\n" + `{"id":3,"method":"hello"}` + "\n")
	if a := c.answer(); a.Error != nil || len(a.Result) != MaxAnswer-len(`{"id":1,"result":}`) {
		t.Errorf("answer of the limit: %d bytes, %v", len(a.Result), a.Error)
	}
	if got := c.code(); got != TooLarge {
		t.Errorf("answer beyond the limit: %q", got)
	}
	if a := c.answer(); a.Error != nil {
		t.Errorf("the next: %v", a.Error)
	}
}

func TestCallsOfOneConnectionKeepTheirOrder(t *testing.T) {
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), echo)
	c := connect(t, s.Path())
	var all strings.Builder
	for i := range 500 {
		fmt.Fprintf(&all, `{"id":%d,"method":"m%d"}`+"\n", i, i)
	}
	c.say(all.String())
	for i := range 500 {
		if a := c.answer(); a.ID == nil || *a.ID != int64(i) || !strings.Contains(string(a.Result), fmt.Sprintf(`"m%d"`, i)) {
			t.Fatalf("answer %d is %s", i, a.Result)
		}
	}
}

func TestHandlersErrorsArriveAsTheyAre(t *testing.T) {
	checkLeaks(t)
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		switch method {
		case "typed":
			return nil, fmt.Errorf("look: %w", Errorf(NoSuchPane, "there is no pane 9"))
		case "plain":
			return nil, os.ErrPermission
		case "long":
			return nil, errors.New(strings.Repeat("é", MaxRequest))
		case "panic":
			panic("a fault")
		case "unwritable":
			return func() {}, nil
		}
		return nil, nil
	}))
	c := connect(t, s.Path())
	for _, want := range []struct {
		method string
		code   Code
		says   string
	}{
		{"typed", NoSuchPane, "there is no pane 9"},
		{"plain", Failed, "permission denied"},
		{"long", Failed, "é…"},
		{"panic", Internal, "a fault"},
		{"unwritable", Internal, "write answer"},
	} {
		c.say(fmt.Sprintf(`{"id":1,"method":%q}`+"\n", want.method))
		a := c.answer()
		if a.Error == nil || a.Error.Code != want.code || !strings.Contains(a.Error.Message, want.says) {
			t.Errorf("%s: %.100v, want %s with %q", want.method, a.Error, want.code, want.says)
		}
	}
	c.say(`{"id":1,"method":"nothing"}` + "\n")
	if a := c.answer(); a.Error != nil || string(a.Result) != "null" {
		t.Errorf("nothing: %s, %v", a.Result, a.Error)
	}
	if got := s.Stats().Panics; got != 1 {
		t.Errorf("panics = %d", got)
	}
}

func TestClientThatStallsIsDroppedAndHoldsUpNobody(t *testing.T) {
	checkLeaks(t)
	big := handlerFunc(func(context.Context, string, json.RawMessage) (any, error) { return strings.Repeat("x", 8<<20), nil })
	for _, c := range []struct {
		name string
		set  func(*limits)
		say  string
	}{
		{"says nothing", func(l *limits) { l.hello = 20 * time.Millisecond }, ""},
		{"ends no frame", func(l *limits) { l.hello, l.frame = 0, 20*time.Millisecond }, `{"id":1,`},
		{"reads nothing", func(l *limits) { l.write = 20 * time.Millisecond }, `{"id":1,"method":"big"}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := shortDir(t)
			s := serve(t, testEnv(dir), big, func(s *Server) { c.set(&s.limits) })
			stuck := connect(t, s.Path())
			if c.say != "" {
				stuck.say(c.say)
			}
			other := client(t, testEnv(dir), "")
			if err := other.Call(t.Context(), MethodHello, nil, nil); err != nil {
				t.Errorf("another client: %v", err)
			}
			eventually(t, "the client was dropped", func() bool { return s.Stats().Slow == 1 })
			if rest, err := io.ReadAll(stuck.r); strings.HasSuffix(string(rest), "\n") {
				t.Errorf("the dropped client got a whole answer (%v)", err)
			}
		})
	}
}

func TestCloseDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	checkLeaks(t)
	started := make(chan struct{})
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(context.Context, string, json.RawMessage) (any, error) {
		close(started)
		return strings.Repeat("x", 8<<20), nil
	}), func(s *Server) { s.limits.write, s.limits.grace = time.Hour, 20*time.Millisecond })
	connect(t, s.Path()).say(`{"id":1,"method":"big"}` + "\n")
	<-started
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseReturnsAfterTheLastCall(t *testing.T) {
	checkLeaks(t)
	started := make(chan struct{})
	var returned atomic.Bool
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		close(started)
		<-ctx.Done()
		<-time.After(20 * time.Millisecond) // a Close that does not join is back long before
		returned.Store(true)
		return nil, ctx.Err()
	}))
	connect(t, s.Path()).say(`{"id":1,"method":"wait"}` + "\n")
	<-started
	if err := s.Close(); err != nil || !returned.Load() {
		t.Errorf("close = %v while a call runs", err)
	}
}

func TestCloseAnswersTheCallsThatRun(t *testing.T) {
	checkLeaks(t)
	started := make(chan struct{})
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	c := connect(t, s.Path())
	idle := connect(t, s.Path())
	idle.say(`{"id":1,"method":"hello"}` + "\n")
	idle.answer() // so it is a client by now
	c.say(`{"id":1,"method":"wait"}` + "\n")
	<-started
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := c.code(); got != Closing {
		t.Errorf("code = %q, want closing", got)
	}
	c.ends()
	idle.ends()
	absent(t, s.Path())
	if err := s.Close(); err != nil {
		t.Errorf("close twice: %v", err)
	}
	if err := s.Serve(echo); !errors.Is(err, ErrClosed) {
		t.Errorf("serve after close = %v", err)
	}
}

func TestClientThatLeavesEndsTheContextOfItsCall(t *testing.T) {
	checkLeaks(t)
	for _, c := range []struct {
		name  string
		leave func(r *raw)
		after string // sent after the request
	}{
		{"closes", func(r *raw) { _ = r.Close() }, ""},
		{"closes with another request sent", func(r *raw) { _ = r.Close() }, `{"id":2,"method":"wait"}` + "\n"},
		{"closes its sending side, then all", func(r *raw) { _ = r.CloseWrite(); _ = r.Close() }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan error, 1)
			s := serve(t, testEnv(shortDir(t)), handlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
				close(started)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return nil, ctx.Err()
			}), func(s *Server) { s.limits.watch = time.Millisecond })
			r := connect(t, s.Path())
			r.say(`{"id":1,"method":"wait"}` + "\n" + c.after)
			<-started
			c.leave(r)
			if err := <-ended; !errors.Is(err, errGone) {
				t.Errorf("cause = %v, want errGone", err)
			}
			eventually(t, "it was counted", func() bool { return s.Stats().Gone == 1 })
		})
	}
}

func TestClientThatOnlyClosedItsSendingSideGetsItsAnswer(t *testing.T) {
	checkLeaks(t)
	looked := make(chan struct{}, 1)
	s := serve(t, testEnv(shortDir(t)), handlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		for range 5 {
			select {
			case <-looked:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return "still here", nil
	}), func(s *Server) {
		s.limits.watch = time.Millisecond
		s.looked = func() {
			select {
			case looked <- struct{}{}:
			default: // the handler has seen enough
			}
		}
	})
	c := connect(t, s.Path())
	c.say(`{"id":1,"method":"list"}` + "\n")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if a := c.answer(); string(a.Result) != `"still here"` {
		t.Errorf("answer = %s, %v", a.Result, a.Error)
	}
	c.ends()
}

func TestShortageOfDescriptorsIsWaitedOut(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	var mu sync.Mutex
	shortages := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}
	s := serve(t, testEnv(dir), echo, func(s *Server) {
		s.limits.pause = 10 * time.Millisecond
		s.accept = func() (*net.UnixConn, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(shortages) == 0 {
				return s.ln.AcceptUnix()
			}
			err := &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", shortages[0])}
			shortages = shortages[1:]
			return nil, err
		}
	})
	if err := client(t, testEnv(dir), "").Call(t.Context(), "x", nil, nil); err != nil {
		t.Error(err)
	}
	if got := s.Stats().Pauses; got != 5 {
		t.Errorf("pauses = %d, want 5", got)
	}
}

func TestFailureToAcceptThatDoesNotPassIsReturned(t *testing.T) {
	checkLeaks(t)
	s := listen(t, testEnv(shortDir(t)))
	s.accept = func() (*net.UnixConn, error) { return nil, unix.EINVAL }
	if err := s.Serve(echo); !errors.Is(err, unix.EINVAL) {
		t.Errorf("serve = %v, want EINVAL", err)
	}
}

func TestPauseEndsWithClose(t *testing.T) {
	checkLeaks(t)
	failed := make(chan struct{}, 1)
	s := serve(t, testEnv(shortDir(t)), echo, func(s *Server) {
		s.limits.pause = time.Hour
		s.accept = func() (*net.UnixConn, error) {
			select {
			case failed <- struct{}{}:
			default:
			}
			return nil, unix.EMFILE
		}
	})
	<-failed
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestClientBeyondTheLimitIsToldAndCounted(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := serve(t, testEnv(dir), echo, func(s *Server) { s.limits.conns, s.limits.place = 2, time.Millisecond })
	one, two := connect(t, s.Path()), connect(t, s.Path())
	for _, c := range []*raw{one, two} {
		c.say(`{"id":1,"method":"x"}` + "\n")
		c.answer()
	}
	if _, err := Dial(testEnv(dir), ""); !errors.Is(err, &Error{Code: Busy}) {
		t.Errorf("dial = %v, want busy", err)
	}
	if got := s.Stats(); got.Full != 1 || got.Accepted != 2 {
		t.Errorf("stats = %+v", got)
	}
	_ = one.Close()
	eventually(t, "a place is free", func() bool {
		c, err := Dial(testEnv(dir), "")
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

func TestManyClientsComeAndGo(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := serve(t, testEnv(dir), echo)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				c, err := net.Dial("unix", s.Path())
				if err != nil {
					t.Error(err)
					return
				}
				switch (i + n) % 4 {
				case 1:
					_, _ = io.WriteString(c, `{"id":1,`)
				case 2:
					_, _ = io.WriteString(c, `{"id":1,"method":"x"}`+"\n")
				case 3:
					_, _ = io.WriteString(c, "\x00\xff\n\n")
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
	if err := client(t, testEnv(dir), "").Call(t.Context(), "x", nil, nil); err != nil {
		t.Error(err)
	}
}
