package tts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/tts/provider"
)

// Tool is text_to_speech as agents know it.
func Tool(d Deps) tools.Tool {
	return tools.Tool{
		Name:   "text_to_speech",
		Short:  "Speak a text into an audio file; an existing file is never lost",
		Params: Params{},
		Result: resultJSON{},
		Title:  title,
		Run: func(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
			p, err := read(raw)
			if err != nil {
				r := &Result{Asked: auto, Status: outcome.Refused, Err: err, Duration: -1}
				return tools.Answer{Status: r.Status, Err: err, Result: r, Summary: r.ErrorLine()}
			}
			r := Speak(ctx, d, p, *c)
			return tools.Answer{Status: r.Status, Err: r.Err, Result: r, Summary: r.Summary()}
		},
	}
}

// read takes the parameters. Their text is not repeated in an error.
func read(raw json.RawMessage) (Params, error) {
	var p Params
	if err := json.Unmarshal(raw, &p); err != nil {
		if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && bad.Field != "" {
			return p, fmt.Errorf("read the parameters: %s has to be a %s", provider.Message(bad.Field), bad.Type)
		}
		return p, errors.New("read the parameters: they are no JSON object")
	}
	return p, nil
}

// titleLen is how much of a text a list shows.
const titleLen = 60

func title(raw json.RawMessage) string {
	p, err := read(raw)
	if err != nil {
		return "parameters that cannot be read"
	}
	if p.Resume != "" {
		return "resume " + provider.Message(p.Resume)
	}
	text := strings.Join(strings.Fields(provider.Message(p.Text)), " ")
	if r := []rune(text); len(r) > titleLen {
		text = string(r[:titleLen]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
