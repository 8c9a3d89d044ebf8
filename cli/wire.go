package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/outcome"
)

// start prepares the process before any command does its work. The Poller
// comes first: it also brings the Go runtime's own poller up, whose first use
// ends the whole process when there is no descriptor left for it. What our own
// parent leaked into us is marked close-on-exec after that, so that no child
// inherits it.
func start() (*fdwait.Poller, error) {
	p, err := fdwait.New()
	if err != nil {
		return nil, fmt.Errorf("start waiting: %s", outcome.Errno(err))
	}
	if err := proc.SealInherited(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// spillDir is where output goes that is too large for a result (XDG base
// directories: state).
func spillDir() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // the XDG rule: a relative path is to be ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "honestty", "spill")
}

func (a *app) showVersion() error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	_, err = fmt.Fprintf(a.out, "honestty %s\n%s %s/%s\nwaiting: %s\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH, p.Mechanism())
	return err
}
