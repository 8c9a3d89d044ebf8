package redact

import "strings"

// equals returns the value behind the equals sign at i.
func (s *scanner) equals(i int) span {
	t := s.t
	next := i + 1
	if next >= len(t) || t[next] == '=' || i > 0 && strings.IndexByte("=!<>~", t[i-1]) >= 0 {
		return span{} // a comparison, or the end of base64
	}
	arrow := t[next] == '>'
	if arrow {
		next++
	}
	at := i
	if i > 0 && strings.IndexByte(":?+|", t[i-1]) >= 0 {
		at-- // := of Go, ?= and += of make
	}
	if at == 0 || !endsName[t[at-1]] {
		return span{}
	}
	st, spaced := s.before(at)
	if st.kind == plain || st.kind == header || st.kind == cookie {
		return span{}
	}
	for next < len(t) && (t[next] == ' ' || t[next] == '\t') {
		spaced = true
		next++
	}
	// NAME=value without a blank is an environment's.
	st.strong = st.strong || !spaced && isUpper(st.name)
	if arrow && (next >= len(t) || strings.IndexByte(quotes, t[next]) < 0) {
		return span{}
	}
	return s.value(next, st)
}

// colon returns the value behind the colon at i: of a field, of a header, of
// a URL with a password in it, or the bot token that the colon is part of.
func (s *scanner) colon(i int) span {
	t := s.t
	if strings.HasPrefix(t[i:], "://") {
		return s.userinfo(i)
	}
	if i > s.done && isDigit(t[i-1]) {
		if f := s.bot(i); f.to > 0 {
			return f
		}
	}
	if i == 0 || !endsName[t[i-1]] {
		return span{}
	}
	st, _ := s.before(i)
	if st.kind == plain {
		return span{}
	}
	next := i + 1
	for next < len(t) && (t[next] == ' ' || t[next] == '\t') {
		next++
	}
	if next >= len(t) || t[next] == '=' || t[next] == ':' {
		return span{}
	}
	return s.value(next, st)
}

// value returns the value that begins at i, if it is a secret.
func (s *scanner) value(i int, st site) span {
	t := s.t
	if i >= len(t) {
		return span{}
	}
	quote := ""
	switch {
	case strings.IndexByte(quotes, t[i]) >= 0:
		quote = t[i : i+1]
	case t[i] == '\\' && i+1 < len(t) && strings.IndexByte(quotes, t[i+1]) >= 0:
		quote = t[i : i+2]
	}
	if quote == "" {
		return s.unquoted(i, st)
	}
	from := i + len(quote)
	to := closing(t, from, quote)
	if to < 0 { // the line or the text was cut before the quote
		return s.unquoted(from, st)
	}
	if !secretInQuotes(t[from:to], st) {
		return span{}
	}
	return credential(t, from, to, st)
}

// closing returns the place of the quote that ends the value from i on, or -1
// when its line ends before.
func closing(t string, i int, quote string) int {
	for ; i < len(t) && t[i] != '\n'; i++ {
		switch {
		case t[i] == quote[0] && strings.HasPrefix(t[i:], quote):
			return i
		case t[i] == '\\' && len(quote) == 1:
			i++
		}
	}
	return -1
}

// credential leaves the scheme of a header out of the span: Bearer and its
// like are no secret.
func credential(t string, from, to int, st site) span {
	if st.kind != header {
		return span{from, to}
	}
	if n := strings.IndexByte(t[from:to], ' '); n > 0 && n < 16 {
		from += n + 1
	}
	for from < to && t[from] == ' ' {
		from++
	}
	return span{from, to}
}

// secretInQuotes reports whether the text between two quotes is a secret
// rather than a sample, a name or a sentence.
func secretInQuotes(v string, st site) bool {
	switch {
	case v == "" || isSample(v) || strings.EqualFold(v, st.name):
		return false
	case st.kind == header:
		return !isSample(lastWord(v)) && len(v) >= 8
	case st.kind == cookie:
		return strings.IndexByte(v, '=') > 0
	case st.kind == password:
		return st.strong || strings.Count(v[:min(len(v), 256)], " ") < 4 // a longer one explains what a password is
	}
	return st.strong || len(v) >= 6 && strings.IndexByte(v, ' ') < 0
}

func lastWord(v string) string { return v[strings.LastIndexByte(v, ' ')+1:] }

// unquoted returns the secret that begins at i without a quote.
func (s *scanner) unquoted(i int, st site) span {
	switch st.kind {
	case header:
		return s.headerValue(i)
	case cookie:
		return s.cookieValue(i, st)
	}
	stop := ""
	switch {
	case st.query:
		stop = "&#"
	case st.flag, st.strong && st.begins:
	default:
		stop = ";&"
	}
	f := s.bare(i, stop)
	if f.to <= f.from {
		return span{}
	}
	v := s.t[f.from:f.to]
	switch {
	case strings.EqualFold(v, st.name):
		return span{}
	case st.strong && st.kind == opaque && len(v) < 4 && !st.begins && !st.flag:
		return span{}
	case st.strong:
		return f
	case st.kind == opaque && !isOpaque(v), st.kind == password && !s.isPassword(f, st):
		return span{}
	}
	return f
}

