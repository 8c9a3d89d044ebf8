package cli

import (
	"errors"
	"fmt"
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

func (a *app) showVersion() error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	_, err = fmt.Fprintf(a.out, "honestty %s\n%s %s/%s\nwaiting: %s\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH, p.Mechanism())
	return err
}
