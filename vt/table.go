package vt

import "fmt"

// A state of the parser, after Paul Williams' machine for DEC's VT500 series,
// reduced to UTF-8: C1 controls exist only as ESC sequences.
type state uint8

const (
	ground state = iota
	escape
	escapeInter
	csiEntry
	csiParam
	csiInter
	csiIgnore
	oscString
	dcsEntry
	dcsParam
	dcsInter
	dcsIgnore
	dcsPass
	sosString // SOS, PM and APC: swallowed, told apart by the parser's kind
	stringEsc // ESC inside any string: "\" ends it, anything else aborts it
	numStates
)

var stateNames = [numStates]string{
	"ground", "escape", "escapeInter", "csiEntry", "csiParam", "csiInter", "csiIgnore",
	"oscString", "dcsEntry", "dcsParam", "dcsInter", "dcsIgnore", "dcsPass", "sosString", "stringEsc",
}

func (s state) String() string { return stateNames[s] }

// An action is what the parser does with one byte.
type action uint8

const (
	actIgnore      action = iota // the byte has no meaning here
	actPrint                     // a byte of text
	actExecute                   // a C0 control
	actClear                     // a sequence begins
	actCollect                   // an intermediate byte
	actPrefix                    // one of < = > ?
	actParam                     // a digit, ; or :
	actEscDispatch               // the sequence is complete
	actCsiDispatch               // the sequence is complete
	actCsiBroken                 // a byte that makes the sequence meaningless
	actAbort                     // text inside a sequence: the sequence is dropped, the byte is text
	actCancel                    // CAN or SUB outside ground
	actOscStart                  // a string begins
	actDcsStart                  // a string begins; its parameters are known
	actSosStart                  // a string begins
	actPut                       // a byte of a string
	actStringEnd                 // BEL ends an OSC
	actStringEsc                 // ESC inside a string
	actStringST                  // ESC \ ends a string
	actStringBreak               // ESC and another byte: the string is dropped, the byte is an ESC sequence
	numActions
)

// A rule sends one range of bytes, seen in one state, to an action and a next state.
type rule struct {
	in     state
	lo, hi byte
	do     action
	next   state
}

// c0 expands to the rules for C0 controls that act inside a sequence, for CAN
// and SUB, which end it, and for ESC, which starts another.
func c0(s state) []rule {
	return []rule{
		{s, 0x00, 0x17, actExecute, s},
		{s, 0x18, 0x18, actCancel, ground},
		{s, 0x19, 0x19, actExecute, s},
		{s, 0x1A, 0x1A, actCancel, ground},
		{s, 0x1B, 0x1B, actClear, escape},
		{s, 0x1C, 0x1F, actExecute, s},
	}
}

