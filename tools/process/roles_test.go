package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
)

// roles are the processes that the test binary can play.
var roles = map[string]func() error{
	"host":      hostThatDies,
	"exhausted": startWithoutDescriptors,
}

// hostThatDies starts three jobs in the folder that it was given, one that
// ends, one that goes on without our pipe and one that ends with its host. It
// then waits to be killed.
func hostThatDies() error {
	p, err := fdwait.New()
	if err != nil {
		return err
	}
	table, err := Open(Options{Dir: os.Getenv("JOBS"), Poller: p})
	if err != nil {
		return err
	}
	ends, err := table.Start(Spec{Command: sh("echo all of it; exit 5")})
	if err != nil {
		return err
	}
	<-ends.Done()
	for _, script := range []string{
		"trap '' HUP PIPE; echo lives on; exec >/dev/null 2>&1 </dev/null; exec sleep 100",
		"echo goes; read line",
	} {
		j, err := table.Start(Spec{Command: sh(script)})
		if err != nil {
			return err
		}
		for {
			changed := j.Changed()
			if j.Info().Kept.Lines > 0 {
				break
			}
			<-changed
		}
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startWithoutDescriptors takes every descriptor there is, and then one less.
func startWithoutDescriptors() error {
	p, err := fdwait.New()
	if err != nil {
		return err
	}
	dir := os.Getenv("JOBS")
	table, err := Open(Options{Dir: dir, Poller: p})
	if err != nil {
		return err
	}
	warm, err := table.Start(Spec{Command: sh("echo kept; read line")})
	if err != nil {
		return err
	}
	for warm.Info().Kept.Lines == 0 {
		<-warm.Changed()
	}
	var held []int
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			break
		}
		if err != nil {
			return err
		}
		held = append(held, fd)
	}
	for free := range 12 { // with each number of free descriptors from none on
		for _, pty := range []bool{false, true} {
			j, err := table.Start(Spec{Command: []string{"/bin/sh", "-c", "echo out; exit 3"}, PTY: pty})
			if err == nil {
				<-j.Done()
				if i := j.Info(); i.ExitCode == nil || *i.ExitCode != 3 || !i.Capture.Whole() || i.Kept.Lines != 1 {
					return fmt.Errorf("%d free: %+v", free, i)
				}
				continue
			}
			if !errors.Is(err, unix.EMFILE) || !errors.Is(err, outcome.ErrNotStarted) {
				return fmt.Errorf("%d free, pty %v: %w", free, pty, err)
			}
			if free > 8 {
				return fmt.Errorf("%d free are not enough: %w", free, err)
			}
		}
		if free == 0 { // what is in memory needs no descriptor
			if page, err := warm.Tail(100); err != nil || page.Text() != "kept\n" {
				return fmt.Errorf("tail: %q, %w", page.Text(), err)
			}
			if _, err := warm.Submit(""); err != nil {
				return err
			}
			if <-warm.Done(); warm.Info().State != Exited || *warm.Info().ExitCode != 1 && *warm.Info().ExitCode != 0 {
				return fmt.Errorf("%+v", warm.Info())
			}
		}
		if err := unix.Close(held[free]); err != nil {
			return err
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*"+logSuffix))
	if err != nil {
		return err
	}
	for _, at := range logs {
		if fi, err := os.Stat(at); err != nil || fi.Size() == 0 {
			return fmt.Errorf("a start that failed left %s: %w", filepath.Base(at), err)
		}
	}
	fmt.Println("fine")
	return errors.Join(table.Close(), p.Close())
}
