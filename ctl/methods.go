package ctl

import (
	"encoding/json"
	"time"
)

// Protocol is the version that both sides must have. It grows when a frame or
// a field changes its meaning.
const Protocol = 1

// The methods. Each has its parameters and its result below.
const (
	MethodHello   = "hello"   // answered by Server
	MethodList    = "list"    // tabs and panes
	MethodSplit   = "split"   // a new pane beside another
	MethodTab     = "tab"     // a new tab with one pane
	MethodFocus   = "focus"   // another pane or tab
	MethodSend    = "send"    // input for a pane's program
	MethodCapture = "capture" // a pane's text, and whether it is all
	MethodWait    = "wait"    // until something happens in a pane
	MethodAsk     = "ask"     // the person at the window, for a tool
)

// Ids of panes and tabs are those that list tells: they begin at 1 and are not
// given out twice while the window lives. In parameters 0 stands for the pane
// or tab that has the focus. Lengths are bytes of UTF-8, rows count from the
// top, times are milliseconds.

// A HelloParams says who asks.
type HelloParams struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the asking program, for people
}

// A HelloResult says who answers. It is given whatever the asking version is;
// the client compares.
type HelloResult struct {
	Protocol int    `json:"protocol"`
	PID      int    `json:"pid"`
	Version  string `json:"version"` // of the window's program, for people
}

// A State is what a pane is doing. Its zero value reads "unknown".
type State string

// The states of a pane.
const (
	StateUnknown    State = "unknown"
	StateRunning    State = "running"     // its process lives
	StateEnded      State = "ended"       // its process ended; Exit says how
	StateNotStarted State = "not started" // there was no process; Error says why
)

// MarshalText writes the word, "unknown" for a state that nobody filled in.
func (s State) MarshalText() ([]byte, error) { return wordOr(string(s), string(StateUnknown)), nil }

// A CaptureState is what is known of a pane's output. Its zero value reads
// "unknown". A reader treats a word that it does not know like CaptureUnknown.
type CaptureState string

// The words are those of every honestty result, and "running" besides.
const (
	CaptureUnknown    CaptureState = "unknown"     // nothing proves that the output was read to its end; Why says more
	CaptureRunning    CaptureState = "running"     // nothing is missing so far, and more may come
	CaptureComplete   CaptureState = "complete"    // the end was seen and nothing is missing
	CaptureTruncated  CaptureState = "truncated"   // all was read, the oldest of it is cut: CutLines, CutBytes
	CaptureDetached   CaptureState = "detached"    // the command ended, other processes may still write
	CaptureLost       CaptureState = "lost"        // bytes existed, or may have, and did not arrive: LostBytes, Why
	CaptureNotStarted CaptureState = "not started" // there was no command and so no output
)

// MarshalText writes the word, "unknown" for a state that nobody filled in.
func (s CaptureState) MarshalText() ([]byte, error) {
	return wordOr(string(s), string(CaptureUnknown)), nil
}

func wordOr(word, zero string) []byte {
	if word == "" {
		return []byte(zero)
	}
	return []byte(word)
}

// Uncounted is the value of a count when some are missing and nobody knows how
// many. 0 means none.
const Uncounted int64 = -1

// A Completeness says what is known of the output of a pane's last run. Where
// several things are true, State names the worst: lost, detached, unknown,
// truncated, running. The zero value claims nothing.
type Completeness struct {
	State     CaptureState `json:"state"`
	CutLines  int64        `json:"cut_lines"`  // rows that the scrollback had to give up; Uncounted
	CutBytes  int64        `json:"cut_bytes"`  // bytes of these rows' text; Uncounted
	LostBytes int64        `json:"lost_bytes"` // bytes that never reached the screen; Uncounted
	Running   bool         `json:"running"`    // the process lives, so more may follow whatever State says
	Why       string       `json:"why"`        // in plain words, for every State but complete and running
}

// Whole reports whether the output is all there was and none can follow.
func (c Completeness) Whole() bool { return c.State == CaptureComplete && !c.Running }

// An Exit is how a process ended.
type Exit struct {
	Code       *int   `json:"code"`        // as the system gave it; null when it gave none
	Signal     string `json:"signal"`      // "SIGKILL"; empty when no signal ended it
	DurationMS int64  `json:"duration_ms"` // from start to end
}

// A ListParams asks for everything.
type ListParams struct{}

// A ListResult is the whole window.
type ListResult struct {
	Tabs []Tab `json:"tabs"` // in the order of the bar; empty, never null
}