// rules is the whole machine. Order does not matter: newTable panics on an overlap.
var rules = concat(
	[]rule{
		{ground, 0x00, 0x1A, actExecute, ground},
		{ground, 0x1B, 0x1B, actClear, escape},
		{ground, 0x1C, 0x1F, actExecute, ground},
		{ground, 0x20, 0x7E, actPrint, ground},
		{ground, 0x7F, 0x7F, actIgnore, ground},
		{ground, 0x80, 0xFF, actPrint, ground},
	},
	c0(escape), []rule{
		{escape, 0x20, 0x2F, actCollect, escapeInter},
		{escape, 0x30, 0x4F, actEscDispatch, ground},
		{escape, 'P', 'P', actClear, dcsEntry},
		{escape, 'Q', 'W', actEscDispatch, ground},
		{escape, 'X', 'X', actSosStart, sosString},
		{escape, 'Y', 'Z', actEscDispatch, ground},
		{escape, '[', '[', actClear, csiEntry},
		{escape, '\\', '\\', actEscDispatch, ground},
		{escape, ']', ']', actOscStart, oscString},
		{escape, '^', '_', actSosStart, sosString},
		{escape, 0x60, 0x7E, actEscDispatch, ground},
		{escape, 0x7F, 0x7F, actIgnore, escape},
		{escape, 0x80, 0xFF, actAbort, ground},
	},
	c0(escapeInter), []rule{
		{escapeInter, 0x20, 0x2F, actCollect, escapeInter},
		{escapeInter, 0x30, 0x7E, actEscDispatch, ground},
		{escapeInter, 0x7F, 0x7F, actIgnore, escapeInter},
		{escapeInter, 0x80, 0xFF, actAbort, ground},
	},
	c0(csiEntry), []rule{
		{csiEntry, 0x20, 0x2F, actCollect, csiInter},
		{csiEntry, '0', ';', actParam, csiParam},
		{csiEntry, '<', '?', actPrefix, csiParam},
		{csiEntry, 0x40, 0x7E, actCsiDispatch, ground},
		{csiEntry, 0x7F, 0x7F, actIgnore, csiEntry},
		{csiEntry, 0x80, 0xFF, actAbort, ground},
	},
	c0(csiParam), []rule{
		{csiParam, 0x20, 0x2F, actCollect, csiInter},
		{csiParam, '0', ';', actParam, csiParam},
		{csiParam, '<', '?', actCsiBroken, csiIgnore},
		{csiParam, 0x40, 0x7E, actCsiDispatch, ground},
		{csiParam, 0x7F, 0x7F, actIgnore, csiParam},
		{csiParam, 0x80, 0xFF, actAbort, ground},
	},
	c0(csiInter), []rule{
		{csiInter, 0x20, 0x2F, actCollect, csiInter},
		{csiInter, 0x30, 0x3F, actCsiBroken, csiIgnore},
		{csiInter, 0x40, 0x7E, actCsiDispatch, ground},
		{csiInter, 0x7F, 0x7F, actIgnore, csiInter},
		{csiInter, 0x80, 0xFF, actAbort, ground},
	},
	c0(csiIgnore), []rule{
		{csiIgnore, 0x20, 0x3F, actIgnore, csiIgnore},
		{csiIgnore, 0x40, 0x7E, actIgnore, ground},
		{csiIgnore, 0x7F, 0x7F, actIgnore, csiIgnore},
		{csiIgnore, 0x80, 0xFF, actAbort, ground},
	},
	[]rule{
		{oscString, 0x00, 0x06, actIgnore, oscString},
		{oscString, 0x07, 0x07, actStringEnd, ground},
		{oscString, 0x08, 0x17, actIgnore, oscString},
		{oscString, 0x18, 0x18, actCancel, ground},
		{oscString, 0x19, 0x19, actIgnore, oscString},
		{oscString, 0x1A, 0x1A, actCancel, ground},
		{oscString, 0x1B, 0x1B, actStringEsc, stringEsc},
		{oscString, 0x1C, 0x1F, actIgnore, oscString},
		{oscString, 0x20, 0xFF, actPut, oscString},
	},
	dcsC0(dcsEntry), []rule{
		{dcsEntry, 0x20, 0x2F, actCollect, dcsInter},
		{dcsEntry, '0', ';', actParam, dcsParam},
		{dcsEntry, '<', '?', actPrefix, dcsParam},
		{dcsEntry, 0x40, 0x7E, actDcsStart, dcsPass},
		{dcsEntry, 0x7F, 0xFF, actIgnore, dcsEntry},
	},
	dcsC0(dcsParam), []rule{
		{dcsParam, 0x20, 0x2F, actCollect, dcsInter},
		{dcsParam, '0', ';', actParam, dcsParam},
		{dcsParam, '<', '?', actCsiBroken, dcsIgnore},
		{dcsParam, 0x40, 0x7E, actDcsStart, dcsPass},
		{dcsParam, 0x7F, 0xFF, actIgnore, dcsParam},
	},
	dcsC0(dcsInter), []rule{
		{dcsInter, 0x20, 0x2F, actCollect, dcsInter},
		{dcsInter, 0x30, 0x3F, actCsiBroken, dcsIgnore},
		{dcsInter, 0x40, 0x7E, actDcsStart, dcsPass},
		{dcsInter, 0x7F, 0xFF, actIgnore, dcsInter},
	},
	dcsC0(dcsIgnore), []rule{
		{dcsIgnore, 0x20, 0xFF, actIgnore, dcsIgnore},
	},
	stringRules(dcsPass),
	stringRules(sosString),
	[]rule{
		{stringEsc, 0x00, 0x17, actStringBreak, escape},
		{stringEsc, 0x18, 0x18, actCancel, ground},
		{stringEsc, 0x19, 0x19, actStringBreak, escape},
		{stringEsc, 0x1A, 0x1A, actCancel, ground},
		{stringEsc, 0x1B, 0x5B, actStringBreak, escape},
		{stringEsc, '\\', '\\', actStringST, ground},
		{stringEsc, 0x5D, 0xFF, actStringBreak, escape},
	},
)

// dcsC0 is c0 for the header of a DCS, where controls are ignored and ESC can
// only end or abort what is a string already.
func dcsC0(s state) []rule {
	return []rule{
		{s, 0x00, 0x17, actIgnore, s},
		{s, 0x18, 0x18, actCancel, ground},
		{s, 0x19, 0x19, actIgnore, s},
		{s, 0x1A, 0x1A, actCancel, ground},
		{s, 0x1B, 0x1B, actStringEsc, stringEsc},
		{s, 0x1C, 0x1F, actIgnore, s},
	}
}

// stringRules is the body of a string that only ST, CAN or SUB end.
func stringRules(s state) []rule {
	return []rule{
		{s, 0x00, 0x17, actPut, s},
		{s, 0x18, 0x18, actCancel, ground},
		{s, 0x19, 0x19, actPut, s},
		{s, 0x1A, 0x1A, actCancel, ground},
		{s, 0x1B, 0x1B, actStringEsc, stringEsc},
		{s, 0x1C, 0xFF, actPut, s},
	}
}

func concat(lists ...[]rule) []rule {
	var all []rule
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// An entry is the rule for one byte in one state.
type entry struct {
	do   action
	next state
	set  bool
}

type parserTable [numStates][256]entry

// newTable expands rules. It panics when two rules claim the same byte: the
// machine is a constant of the program, so this is a mistake in this file.
func newTable(rules []rule) *parserTable {
	var t parserTable
	for _, r := range rules {
		for b := int(r.lo); b <= int(r.hi); b++ {
			if t[r.in][b].set {
				panic(fmt.Sprintf("vt: two rules for byte %#02x in state %v", b, r.in))
			}
			t[r.in][b] = entry{r.do, r.next, true}
		}
	}
	return &t
}

var table = newTable(rules)
