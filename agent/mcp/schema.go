package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// ownForm describes what can be anything. A schema without a word would be
// written as true, which clients that want an object for each property refuse.
const ownForm = "in a form of its own"

// words are the types that are numbers in Go and words in JSON, and those whose
// form is their own.
func words() map[reflect.Type]*jsonschema.Schema {
	word := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	any := func() *jsonschema.Schema { return &jsonschema.Schema{Description: ownForm} }
	m := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[outcome.Status]():  word(),
		reflect.TypeFor[outcome.State]():   word(),
		reflect.TypeFor[outcome.End]():     word(),
		reflect.TypeFor[outcome.Capture](): any(),
		reflect.TypeFor[json.RawMessage](): any(),
	}
	return m
}

// inputSchema is what a tool takes.
func inputSchema(t tools.Tool) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(reflect.TypeOf(t.Params), &jsonschema.ForOptions{TypeSchemas: words()})
	if err != nil {
		return nil, fmt.Errorf("describe the parameters of %s: %w", t.Name, err)
	}
	return s, nil
}

// outputSchema is what a tool answers, as far as its Go type tells. Clients
// check answers against it, so it promises only what is always so: a result
// that writes its own JSON is an object, and no more is said.
func outputSchema(t tools.Tool) (*jsonschema.Schema, error) {
	rt := reflect.TypeOf(t.Result)
	open := &jsonschema.Schema{Type: "object"}
	if rt == nil || rt.Kind() != reflect.Struct || writesItself(rt) {
		return open, nil
	}
	types := words()
	collect(rt, types, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(rt, &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, fmt.Errorf("describe the results of %s: %w", t.Name, err)
	}
	loosen(s)
	return s, nil
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
)

func writesItself(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

func writesText(t reflect.Type) bool {
	return t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler)
}

// collect notes every type below t whose JSON is its own: text for those that
// marshal as text, and anything for the others.
func collect(t reflect.Type, types map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if seen[t] || types[t] != nil {
		return
	}
	seen[t] = true
	switch {
	case t.PkgPath() == "time" && t.Name() == "Time":
	case writesItself(t):
		types[t] = &jsonschema.Schema{Description: ownForm}
	case writesText(t):
		types[t] = &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			collect(t.Field(i).Type, types, seen)
		}
	}
}

// loosen takes out of a schema what only the Go type says: that all keys are
// there, that there are no others, and that a list is never null.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required, s.AdditionalProperties = nil, nil
	if s.Type == "null" || len(s.Types) == 1 && s.Types[0] == "null" {
		s.Type, s.Types = "", nil // a pointer to a type whose form is its own
	}
	if s.Description == "" && s.Type == "" && len(s.Types) == 0 {
		s.Description = ownForm
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	loosen(s.Items)
}