// A Tab is one layout of panes.
type Tab struct {
	ID      int    `json:"id"`
	Title   string `json:"title"`
	Focused bool   `json:"focused"` // of all tabs exactly one is
	Zoomed  bool   `json:"zoomed"`  // its focused pane covers the others
	Panes   []Pane `json:"panes"`   // from the top left; never null
}

// A Pane is one terminal. Title, Command and Cwd come from programs: whoever
// prints them quotes what is not printable. Bytes of a command or a directory
// that are not UTF-8 read U+FFFD.
type Pane struct {
	ID      int          `json:"id"`
	Title   string       `json:"title"`   // as the program set it; may be empty
	Command []string     `json:"command"` // as it was resolved; never null
	PID     int          `json:"pid"`     // 0 when nothing runs
	Cwd     string       `json:"cwd"`     // the program's directory now, else where it was started
	Cols    int          `json:"cols"`
	Rows    int          `json:"rows"`
	State   State        `json:"state"`
	Exit    *Exit        `json:"exit"`  // null unless State is ended
	Error   string       `json:"error"` // why, when State is not started
	Capture Completeness `json:"capture"`
	Focused bool         `json:"focused"` // of all panes of a tab exactly one is
	Refused int64        `json:"refused"` // bytes of input that this run did not get
}

// A Direction is a side of a pane.
type Direction string

// The directions. split knows Right and Down.
const (
	Left  Direction = "left"
	Right Direction = "right"
	Up    Direction = "up"
	Down  Direction = "down"
)

// A SplitParams asks for a pane beside another; the new one gets the focus.
// Errors: NoSuchPane, NoRoom.
type SplitParams struct {
	Pane      int       `json:"pane"`      // 0: the focused one
	Direction Direction `json:"direction"` // Right or Down
	Command   []string  `json:"command"`   // program and arguments, no shell between; empty: the user's shell
	Cwd       string    `json:"cwd"`       // absolute; empty: the directory of the pane that is split
}

// A TabParams asks for a new tab with one pane, which gets the focus.
// Errors: NoRoom.
type TabParams struct {
	Command []string `json:"command"` // as in SplitParams
	Cwd     string   `json:"cwd"`     // absolute; empty: the directory of the focused pane
}

// An OpenResult is the answer of split and tab. The pane exists in any case: a
// command that could not start is its state, with the reason in Error.
type OpenResult struct {
	Tab   int    `json:"tab"`
	Pane  int    `json:"pane"`
	PID   int    `json:"pid"` // 0 when nothing runs
	State State  `json:"state"`
	Error string `json:"error"` // why, when State is not started
}

// A FocusParams names exactly one of pane, direction and tab.
// Errors: NoSuchPane, NoSuchTab.
type FocusParams struct {
	Pane      int       `json:"pane,omitempty"`      // its tab comes to the front too
	Direction Direction `json:"direction,omitempty"` // from the focused pane
	Tab       int       `json:"tab,omitempty"`       // and there the pane that had the focus last
}

// A FocusResult says where the focus is now.
type FocusResult struct {
	Tab   int  `json:"tab"`
	Pane  int  `json:"pane"`
	Moved bool `json:"moved"` // false when it was there already, or nothing lies in that direction
}

// A SendParams gives input to a pane's program, as if it were typed. Exactly
// one of Text and Bytes is given; both may be absent with Enter.
// Errors: NoSuchPane, NotRunning.
type SendParams struct {
	Pane  int    `json:"pane"`            // 0: the focused one
	Text  string `json:"text,omitempty"`  // UTF-8
	Bytes []byte `json:"bytes,omitempty"` // any bytes; base64 in JSON
	Enter bool   `json:"enter,omitempty"` // a carriage return after it, as the key sends
}

// Input is what is to be sent.
func (p SendParams) Input() []byte {
	in := append([]byte(p.Text), p.Bytes...)
	if p.Enter {
		in = append(in, '\r')
	}
	return in
}

// A SendResult counts every byte of the input: Accepted and Refused together
// are its length. Accepted bytes lie in the terminal or in the pane's queue;
// whether the program reads them, nobody can promise.
type SendResult struct {
	Accepted int64  `json:"accepted"`
	Refused  int64  `json:"refused"` // always the end of the input
	Why      string `json:"why"`     // why some were refused
}

// A CaptureParams asks for a pane's text. Errors: NoSuchPane, TooLarge.
type CaptureParams struct {
	Pane       int  `json:"pane"`           // 0: the focused one
	Scrollback bool `json:"scrollback"`     // also the rows above the screen
	ANSI       bool `json:"ansi"`           // with SGR sequences for colours and attributes
	Rows       int  `json:"rows,omitempty"` // at most that many, from the end; 0: all
}

