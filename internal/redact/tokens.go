package redact

import "strings"

// A charset says which bytes may be in the body of a token.
type charset uint8

const (
	alnum    charset = iota // A–Z a–z 0–9
	word                    // and _
	dashed                  // and - but not _
	slug                    // and _ -
	dotted                  // and _ - .
	hex                     // 0–9 a–f
	capitals                // A–Z 0–9
	base64                  // and _ - . ~ + / =
	charsets
)

// A shape is how one kind of token looks: its prefix and the least length of
// what follows.
type shape struct {
	prefix string
	body   charset
	min    int
	exact  bool // min is the only length there is
	digit  bool // the body holds a digit: without one it is words
	lone   bool // no - or _ comes before it: elsewhere it is the end of a name
	keep   int  // bytes of the prefix that are no secret
}

// shapes are the tokens that are known by their beginning. Lengths are a
// little below those in use, so that a token that grew or was cut is found.
var shapes = []shape{
	{prefix: "sk-", body: slug, min: 20, digit: true, lone: true}, // OpenAI, Anthropic, OpenRouter and many more
	{prefix: "sk_live_", body: word, min: 16},
	{prefix: "sk_test_", body: word, min: 16},
	{prefix: "rk_live_", body: word, min: 16},
	{prefix: "rk_test_", body: word, min: 16},
	{prefix: "whsec_", body: base64, min: 20},
	{prefix: "ghp_", body: alnum, min: 20},
	{prefix: "gho_", body: alnum, min: 20},
	{prefix: "ghu_", body: alnum, min: 20},
	{prefix: "ghs_", body: alnum, min: 20},
	{prefix: "ghr_", body: alnum, min: 20},
	{prefix: "github_pat_", body: word, min: 22, digit: true},
	{prefix: "glpat-", body: dotted, min: 20},
	{prefix: "gldt-", body: slug, min: 20},
	{prefix: "glrt-", body: dotted, min: 20},
	{prefix: "glcbt-", body: slug, min: 20},
	{prefix: "glptt-", body: slug, min: 20},
	{prefix: "gloas-", body: slug, min: 20},
	{prefix: "glsoat-", body: slug, min: 20},
	{prefix: "glagent-", body: slug, min: 20},
	{prefix: "xoxb-", body: dashed, min: 10, digit: true},
	{prefix: "xoxp-", body: dashed, min: 10, digit: true},
	{prefix: "xoxa-", body: dashed, min: 10, digit: true},
	{prefix: "xoxr-", body: dashed, min: 10, digit: true},
	{prefix: "xoxs-", body: dashed, min: 10, digit: true},
	{prefix: "xoxe-", body: dashed, min: 10, digit: true},
	{prefix: "xoxe.", body: dotted, min: 20, digit: true},
	{prefix: "xapp-", body: dashed, min: 10, digit: true},
	{prefix: "AIza", body: slug, min: 35, exact: true},
	{prefix: "ya29.", body: slug, min: 20},
	{prefix: "AKIA", body: capitals, min: 16, exact: true},
	{prefix: "ASIA", body: capitals, min: 16, exact: true},
	{prefix: "ABIA", body: capitals, min: 16, exact: true},
	{prefix: "ACCA", body: capitals, min: 16, exact: true},
	{prefix: "hf_", body: alnum, min: 30},
	{prefix: "npm_", body: alnum, min: 30},
	{prefix: "pypi-", body: slug, min: 40},
	{prefix: "dop_v1_", body: hex, min: 40},
	{prefix: "doo_v1_", body: hex, min: 40},
	{prefix: "dor_v1_", body: hex, min: 40},
	{prefix: "shpat_", body: hex, min: 32},
	{prefix: "shpca_", body: hex, min: 32},
	{prefix: "shppa_", body: hex, min: 32},
	{prefix: "shpss_", body: hex, min: 32},
	{prefix: "SG.", body: dotted, min: 40, digit: true},
	{prefix: "dckr_pat_", body: slug, min: 20},
	{prefix: "dckr_oat_", body: slug, min: 20},
	{prefix: "gsk_", body: alnum, min: 40},
	{prefix: "r8_", body: alnum, min: 30},
	{prefix: "pplx-", body: alnum, min: 40},
	{prefix: "xai-", body: alnum, min: 40},
	{prefix: "nvapi-", body: slug, min: 40},
	{prefix: "tvly-", body: slug, min: 20, digit: true},
	{prefix: "hvs.", body: slug, min: 24},
	{prefix: "hvb.", body: slug, min: 24},
	{prefix: "sbp_", body: hex, min: 40},
	{prefix: "glsa_", body: word, min: 30},
	{prefix: "glc_", body: base64, min: 32},
	{prefix: "NRAK-", body: capitals, min: 20},
	{prefix: "rubygems_", body: hex, min: 40},
	{prefix: "sq0atp-", body: slug, min: 22},
	{prefix: "sq0csp-", body: slug, min: 40},
	{prefix: "lin_api_", body: alnum, min: 30},
	{prefix: "figd_", body: slug, min: 30},
	{prefix: "PMAK-", body: dashed, min: 40},
	{prefix: "pscale_tkn_", body: dotted, min: 30},
	{prefix: "pscale_pw_", body: dotted, min: 30},
	{prefix: "tskey-", body: dashed, min: 20, digit: true},
	{prefix: "lsv2_pt_", body: word, min: 32},
	{prefix: "lsv2_sk_", body: word, min: 32},
	{prefix: "ATATT3", body: base64, min: 60},
	{prefix: "AGE-SECRET-KEY-1", body: capitals, min: 40},
	{prefix: "Bearer ", body: base64, min: 16, digit: true, keep: 7},
	{prefix: "bearer ", body: base64, min: 16, digit: true, keep: 7},
}

