package redact

import "strings"

// What a byte can begin. A byte without any of these costs one table look-up.
const (
	inWord  = 1 << iota // a letter or digit: a token can begin only before the first of them
	first               // a letter that some token begins with
	equals              // =
	colon               // :
	dash                // -
	escaped             // \
	control             // ESC
)

var class = func() (t [256]uint8) {
	for c := range 256 {
		if isAlnum(byte(c)) {
			t[c] = inWord
		}
		if len(byFirst[c]) > 0 || byte(c) == jwtPrefix[0] {
			t[c] |= first
		}
	}
	t['='], t[':'], t['-'], t['\\'], t[0x1b] = equals, colon, dash, escaped, control
	return t
}()

// A scanner looks at each byte of a text once, from left to right.
type scanner struct {
	t     string
	done  int // end of the last secret: nothing before it is looked at again
	runs  runs
	found []span

	// keyEnd is the next end of a key block, so that beginnings without an
	// end do not search the text again and again: -1 not looked for, len(t)
	// when there is none.
	keyEnd int
}

// find returns the secrets of t in order. They do not overlap.
func find(t string) []span {
	s := scanner{t: t, keyEnd: -1}
	last := uint8(0)
	for i := 0; i < len(t); {
		c := class[t[i]]
		if c&^inWord == 0 || c&last&inWord != 0 {
			last = c
			i++
			continue
		}
		f := s.at(i, c)
		if f.to > f.from && f.from >= s.done && !isMask(t[f.from:f.to]) {
			s.found = append(s.found, f)
			s.done, i = f.to, f.to
			last = class[t[i-1]]
			continue
		}
		last = c
		i++
	}
	return s.found
}

// at returns the secret that what stands at i announces, or an empty span.
func (s *scanner) at(i int, c uint8) span {
	switch {
	case c&first != 0:
		return s.token(i)
	case c&equals != 0:
		return s.equals(i)
	case c&colon != 0:
		return s.colon(i)
	case c&dash != 0:
		return s.dash(i)
	case c&escaped != 0:
		// In text that is escaped once more the letter of \n is not the
		// beginning of a word.
		if i+2 < len(s.t) && strings.IndexByte("nrt", s.t[i+1]) >= 0 {
			return s.token(i + 2)
		}
	case c&control != 0:
		return s.afterCSI(i)
	}
	return span{}
}

// afterCSI looks for a token right behind a terminal's control sequence, whose
// last letter is not the beginning of a word. ECMA-48, CSI.
func (s *scanner) afterCSI(i int) span {
	const most = 32
	if i+1 >= len(s.t) || s.t[i+1] != '[' {
		return span{}
	}
	for j := i + 2; j < len(s.t) && j-i < most; j++ {
		if s.t[j] >= 0x40 && s.t[j] <= 0x7e {
			return s.token(j + 1)
		}
	}
	return span{}
}

// dash finds key blocks and flags whose value is a word of its own.
func (s *scanner) dash(i int) span {
	t := s.t
	if i > 0 && t[i-1] == '-' {
		return span{}
	}
	switch rest := t[i:]; {
	case strings.HasPrefix(rest, keyBegin):
		return s.keyBlock(i)
	case len(rest) > 4 && rest[1] == '-' && isLetter(rest[2]):
		return s.flag(i + 2)
	case strings.HasPrefix(rest, "-u "):
		return s.userFlag(i, i+3)
	}
	return span{}
}

// flag returns the value of --name VALUE, where i is the beginning of the
// name. --name=VALUE is found at its equals sign.
func (s *scanner) flag(i int) span {
	t := s.t
	end := i
	for end < len(t) && end-i <= maxName && isNameByte(t[end]) {
		end++
	}
	if end >= len(t) || t[end] != ' ' {
		return span{}
	}
	if t[i:end] == "user" || t[i:end] == "proxy-user" {
		return s.userFlag(i, end+1)
	}
	k := kindOf(t[i:end])
	if k == plain || end+1 >= len(t) || t[end+1] == '-' || t[end+1] == ' ' {
		return span{}
	}
	return s.value(end+1, site{name: t[i:end], kind: k, strong: true, flag: true})
}

// userFlag returns the password of curl's -u NAME:PASSWORD. Other programs
// mean something else by -u, so curl has to stand before it on the line.
func (s *scanner) userFlag(i, from int) span {
	const back = 256
	line := s.t[max(s.done, i-back):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if !strings.Contains(line, "curl") {
		return span{}
	}
	if from < len(s.t) && strings.IndexByte(quotes, s.t[from]) >= 0 {
		from++
	}
	for j := from; j < len(s.t) && j-from <= maxName; j++ {
		switch b := s.t[j]; {
		case b == ':':
			return s.bare(j+1, "")
		case b <= ' ' || strings.IndexByte(quotes, b) >= 0:
			return span{}
		}
	}
	return span{}
}

const (
	keyBegin = "-----BEGIN "
	keyStop  = "-----END "
	keyWords = "PRIVATE KEY"
)

// keyBlock returns the body of a private key whose first line begins at i. A
// block without an end goes as far as its lines look like one.
func (s *scanner) keyBlock(i int) span {
	const maxLabel = 64
	t := s.t
	label := t[i+len(keyBegin) : min(len(t), i+len(keyBegin)+maxLabel)]
	stop := strings.Index(label, "-----")
	if stop < 0 || !strings.Contains(label[:stop], keyWords) {
		return span{}
	}
	from := i + len(keyBegin) + stop + len("-----")
	if s.keyEnd < from {
		s.keyEnd = len(t)
		if n := strings.Index(t[from:], keyStop); n >= 0 {
			s.keyEnd = from + n
		}
	}
	to := s.keyEnd
	if to == len(t) {
		to = keyLines(t, from)
	}
	for from < to && isKeySpace(t, from) > 0 {
		from += isKeySpace(t, from)
	}
	for to > from && (t[to-1] == '\n' || t[to-1] == '\r' || t[to-1] == ' ') {
		to--
	}
	for to-2 >= from && t[to-2] == '\\' && strings.IndexByte("nr", t[to-1]) >= 0 {
		to -= 2
	}
	return span{from, to}
}

// isKeySpace returns the length of the line break or blank at i, also of one
// that is written as \n.
func isKeySpace(t string, i int) int {
	switch {
	case t[i] <= ' ':
		return 1
	case t[i] == '\\' && i+1 < len(t) && strings.IndexByte("nr", t[i+1]) >= 0:
		return 2
	}
	return 0
}

// keyLines returns the end of the lines from i on that could be a key's.
func keyLines(t string, i int) int {
	const least = 16 // characters of a line of a key that was cut
	for i < len(t) {
		j := i
		for j < len(t) && isKeySpace(t, j) > 0 {
			j += isKeySpace(t, j)
		}
		end := j
		for end < len(t) && (isAlnum(t[end]) || strings.IndexByte("+/=", t[end]) >= 0) {
			end++
		}
		if end-j < least || end < len(t) && isKeySpace(t, end) == 0 {
			break
		}
		i = end
	}
	return i
}