// A CaptureResult is a pane's text and what is known of it. A text that is
// empty says that nothing was written only where Completeness is Whole and
// AboveRows is 0.
type CaptureResult struct {
	Pane      int    `json:"pane"`
	Text      string `json:"text"`       // lines end in "\n" and soft-wrapped rows are joined; trailing blanks of a line and blank rows at the end are left out
	AboveRows int64  `json:"above_rows"` // rows of scrollback that are kept and were not asked for
	Alternate bool   `json:"alternate"`  // the text is of the alternate screen, which keeps no scrollback
	Completeness
}

// An Until is what a wait waits for.
type Until string

// The ends of a wait.
const (
	UntilExit Until = "exit" // the pane's process has ended and its output was read
	UntilText Until = "text" // the text stands on the screen or has passed over it since the call
	UntilIdle Until = "idle" // the pane put out nothing for IdleMS
)

// DefaultIdleMS is the quiet time when IdleMS is 0: longer than a shell needs
// between two outputs, short enough for a script.
const DefaultIdleMS = 500

// A WaitParams waits in one pane. What is true already ends the wait at once.
// The call's context ends it too, and the answer is then Cancelled.
// Errors: NoSuchPane, Closing.
type WaitParams struct {
	Pane      int    `json:"pane"` // 0: the one that is focused as the wait begins
	Until     Until  `json:"until"`
	Text      string `json:"text,omitempty"`       // with UntilText; looked for as it is, over soft wraps, within one line
	IdleMS    int64  `json:"idle_ms,omitempty"`    // with UntilIdle; 0: DefaultIdleMS
	TimeoutMS int64  `json:"timeout_ms,omitempty"` // 0: no limit
}

// Timeout is how long to wait, 0 without a limit.
func (p WaitParams) Timeout() time.Duration { return time.Duration(p.TimeoutMS) * time.Millisecond }

// Idle is how long the pane must be quiet.
func (p WaitParams) Idle() time.Duration {
	if p.IdleMS == 0 {
		return DefaultIdleMS * time.Millisecond
	}
	return time.Duration(p.IdleMS) * time.Millisecond
}

// A Happened is what ended a wait. It is no error when that is not what was
// waited for: WaitResult.Reached says so.
type Happened string

// The ends of a wait. Its zero value reads "unknown".
const (
	HappenedUnknown Happened = "unknown"
	HappenedExit    Happened = "exit"
	HappenedText    Happened = "text"
	HappenedIdle    Happened = "idle"
	HappenedTimeout Happened = "timeout"
	HappenedClosed  Happened = "closed" // the pane was closed; Exit and Capture are those of its end
)

// MarshalText writes the word, "unknown" where nobody filled it in.
func (h Happened) MarshalText() ([]byte, error) {
	return wordOr(string(h), string(HappenedUnknown)), nil
}

// A WaitResult says what happened and how the pane is then.
type WaitResult struct {
	Pane     int          `json:"pane"`
	Happened Happened     `json:"happened"`
	Reached  bool         `json:"reached"`   // what happened is what was waited for
	WaitedMS int64        `json:"waited_ms"` //
	Line     string       `json:"line"`      // with HappenedText: the line that holds it
	State    State        `json:"state"`
	Exit     *Exit        `json:"exit"` // null unless State is ended
	Capture  Completeness `json:"capture"`
}

// An AskParams puts a question to the person at the window. Every text is shown
// as it is, with what is not printable made visible; nothing of it is parsed.
type AskParams struct {
	Tool      string `json:"tool"`           // the tool that asks
	From      string `json:"from,omitempty"` // who called it: "claude-code"; empty: not known
	Rule      string `json:"rule"`           // the rule that wants an answer: "recursive delete"
	Detail    string `json:"detail"`         // what would be done, whole
	TimeoutMS int64  `json:"timeout_ms"`     // no answer by then is a refusal
}

// An AskResult is the answer. Its zero value is no consent.
type AskResult struct {
	Allowed bool   `json:"allowed"`
	Why     string `json:"why"` // when not: "refused at the window", "nobody answered within 60 s"
}

// A validator is what every parameter type is.
type validator interface{ Validate() error }

// Decode reads parameters strictly and validates them. The error is an *Error
// with InvalidParams. Absent parameters are those with every field at its zero.
func Decode[P validator](params json.RawMessage) (P, error) {
	var p P
	if len(params) != 0 && string(params) != "null" {
		if err := strict(params, &p); err != nil {
			return p, Errorf(InvalidParams, "read parameters: %v", err)
		}
	}
	if err := p.Validate(); err != nil {
		return p, Errorf(InvalidParams, "check parameters: %v", err)
	}
	return p, nil
}
