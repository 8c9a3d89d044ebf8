package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts call the program by its name: the test binary runs
// itself as honestty.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"honestty": func() { os.Exit(Main("test", os.Args[1:])) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
