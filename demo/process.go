package demo

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// output runs a command in a session of its own, ends it and what it started
// when ctx ends, and returns what it wrote.
//
//	goroutine  started by  ends on          joined by
//	Wait       output      the command ends output
func output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = 5 * time.Second // only what was left holding the output takes it
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1) // one end
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		<-done
		err = ctx.Err()
	}
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		first, _, _ := strings.Cut(text, "\n")
		err = errors.Join(err, errors.New(first))
	}
	return out.Bytes(), err
}
