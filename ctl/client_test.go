package ctl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestHundredCallsAtTheSameTimeEachGetTheirOwnAnswer(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	const calls = 100
	var inside sync.WaitGroup
	inside.Add(calls)
	s := serve(t, testEnv(dir), handlerFunc(func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		inside.Done()
		inside.Wait() // nobody is answered before all have come
		return params, nil
	}))
	c := client(t, testEnv(dir), "")
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			want := map[string]string{"n": strings.Repeat(fmt.Sprint(i, " "), 1+i*100)}
			var got map[string]string
			if err := c.Call(t.Context(), "echo", want, &got); err != nil || got["n"] != want["n"] {
				t.Errorf("call %d: %d bytes, %v", i, len(got["n"]), err)
			}
		})
	}
	all.Wait()
	if got := s.Stats(); got.Accepted != calls || got.Calls != 2*calls { // each connection greets once
		t.Errorf("stats = %+v", got)
	}
	for range 20 { // those that were kept are used again
		if err := c.Call(t.Context(), MethodHello, nil, nil); err != nil {
			t.Error(err)
		}
	}
	if got := s.Stats().Accepted; got != calls {
		t.Errorf("accepted = %d, want no new connection", got)
	}
}

func TestCallThatIsGivenUpEndsAloneAndTheClientGoesOn(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	started, ended := make(chan struct{}, 3), make(chan error, 3)
	release := make(chan struct{})
	serve(t, testEnv(dir), handlerFunc(func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
		started <- struct{}{}
		select {
		case <-ctx.Done():
			ended <- context.Cause(ctx)
			return nil, ctx.Err()
		case <-release:
			return method, nil
		}
	}))
	c := client(t, testEnv(dir), "")
	var other sync.WaitGroup
	other.Go(func() {
		var got string
		if err := c.Call(t.Context(), "other", nil, &got); err != nil || got != "other" {
			t.Errorf("other call: %q, %v", got, err)
		}
	})
	<-started
	why := errors.New("the user pressed Ctrl+c")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(why) }()
	if err := c.Call(ctx, MethodWait, nil, nil); !errors.Is(err, why) {
		t.Errorf("call = %v, want its cause", err)
	}
	if err := <-ended; !errors.Is(err, errGone) {
		t.Errorf("the window's context ended with %v", err)
	}
	close(release)
	other.Wait()
	var again string
	if err := c.Call(t.Context(), "again", nil, &again); err != nil || again != "again" {
		t.Errorf("call after one that was given up: %q, %v", again, err)
	}
	if slices.ContainsFunc(c.idle, func(l *link) bool { return l.torn }) {
		t.Error("the connection of the call that was given up is kept for another")
	}
	if err := c.Call(ctx, "again", nil, nil); !errors.Is(err, why) {
		t.Errorf("call with an ended context = %v", err)
	}
}

func TestWindowThatClosesWithoutAnAnswerLeavesTheCallUnknown(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	for _, c := range []struct {
		name, answer string
		want         error
	}{
		{"no answer", "", ErrUnanswered},
		{"torn answer", `{"id":2,"resu`, ErrUnanswered},
		{"no JSON", "well\n", ErrProtocol},
		{"another id", `{"id":9,"result":{}}` + "\n", ErrProtocol},
		{"no id", `{"id":null,"result":{}}` + "\n", ErrProtocol},
		{"neither result nor error", `{"id":2}` + "\n", ErrProtocol},
		{"both", `{"id":2,"result":{},"error":{"code":"failed","message":"m"}}` + "\n", ErrProtocol},
		{"too long", strings.Repeat("x", MaxAnswer+1), ErrProtocol},
		{"an error without id", `{"id":null,"error":{"code":"too_large","message":"m"}}` + "\n", &Error{Code: TooLarge}},
		{"an error", `{"id":2,"error":{"code":"no_such_pane","message":"there is no pane 7"},"more":1}` + "\n", &Error{Code: NoSuchPane}},
		{"a code of the future", `{"id":2,"error":{"code":"odd","message":"m"}}` + "\n", &Error{Code: "odd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, "x.sock")
			fake(t, path, HelloResult{Protocol: Protocol, PID: 1}, c.answer)
			cl := client(t, testEnv(dir), path)
			if err := cl.Call(t.Context(), "x", nil, nil); !errors.Is(err, c.want) {
				t.Errorf("call = %v, want %v", err, c.want)
			}
		})
	}
}

