package shellwords

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// goesOn is said of what a shell puts together from two lines and is not put
// together here: a parameter, or the word that says which command it is.
const goesOn = "a name that goes on in the next line"

// substitutes reports whether <( or >( is here.
func (p *parser) substitutes() bool {
	return (p.at(0) == '<' || p.at(0) == '>') && p.at(1) == '('
}

// word reads one word.
func (p *parser) word() Word {
	var w wordBuilder
	for !p.eof() {
		c := p.src[p.pos]
		switch {
		case p.substitutes():
			p.pos++
			p.parens(&w, 1)
		case isMeta(c):
			return w.word()
		case c == '\\':
			switch next := p.at(2); {
			case p.at(1) == '\n':
				w.joined = w.joined || len(w.text) > 0 && next != 0 && !isMeta(next)
			case p.pos+1 < len(p.src):
				w.add(p.src[p.pos+1:p.pos+2], quoted)
			}
			p.pos = min(p.pos+2, len(p.src))
		case c == '\'':
			p.single(&w)
		case c == '"':
			p.pos++
			p.double(&w)
		case c == '$' && p.at(1) == '\'':
			p.pos += 2
			p.ansi(&w)
		case c == '$' && p.at(1) == '"':
			p.pos += 2
			p.double(&w)
		case c == '$':
			p.dollar(&w, plain)
		case c == '`':
			p.backtick(&w)
		default:
			w.add(p.src[p.pos:p.pos+1], plain)
			p.pos++
		}
	}
	return w.word()
}

func (p *parser) single(w *wordBuilder) {
	p.pos++
	i := strings.IndexByte(p.src[p.pos:], '\'')
	if i < 0 {
		p.trouble("a quote that does not close")
		i = len(p.src) - p.pos
	}
	w.add(p.src[p.pos:p.pos+i], quoted)
	p.pos = min(p.pos+i+1, len(p.src))
}

func (p *parser) double(w *wordBuilder) {
	if !p.quoted(w, '"') {
		p.trouble("a quote that does not close")
	}
}

// quoted reads text in which only \ $ and backticks work, up to the byte end
// (0: to the end of the source), and reports whether it was there.
func (p *parser) quoted(w *wordBuilder, end byte) bool {
	if !p.enter() {
		return false
	}
	defer p.leave()
	for !p.eof() {
		c := p.src[p.pos]
		switch {
		case c == end && end != 0:
			p.pos++
			return true
		case c == '\\' && p.at(1) == '\n':
			p.pos += 2
		case c == '\\' && (strings.IndexByte("$`\\", p.at(1)) >= 0 && p.at(1) != 0 || p.at(1) == end && end != 0):
			w.add(p.src[p.pos+1:p.pos+2], quoted)
			p.pos += 2
		case c == '$':
			p.dollar(w, quoted)
		case c == '`':
			p.backtick(w)
		default:
			w.add(p.src[p.pos:p.pos+1], quoted)
			p.pos++
		}
	}
	return end == 0
}

// ansi reads the rest of $'…', whose escapes are those of C.
func (p *parser) ansi(w *wordBuilder) {
	for !p.eof() {
		c := p.src[p.pos]
		switch {
		case c == '\'':
			p.pos++
			return
		case c == '\\' && p.pos+1 < len(p.src):
			p.pos++
			p.escape(w)
		default:
			w.add(p.src[p.pos:p.pos+1], quoted)
			p.pos++
		}
	}
	p.trouble("a quote that does not close")
}

