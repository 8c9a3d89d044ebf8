package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// wrapAt is the width of comments in characters.
const wrapAt = 78

// Default returns a settings file with every key at its default, and what each
// means.
func Default() string {
	var b strings.Builder
	comment(&b, "Settings of honestty, each at its default. A file needs only what it changes. "+
		"`honestty config --check` reads a file and says what is wrong with it.")
	for _, s := range sections {
		b.WriteByte('\n')
		comment(&b, s.doc)
		fmt.Fprintf(&b, "[%s]\n", s.name)
		for _, k := range table {
			if heading, _ := k.sectionOf(); heading != s.name {
				continue
			}
			b.WriteByte('\n')
			comment(&b, k.doc)
			comment(&b, "Expected: "+k.form.want()+".")
			b.WriteString(k.line(k.def) + "\n")
		}
	}
	return b.String()
}

// comment writes text as lines of a comment.
func comment(b *strings.Builder, text string) {
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case column == 0:
			b.WriteString("# ")
			column = 2
		case column+1+n > wrapAt:
			b.WriteString("\n# ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}

// Schema returns a JSON Schema (draft 7, the one that editors of TOML know) of
// a settings file. Limits of sizes, shares and times stand in the words only:
// a schema cannot compare them.
func Schema() []byte {
	root := object("Settings of honestty.")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "honestty config.toml"
	objects := map[string]map[string]any{"": root}
	for _, s := range sections {
		o := object(s.doc)
		objects[s.name] = o
		above, name := "", s.name
		if i := strings.LastIndexByte(s.name, '.'); i >= 0 {
			above, name = s.name[:i], s.name[i+1:]
		}
		objects[above]["properties"].(map[string]any)[name] = o
	}
	objects[bindSection]["additionalProperties"] = map[string]any{
		"type": "array", "items": map[string]any{"type": "string", "minLength": 1, "pattern": plainText.String()},
	}
	for _, k := range table {
		heading, name := k.sectionOf()
		property := k.form.schema()
		property["description"] = k.doc + " Expected: " + k.form.want() + "."
		property["default"] = schemaValue(k)
		objects[heading]["properties"].(map[string]any)[name] = property
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("write schema: %v", err)) // maps of strings and numbers only
	}
	return append(out, '\n')
}

func object(doc string) map[string]any {
	return map[string]any{
		"type": "object", "description": doc, "additionalProperties": false, "properties": map[string]any{},
	}
}

// schemaValue is the default of a key as JSON has it.
func schemaValue(k key) any {
	switch v := k.def.(type) {
	case bool, int, string:
		return v
	}
	return strings.Trim(k.form.text(k.def), `"`)
}