// jwtPrefix begins every JSON web token: it is {" in base64.
const jwtPrefix = "eyJ"

// inSet holds for each byte one bit for each charset that it belongs to.
var inSet = makeSets()

func makeSets() (t [256]uint16) {
	for set, extra := range [charsets]string{alnum: "", word: "_", dashed: "-", slug: "_-", dotted: "_-.", hex: "", capitals: "", base64: "_-.~+/="} {
		for c := range 256 {
			b := byte(c)
			in := isDigit(b) || strings.IndexByte(extra, b) >= 0
			switch charset(set) {
			case hex:
				in = in || b >= 'a' && b <= 'f'
			case capitals:
				in = in || b >= 'A' && b <= 'Z'
			default:
				in = in || isLetter(b)
			}
			if in {
				t[c] |= 1 << set
			}
		}
	}
	return t
}

func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isAlnum(b byte) bool  { return isDigit(b) || isLetter(b) }

// runs remembers for each use how far the last run went, so that a text of
// beginnings without an end is not walked again from each of them.
type runs [charsets + 1]span

// jwtBody is the place of the second part of a web token in runs.
const jwtBody = charsets

// run returns how far the bytes from i on belong to the set. The slot is the
// set itself, but where two runs of one set follow each other.
func (r *runs) run(t string, i int, set, slot charset) int {
	if last := r[slot]; i >= last.from && i < last.to {
		return last.to
	}
	from := i
	for i < len(t) && inSet[t[i]]&(1<<set) != 0 {
		i++
	}
	r[slot] = span{from, i}
	return i
}

// byFirst are the shapes by the first byte of their prefix.
var byFirst = func() (t [256][]shape) {
	for _, s := range shapes {
		t[s.prefix[0]] = append(t[s.prefix[0]], s)
	}
	return t
}()

// firstTwo is a bit for each pair of bytes that a token can begin with. It
// keeps ordinary words from being compared with every shape.
var firstTwo = func() (t [1 << 13]uint8) {
	set := func(p string) {
		k := int(p[0])<<8 | int(p[1])
		t[k>>3] |= 1 << (k & 7)
	}
	for _, s := range shapes {
		set(s.prefix)
	}
	set(jwtPrefix)
	return t
}()

// token returns the token that begins at i, or an empty span.
func (s *scanner) token(i int) span {
	t := s.t
	if i+8 > len(t) {
		return span{}
	}
	if k := int(t[i])<<8 | int(t[i+1]); firstTwo[k>>3]&(1<<(k&7)) == 0 {
		return span{}
	}
	if strings.HasPrefix(t[i:], jwtPrefix) {
		return s.jwt(i)
	}
	for _, sh := range byFirst[t[i]] {
		if !strings.HasPrefix(t[i:], sh.prefix) {
			continue
		}
		if f := s.shaped(sh, i); f.to > 0 {
			return f
		}
	}
	return span{}
}

func (s *scanner) shaped(sh shape, i int) span {
	t := s.t
	if sh.lone && i > 0 && (t[i-1] == '-' || t[i-1] == '_') {
		return span{}
	}
	from := i + len(sh.prefix)
	to := s.runs.run(t, from, sh.body, sh.body)
	for to > from && (t[to-1] == '.' || t[to-1] == '~') {
		to-- // the dot that ends a sentence
	}
	n := to - from
	if n < sh.min || sh.exact && (n != sh.min || to < len(t) && isAlnum(t[to])) {
		return span{}
	}
	const looked = 256 // bytes of a body in which a digit is to be
	if sh.digit && !strings.ContainsAny(t[from:min(to, from+looked)], "0123456789") {
		return span{}
	}
	return span{i + sh.keep, to}
}

// jwt returns the JSON web token at i: header and payload, and a signature
// unless it was cut off.
func (s *scanner) jwt(i int) span {
	const least = 10
	t := s.t
	head := s.runs.run(t, i, slug, slug)
	if head-i < least || head >= len(t) || t[head] != '.' {
		return span{}
	}
	body := s.runs.run(t, head+1, slug, jwtBody)
	if body-head-1 < least {
		return span{}
	}
	if body+1 < len(t) && t[body] == '.' && inSet[t[body+1]]&(1<<slug) != 0 {
		return span{i, s.runs.run(t, body+1, slug, slug)}
	}
	if strings.HasPrefix(t[head+1:], jwtPrefix) {
		return span{i, body}
	}
	return span{}
}

// bot returns the Telegram bot token whose colon is at i: the number of the
// bot, the colon and 35 characters.
func (s *scanner) bot(i int) span {
	const body, least, most = 35, 8, 10
	t, from := s.t, i
	for from > s.done && i-from <= most && isDigit(t[from-1]) {
		from--
	}
	if i-from < least || i-from > most {
		return span{}
	}
	to := i + 1
	for to < len(t) && to-i <= body+1 && inSet[t[to]]&(1<<slug) != 0 {
		to++
	}
	if to-i-1 != body {
		return span{}
	}
	return span{from, to}
}
