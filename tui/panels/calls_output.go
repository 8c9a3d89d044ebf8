package panels

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/honestty/honestty/outcome"
)

const (
	// outputStep is how much is read of a file at once.
	outputStep = 256 << 10
	// outputMax is how much of a file is held, and outputTrim how much is left
	// when it is more: what is let go goes in large pieces.
	outputMax, outputTrim = 1 << 20, 768 << 10
	// outputLines bounds the lines that are held, which cost more than bytes.
	outputLines = 50_000
	// nearLine is how near a line's end has to be to be cut there.
	nearLine = 4 << 10
)

// A callOutput is the part of a call's output that is held, either of a file or
// of the result. The zero value is no output.
type callOutput struct {
	path string // of the file; "" when there is none

	// given is the output in the result, whole or cut by the tool.
	given    string
	hasGiven bool

	from    int64  // of raw in the file
	raw     []byte //
	size    int64  // of the file; -1 while not known
	read    bool   // the file was read at least once
	asked   bool   // an answer is waited for
	want    outputPart
	due     bool // it may have grown since it was read last
	tail    bool // what is held reaches to the end of the file, or is to
	auto    bool // what is waited for was not asked by a key
	running bool // the call has not ended
	err     error

	text   string // of raw, as it is shown and copied
	masked int
}

// An outputPart says which part of the file is read next.
type outputPart uint8

const (
	readNothing outputPart = iota
	readBegin
	readEnd
	readBefore
	readAfter
)

// next returns the request for what is wanted, or nil.
func (o *callOutput) next(call string) Action {
	if o.path == "" || o.asked {
		return nil
	}
	end := o.from + int64(len(o.raw))
	want := o.want
	if o.auto = want == readNothing && o.follows(); o.auto {
		want = readAfter
	}
	req := ReadOutput{Call: call, Path: o.path, From: end, Max: outputStep}
	switch want {
	case readNothing:
		return nil
	case readBegin:
		req.From = 0
	case readEnd:
		req.From = FromEnd
	case readBefore:
		req.From = max(o.from-outputStep, 0)
		req.Max = int(o.from - req.From)
	}
	o.asked, o.want, o.due = true, want, false
	return req
}

// follows reports that more is to be read by itself: what is held is to reach
// the end, and the file has more or, as the call runs, may have.
func (o *callOutput) follows() bool {
	return o.read && o.tail && (o.after() || o.running && o.due)
}

// before and after report more of the file than what is held.
func (o *callOutput) before() bool { return o.path != "" && o.from > 0 }

func (o *callOutput) after() bool {
	return o.path != "" && o.read && o.size > o.from+int64(len(o.raw))
}

// loaded reports that there is output to be copied.
func (o *callOutput) loaded() bool { return o.text != "" || o.given != "" }

// take takes what was read of the file. It returns by how many lines the lines
// that were held before have moved. follow says that the reader is at the end:
// then room is made at the beginning.
func (o *callOutput) take(from int64, data []byte, size int64, err error, follow bool) (shift int) {
	want := o.want
	o.asked, o.want, o.size, o.err = false, readNothing, size, err
	if err != nil {
		o.read = o.read || errors.Is(err, fs.ErrNotExist)
		o.tail = o.tail || o.running
		return 0
	}
	first := !o.read
	o.read = true
	end := o.from + int64(len(o.raw))
	switch {
	case !first && want == readAfter && from == end:
		shift = o.append(data, follow)
	case want == readBefore && from+int64(len(data)) == o.from && len(data) > 0:
		shift = o.prepend(data, from)
	default:
		data, from = wholeLines(data, from)
		o.from, o.raw = from, bytes.Clone(data)
		o.rebuild()
	}
	if want == readEnd || !o.after() {
		o.tail = true
	}
	if len(data) == 0 && o.after() {
		o.tail = false // the file gives less than its size says
	}
	return shift
}

// append adds what follows. Where that is too much the beginning goes, unless
// somebody reads there: then the rest waits.
func (o *callOutput) append(data []byte, follow bool) (shift int) {
	o.raw = append(o.raw, data...)
	o.rebuild()
	switch {
	case !o.over():
	case follow || !o.auto:
		all := strings.Count(o.text, "\n")
		o.trimFront()
		return strings.Count(o.text, "\n") - all
	default:
		o.raw, o.tail = o.raw[:min(len(o.raw), outputMax)], false
		o.rebuild()
	}
	return 0
}

// prepend adds what comes before. Where that is too much the end goes.
func (o *callOutput) prepend(data []byte, from int64) (shift int) {
	before := strings.Count(o.text, "\n")
	data, from = wholeLines(data, from)
	o.raw, o.from = append(bytes.Clone(data), o.raw...), from
	o.rebuild()
	shift = strings.Count(o.text, "\n") - before
	if o.over() {
		o.trimBack()
		o.tail = false
	}
	return shift
}

