package jobhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/outcome"
)

// lifeName is the file in the folder of jobs that a host holds locked from
// before it reads the records until it has written the last one. Its socket is
// gone earlier: a host that came in between would find records of a living one,
// leave them alone, and list less than there is.
const lifeName = "host.lock"

// endTime is how long an ending host is waited for. It gives jobs the time
// between TERM and KILL, and reads what they wrote last.
const endTime = 15 * time.Second

// A Life is the right to be the one host of a folder. It ends with Close, and
// with the process.
type Life struct{ f *os.File }

// Begin takes the right to be the host of a folder. It waits for a host that is
// about to end and returns ErrRunning where one serves.
func Begin(ctx context.Context, env ctl.Env, dir string) (*Life, error) {
	return await(ctx, dir, func() error {
		c, err := Dial(env)
		if err != nil {
			return nil // it ends, or begins and is not reachable yet
		}
		return errors.Join(ErrRunning, c.Close())
	})
}

// AwaitEnd returns when no host of the folder is left.
func AwaitEnd(ctx context.Context, dir string) error {
	l, err := await(ctx, dir, func() error { return nil })
	if err != nil {
		return err
	}
	return l.Close()
}

// await takes the lock. While another holds it, held says why not to go on.
func await(ctx context.Context, dir string, held func() error) (*Life, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of jobs: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lifeName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the job host: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, fmt.Errorf("another one has not ended within %s", outcome.Duration(endTime)))
	defer cancel()
	t := time.NewTicker(startPoll)
	defer t.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return &Life{f}, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			err = held()
		case errors.Is(err, unix.EINTR):
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock the job host: %w", err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock the job host: %w", context.Cause(ctx)), f.Close())
		case <-t.C:
		}
	}
}

// Close gives the right back.
func (l *Life) Close() error { return l.f.Close() }