// escape reads one C escape after its backslash.
func (p *parser) escape(w *wordBuilder) {
	c := p.src[p.pos]
	p.pos++
	if i := strings.IndexByte("abefnrtvE", c); i >= 0 {
		w.add("\a\b\x1b\f\n\r\t\v\x1b"[i:i+1], quoted)
		return
	}
	digits := func(limit, base int) (uint64, bool) {
		i := 0
		for i < limit && p.pos+i < len(p.src) {
			if _, err := strconv.ParseUint(p.src[p.pos+i:p.pos+i+1], base, 8); err != nil {
				break
			}
			i++
		}
		n, err := strconv.ParseUint(p.src[p.pos:p.pos+i], base, 32)
		p.pos += i
		return n, err == nil
	}
	switch {
	case c == 'x':
		if n, ok := digits(2, 16); ok {
			w.add(string([]byte{byte(n)}), quoted)
		}
	case c == 'u' || c == 'U':
		limit := 4
		if c == 'U' {
			limit = 8
		}
		if n, ok := digits(limit, 16); ok && n <= utf8.MaxRune {
			w.add(string(rune(n)), quoted)
		}
	case c >= '0' && c <= '7':
		p.pos--
		if n, ok := digits(3, 8); ok {
			w.add(string([]byte{byte(n)}), quoted)
		}
	case c == 'c' && !p.eof():
		w.add(string([]byte{p.src[p.pos] & 0x1F}), quoted)
		p.pos++
	case strings.IndexByte(`'"?\`, c) >= 0:
		w.add(string([]byte{c}), quoted)
	default:
		w.add(string([]byte{'\\', c}), quoted)
	}
}

// dollar reads a parameter, a substitution or arithmetic. Alone the sign is
// text of the given kind.
func (p *parser) dollar(w *wordBuilder, alone byte) {
	if p.at(1) == '\\' && p.at(2) == '\n' {
		p.trouble("%s", goesOn)
	}
	switch c := p.at(1); {
	case c == '(' && p.at(2) == '(':
		if p.sum(w) {
			return
		}
		fallthrough
	case c == '(':
		p.pos++
		p.parens(w, 1)
	case c == '{':
		p.braced(w, alone == quoted)
	case c == '[': // the old form of arithmetic
		p.pos += 2
		if !p.balanced(w, p.pos-2, "]", false) {
			p.trouble("no %q", "]")
		}
	case isNameByte(c, true):
		i := 1
		for isNameByte(p.at(i), false) {
			i++
		}
		if p.at(i) == '\\' && p.at(i+1) == '\n' {
			p.trouble("%s", goesOn)
		}
		p.param(w, p.src[p.pos+1:p.pos+i], "", i)
	case c != 0 && strings.IndexByte("0123456789@*#?-$!", c) >= 0:
		p.param(w, string([]byte{c}), "", 2)
	default:
		w.add("$", alone)
		p.pos++
	}
}

// sum reads $(( … )), and reports false with nothing read when it is a
// substitution that begins with a subshell after all. Each place is tried
// once, or texts made for it would be read an exponential number of times.
func (p *parser) sum(w *wordBuilder) bool {
	save, trouble, heres, built := p.pos, p.problem, len(p.heres), *w
	if p.noSum[save] {
		return false
	}
	open := strings.IndexByte(p.src[save:], '(')
	p.pos += open + 2
	if p.balanced(w, save, "))", false) {
		return true
	}
	p.pos, p.problem, p.heres, *w = save, trouble, p.heres[:min(heres, len(p.heres))], built
	if p.noSum == nil {
		p.noSum = map[int]bool{}
	}
	p.noSum[save] = true
	return false
}

func (p *parser) param(w *wordBuilder, name, rest string, length int) {
	at := len(w.text)
	w.add(p.src[p.pos:p.pos+length], expanded)
	w.params = append(w.params, Param{Name: name, Rest: rest, at: at, end: len(w.text)})
	p.pos += length
}

// parens reads ( list ) of a substitution. The word gets it as written, with
// before bytes that stand before the parenthesis.
func (p *parser) parens(w *wordBuilder, before int) {
	began := p.pos - before
	if !p.enter() {
		return
	}
	defer p.leave()
	p.pos++
	w.subs = append(w.subs, p.list(nil, false))
	p.closing(')')
	w.add(p.src[began:p.pos], expanded)
}

// braced reads ${ … }: the name, and what follows it with its substitutions.
func (p *parser) braced(w *wordBuilder, inQuotes bool) {
	began := p.pos
	p.pos += 2
	i := 0
	if p.at(0) == '!' || p.at(0) == '#' {
		i++ // of another parameter, or its length: not its value
	}
	for isNameByte(p.at(i), false) {
		i++
	}
	name := p.src[p.pos : p.pos+i]
	p.pos += i
	rest := p.pos
	var inner wordBuilder
	if !p.balanced(&inner, p.pos, "}", inQuotes) {
		p.trouble("no %q", "}")
	}
	w.subs = append(w.subs, inner.subs...)
	at := len(w.text)
	w.add(p.src[began:p.pos], expanded)
	if end := p.pos - 1; end >= rest {
		w.params = append(w.params, Param{Name: name, Rest: p.src[rest:end], at: at, end: len(w.text)})
	}
}

// balanced reads up to end, over quotes, substitutions and parentheses. The
// word gets it as written from began on. In double quotes a single quote is text.
func (p *parser) balanced(w *wordBuilder, began int, end string, inQuotes bool) bool {
	if !p.enter() {
		return false
	}
	defer p.leave()
	var inner wordBuilder
	open := 0
	for !p.eof() {
		c := p.src[p.pos]
		switch {
		case open == 0 && p.has(end):
			p.pos += len(end)
			w.add(p.src[began:p.pos], expanded)
			w.subs = append(w.subs, inner.subs...)
			return true
		case c == '(' && end != "}":
			open++
			p.pos++
		case c == ')' && end != "}":
			if open--; open < 0 {
				return false
			}
			p.pos++
		case c == '\\':
			p.pos = min(p.pos+2, len(p.src))
		case c == '\'' && !inQuotes:
			p.single(&inner)
		case c == '"':
			p.pos++
			p.double(&inner)
		case c == '$':
			p.dollar(&inner, plain)
		case c == '`':
			p.backtick(&inner)
		default:
			p.pos++
		}
	}
	return false
}

// backtick reads `…`. Within it a backslash takes its meaning from ` \ and $.
func (p *parser) backtick(w *wordBuilder) {
	began := p.pos
	p.pos++
	var inner strings.Builder
	for closed := false; !closed; p.pos++ {
		if p.eof() {
			p.trouble("a backtick that does not close")
			break
		}
		c := p.src[p.pos]
		switch {
		case c == '`':
			closed = true
		case c == '\\' && p.pos+1 < len(p.src) && strings.IndexByte("`\\$", p.src[p.pos+1]) >= 0:
			p.pos++
			inner.WriteByte(p.src[p.pos])
		default:
			inner.WriteByte(c)
		}
	}
	w.add(p.src[began:p.pos], expanded)
	if p.depth >= maxDepth {
		p.trouble("nested more than %d deep", maxDepth)
		return
	}
	s := parse(inner.String(), p.depth+1, p.steps)
	w.subs = append(w.subs, s.List)
	if s.Problem != "" {
		p.trouble("%s", s.Problem)
	}
}