func (o *callOutput) rebuild() { o.text, o.masked = cleanOutput(o.raw) }

// over reports more than is held.
func (o *callOutput) over() bool {
	return len(o.raw) > outputMax || bytes.Count(o.raw, []byte("\n")) > outputLines
}

// trimFront lets the beginning go.
func (o *callOutput) trimFront() {
	cut := frontCut(o.raw, outputTrim)
	o.raw = bytes.Clone(o.raw[cut:])
	o.from += int64(cut)
	o.rebuild()
}

// wholeLines leaves the part of a line out that data begins with where it does
// not begin the file.
func wholeLines(data []byte, from int64) ([]byte, int64) {
	if from <= 0 {
		return data, from
	}
	i := bytes.IndexByte(data[:min(len(data), nearLine)], '\n') + 1
	for i < len(data) && !utf8.RuneStart(data[i]) {
		i++
	}
	return data[i:], from + int64(i)
}

// frontCut is where to cut raw so that at most so many bytes are left of it and
// not too many lines: after a line's end where one is near, and never inside of
// a character.
func frontCut(raw []byte, left int) int {
	cut := max(len(raw)-left, 0)
	for lines := bytes.Count(raw[cut:], []byte("\n")); lines > outputLines*3/4; lines-- {
		cut += bytes.IndexByte(raw[cut:], '\n') + 1
	}
	if i := bytes.IndexByte(raw[cut:], '\n'); cut > 0 && i >= 0 && i < nearLine {
		cut += i + 1
	}
	for cut < len(raw) && !utf8.RuneStart(raw[cut]) {
		cut++
	}
	return cut
}

// trimBack lets the end go.
func (o *callOutput) trimBack() {
	cut := min(len(o.raw), outputTrim)
	for lines := bytes.Count(o.raw[:cut], []byte("\n")); lines > outputLines*3/4; lines-- {
		cut = bytes.LastIndexByte(o.raw[:cut], '\n')
	}
	if i := bytes.LastIndexByte(o.raw[:cut], '\n'); i >= 0 && cut-i < nearLine {
		cut = i + 1
	}
	for cut > 0 && cut < len(o.raw) && !utf8.RuneStart(o.raw[cut]) {
		cut--
	}
	o.raw = bytes.Clone(o.raw[:cut])
	o.rebuild()
}

// note says in the heading which part of the output is shown.
func (o *callOutput) note() string {
	var out string
	switch held := int64(len(o.raw)); {
	case o.path == "" && o.hasGiven:
		out = outcome.Size(int64(len(o.given)))
	case o.path == "", !o.read:
	case o.before() || o.after():
		out = outcome.Count(o.from) + " to " + outcome.CountBytes(o.from+held) + " of " + outcome.Size(o.size)
	default:
		out = outcome.Size(held)
	}
	if o.running {
		out = strings.TrimPrefix(out+", running", ", ")
	}
	if o.masked > 0 {
		out += ", " + countOf(int64(o.masked), "secret") + " masked"
	}
	return out
}

// lines are the lines of the output, or a sentence in their place.
func (o *callOutput) lines() []textLine {
	say := func(role textRole, text string) []textLine { return []textLine{{text: text, role: role}} }
	switch {
	case o.path == "" && o.hasGiven && o.given != "":
		return displayLines(o.givenText(), roleOutput)
	case o.path == "" && o.hasGiven:
		return say(roleDim, "the result carries no text; what is known of the output stands under evidence")
	case o.path == "":
		return say(roleDim, "no output is recorded for this call")
	case o.err != nil && errors.Is(o.err, fs.ErrNotExist) && o.running:
		return say(roleDim, "no output so far")
	case o.err != nil && errors.Is(o.err, fs.ErrNotExist):
		return append(say(roleCaution, "? the file with the output is not there: nothing was written, or it was removed for its age"), o.instead()...)
	case o.err != nil:
		return append(say(roleCaution, "? the file with the output cannot be read: "+outcome.Errno(o.err)), o.instead()...)
	case !o.read:
		return say(roleDim, "reading the output")
	case o.text == "" && o.running:
		return say(roleDim, "no output so far")
	case o.text == "":
		return say(roleDim, "nothing to show: "+outcome.CountBytes(int64(len(o.raw)))+" in the file; what is known of the output stands under evidence")
	}
	return displayLines(o.text, roleOutput)
}

// instead is what the result carries where the file cannot be had.
func (o *callOutput) instead() []textLine {
	switch {
	case len(o.raw) > 0:
		return displayLines(o.text, roleOutput)
	case o.given == "":
		return nil
	}
	return append([]textLine{{text: "what the result carries of it:", role: roleDim}}, displayLines(o.givenText(), roleOutput)...)
}

// givenText is the output in the result without control sequences; the result
// itself is shown with them.
func (o *callOutput) givenText() string { return string(stripSequences([]byte(o.given))) }
