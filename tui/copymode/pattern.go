package copymode

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// ErrPattern matches every PatternError.
var ErrPattern = errors.New("not a regular expression")

// A PatternError says why a pattern is no regular expression (RE2 syntax).
type PatternError struct {
	Pattern string
	Cause   error
}

// Error says the reason in words, with the part that is wrong when it is not the
// whole pattern.
func (e *PatternError) Error() string { return fmt.Sprintf("read pattern: %s", e.Reason()) }

func (e *PatternError) Unwrap() error        { return e.Cause }
func (e *PatternError) Is(target error) bool { return target == ErrPattern }

// Reason is the message without the verb.
func (e *PatternError) Reason() string {
	s, ok := errors.AsType[*syntax.Error](e.Cause)
	switch {
	case !ok:
		return e.Cause.Error()
	case s.Expr == "" || s.Expr == e.Pattern:
		return s.Code.String()
	}
	return s.Code.String() + " at " + s.Expr
}

// maxPattern is the longest pattern that is taken, in bytes. Nobody types more;
// a paste by accident may be.
const maxPattern = 1024

// A pattern is what is searched for.
type pattern struct {
	source string
	re     *regexp.Regexp
	lit    []byte // the whole pattern as plain ASCII text; nil when it is more than that
	fold   bool   // lit is lower case and stands for both cases
}

// compile reads a pattern. Without an upper-case letter it stands for both cases.
func compile(source string) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, &PatternError{source, fmt.Errorf("longer than %d bytes", maxPattern)}
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, &PatternError{source, err}
	}
	expr := source
	if !hasUpper(source) {
		expr = "(?i)" + source
		if re, err = regexp.Compile(expr); err != nil {
			return nil, &PatternError{source, err}
		}
	}
	p := &pattern{source: source, re: re}
	p.lit, p.fold = literal(expr)
	return p, nil
}

// hasUpper reports whether a pattern holds an upper-case letter that is not part
// of an escape like \S or \p{Lu}.
func hasUpper(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r != '\\' {
			if unicode.IsUpper(r) {
				return true
			}
			continue
		}
		if i >= len(s) {
			return false
		}
		e, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch e {
		case 'p', 'P', 'x':
			if i < len(s) && s[i] == '{' {
				for i < len(s) && s[i] != '}' {
					i++
				}
			} else if e != 'x' {
				i++
			}
		}
	}
	return false
}

// literal returns the text that an expression stands for when it is nothing but
// ASCII text, in lower case when the case does not matter.
func literal(expr string) (lit []byte, fold bool) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, false
	}
	if re = re.Simplify(); re.Op != syntax.OpLiteral {
		return nil, false
	}
	fold = re.Flags&syntax.FoldCase != 0
	for _, r := range re.Rune {
		if r >= utf8.RuneSelf {
			return nil, false
		}
		if fold {
			r = unicode.ToLower(r)
		}
		lit = append(lit, byte(r))
	}
	return lit, fold
}

// each calls yield with every match of at least one byte, from the left, until
// it returns false. Matches do not overlap.
func (p *pattern) each(j *joined, yield func(from, to int) bool) {
	if len(p.lit) == 0 || p.fold && !j.ascii {
		p.eachMatch(j.text, yield)
		return
	}
	text := j.text
	if p.fold {
		text = j.lower()
	}
	for at := 0; ; {
		i := bytes.Index(text[at:], p.lit)
		if i < 0 || !yield(at+i, at+i+len(p.lit)) {
			return
		}
		at += i + len(p.lit)
	}
}

// matchSlice is how many matches the regular expression engine is asked for at
// once: a line rarely has more, and one that has thousands is asked again.
const matchSlice = 64

// eachMatch is each by the regular expression engine. It cannot go on from an
// offset, as ^ and \b look at what stands before; so it is asked for more and
// more matches of the whole text.
func (p *pattern) eachMatch(text []byte, yield func(from, to int) bool) {
	done := 0
	for n := matchSlice; ; n *= 8 {
		list := p.re.FindAllIndex(text, n)
		for _, m := range list[min(done, len(list)):] {
			if m[0] < m[1] && !yield(m[0], m[1]) {
				return
			}
		}
		if len(list) < n {
			return
		}
		done = len(list)
	}
}
