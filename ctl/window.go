package ctl

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A Handler answers calls. Call may run for many clients at the same time. It
// returns when ctx ends, which it does when the client has gone or the window
// closes; Server.Close waits for it. An error that is no *Error is answered as
// Failed.
type Handler interface {
	Call(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// A Window carries out what was asked. Its parameters have passed Validate.
// What Handler says of Call holds for each method.
type Window interface {
	List(context.Context, ListParams) (ListResult, error)
	Split(context.Context, SplitParams) (OpenResult, error)
	Tab(context.Context, TabParams) (OpenResult, error)
	Focus(context.Context, FocusParams) (FocusResult, error)
	Send(context.Context, SendParams) (SendResult, error)
	Capture(context.Context, CaptureParams) (CaptureResult, error)
	Ask(context.Context, AskParams) (AskResult, error)
	Wait(context.Context, WaitParams) (WaitResult, error)
}

// Methods is the Handler of a Window: it reads the parameters strictly and
// refuses a method that does not exist.
func Methods(w Window) Handler {
	return methods{
		MethodList:    typed(w.List),
		MethodSplit:   typed(w.Split),
		MethodTab:     typed(w.Tab),
		MethodFocus:   typed(w.Focus),
		MethodSend:    typed(w.Send),
		MethodCapture: typed(w.Capture),
		MethodWait:    typed(w.Wait),
		MethodAsk:     typed(w.Ask),
	}
}

type methods map[string]func(context.Context, json.RawMessage) (any, error)

// Call finds the method and calls it.
func (m methods) Call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	call, ok := m[method]
	if !ok {
		known := slices.Sorted(maps.Keys(m))
		return nil, Errorf(UnknownMethod, "there is no method %q; this window knows %s, %s",
			method, MethodHello, strings.Join(known, ", "))
	}
	return call(ctx, params)
}

func typed[P validator, R any](call func(context.Context, P) (R, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		p, err := Decode[P](params)
		if err != nil {
			return nil, err
		}
		r, err := call(ctx, p)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
}
