package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns raw with the secrets in its string values masked, and how many
// there were. Keys, numbers, order and blanks stay as they are; when there was
// no secret it returns raw itself. What is not JSON is redacted as text.
//
// A string is also a secret by its place: in the value of a key that says so,
// and behind "--token" in a list of arguments.
func JSON(raw json.RawMessage) (json.RawMessage, int) {
	if !json.Valid(raw) {
		b, n := Bytes(raw)
		return b, n
	}
	w := jsonWalk{in: raw}
	w.walk()
	if w.count == 0 {
		return raw, 0
	}
	w.out = append(w.out, raw[w.done:]...)
	return w.out, w.count
}

// A level is one object or list that the walk is in.
type level struct {
	object bool
	name   string // the key whose value comes, or the one that a list is the value of
	inKey  bool   // the next string of the object is a key
	flag   string // the string before in a list, when it is a flag
}

type jsonWalk struct {
	in    []byte
	out   []byte
	done  int // bytes of in that are in out
	count int
	stack []level
}

// walk goes over valid JSON.
func (w *jsonWalk) walk() {
	for i := 0; i < len(w.in); i++ {
		switch w.in[i] {
		case '{':
			w.stack = append(w.stack, level{object: true, inKey: true})
		case '[':
			w.stack = append(w.stack, level{name: w.name()})
		case '}', ']':
			w.stack = w.stack[:len(w.stack)-1]
		case ',':
			if l := w.top(); l != nil && l.object {
				l.inKey = true
			}
		case ':':
			w.top().inKey = false
		case '"':
			end := stringEnd(w.in, i)
			w.string(i, end)
			i = end - 1
		}
	}
}

func (w *jsonWalk) top() *level {
	if len(w.stack) == 0 {
		return nil
	}
	return &w.stack[len(w.stack)-1]
}

func (w *jsonWalk) name() string {
	if l := w.top(); l != nil {
		return l.name
	}
	return ""
}

// stringEnd returns the place after the quote that ends the string at i.
func stringEnd(in []byte, i int) int {
	for i++; ; i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// string handles the string in[from:to], its quotes included.
func (w *jsonWalk) string(from, to int) {
	inner := w.in[from+1 : to-1]
	var s string
	if bytes.IndexByte(inner, '\\') < 0 {
		s = string(inner)
	} else if json.Unmarshal(w.in[from:to], &s) != nil {
		return
	}
	l := w.top()
	if l != nil && l.object && l.inKey {
		l.name = s
		return
	}
	red, n := value(s, w.site())
	if l != nil && !l.object {
		l.flag = ""
		if isFlag(red) {
			l.flag = red
		}
	}
	if n == 0 {
		return
	}
	w.count += n
	w.out = append(w.out, w.in[w.done:from]...)
	w.out = append(w.out, quoteJSON(red)...)
	w.done = to
}

// site is what is known of the place of the next string.
func (w *jsonWalk) site() site {
	l := w.top()
	if l == nil {
		return site{}
	}
	if l.flag != "" {
		return site{name: l.flag, kind: kindOf(l.flag), strong: true, flag: true}
	}
	return site{name: l.name, kind: kindOf(l.name)}
}

// value redacts one string whose place is known.
func value(s string, st site) (string, int) {
	total := 0
	for range rounds {
		red, n := byPlace(s, st)
		if n == 0 {
			red, n = String(s)
		}
		if n == 0 {
			break
		}
		s, total = red, total+n
	}
	return s, total
}

// byPlace masks s when its place says that it is a secret.
func byPlace(s string, st site) (string, int) {
	if st.kind == plain || !secretInQuotes(s, st) || st.flag && s[0] == '-' {
		return s, 0
	}
	f := credential(s, 0, len(s), st)
	if f.to <= f.from || isMask(s[f.from:f.to]) {
		return s, 0
	}
	return replace(s, []span{f}), 1
}

// isFlag reports whether a word of a command line says that the next one is a
// secret.
func isFlag(s string) bool {
	if !strings.HasPrefix(s, "-") || len(s) > maxName || kindOf(s) == plain {
		return false
	}
	for _, b := range []byte(s) {
		if !isNameByte(b) {
			return false
		}
	}
	return true
}

func quoteJSON(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return []byte(`"` + stars + `"`) // a string always encodes; this hides rather than shows
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
