package panels

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tui/screen"
)

// facts are the parts of a result that say how its output was had. A result
// that does not have them, or has something else in their place, leaves them
// empty.
type facts struct {
	Output        *string       `json:"output"`
	Content       *string       `json:"content"` // of a file that was read
	Stderr        *string       `json:"stderr"`
	ExitCode      *int64        `json:"exit_code"`
	Meaning       *string       `json:"exit_code_meaning"`
	Signal        *string       `json:"signal"`
	PID           *int64        `json:"pid"`
	Capture       *captureFacts `json:"capture"`
	StderrCapture *captureFacts `json:"stderr_capture"`
	Omitted       *struct {
		Bytes int64 `json:"bytes"`
	} `json:"omitted"`
	Full    *string `json:"full_output_path"`
	Partial *struct {
		Path    string `json:"path"`
		NotKept int64  `json:"not_kept"`
	} `json:"partial_output"`
	Redactions int64    `json:"redactions"`
	Waiting    string   `json:"waiting"`
	Notes      []string `json:"notes"`
}

// captureFacts are an outcome.Capture as a result has it.
type captureFacts struct {
	State          string            `json:"state"`
	Read           *int64            `json:"bytes_read"`
	Shown          *int64            `json:"bytes_shown"`
	Lost           *int64            `json:"bytes_lost"`
	End            string            `json:"end"`
	Cause          *string           `json:"cause"`
	Spill          *string           `json:"spill"`
	Holders        []outcome.Process `json:"holders"`
	HoldersUnknown *string           `json:"holders_unknown"`
}

// factsOf reads what it can of a result.
func factsOf(e *journal.End) facts {
	var f facts
	if e != nil {
		// A part of another kind is an error of that part alone: what else was
		// read stays, and the whole stands under the result.
		_ = json.Unmarshal(e.Result, &f)
	}
	return f
}

// output is the text that a result carries; ok is false when it has none.
func (f facts) output() (text string, ok bool) {
	switch {
	case f.Output != nil && f.Stderr != nil && *f.Stderr != "":
		return *f.Output + "\n[stderr]\n" + *f.Stderr, true
	case f.Output != nil:
		return *f.Output, true
	case f.Content != nil:
		return *f.Content, true
	}
	return "", false
}

// cut reports a result that does not carry all of the output.
func (f facts) cut() bool {
	return f.Omitted != nil && f.Omitted.Bytes > 0 || f.Partial != nil && f.Partial.Path != ""
}

// wentOn reports a result without the bytes that were read: they were handed on
// while they came.
func (f facts) wentOn() bool {
	carried := f.Output != nil && *f.Output != "" || f.Stderr != nil && *f.Stderr != ""
	return !carried && f.Capture != nil && f.Capture.Read != nil && *f.Capture.Read > 0
}

// file is where the output is kept; "" when the result names none.
func (f facts) file() string {
	switch {
	case f.Full != nil && *f.Full != "":
		return *f.Full
	case f.Partial != nil && f.Partial.Path != "":
		return f.Partial.Path
	case f.Capture != nil && f.Capture.Spill != nil:
		return *f.Capture.Spill
	}
	return ""
}

// fieldName is how wide the names of fields are, so that values begin in one
// column.
const fieldName = 11

func field(name, value string) textLine { return roleField(rolePlain, name, value) }

func roleField(role textRole, name, value string) textLine {
	if name == "" {
		return textLine{text: displayLine(value), role: role}
	}
	name = displayLine(name)
	name += strings.Repeat(" ", max(fieldName-screen.Width(name), 1))
	return textLine{text: name + displayLine(value), name: uint8(min(len(name), 255)), role: role}
}

// endWords say what each end of a stream proves.
var endWords = map[string]string{
	"eof":     "every writer closed it: nothing more was there",
	"hangup":  "the terminal hung up after its last byte: nothing more was there",
	"stopped": "reading was stopped before any end was seen",
	"broken":  "reading failed before any end was seen",
}

// evidence is what shows how the call ended, or that nothing does.
func (d *callDetail) evidence() []textLine {
	r := d.record
	var out []textLine
	add := func(role textRole, name, value string) { out = append(out, roleField(role, name, value)) }
	state := r.State()
	role := rolePlain
	if state.Bad() {
		role = roleCaution
	}
	word := state.String()
	if r.Contradicted() {
		role, word = roleFailure, word+", as it claims"
	}
	add(role, "state", word)
	if r.End == nil {
		if state != journal.Running {
			add(roleCaution, "end", "none was recorded")
		}
		return out
	}
	if capture := r.End.Capture; capture != nil {
		add(roleOfCapture(*capture), "output", capture.String())
	} else {
		add(roleDim, "output", "nothing was told of an output")
	}
	out = append(out, d.facts.exit()...)
	out = append(out, d.facts.Capture.lines()...)
	if c := d.facts.StderrCapture; c != nil {
		out = append(out, textLine{text: "stderr", role: roleDim})
		out = append(out, c.lines()...)
	}
	for _, ck := range r.End.Checks {
		out = append(out, checkLines(ck)...)
	}
	if n := max(int64(d.start.Redacted+r.End.Redacted), d.facts.Redactions); n > 0 {
		add(rolePlain, "masked", countOf(n, "secret"))
	}
	for _, note := range d.facts.Notes {
		add(rolePlain, "note", note)
	}
	return out
}

func roleOfCapture(s outcome.State) textRole {
	switch s {
	case outcome.StateComplete:
		return roleOK
	case outcome.StateLost:
		return roleFailure
	}
	return roleCaution
}

