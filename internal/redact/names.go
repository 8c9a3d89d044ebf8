package redact

import "strings"

// A kind says what a name promises of its value.
type kind uint8

const (
	plain    kind = iota // nothing
	password             // a secret that a person may have chosen: any word
	opaque               // a secret that a program made: no plain word
	header               // a scheme and a credential
	cookie               // pairs of names and secrets
)

// maxName bounds how far the name before an operator is read.
const maxName = 64

const quotes = "\"'`"

// endings are the ends of names, in lower case and without their separators,
// that promise a secret.
var endings = []struct {
	end  string
	kind kind
}{
	{"password", password},
	{"passwd", password},
	{"passphrase", password},
	{"passcode", password},
	{"pwd", password},
	{"secret", password},
	{"credential", password},
	{"credentials", password},
	{"token", opaque},
	{"apikey", opaque},
	{"secretkey", opaque},
	{"accesskey", opaque},
	{"privatekey", opaque},
	{"encryptionkey", opaque},
	{"signingkey", opaque},
	{"masterkey", opaque},
	{"accountkey", opaque},
	{"authkey", opaque},
	{"sessionkey", opaque},
	{"servicekey", opaque},
	{"deploykey", opaque},
	{"authorization", header},
	{"cookie", cookie},
}

// shortEndings count only as a word of their own behind another one: DB_PASS
// is a secret, BYPASS and PASS are none.
var shortEndings = map[string]kind{"pass": password, "pw": password, "auth": opaque, "pat": opaque}

// noSecrets are names that end like a secret's and are none: places in a list,
// words of language models, and the working directory.
var noSecrets = map[string]bool{
	"PWD": true, "OLDPWD": true,
	"next_token": true, "nexttoken": true, "nextToken": true, "NextToken": true, "nextPageToken": true, "next_page_token": true,
	"pageToken": true, "page_token": true, "continuationToken": true, "continuation_token": true,
	"eos_token": true, "bos_token": true, "pad_token": true, "unk_token": true, "sep_token": true, "cls_token": true, "mask_token": true,
}

// inQuery are names that promise a secret only in the query of a URL.
var inQuery = map[string]kind{
	"key": opaque, "sig": opaque, "signature": opaque, "code": opaque, "auth": opaque, "session": opaque, "sid": opaque,
	"x-amz-signature": opaque, "x-goog-signature": opaque, "x-amz-security-token": opaque, "pass": password,
}

// endsName holds the bytes that can stand before an operator whose value is a
// secret: the last letters of the names above, quotes and blanks. Most
// operators of a text have another byte there and need no more than that.
var endsName = func() (t [256]bool) {
	last := func(name string) {
		b := name[len(name)-1]
		t[b], t[b&^0x20] = true, true
	}
	for _, e := range endings {
		last(e.end)
	}
	for name := range shortEndings {
		last(name)
	}
	for name := range inQuery {
		last(name)
	}
	for _, b := range []byte(quotes + " \t") {
		t[b] = true
	}
	return t
}()

// kindOf returns what a name promises.
func kindOf(name string) kind {
	if len(name) < 3 || noSecrets[name] {
		return plain
	}
	if !endsName[name[len(name)-1]] {
		return plain
	}
	var buf [maxName]byte
	low := buf[:0]
	sep := 0 // length of low at the last separator
	for i := range min(len(name), maxName) {
		switch b := name[i]; {
		case b == '_' || b == '-' || b == '.':
			sep = len(low)
		case b >= 'A' && b <= 'Z':
			low = append(low, b|0x20)
		default:
			low = append(low, b)
		}
	}
	for _, e := range endings {
		if len(low) >= len(e.end) && string(low[len(low)-len(e.end):]) == e.end {
			return e.kind
		}
	}
	if sep > 0 || name[0] == '_' {
		return shortEndings[string(low[sep:])]
	}
	return plain
}

func isNameByte(b byte) bool {
	return isAlnum(b) || b == '_' || b == '-' || b == '.'
}

// A site is where a value stands: what was before it.
type site struct {
	name   string
	kind   kind
	strong bool // the syntax leaves no doubt that this is a value: a flag, a query, an environment
	flag   bool // a word of a command line
	query  bool // of a URL
	begins bool // nothing but blanks and marks of a list stand before the name on its line
}

// before reads the name that ends before i, where i is the place of the
// operator. Blanks and one closing quote may stand between.
func (s *scanner) before(i int) (st site, spaced bool) {
	t := s.t
	const maxBlanks = 8
	end := i
	for end > s.done && i-end < maxBlanks && (t[end-1] == ' ' || t[end-1] == '\t') {
		end--
	}
	spaced = end < i
	quoted := end > s.done && strings.IndexByte(quotes, t[end-1]) >= 0
	if quoted {
		end--
		if end > s.done && t[end-1] == '\\' {
			end--
		}
	}
	from := end
	for from > s.done && end-from < maxName && isNameByte(t[from-1]) {
		from--
	}
	if from < end && from > s.done && t[from-1] == '\\' && strings.IndexByte("nrt", t[from]) >= 0 {
		from++ // the letter of \n belongs to no name
	}
	st.name = t[from:end]
	st.kind = kindOf(st.name)
	if from == 0 {
		st.begins = true
		return st, spaced
	}
	switch b := t[from-1]; {
	case b == '?' || b == '&':
		st.query, st.strong = true, true
		if k, ok := inQuery[strings.ToLower(st.name)]; ok && st.kind == plain {
			st.kind = k
		}
	case strings.IndexByte("\n\r{,;[(", b) >= 0 || b == ' ' || b == '\t' || quoted || b == 'n' && from > 1 && t[from-2] == '\\':
		st.begins = begins(t, from, s.done)
	}
	if strings.HasPrefix(st.name, "--") {
		st.flag, st.strong = true, true
	}
	return st, spaced
}

// begins reports whether a name at from is the first thing on its line, but
// for blanks, marks of a list and the word export.
func begins(t string, from, done int) bool {
	const back = 48
	for i := from; i > done && from-i < back; i-- {
		switch b := t[i-1]; {
		case b == '\n' || b == '\r' || b == '{' || b == ',' || b == ';':
			return true
		case b == ' ' || b == '\t' || b == '-' || b == '+' || b == '"' || b == '\'' || b == '#':
		default:
			return strings.HasSuffix(t[max(done, i-len("export")):i], "export") || strings.HasSuffix(t[max(done, i-3):i], "ENV") ||
				strings.HasSuffix(t[max(done, i-2):i], `\n`)
		}
	}
	return true
}

// isUpper reports whether the name is written as the environment's are.
func isUpper(name string) bool {
	for i := range len(name) {
		if name[i] >= 'a' && name[i] <= 'z' {
			return false
		}
	}
	return true
}
