package safepath

import (
	"encoding/json"
	"sort"
	"strings"
)

// maskAll lists where no directive may start: fenced code, inline code, block
// quotes, strings of JSON.
func (s *scanner) maskAll() []span {
	spans := s.maskLines()
	spans = append(spans, s.maskJSON()...)
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	merged := spans[:0]
	for _, sp := range spans {
		if n := len(merged); n > 0 && sp.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, sp.to)
			continue
		}
		merged = append(merged, sp)
	}
	return merged
}

func (s *scanner) isHidden(i int) bool {
	n := sort.Search(len(s.hidden), func(k int) bool { return s.hidden[k].to > i })
	return n < len(s.hidden) && s.hidden[n].from <= i
}

// maskLines finds fences, block quotes, and inline code on the lines that are
// neither. A fence that is never closed hides nothing.
func (s *scanner) maskLines() []span {
	var spans, inside []span // inside: what the open fence's lines would be without it
	fence, fenceAt := "", 0
	for from := 0; from < len(s.text); {
		to := len(s.text)
		if n := strings.IndexByte(s.text[from:], '\n'); n >= 0 {
			to = from + n + 1
		}
		line := strings.TrimRight(s.text[from:to], "\r\n")
		body := strings.TrimLeft(line, " ")
		mark := fenceMark(body)
		switch {
		case len(line)-len(body) > 3:
			mark = ""
		case fence == "" && mark != "":
			fence, fenceAt = mark, from
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(body) == mark:
			spans = append(spans, span{fenceAt, to})
			fence, inside = "", nil
			from = to
			continue
		}
		var found []span
		if len(line)-len(body) <= 3 && strings.HasPrefix(body, ">") {
			found = []span{{from, to}}
		} else if mark == "" {
			found = s.maskInline(from, from+len(line))
		}
		if fence != "" {
			inside = append(inside, found...)
		} else {
			spans = append(spans, found...)
		}
		from = to
	}
	return append(spans, inside...)
}

// fenceMark is the run of at least three backticks or tildes that starts body.
func fenceMark(body string) string {
	if body == "" || body[0] != '`' && body[0] != '~' {
		return ""
	}
	n := len(body) - len(strings.TrimLeft(body, body[:1]))
	if n < 3 {
		return ""
	}
	return body[:n]
}

// maskInline finds inline code between from and to, on one line. Backticks
// that quote the path of a directive are not inline code, and neither is a
// span that is one whole directive whose file exists.
func (s *scanner) maskInline(from, to int) []span {
	var spans []span
	for i := from; i < to; {
		if s.text[i] != '`' {
			i++
			continue
		}
		n := 1
		for i+n < to && s.text[i+n] == '`' {
			n++
		}
		end := closing(s.text[i+n:to], n)
		if end < 0 {
			i += n
			continue
		}
		end += i + n
		inner := strings.TrimSpace(s.text[i+n : end])
		if !quotesPath(s.text[from:i]) && !s.wholeDirective(inner) {
			spans = append(spans, span{i, end + n})
		}
		i = end + n
	}
	return spans
}

// closing is where a run of exactly n backticks starts in rest, or -1.
func closing(rest string, n int) int {
	for i := 0; i < len(rest); i++ {
		if rest[i] != '`' {
			continue
		}
		run := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
		if run == n {
			return i
		}
		i += run - 1
	}
	return -1
}

// quotesPath reports whether before ends in MEDIA: and spaces, so that the
// backtick after it opens the quotes of a path.
func quotesPath(before string) bool {
	before = strings.TrimRight(before, " \t")
	for n := len("media:"); n <= len("media:")+2 && n <= len(before); n++ { // İ and ı are two bytes
		if mediaWord(before[len(before)-n:]) == n {
			return true
		}
	}
	return false
}

func (s *scanner) wholeDirective(inner string) bool {
	if mediaWord(inner) == 0 {
		return false
	}
	alone := scanner{text: inner, exists: s.exists}
	d, ok := alone.at(0, 0)
	return ok && d.End == len(inner) && s.exists(d.Path)
}

// maskJSON finds strings that are values of JSON: after a key and its colon,
// in a list of strings, or anywhere when the whole text is an object or a list.
func (s *scanner) maskJSON() []span {
	text := s.text
	if !strings.Contains(text, `"`) {
		return nil
	}
	start := skipBlank(text, 0)
	whole := start < len(text) && (text[start] == '{' || text[start] == '[') && json.Valid([]byte(text))
	var spans []span
	for i := 0; i < len(text); {
		if text[i] == '[' {
			if list, end := jsonList(text, i); end > 0 {
				spans = append(spans, list...)
				i = end
				continue
			}
		}
		end := jsonString(text, i)
		if end < 0 {
			i++
			continue
		}
		value := afterColon(text, end)
		switch {
		case whole:
			spans = append(spans, span{i, end})
			i = end
		case value < 0:
			i++ // quotes of the prose: the next one may open a key
		default:
			if stop := jsonString(text, value); stop > 0 {
				spans = append(spans, span{value, stop})
				value = stop
			}
			i = value
		}
	}
	return spans
}

// jsonString is the end of the string that starts at i, or -1.
func jsonString(text string, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '\n':
			return -1
		case '"':
			return j + 1
		}
	}
	return -1
}

// afterColon is where the value starts when a colon follows at i, or -1.
func afterColon(text string, i int) int {
	i = skipBlank(text, i)
	if i >= len(text) || text[i] != ':' {
		return -1
	}
	return skipBlank(text, i+1)
}

// jsonList reads a list of strings that starts at i. The end is 0 when it is
// none.
func jsonList(text string, i int) ([]span, int) {
	var spans []span
	for {
		i = skipBlank(text, i+1)
		end := jsonString(text, i)
		if end < 0 {
			return nil, 0
		}
		spans = append(spans, span{i, end})
		i = skipBlank(text, end)
		if i >= len(text) {
			return nil, 0
		}
		switch text[i] {
		case ',':
		case ']':
			return spans, i + 1
		default:
			return nil, 0
		}
	}
}

func skipBlank(text string, i int) int {
	return i + len(text[min(i, len(text)):]) - len(strings.TrimLeft(text[min(i, len(text)):], " \t\r\n"))
}