// fake is a window that greets, reads one more request per connection, and
// answers with bytes of the test's.
func fake(t *testing.T, path string, hello HelloResult, answer string) {
	t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			if _, err := r.ReadBytes('\n'); err == nil {
				id := int64(1)
				_, _ = c.Write(answerFrame(&id, hello, nil))
			}
			if _, err := r.ReadBytes('\n'); err == nil {
				_, _ = io.WriteString(c, answer)
			}
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
}

func TestVersionsThatDifferAreBothNamed(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	for theirs, older := range map[int]string{0: "the window is older", Protocol + 1: "this command is older"} {
		path := filepath.Join(dir, fmt.Sprintf("v%d.sock", theirs))
		fake(t, path, HelloResult{Protocol: theirs, PID: 1, Version: "9.9"}, "")
		_, err := Dial(testEnv(dir), path)
		v, ok := errors.AsType[*VersionError](err)
		if !errors.Is(err, ErrVersion) || !ok || v.Theirs != theirs || !strings.Contains(err.Error(), older) || !strings.Contains(err.Error(), "9.9") {
			t.Errorf("dial a window of version %d: %v", theirs, err)
		}
	}
}

func TestWindowThatDoesNotAnswerIsNamed(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := listen(t, testEnv(dir)) // as one that was stopped: the kernel takes connections for it
	env := testEnv(dir)
	env.Patience = 20 * time.Millisecond
	_, err := Dial(env, "")
	if !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), s.Path()) {
		t.Errorf("dial = %v, want ErrSilent with the path", err)
	}
}

func TestAnotherWindowOnTheSameSocketIsNotTakenForTheFirst(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	path := filepath.Join(mkdir(t, 0o700, dir, "mine"), "work.sock")
	env := testEnv(dir, SocketVariable+"="+path)
	first := serve(t, env.withPID(4001), echo)
	c := client(t, env, "")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// The kept connection has ended: nothing reached the window.
	if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrNoWindow) || errors.Is(err, ErrUnanswered) {
		t.Errorf("call after the end = %v", err)
	}
	if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrNoWindow) || !strings.Contains(err.Error(), "4001") {
		t.Errorf("call without a window = %v", err)
	}
	called := make(chan string, 1)
	serve(t, env.withPID(4002), handlerFunc(func(_ context.Context, m string, _ json.RawMessage) (any, error) {
		called <- m
		return nil, nil
	}))
	if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrNoWindow) || len(called) > 0 {
		t.Errorf("call with another window there = %v", err)
	}
}

func TestRequestThatCannotBeSentIsNotSent(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	s := serve(t, testEnv(dir), handlerFunc(nil))
	c := client(t, testEnv(dir), "")
	before := s.Stats()
	for _, r := range []struct {
		params any
		code   Code
	}{
		{SplitParams{Direction: "sideways"}, InvalidParams},
		{SendParams{Text: "\xff"}, InvalidParams},
		{SendParams{Bytes: make([]byte, MaxRequest)}, TooLarge},
		{map[string]any{"f": func() {}}, InvalidParams},
	} {
		if err := c.Call(t.Context(), MethodSend, r.params, nil); !errors.Is(err, &Error{Code: r.code}) {
			t.Errorf("%T: %v, want %s", r.params, err, r.code)
		}
	}
	if got := s.Stats(); got != before {
		t.Errorf("stats went from %+v to %+v", before, got)
	}
}

func TestClosedClientCallsNobody(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	started := make(chan struct{})
	serve(t, testEnv(dir), handlerFunc(func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	c := client(t, testEnv(dir), "")
	var call sync.WaitGroup
	call.Go(func() {
		if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrUnanswered) {
			t.Errorf("call that ran = %v, want ErrUnanswered", err)
		}
	})
	<-started
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	call.Wait()
	if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("call = %v, want ErrClosed", err)
	}
}

func TestResultOfAnotherShapeIsAnError(t *testing.T) {
	checkLeaks(t)
	dir := shortDir(t)
	serve(t, testEnv(dir), echo)
	c := client(t, testEnv(dir), "")
	var n int
	if err := c.Call(t.Context(), "x", nil, &n); !errors.Is(err, ErrProtocol) {
		t.Errorf("call = %v, want ErrProtocol", err)
	}
}

func BenchmarkCall(b *testing.B) {
	dir := shortDir(b)
	serve(b, testEnv(dir), echo)
	c := client(b, testEnv(dir), "")
	for b.Loop() {
		if err := c.Call(b.Context(), MethodList, ListParams{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
