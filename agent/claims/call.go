package claims

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/honestty/honestty/internal/redact"
	"github.com/honestty/honestty/journal"
)

// A Call is one call of an agent's tool, as the agent's own record has it:
// nothing in it is redacted yet.
type Call struct {
	ID     string          // UUID of the journal, from ID
	Tool   string          // as the agent names it
	Args   json.RawMessage // as the agent sent them; may be no JSON
	Source journal.Source
	Owner  journal.Owner

	// Began is when the tool can have begun at the earliest, by the clock of
	// this machine; zero when that is not known.
	Began time.Time

	// DirKnown says that relative paths of the call are meant from Source.Dir.
	DirKnown bool
}

// A Result is what the record says of the end of a call.
type Result struct {
	Value json.RawMessage // what the agent was given; may be no JSON, empty when there is none
	Ended time.Time       // when the call had ended at the latest; zero when not known
	Took  time.Duration   // as the record says; 0 when it does not

	Failed    bool   // the record itself calls it a failure
	Cancelled bool   // the record says that it was taken back
	Refused   bool   // the record says that a person or a rule said no
	Error     string // the record's own words for that

	// Exit is the exit code where the record has one beside Value.
	Exit *int

	// Missing says why there is no result at all, in words.
	Missing string
}

// space is our own namespace of derived ids (RFC 9562, section 5.5).
var space = uuid.MustParse("8d1a3f0e-7c55-5b0c-9a61-4f2f6d1a7e09")

// ID derives the id of a call from where it was seen and how the agent names
// it, so that all records of one call meet. An agent's ids that are long enough
// to be random are unique by themselves; a short one counts only within its
// session.
func ID(kind, agent, session, id string) string {
	if Unique(id) {
		session = ""
	}
	return uuid.NewSHA1(space, []byte(strings.Join([]string{kind, agent, session, id}, "\x00"))).String()
}

// Unique reports whether an agent's id of a call can be taken for random.
// "call_0", as some local models give for each answer, cannot.
func Unique(id string) bool {
	const shortest = 16
	return len(id) >= shortest
}

// Begin is the call as the journal takes it.
func (c Call) Begin() journal.Start {
	s := journal.Start{Call: c.ID, Tool: oneLine(c.Tool), Source: c.Source, Owner: c.Owner}
	if s.Tool == "" {
		s.Tool = "unknown"
	}
	var n int
	s.Title, n = redact.String(c.title())
	s.Redacted = n
	s.Args, n = redactJSON(c.Args)
	s.Redacted += n
	return s
}

const (
	slimArgs  = 16 << 10 // bytes of arguments that are kept as they are
	slimField = 4 << 10  // bytes of one text in longer ones
)

// Slim is the call with arguments of a bounded size, enough to judge its
// result by: long texts in them are cut, long lists and objects left out. It is
// for who keeps many open calls.
func (c Call) Slim() Call {
	if len(c.Args) <= slimArgs {
		return c
	}
	short := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), slimField)], "") }
	var kept any = short(text(c.Args))
	if args := c.args(); args != nil {
		fields, left := map[string]any{}, slimArgs
		keys := slices.SortedFunc(maps.Keys(args), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(args[a]), len(args[b])), cmp.Compare(a, b))
		})
		for _, key := range keys { // the short ones first: paths are short
			raw := args[key]
			size := len(key) + min(len(raw), slimField)
			switch {
			case size > left:
				continue
			case len(raw) <= slimField:
				fields[key] = raw
			case raw[0] == '"':
				fields[key] = short(text(raw))
			default:
				continue
			}
			left -= size
		}
		kept = fields
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		raw = nil
	}
	c.Args = raw
	return c
}

// redactJSON takes the secrets out of a value that may be no JSON, which is
// then kept as a text.
func redactJSON(raw json.RawMessage) (json.RawMessage, int) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return json.RawMessage("null"), 0
	}
	if json.Valid(raw) {
		return redact.JSON(raw)
	}
	text, n := redact.String(strings.ToValidUTF8(string(raw), "\uFFFD"))
	out, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null"), n
	}
	return out, n
}

// titleLength is how many bytes of a title a list can use.
const titleLength = 400

// oneLine keeps the beginning of the first line that says something.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }); i >= 0 {
		s = strings.TrimRightFunc(s[:i], unicode.IsSpace)
	}
	if len(s) > titleLength {
		n := titleLength
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// titleKeys are the parameters that say best what a call is about, best first.
var titleKeys = []string{
	"command", "cmd", "script", "code", "file_path", "filePath", "path", "notebook_path", "output_path",
	"target", "url", "query", "pattern", "session_id", "description", "prompt", "message", "text", "action",
}

// title says in one line what the call is about.
func (c Call) title() string {
	args := c.args()
	if len(args) == 0 {
		var text string
		if json.Unmarshal(c.Args, &text) == nil {
			return oneLine(text)
		}
		return ""
	}
	var title string
	for _, key := range titleKeys {
		if title = text(args[key]); title != "" {
			break
		}
	}
	switch kindOf(c.Tool) {
	case send:
		title = strings.TrimPrefix(text(args["target"])+": "+text(args["message"]), ": ")
	case process:
		title = strings.TrimSpace(text(args["action"]) + " " + text(args["session_id"]))
	case speak:
		if path := text(args["output_path"]); path != "" {
			title = path
		}
	}
	return oneLine(title)
}

// args is the arguments as an object; nil when they are none.
func (c Call) args() map[string]json.RawMessage { return object(unwrap(c.Args)) }

// text is a JSON string, or the words of a JSON list of strings, as a text.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, " ")
	}
	return ""
}