// bare returns the run from i on up to a blank, a quote or one of the bytes of
// stop, without the marks that belong to the sentence around it. References
// and calls are no values.
func (s *scanner) bare(i int, stop string) span {
	t := s.t
	if i >= len(t) || isReference(t, i) {
		return span{}
	}
	to := i
	for to < len(t) && t[to] > ' ' && t[to] != 0x7f && strings.IndexByte(quotes, t[to]) < 0 && strings.IndexByte(stop, t[to]) < 0 {
		if t[to] == '\\' && to+1 < len(t) && strings.IndexByte("nrt\"'", t[to+1]) >= 0 {
			break // the end of a line in text that is escaped once more
		}
		to++
	}
	cut := to < len(t) && strings.IndexByte(quotes, t[to]) >= 0
	for to > i && strings.IndexByte(",;", t[to-1]) >= 0 {
		to--
	}
	for to > i && strings.IndexByte("})]>", t[to-1]) >= 0 && !opens(t[i:to]) {
		to--
	}
	v := t[i:to]
	if v == "" || isSample(v) || isCode(v, cut) {
		return span{}
	}
	return span{i, to}
}

// opens reports whether the bracket that ends v was opened in v.
func opens(v string) bool {
	pair := map[byte]byte{'}': '{', ')': '(', ']': '[', '>': '<'}
	return strings.IndexByte(v, pair[v[len(v)-1]]) >= 0
}

// headerValue returns the credential of an Authorization header from i on.
func (s *scanner) headerValue(i int) span {
	f := s.bare(i, "")
	if f.to <= f.from {
		return span{}
	}
	if f.to+1 < len(s.t) && s.t[f.to] == ' ' && f.to-f.from < 16 {
		if c := s.bare(f.to+1, ""); c.to > c.from {
			return c
		}
		return span{}
	}
	if f.to-f.from < 8 || isWord(s.t[f.from:f.to]) {
		return span{}
	}
	return f
}

// cookieValue returns the pairs of a cookie header up to the end of its line.
// The first pair has to begin at i: other lines may speak of cookies too.
func (s *scanner) cookieValue(i int, st site) span {
	t := s.t
	if !st.begins {
		return span{}
	}
	to := i
	for to < len(t) && to-i <= maxName && isNameByte(t[to]) {
		to++
	}
	if to == i || to >= len(t) || t[to] != '=' {
		return span{}
	}
	for to < len(t) && t[to] >= ' ' && strings.IndexByte(quotes, t[to]) < 0 {
		to++
	}
	return span{i, to}
}

// isPassword reports whether an unquoted value beside a password's name is
// one. Such a value is the only word before the end of its line or list, and
// no name of something else.
func (s *scanner) isPassword(f span, st site) bool {
	v := s.t[f.from:f.to]
	if isOpaque(v) {
		return true
	}
	if isIdentifier(v) && strings.ContainsAny(v, "_.") || isVerdict(v) || isSample(strings.TrimRight(v, "!?")) {
		return false
	}
	if !st.begins {
		// In a connection string the pairs follow each other on one line.
		return f.from > 0 && s.t[f.from-1] == '=' && !hasSecretName(v)
	}
	for i := f.to; i < len(s.t); i++ {
		switch b := s.t[i]; {
		case b == '\n' || b == '\r' || b == '#' || b == ',' || b == '}' || b == ';' || b == '\\':
			return true
		case b == ' ' || b == '\t':
		default:
			return f.from > 0 && s.t[f.from-1] == '='
		}
	}
	return true
}

// hasSecretName reports whether v is itself named like a secret: password=pwd.
func hasSecretName(v string) bool { return kindOf(v) != plain || isWord(v) && len(v) < 4 }

// userinfo returns the password in scheme://name:password@host, where the
// colon of the scheme is at i, or the token that stands there alone.
func (s *scanner) userinfo(i int) span {
	const most = 1024
	t := s.t
	from := i + len("://")
	if i == 0 || !isAlnum(t[i-1]) {
		return span{}
	}
	at, sep := -1, -1
	for j := from; j < len(t) && j-from < most; j++ {
		b := t[j]
		if b <= ' ' || b == '/' || b == '?' || b == '#' || b == '<' || b == '>' || strings.IndexByte(quotes, b) >= 0 {
			break
		}
		if b == '@' {
			at = j
		}
		if b == ':' && sep < 0 {
			sep = j
		}
	}
	switch {
	case at < 0:
		return span{}
	case sep >= 0 && sep < at:
		from = sep + 1
	case !isOpaque(t[from:at]) || at-from < short:
		return span{} // a name
	}
	if from == at || isReference(t, from) || isSample(t[from:at]) {
		return span{}
	}
	return span{from, at}
}
