package execcode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// A language is how scripts in it are run.
type language struct {
	name    string
	aliases []string
	file    string   // the name of the script; the extension matters to some
	looks   []string // interpreters, the first that is found runs it
	args    []string // before the file
	note    string   // what its exit code hides
}

// languages is the whole list.
var languages = []language{
	{name: "bash", file: "script.sh", looks: []string{"bash"}},
	{name: "sh", aliases: []string{"shell"}, file: "script.sh", looks: []string{"sh"}},
	{name: "python", aliases: []string{"python3", "py"}, file: "script.py", looks: []string{"python3", "python"}},
	{name: "node", aliases: []string{"javascript", "js", "nodejs"}, file: "script.js", looks: []string{"node", "nodejs"}},
	{
		name: "go", aliases: []string{"golang"}, file: "main.go", looks: []string{"go"}, args: []string{"run"},
		note: "go run exits with 1 whatever the program exited with: its own code stands in the last line of output, as \"exit status N\"",
	},
	{name: "ruby", aliases: []string{"rb"}, file: "script.rb", looks: []string{"ruby"}},
	{name: "perl", aliases: []string{"pl"}, file: "script.pl", looks: []string{"perl"}},
}

// Languages lists the names that a call may give.
func Languages() []string {
	var names []string
	for _, l := range languages {
		names = append(names, l.name)
	}
	return names
}

func find(name string) (language, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return language{}, rule("language is missing: one of " + strings.Join(Languages(), ", "))
	}
	for _, l := range languages {
		if l.name == name || slices.Contains(l.aliases, name) {
			return l, nil
		}
	}
	return language{}, rule("language is none of " + strings.Join(Languages(), ", "))
}

// interpreter is the path of the program that runs the language.
func (l language) interpreter(env []string) (string, error) {
	var errs []error
	for _, name := range l.looks {
		path, err := proc.LookPath(name, "", env)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	cause := errs[len(errs)-1]
	for _, err := range errs {
		if _, plain := errors.AsType[*proc.NotFoundError](err); !plain {
			cause = err // found and not executable says more than not found
		}
	}
	return "", &outcome.StartError{
		Step: fmt.Sprintf("find an interpreter of %s (looked for %s in PATH)", l.name, strings.Join(l.looks, ", ")),
		Err:  cause,
	}
}
