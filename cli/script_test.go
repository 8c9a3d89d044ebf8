package cli

import (
	"os"
	"path/filepath"
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
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", e.WorkDir)
		e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
		e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
		e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
		e.Setenv("GORACE", "atexit_sleep_ms=0") // else each program of a race build takes a second to end
		e.Setenv("XDG_RUNTIME_DIR", "")         // each script sets one of its own where it needs sockets
		return nil
	}})
}
