package send

import (
	"context"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// A Platform takes messages to one kind of place. It is used by several
// goroutines at once.
type Platform interface {
	// Name is the first part of a target: "telegram".
	Name() string

	// Limits are what the platform takes. They do not change.
	Limits() Limits

	// Send sends each text and each item of m at most once and says of each
	// what became of it. It never buffers a whole file, it returns soon after
	// ctx ends, and what it leaves out of the Delivery counts as unknown.
	// InOrder does the order, the waiting and the counting for most platforms.
	Send(ctx context.Context, m Message) Delivery
}

// Limits are what a platform takes, as data. The core applies them before
// anything is sent: a message that reaches Send keeps them all.
type Limits struct {
	Text      int            // units in one text message; 0: no limit
	Unit      Unit           // what Text and Caption count
	Caption   int            // units of text that may go with a file; 0: no captions
	Attach    bool           // takes files at all
	FileBytes int64          // one file; 0: no limit
	Kinds     map[Kind]int64 // limits of kinds that are smaller than FileBytes
	NoEmpty   bool           // a file of 0 bytes is refused by the platform
	Files     int            // files of one message; 0: as many as there are, each alone
	Subject   bool           // has a subject of its own; otherwise it heads the text
	Chat      string         // what names a chat, in words; empty: the target needs none
	Threads   bool           // a target may name a thread
}

// Max is the size limit for an item of kind k; 0 when there is none.
func (l Limits) Max(k Kind) int64 {
	if n, ok := l.Kinds[k]; ok {
		return n
	}
	return l.FileBytes
}

// A Unit is what a platform counts text in.
type Unit uint8

// The units. Runes are Unicode code points, as Slack and Discord count.
const (
	Runes Unit = iota
	UTF16
	Bytes
)

// Count is the length of s in the unit. A byte that is not UTF-8 counts as one
// rune.
func (u Unit) Count(s string) int {
	switch u {
	case Bytes:
		return len(s)
	case UTF16:
		n := 0
		for _, r := range s {
			n += utf16.RuneLen(r)
		}
		return n
	}
	return utf8.RuneCountInString(s)
}

// A Kind is how a file is shown at the other end.
type Kind uint8

// The kinds. The zero value is a plain file.
const (
	Document Kind = iota
	Photo
	Video
	Audio
	Voice
)

var kindNames = [...]string{"document", "photo", "video", "audio", "voice"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "document"
}

// A Target is where a message goes. Chat is empty where the platform has one
// place only.
type Target struct {
	Platform string `json:"platform"`
	Chat     string `json:"chat_id,omitempty"`
	Thread   string `json:"thread_id,omitempty"`
}

func (t Target) String() string {
	s := t.Platform
	if t.Chat != "" || t.Thread != "" {
		s += ":" + t.Chat
	}
	if t.Thread != "" {
		s += ":" + t.Thread
	}
	return s
}

// A Message is what a platform is given: checked, opened, split.
type Message struct {
	Target  Target
	Subject string   // only where Limits.Subject; no line break in it
	Texts   []string // parts in order; empty when there is no text or it is the caption
	Caption string   // goes with Items[0]; set only when there is exactly one item
	Items   []Item

	// TextKeys name each text of this message, also at a second try; either
	// empty or as long as Texts. An Item has its own.
	TextKeys []string

	// Key names this message and no other: a transaction id, so that a
	// platform that knows such ids can tell a second try from a second message.
	Key string

	// Pace is how long a platform that asks for patience is waited for.
	Pace Pace

	// Progress is told how many bytes of item number i were handed to the
	// connection so far. It may be nil; it is called by one goroutine at a time.
	Progress func(i int, sent int64)
}

// Body opens the content of item i from its start, for one try. It tells
// Progress. The caller closes it.
func (m Message) Body(i int) *Body {
	b := m.Items[i].Body()
	if m.Progress != nil {
		b.tell = func(n int64) { m.Progress(i, n) }
	}
	return b
}

// A Pace bounds the waiting for a platform that says "later". The zero value
// waits up to a minute in all.
type Pace struct {
	Bound time.Duration                                    // of all waits of one message; 0: DefaultPatience; negative: none
	Sleep func(ctx context.Context, d time.Duration) error // nil: a timer
}

// A Status is what became of one text or one file. The zero value is Unknown.
type Status uint8

// The statuses. Dropped and Rejected are certain: nothing of it is at the
// other end. Unknown may have arrived, and is never sent again unasked.
const (
	Unknown  Status = iota
	Sent            // the platform said so, and what it said agrees with what was sent
	Dropped         // not given to the platform: a rule, a limit, or not reached
	Rejected        // the platform, or the way to it, did not take it
)

var statusNames = [...]string{"unknown", "sent", "dropped", "rejected"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "unknown"
}

// An Outcome is what became of one text or one item. The zero value is
// unknown, without a reason.
type Outcome struct {
	Status Status
	Reason string // in plain words, without secrets; empty only with Sent
	ID     string // as the platform names the message or the file

	// Later is how long the platform asks to be left alone before a second
	// try. It counts only with Rejected.
	Later time.Duration

	// Fatal says that nothing else of this message can arrive either: the
	// token is wrong, the chat does not exist. The rest is then not tried.
	Fatal bool
}

// A Delivery is what became of a Message. Texts and Items are in the order of
// the message's; what is missing at their ends is unknown.
type Delivery struct {
	Texts    []Outcome
	Items    []Outcome
	Chat     string   // the chat's id as the platform says, when it does
	Warnings []string // what a person should know though it arrived
	Note     string
}

// TextKey names text i of the message, the same at a second try.
func (m Message) TextKey(i int) string {
	if i < len(m.TextKeys) {
		return m.TextKeys[i]
	}
	return m.Key + "-t" + strconv.Itoa(i+1)
}

// ItemKey names item i of the message, the same at a second try.
func (m Message) ItemKey(i int) string {
	if k := m.Items[i].Key; k != "" {
		return k
	}
	return m.Key + "-f" + strconv.Itoa(i+1)
}

// An Uploader is a platform whose files take several requests, of which only
// the last shows the file to anybody. What breaks before that is certain.
type Uploader interface {
	UploadsFirst() bool
}