// exit is how the process ended.
func (f facts) exit() []textLine {
	var out []textLine
	if f.ExitCode != nil {
		text := "exit " + outcome.Count(*f.ExitCode)
		if f.Meaning != nil && *f.Meaning != "" {
			text += ": " + *f.Meaning
		}
		out = append(out, field("ended", text))
	}
	if f.Signal != nil && *f.Signal != "" {
		out = append(out, field("ended", "by "+*f.Signal))
	}
	if f.PID != nil {
		out = append(out, field("pid", pidText(int(*f.PID))))
	}
	return out
}

// lines are what is known of one stream.
func (c *captureFacts) lines() []textLine {
	if c == nil {
		return nil
	}
	var out []textLine
	add := func(role textRole, name, value string) { out = append(out, roleField(role, name, value)) }
	if c.Read != nil {
		add(rolePlain, "read", outcome.CountBytes(*c.Read))
	}
	if c.Shown != nil && c.Read != nil && *c.Shown != *c.Read {
		add(rolePlain, "carried", outcome.CountBytes(*c.Shown)+" of these")
	}
	switch {
	case c.Lost == nil || *c.Lost == 0:
	case *c.Lost < 0:
		add(roleFailure, "lost", "some, nobody counted them")
	default:
		add(roleFailure, "lost", outcome.CountBytes(*c.Lost))
	}
	if words := endWords[c.End]; c.End == "eof" || c.End == "hangup" {
		add(roleOK, "drain end", c.End+": "+words)
	} else if words != "" {
		add(roleCaution, "drain end", c.End+": "+words)
	} else {
		add(roleCaution, "drain end", "nothing shows that it was read to its end")
	}
	if c.Cause != nil {
		add(roleCaution, "errno", *c.Cause)
	}
	for _, h := range c.Holders {
		add(roleCaution, "held by", h.String())
	}
	if c.HoldersUnknown != nil {
		add(roleCaution, "held by", "? "+*c.HoldersUnknown)
	}
	if c.Spill != nil {
		add(rolePlain, "kept in", *c.Spill)
	}
	return out
}

// checkLines set what was claimed and what was seen below one another.
func checkLines(ck journal.Check) []textLine {
	role, verdict := roleCaution, "? "+ck.Name+": nobody can tell"
	switch ck.Verdict {
	case outcome.Complete:
		role, verdict = roleOK, "agrees: "+ck.Name
	case outcome.Failed:
		role, verdict = roleFailure, "contradicted: "+ck.Name
	}
	or := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return []textLine{
		{text: displayLine(verdict), role: role},
		roleField(rolePlain, "  claimed", or(ck.Claimed)),
		roleField(rolePlain, "  seen", or(ck.Seen)),
	}
}

// kindWords say where a call was seen.
var kindWords = map[string]string{
	"cli": "honestty's command line", "window": "this window", "mcp": "asked through MCP",
	"hook": "told by the agent's hook", "transcript": "read in the agent's transcript",
}

// exactTime is the time on demand.
const exactTime = "2006-01-02 15:04:05.000 -07:00"

// source is who made the call, where, and exactly when.
func (d *callDetail) source() []textLine {
	r, s := d.record, d.start.Source
	out := []textLine{}
	add := func(name, value string) {
		if value != "" {
			out = append(out, field(name, value))
		}
	}
	seen := kindWords[s.Kind]
	if seen == "" {
		seen = s.Kind
	}
	add("agent", s.Agent)
	add("seen", seen)
	add("session", s.Session)
	add("directory", s.Dir)
	if s.Pane != 0 {
		add("pane", pidText(s.Pane)+" of window "+pidText(s.Window))
	}
	if s.PID != 0 {
		add("by pid", pidText(s.PID))
	}
	if r.NoStart {
		out = append(out, roleField(roleCaution, "started", "? its start is missing"))
	} else {
		add("started", r.Started.Format(exactTime))
	}
	if !r.Ended.IsZero() {
		add("ended", r.Ended.Format(exactTime))
	}
	if r.End != nil {
		took := "? the call did not tell"
		if r.End.DurationMS > 0 {
			took = outcome.Duration(time.Duration(r.End.DurationMS)*time.Millisecond) + " (" + outcome.Count(r.End.DurationMS) + " ms)"
		}
		add("took", took)
	}
	add("call", r.Start.Call)
	add("number", outcome.Count(r.Seq))
	return out
}

// jsonLines lays the fields of an object out, in their order: short values
// beside their names, texts of several lines and nested values below.
func jsonLines(raw json.RawMessage) []textLine {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return jsonValue("", raw)
	}
	var out []textLine
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		name, isText := key.(string)
		if err != nil || !isText {
			return displayLines(string(raw), roleOutput) // as it is, rather than a part
		}
		out = append(out, jsonValue(name, value)...)
	}
	if len(out) == 0 {
		return []textLine{{text: "none", role: roleDim}}
	}
	return out
}

// shortJSON is how long a nested value may be to stand on one line.
const shortJSON = 60

func jsonValue(name string, raw json.RawMessage) []textLine {
	below := func(lines []textLine) []textLine {
		for i := range lines {
			lines[i].text = "  " + lines[i].text
		}
		if name == "" {
			return lines
		}
		head := field(name, "")
		return append([]textLine{head}, lines...)
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		switch {
		case s == "":
			return []textLine{roleField(roleDim, name, `""`)}
		case !strings.ContainsAny(s, "\r\n") && name != "":
			return []textLine{field(name, s)}
		}
		return below(displayLines(s, roleOutput))
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return below(displayLines(string(raw), roleOutput))
	}
	if b.Len() <= shortJSON {
		return []textLine{field(name, b.String())}
	}
	b.Reset()
	if json.Indent(&b, raw, "", "  ") != nil {
		return below(displayLines(string(raw), roleOutput))
	}
	return below(displayLines(b.String(), roleOutput))
}
