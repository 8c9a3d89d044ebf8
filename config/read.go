package config

import (
	"fmt"
	"slices"
	"strings"
)

// A KeyCheck judges the keys that a Config would have: names of actions, the
// spelling of keys, keys that two actions want. It is called once the files
// are read, with the preset and the prefix in force, and must not change what
// it is given.
type KeyCheck func(Keys) []KeyProblem

// A KeyProblem is one thing that a KeyCheck found.
type KeyProblem struct {
	Key  string // "keys.preset", "keys.prefix" or BindKey of an action
	Item int    // which of the action's keys, from 0; -1 for all of it
	Text string // what is wrong and what is expected; names in it may be raw
}

// BindKey returns the key of an action, as Origin, Value and a KeyProblem name
// it.
func BindKey(action string) string {
	if !isBare(action) {
		action = tomlString(action)
	}
	return bindSection + "." + action
}

// A reader puts the entries of one file into a Config.
type reader struct {
	conf *Config
	bad  *list

	seen  map[string]place // by id
	twice bool             // something stood twice
	skip  map[string]bool  // by id: headings that were told, so that what lies below them is not
}

// read puts a file over conf and adds what is wrong with it to bad.
func read(conf *Config, file string, data []byte, bad *list) {
	r := &reader{conf: conf, bad: bad, seen: map[string]place{}, skip: map[string]bool{}}
	s := scan(file, data, bad)
	for _, e := range s.out {
		r.entry(e)
	}
	if !r.twice {
		s.finalWord()
	}
}

// below reports whether the entry lies below a heading that was told.
func (r *reader) below(e entry) bool {
	for n := 1; n < len(e.path); n++ {
		if r.skip[id(e.path[:n])] {
			return true
		}
	}
	return false
}

func (r *reader) tell(at place, key, format string, args ...any) {
	r.bad.add(Problem{File: at.file, Line: at.line, Column: at.column, Key: key, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) entry(e entry) {
	if r.below(e) {
		return
	}
	id, name := id(e.path), pathName(e.path)
	if first, ok := r.seen[id]; ok {
		if e.many {
			return // told with the first
		}
		r.twice = true
		what := name
		if e.heading {
			what = "[" + name + "]"
		}
		r.tell(e.place, name, "%s stands twice; the first is on line %d", what, first.line)
		return
	}
	r.seen[id] = e.place
	k := lookup(name)
	switch {
	case e.heading && isSection(name) && !e.many:
	case e.heading && isSection(name):
		r.tell(e.place, name, "[[%s]] is one section, not a list of them; expected [%s]", name, name)
		r.skip[id] = true
	case isSection(name):
		r.tell(e.place, name, "%s is a section, not a value; expected [%s] and its keys below", name, name)
	case e.heading && (k != nil || isBind(e.path)):
		r.tell(e.place, name, "%s is a value, not a section; expected %s", name, wanted(k))
		r.skip[id] = true
	case e.heading:
		r.tell(e.place, name, "unknown section [%s]; %s", name, r.meantSection(name))
		r.skip[id] = true
	case isBind(e.path):
		r.bind(e, name)
	case k != nil:
		r.set(k, e)
	default:
		r.tell(e.place, name, "unknown key %s; %s", name, r.meantKey(e.path))
	}
}

// set takes the value of a key.
func (r *reader) set(k *key, e entry) {
	v, ok := k.form.read(e.value)
	if !ok {
		text := fmt.Sprintf("%s is %s; expected %s", k.name, e.value.shown(), wanted(k))
		if near := nearest(e.value.text, k.form.names()); near != "" {
			text += fmt.Sprintf("; did you mean %s?", tomlString(near))
		}
		r.tell(e.value.place, k.name, "%s", text)
		return
	}
	set(k.at(r.conf), v)
	r.conf.marks[k.name] = mark{place: e.place}
}

// bind takes the keys of an action.
func (r *reader) bind(e entry, name string) {
	if e.value.kind != kindList {
		r.tell(e.value.place, name, "%s is %s; expected %s", name, e.value.shown(), wanted(nil))
		return
	}
	keys, places, good := []string{}, []place{}, true
	for _, item := range e.value.items {
		if item.kind != kindString || !plainText.MatchString(item.text) || item.text == "" {
			r.tell(item.place, name, "%s has %s in its list; expected %s", name, item.shown(), wanted(nil))
			good = false
		}
		keys, places = append(keys, item.text), append(places, item.place)
	}
	if good {
		r.conf.Keys.Bind[e.path[2]] = keys
		r.conf.marks[BindKey(e.path[2])] = mark{place: e.place, items: places}
	}
}

// wanted says what a key expects, with an example. A nil key is an action.
func wanted(k *key) string {
	if k == nil {
		return `a list of keys, as in zoom = ["prefix z", "alt+z"]`
	}
	example := k.def
	if other, ok := examples[k.name]; ok {
		example = other
	}
	return k.form.want() + ", as in " + k.line(example)
}

// isBind reports whether the path names an action.
func isBind(path []string) bool {
	return len(path) == 3 && path[0] == "keys" && path[1] == "bind"
}

// pathName writes a path as a person would write it in a file, safe to show.
func pathName(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		if isBare(part) {
			parts[i] = short(part)
		} else {
			parts[i] = quoted(part)
		}
	}
	return strings.Join(parts, ".")
}

// meantKey helps with a key that is not known: the same name elsewhere, the
// nearest name, or what there is.
func (r *reader) meantKey(path []string) string {
	if r.bad.full() {
		return ""
	}
	last := path[len(path)-1]
	for _, k := range table {
		if _, name := k.sectionOf(); name == last {
			return fmt.Sprintf("did you mean %s?", k.name)
		}
	}
	heading := pathName(path[:len(path)-1])
	var below, full, alone []string
	for _, k := range table {
		in, name := k.sectionOf()
		full, alone = append(full, k.name), append(alone, name)
		if in == heading {
			below = append(below, name)
		}
	}
	if near := nearest(last, below); near != "" {
		return fmt.Sprintf("did you mean %s.%s?", heading, near)
	}
	if near := nearest(last, alone); near != "" {
		return fmt.Sprintf("did you mean %s?", full[slices.Index(alone, near)])
	}
	if near := nearest(strings.Join(path, "."), full); near != "" && len(below) == 0 {
		return fmt.Sprintf("did you mean %s?", near)
	}
	if len(below) > 0 {
		return fmt.Sprintf("keys of [%s] are %s", heading, strings.Join(below, ", "))
	}
	return "sections are " + strings.Join(sectionNames(), ", ")
}

func (r *reader) meantSection(name string) string {
	if r.bad.full() {
		return ""
	}
	if near := nearest(name, sectionNames()); near != "" {
		return fmt.Sprintf("did you mean [%s]?", near)
	}
	return "sections are " + strings.Join(sectionNames(), ", ")
}

func sectionNames() []string {
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.name
	}
	return names
}

// checkKeys asks the caller about the keys and gives each answer its place.
func checkKeys(conf *Config, check KeyCheck, bad *list) {
	if check == nil {
		return
	}
	for _, found := range check(conf.Clone().Keys) {
		p := Problem{Key: safe(found.Key), Text: safe(found.Text)}
		if m, ok := conf.marks[found.Key]; ok && m.env == "" {
			at := m.place
			if found.Item >= 0 && found.Item < len(m.items) {
				at = m.items[found.Item]
			}
			p.File, p.Line, p.Column = at.file, at.line, at.column
		}
		bad.add(p)
	}
}
