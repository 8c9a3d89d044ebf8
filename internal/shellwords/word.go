package shellwords

import (
	"slices"
	"strings"
)

// How each byte of a Word's Text came about.
const (
	plain    = 'p' // written without quotes: globs and braces work
	quoted   = 'q' // written in quotes or after a backslash
	expanded = 'x' // a parameter or a substitution, as it is written
)

// A Word is one shell word after its quotes were taken off.
type Word struct {
	Text   string  // what cannot be known before it runs stands as written
	Params []Param // the parameters in Text
	Subs   []List  // the commands of its substitutions

	mask   string // one letter for each byte of Text
	joined bool   // its parts stand on two lines
}

// A Param is one parameter in a word.
type Param struct {
	Name string
	Rest string // what follows the name in ${ }: ":-x", "%/*"

	at, end int // in Text
}

// Literal is a Word that is only text.
func Literal(text string) Word {
	return Word{Text: text, mask: strings.Repeat(string(rune(quoted)), len(text))}
}

// Known reports whether the text is what a command would get, but for globs
// and braces.
func (w Word) Known() bool { return strings.IndexByte(w.mask, expanded) < 0 }

// Is reports whether the word is known to be one of these.
func (w Word) Is(texts ...string) bool { return w.Known() && slices.Contains(texts, w.Text) }

// Globs reports whether an unquoted glob is in the word.
func (w Word) Globs() bool {
	for i := range len(w.Text) {
		if w.mask[i] == plain && strings.IndexByte("*?[", w.Text[i]) >= 0 {
			return true
		}
	}
	return false
}

// Tilde reports whether the word begins with a ~ that a shell replaces.
func (w Word) Tilde() bool { return w.Text != "" && w.Text[0] == '~' && w.mask[0] == plain }

// assigns reports whether the word is NAME=value as it stands before a command.
func (w Word) assigns() bool {
	name, _, ok := strings.Cut(w.Text, "=")
	if !ok || name == "" || strings.Trim(w.mask[:len(name)], "p") != "" {
		return false
	}
	name = strings.TrimSuffix(name, "+")
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	return isName(name)
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], i == 0) {
			return false
		}
	}
	return s != ""
}

func isNameByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// Expand returns the word with the parameters that value knows replaced. The
// others stay, and the word is then not Known.
func (w Word) Expand(value func(name string) (string, bool)) Word {
	if len(w.Params) == 0 {
		return w
	}
	var out wordBuilder
	from := 0
	for _, p := range w.Params {
		v, ok := value(p.Name)
		if !ok || p.Rest != "" && strings.IndexByte(":-?=", p.Rest[0]) < 0 || isSlice(p.Rest) {
			continue
		}
		out.copy(w, from, p.at)
		out.add(v, quoted)
		from = p.end
	}
	out.copy(w, from, len(w.Text))
	e := out.word()
	e.Subs = w.Subs
	return e
}

// isSlice reports whether what follows a name is ${NAME:offset}.
func isSlice(rest string) bool {
	return len(rest) > 1 && rest[0] == ':' && strings.IndexByte("-?=+", rest[1]) < 0
}

const (
	maxBraces     = 64   // words that one word with braces becomes
	maxBracedSize = 4096 // bytes of a word whose braces are looked at
)

// Braces returns the words that {a,b} in the word makes, the word itself when
// there is none. The second result is false when there are more than are
// returned. Ranges ({1..3}) stay as they are.
func (w Word) Braces() ([]Word, bool) {
	if len(w.Text) > maxBracedSize {
		return []Word{w}, strings.IndexByte(w.Text, '{') < 0
	}
	todo := []Word{w}
	var done []Word
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		open, commas, end := at.brace()
		if end < 0 {
			done = append(done, at)
			continue
		}
		var made []Word
		from := open + 1
		for _, comma := range append(commas, end) {
			var b wordBuilder
			b.copy(at, 0, open)
			b.copy(at, from, comma)
			b.copy(at, end+1, len(at.Text))
			made = append(made, b.word())
			from = comma + 1
		}
		if len(done)+len(todo)+len(made) > maxBraces {
			return append(done, at), false
		}
		todo = append(made, todo...)
	}
	return done, true
}

// brace finds the first pair of unquoted braces with a comma between them. The
// end is -1 when there is none.
func (w Word) brace() (open int, commas []int, end int) {
	type pair struct {
		open   int
		commas []int
	}
	var within []pair
	open, end = len(w.Text), -1
	for i := range len(w.Text) {
		if w.mask[i] != plain {
			continue
		}
		last := len(within) - 1
		switch c := w.Text[i]; {
		case c == '{':
			within = append(within, pair{open: i})
		case last < 0:
		case c == ',':
			within[last].commas = append(within[last].commas, i)
		case c == '}':
			if p := within[last]; len(p.commas) > 0 && p.open < open {
				open, commas, end = p.open, p.commas, i
			}
			within = within[:last]
		}
	}
	return open, commas, end
}

// A wordBuilder puts a word together.
type wordBuilder struct {
	text, mask []byte
	params     []Param
	subs       []List
	joined     bool
}

func (b *wordBuilder) add(s string, how byte) {
	b.text = append(b.text, s...)
	for range len(s) {
		b.mask = append(b.mask, how)
	}
}

// copy adds a part of w, with the parameters that lie in it.
func (b *wordBuilder) copy(w Word, from, to int) {
	shift := len(b.text) - from
	b.text = append(b.text, w.Text[from:to]...)
	b.mask = append(b.mask, w.mask[from:to]...)
	for _, p := range w.Params {
		if p.at >= from && p.end <= to {
			p.at, p.end = p.at+shift, p.end+shift
			b.params = append(b.params, p)
		}
	}
}

func (b *wordBuilder) word() Word {
	return Word{Text: string(b.text), mask: string(b.mask), Params: b.params, Subs: b.subs, joined: b.joined}
}
