package shellwords

import "fmt"

// Limits of what is read. Beyond them Problem says so.
const (
	MaxSize  = 1 << 20 // bytes of a script
	maxDepth = 40      // substitutions, groups and compounds within each other
	maxSteps = 50      // steps for each byte: texts made to be read again and again end here
)

// A Script is what Parse read of a text.
type Script struct {
	List    List
	Problem string // why the text could not be read whole; empty when it was
}

// A List is a row of pipelines.
type List []Item

// A Join says how an Item follows the one before it.
type Join uint8

// The joins. The first Item of a List has Then.
const (
	Then  Join = iota // ; a new line, or & after the one before
	AndIf             // && : only after success
	OrIf              // || : only after failure
)

// An Item is one pipeline.
type Item struct {
	Join       Join
	Background bool // an & follows
	Negated    bool // a ! precedes
	Stages     []*Command
}

// A Kind says what a Command is made of.
type Kind uint8

// The kinds.
const (
	Simple   Kind = iota // words
	Subshell             // ( list )
	Group                // { list; }
	Compound             // if, while, until, for, select, case, [[ ]], (( ))
	Function             // a definition; Name is what it defines
)

// A Command is one stage of a pipeline.
type Command struct {
	Kind    Kind
	Name    string // of a Function; the first word of a Compound
	Assigns []Word // NAME=value before the words
	Words   []Word // of a Simple command; the words of for and case
	Redirs  []*Redir
	Body    []List // what is within, in order
	Text    string // as it stands in the source
}

// A Redir is one redirection. Op is without the descriptor: "<", ">>", "<<".
type Redir struct {
	FD     string // as written; empty when it was not
	Op     string
	Target Word
	Here   Word // the body of a here-document

	stripTabs bool // <<-
}

// Writes reports whether the redirection opens its target for writing.
func (r *Redir) Writes() bool {
	switch r.Op {
	case ">", ">>", ">|", "&>", "&>>", "<>", ">&":
		return true
	}
	return false
}

// Parse reads a script.
func Parse(text string) Script {
	steps := maxSteps*len(text) + 1000
	return parse(text, 0, &steps)
}

func parse(text string, depth int, steps *int) Script {
	p := &parser{src: text, depth: depth, steps: steps}
	if len(text) > MaxSize {
		return Script{Problem: fmt.Sprintf("longer than %d bytes", MaxSize)}
	}
	var all List
	for {
		all = append(all, p.list(nil, false)...)
		if p.eof() {
			break
		}
		p.trouble("a %q that closes nothing", p.src[p.pos:p.pos+1])
		p.pos++
	}
	if len(p.heres) > 0 {
		p.trouble("a here-document without its body")
	}
	return Script{List: all, Problem: p.problem}
}

// A parser walks over one text. It keeps the first problem and goes on.
type parser struct {
	src     string
	pos     int
	depth   int
	heres   []*Redir // here-documents whose bodies start after the next line end
	problem string
	steps   *int         // left, for this text and those within it
	noSum   map[int]bool // positions of (( that begin no arithmetic
}

func (p *parser) trouble(format string, args ...any) {
	if p.problem == "" {
		p.problem = fmt.Sprintf(format, args...)
	}
}

// eof reports whether the text is at its end. Every loop asks it, so that it
// also ends a reading that takes too many steps.
func (p *parser) eof() bool {
	if *p.steps--; *p.steps < 0 {
		p.trouble("too tangled to be read")
		p.pos = len(p.src)
	}
	return p.pos >= len(p.src)
}

// at returns the byte i after the position, 0 behind the end.
func (p *parser) at(i int) byte {
	if p.pos+i >= len(p.src) {
		return 0
	}
	return p.src[p.pos+i]
}

func (p *parser) has(s string) bool {
	return len(p.src)-p.pos >= len(s) && p.src[p.pos:p.pos+len(s)] == s
}

// enter counts one level of nesting. Past the limit it gives the rest up.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.trouble("nested more than %d deep", maxDepth)
		p.pos = len(p.src)
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// blanks skips spaces, tabs, continued lines and a comment.
func (p *parser) blanks() {
	for !p.eof() {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t':
			p.pos++
		case c == '\\' && p.at(1) == '\n':
			p.pos += 2
		case c == '#':
			for !p.eof() && p.src[p.pos] != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

// lines skips blanks and line ends.
func (p *parser) lines() {
	for p.blanks(); p.at(0) == '\n'; p.blanks() {
		p.newline()
	}
}

// newline takes a line end, and the here-documents that begin after it.
func (p *parser) newline() {
	p.pos++
	waiting := p.heres
	p.heres = nil
	for _, r := range waiting {
		p.here(r)
	}
}

// list reads pipelines up to one of the words in stop, a closing parenthesis,
// the end of a case branch, or the end. It leaves the position before it.
func (p *parser) list(stop []string, branch bool) List {
	var l List
	join := Then
	for {
		p.lines()
		switch {
		case p.eof(), p.at(0) == ')':
			return l
		case p.at(0) == ';':
			if branch && (p.at(1) == ';' || p.at(1) == '&') {
				return l
			}
			p.pos++
			continue
		case p.keyword(stop) != "":
			return l
		}
		began := p.pos
		item := p.pipeline()
		item.Join = join
		join = Then
		if len(item.Stages) > 0 {
			l = append(l, item)
		}
		join = p.joint(&l, len(item.Stages) > 0)
		if p.pos == began { // nothing here begins a command
			p.trouble("a %q where a command should begin", p.src[p.pos:p.pos+1])
			p.pos++
		}
	}
}

// joint takes the operator after an item and returns how the next one follows.
func (p *parser) joint(l *List, added bool) Join {
	p.blanks()
	switch {
	case p.has("&&"):
		p.pos += 2
		return AndIf
	case p.has("||"):
		p.pos += 2
		return OrIf
	case p.at(0) == '&':
		p.pos++
		if added {
			(*l)[len(*l)-1].Background = true
		}
	}
	return Then
}

func (p *parser) pipeline() Item {
	var it Item
	for {
		p.blanks()
		switch p.keyword([]string{"!", "time", "coproc"}) {
		case "!":
			p.pos++
			it.Negated = !it.Negated
			continue
		case "time":
			p.pos += len("time")
			if p.blanks(); p.keyword([]string{"-p"}) != "" {
				p.pos += 2
			}
			continue
		case "coproc":
			p.pos += len("coproc")
			it.Background = true
			continue
		}
		break
	}
	for {
		if c := p.command(); c != nil {
			it.Stages = append(it.Stages, c)
		}
		p.blanks()
		if p.at(0) != '|' || p.at(1) == '|' {
			return it
		}
		p.pos++
		if p.at(0) == '&' { // |& joins the two streams
			p.pos++
		}
		p.lines()
	}
}

// keyword returns the word at the position when it is one of those and stands
// unquoted and alone.
func (p *parser) keyword(of []string) string {
	for _, k := range of {
		if p.has(k) && (p.pos+len(k) == len(p.src) || isMeta(p.src[p.pos+len(k)])) {
			return k
		}
	}
	return ""
}

func isMeta(c byte) bool {
	switch c {
	case ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')':
		return true
	}
	return false
}
