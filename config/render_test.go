package config

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDefaultParsesToExactlyTheDefaults(t *testing.T) {
	text := Default()
	c, err := Parse("default", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	assertSame(t, c, Defaults())
	for _, k := range table {
		// A key that the text left out would have the default anyway.
		if origin := c.Origin(k.name); !strings.HasPrefix(origin, "default:") {
			t.Errorf("%s is not in the text: it comes from %q", k.name, origin)
		}
	}
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > wrapAt {
			t.Errorf("line of %d characters: %s", n, line)
		}
	}
}

// empty reports a default that shows nobody what a value looks like.
func empty(def any) bool {
	list, ok := def.([]string)
	return def == "" || ok && len(list) == 0
}

// TestTableIsSound checks what the rest takes for granted.
func TestTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	at := map[any]string{}
	var c Config
	for _, k := range table {
		if seen[k.name] {
			t.Errorf("%s stands twice", k.name)
		}
		seen[k.name] = true
		if heading, _ := k.sectionOf(); !isSection(heading) || heading == bindSection {
			t.Errorf("%s lies in no section", k.name)
		}
		if !strings.HasSuffix(k.doc, ".") || k.doc == "" {
			t.Errorf("%s has no sentence: %q", k.name, k.doc)
		}
		if _, ok := examples[k.name]; ok != empty(k.def) {
			t.Errorf("%s: an example is for an empty default", k.name)
		}
		p := k.at(&c)
		if other, ok := at[p]; ok {
			t.Errorf("%s and %s are one value", k.name, other)
		}
		at[p] = k.name
		// Every default is a value that its form takes.
		if _, err := Parse("f", []byte(k.name+" = "+k.form.text(k.def)), nil); err != nil {
			t.Error(err)
		}
	}
	for _, s := range sections {
		if !strings.HasSuffix(s.doc, ".") {
			t.Errorf("[%s] has no sentence", s.name)
		}
	}
}

// keysOf returns the dotted names of the values in a schema.
func keysOf(t *testing.T, schema map[string]any, above string) []string {
	t.Helper()
	if schema["type"] == "object" && schema["additionalProperties"] == nil {
		t.Errorf("%s takes unknown keys", above)
	}
	var out []string
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		child := p.(map[string]any)
		if child["description"] == "" {
			t.Errorf("%s%s has no description", above, name)
		}
		if child["type"] == "object" {
			out = append(out, keysOf(t, child, above+name+".")...)
		} else {
			out = append(out, above+name)
		}
	}
	return out
}

func TestSchemaListsEveryKey(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	got := keysOf(t, schema, "")
	var want []string
	for _, s := range Settings() {
		want = append(want, s.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("schema has %q, want %q", got, want)
	}
	bind := schema["properties"].(map[string]any)["keys"].(map[string]any)["properties"].(map[string]any)["bind"].(map[string]any)
	if bind["type"] != "object" || bind["additionalProperties"].(map[string]any)["type"] != "array" {
		t.Errorf("schema of keys.bind is %v", bind)
	}
}

// TestSchemaTakesWhatTheFormsTake holds the patterns and lists of the schema
// beside the reader.
func TestSchemaTakesWhatTheFormsTake(t *testing.T) {
	samples := []any{
		true, false, 0, 1, 10_000, 1_000_001, "", "auto", "dark", "drak", "32MiB", "32MB", "4GiB", "1s", "1m30s", "-1s", "1h",
		"80%", "80", "xterm-256color", "a b", "a\x1bb", "right", "ask",
	}
	for _, k := range table {
		schema := k.form.schema()
		for _, sample := range samples {
			data, err := json.Marshal(sample)
			if err != nil {
				t.Fatal(err)
			}
			_, perr := Parse("f", []byte(k.name+" = "+string(data)), nil)
			if ok := takes(schema, sample); perr == nil && !ok {
				t.Errorf("%s = %s is read, and the schema refuses it", k.name, data)
			} else if perr != nil && ok && !strings.Contains(k.form.want(), " from ") {
				t.Errorf("%s = %s is refused, and the schema takes it", k.name, data)
			}
		}
	}
}

// takes is the part of JSON Schema that the forms use.
func takes(schema map[string]any, v any) bool {
	switch v := v.(type) {
	case bool:
		return schema["type"] == "boolean"
	case int:
		return schema["type"] == "integer" && schema["minimum"].(int) <= v && v <= schema["maximum"].(int)
	case string:
		if schema["type"] != "string" {
			return false
		}
		if list, ok := schema["enum"].([]string); ok {
			return slices.Contains(list, v)
		}
		return regexp.MustCompile(schema["pattern"].(string)).MatchString(v)
	}
	return false
}

func TestNamesListEveryKeyWithTheBoundActionsInTheirSection(t *testing.T) {
	c, err := Parse("f", []byte("[keys.bind]\nzoom = [\"z\"]\n\"a b\" = []\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := c.Names()
	i := slices.Index(names, "keys.prefix")
	if len(names) != len(table)+2 || !slices.Equal(names[i+1:i+4], []string{`keys.bind."a b"`, "keys.bind.zoom", "ui.theme"}) {
		t.Errorf("names are %q", names)
	}
	for _, name := range names {
		if v, ok := c.Value(name); !ok || c.Origin(name) == "" {
			t.Errorf("%s = %s from %q", name, v, c.Origin(name))
		}
	}
}
