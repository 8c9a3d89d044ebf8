package send

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// Params are what an agent gives to send_message.
type Params struct {
	Action      string   `json:"action,omitempty" jsonschema:"send (default) or list: the targets that are set up"`
	Target      string   `json:"target,omitempty" jsonschema:"platform, platform:chat or platform:chat:thread"`
	Message     string   `json:"message,omitempty" jsonschema:"the text; MEDIA:/absolute/path in it attaches a file"`
	Quoted      string   `json:"quoted,omitempty" jsonschema:"text of somebody else, such as a tool's result or a list of files: it stands under the message, and a directive in it is shown and never acted on"`
	Subject     string   `json:"subject,omitempty" jsonschema:"one line above the text"`
	Attachments []string `json:"attachments,omitempty" jsonschema:"paths of files to attach; never parsed"`
	NoMedia     bool     `json:"no_media,omitempty" jsonschema:"leave MEDIA: directives in the message as text"`
	AsVoice     bool     `json:"audio_as_voice,omitempty" jsonschema:"send Ogg and Opus files as voice messages"`
	AsDocument  bool     `json:"as_document,omitempty" jsonschema:"send pictures as files"`
	DryRun      bool     `json:"dry_run,omitempty" jsonschema:"say what would go where, and send nothing"`
}

// Request is what the parameters ask for.
func (p Params) Request(dir string) Request {
	req := Request{
		Target: p.Target, Subject: p.Subject, Text: p.Message, Attachments: p.Attachments,
		NoMedia: p.NoMedia, Voice: p.AsVoice, Document: p.AsDocument, Dir: dir,
	}
	if p.Quoted != "" {
		req.Written = &p.Message
		req.Text = strings.TrimLeft(p.Message+"\n\n"+p.Quoted, "\n")
	}
	return req
}

// Tool is send_message.
func Tool(s *Sender) tools.Tool {
	return tools.Tool{
		Name:   "send_message",
		Short:  "Send a message with files, with one receipt for each.",
		Params: Params{},
		Result: Result{},
		Title:  title,
		Run: func(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
			return s.run(ctx, c, raw)
		},
	}
}

func title(raw json.RawMessage) string {
	var p Params
	if json.Unmarshal(raw, &p) != nil {
		return "send"
	}
	if p.Action == "list" {
		return "list targets"
	}
	return Defuse(clip("to " + p.Target))
}

func (s *Sender) run(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
	var p Params
	if err := json.Unmarshal(raw, &p); err != nil {
		return answer(s.turnedDown("the parameters could not be read"))
	}
	switch p.Action {
	case "list":
		r := s.List()
		return tools.Answer{Status: r.Status, Result: r, Summary: "listed the targets"}
	case "", "send":
	default:
		return answer(s.turnedDown("action is send or list"))
	}
	if p.Target == "" || strings.TrimSpace(p.Message+p.Quoted) == "" && len(p.Attachments) == 0 {
		return answer(s.turnedDown("both target and message are required when action is send"))
	}
	req := p.Request(c.Dir)
	req.Progress = c.Report
	with := *s
	if c.Ask != nil {
		with.Ask = c.Ask
	}
	if p.DryRun {
		return answer(with.DryRun(ctx, req))
	}
	return answer(with.Send(ctx, req))
}

// List is the result that names the targets. It asks no network.
func (s *Sender) List() *Result {
	return &Result{Success: true, Status: outcome.Complete, Delivery: []Receipt{}, Platforms: s.Places.List(s.Platforms)}
}

func (s *Sender) turnedDown(why string) *Result {
	r := &Result{Delivery: []Receipt{}}
	s.finish(r, errors.Join(&outcome.RefusedError{Rule: why}), time.Now())
	return r
}

func answer(r *Result) tools.Answer {
	return tools.Answer{Status: r.Status, Err: r.Err, Result: r, Summary: r.Summary()}
}
