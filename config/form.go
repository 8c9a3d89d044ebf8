package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A form is what the values of a key look like and how far they may go. A form
// works on one Go type, the one that read returns.
type form interface {
	want() string             // completes "expected …"
	read(v value) (any, bool) // false: not of this form, or out of range
	text(v any) string        // as written in a file
	schema() map[string]any   // JSON Schema of what is written
	names() []string          // every value by name; nil when they are not few
}

// set puts a value that a form read where it belongs.
func set(at, v any) {
	switch p := at.(type) {
	case *bool:
		*p = v.(bool)
	case *int:
		*p = v.(int)
	case *string:
		*p = v.(string)
	case *Size:
		*p = v.(Size)
	case *Percent:
		*p = v.(Percent)
	case *time.Duration:
		*p = v.(time.Duration)
	case *[]string:
		*p = slices.Clone(v.([]string))
	default:
		panic(fmt.Sprintf("no form has a value for %T", at))
	}
}

// get is the reverse of set.
func get(at any) any {
	switch p := at.(type) {
	case *bool:
		return *p
	case *int:
		return *p
	case *string:
		return *p
	case *Size:
		return *p
	case *Percent:
		return *p
	case *time.Duration:
		return *p
	case *[]string:
		return slices.Clone(*p)
	}
	panic(fmt.Sprintf("no form has a value for %T", at))
}

// flag is true or false.
type flag struct{}

func (flag) want() string             { return "true or false" }
func (flag) read(v value) (any, bool) { return v.text == "true", v.kind == kindBool }
func (flag) text(v any) string        { return strconv.FormatBool(v.(bool)) }
func (flag) schema() map[string]any   { return map[string]any{"type": "boolean"} }
func (flag) names() []string          { return nil }

// words is text that follows a pattern.
type words struct {
	what    string
	pattern *regexp.Regexp
}

func (w words) want() string { return w.what }

func (w words) read(v value) (any, bool) {
	return v.text, v.kind == kindString && w.pattern.MatchString(v.text)
}

func (words) text(v any) string { return tomlString(v.(string)) }
func (w words) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": w.pattern.String()}
}
func (words) names() []string { return nil }

// oneOf is one of a few names.
type oneOf []string

func (o oneOf) want() string {
	quoted := make([]string, len(o))
	for i, name := range o {
		quoted[i] = tomlString(name)
	}
	return "one of " + strings.Join(quoted, ", ")
}

func (o oneOf) read(v value) (any, bool) {
	return v.text, v.kind == kindString && slices.Contains(o, v.text)
}

func (oneOf) text(v any) string { return tomlString(v.(string)) }
func (o oneOf) schema() map[string]any {
	return map[string]any{"type": "string", "enum": []string(o)}
}
func (o oneOf) names() []string { return o }

// whole is a whole number.
type whole struct{ low, high int }

func (w whole) want() string { return fmt.Sprintf("a whole number from %d to %d", w.low, w.high) }

func (w whole) read(v value) (any, bool) {
	n, err := strconv.ParseInt(v.text, 0, 0) // base 0 takes what TOML takes: 0x, 0o, 0b and underscores
	return int(n), v.kind == kindInteger && err == nil && within(int(n), w.low, w.high)
}

func (whole) text(v any) string { return strconv.Itoa(v.(int)) }
func (w whole) schema() map[string]any {
	return map[string]any{"type": "integer", "minimum": w.low, "maximum": w.high}
}
func (whole) names() []string { return nil }

// amount is a Size.
type amount struct{ low, high Size }

func (a amount) want() string {
	return fmt.Sprintf("a size from %v to %v in B, KiB, MiB or GiB", a.low, a.high)
}

func (a amount) read(v value) (any, bool) {
	s, err := ParseSize(v.text)
	return s, v.kind == kindString && err == nil && within(s, a.low, a.high)
}

func (amount) text(v any) string { return tomlString(v.(Size).String()) }
func (amount) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^[0-9]+(B|KiB|MiB|GiB)$`}
}
func (amount) names() []string { return nil }

// share is a Percent.
type share struct{ low, high Percent }

func (s share) want() string { return fmt.Sprintf("a share from %v to %v", s.low, s.high) }

func (s share) read(v value) (any, bool) {
	p, err := ParsePercent(v.text)
	return p, v.kind == kindString && err == nil && within(p, s.low, s.high)
}

func (share) text(v any) string { return tomlString(v.(Percent).String()) }
func (share) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^[0-9]+%$`}
}
func (share) names() []string { return nil }

// span is a duration.
type span struct{ low, high time.Duration }

func (s span) want() string {
	return fmt.Sprintf("a time from %s to %s in ms, s or m", timeText(s.low), timeText(s.high))
}

// spanPattern keeps to the units that make sense here, and to no sign.
var spanPattern = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m))+$`)

func (s span) read(v value) (any, bool) {
	d, err := time.ParseDuration(v.text)
	return d, v.kind == kindString && err == nil && spanPattern.MatchString(v.text) && within(d, s.low, s.high)
}

func (span) text(v any) string { return tomlString(timeText(v.(time.Duration))) }
func (span) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": spanPattern.String()}
}
func (span) names() []string { return nil }

// texts is a list of texts that follow a pattern.
type texts struct {
	what    string // of one of them
	pattern *regexp.Regexp
}

func (t texts) want() string { return "a list, each " + t.what }

func (t texts) read(v value) (any, bool) {
	out := []string{}
	for _, item := range v.items {
		if item.kind != kindString || !t.pattern.MatchString(item.text) {
			return nil, false
		}
		out = append(out, item.text)
	}
	return out, v.kind == kindList
}

func (texts) text(v any) string { return tomlList(v.([]string)) }
func (t texts) schema() map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": "string", "pattern": t.pattern.String()}}
}
func (texts) names() []string { return nil }

func within[T int | Size | Percent | time.Duration](v, low, high T) bool {
	return low <= v && v <= high
}
