package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/doctor"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/screen"
)

// cmdDoctor runs checks on this machine.
func (a *app) cmdDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [--json] [PID...]",
		Short: "Check limits, select(), terminals, space, clipboard, waiting and leftovers",
		Long: `doctor runs checks on this machine and says of each what it saw, what that means
and what to do: limits, processes that wait with select() and hold descriptors
past 1024, the pool of terminals, space, the clipboard, the terminal, how we
wait, what we left behind, what runs on although its window is gone, and a Hermes
that runs. With PIDs it looks at these processes, without any at every one it may
look at.

It repairs nothing. What could not be looked at is unknown, with the reason.

Success means that no check found something that does not work now. It exits
with 1 when one did, and with 2 on wrong use.`,
		Example: "  honestty doctor\n  honestty doctor --json 4711",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := pidsOf(args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
			defer stop()
			return a.doctor(ctx, pids, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func pidsOf(args []string) ([]int, error) {
	var pids []int
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if err != nil || pid <= 0 {
			return nil, usagef("%q is not a pid", arg)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func (a *app) doctor(ctx context.Context, pids []int, asJSON bool) error {
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	env := doctor.Env{
		PIDs: pids, NoSelect: neverSelects, State: stateDir(""), Terminal: outerTerminal(ctx),
		Leftovers: a.leftovers(), SocketVariable: ctl.SocketVariable,
		Waiting: p.Mechanism(), TryWait: func() (int, error) { return tryWait(p) },
	}
	if cause := p.Cause(); cause != nil {
		env.Waiting, env.WaitingCause = "poll", outcome.Errno(cause)
	}
	checks := doctor.Run(ctx, env)
	if asJSON {
		text, err := doctor.JSON(checks)
		if err != nil {
			return fmt.Errorf("write the checks: %w", err)
		}
		if _, err := fmt.Fprintf(a.out, "%s\n", text); err != nil {
			return fmt.Errorf("write the checks: %w", err)
		}
	} else if _, err := fmt.Fprintln(a.out, strings.Join(doctor.Lines(checks), "\n")); err != nil {
		return fmt.Errorf("write the checks: %w", err)
	}
	if doctor.Worst(checks) == doctor.Failure || ctx.Err() != nil {
		return &codeError{exitNotComplete}
	}
	return nil
}

// waitPatience is how long a pipe with a byte in it may take to be seen: on a
// machine that is busy far longer than on one that is not.
const waitPatience = 10 * time.Second

// tryWait waits for a pipe through p, at a number that select() does not take,
// or at the highest that the limit allows.
func tryWait(p *fdwait.Poller) (number int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	defer w.Close()
	number, err = dupAbove(r, fdmeter.FDSetSize)
	if err != nil {
		return 0, err
	}
	defer unix.Close(number)
	waiter, err := p.Register(number)
	if err != nil {
		return 0, fmt.Errorf("wait for descriptor %d: %w", number, err)
	}
	defer waiter.Close()
	if _, err := w.Write([]byte{'x'}); err != nil {
		return 0, fmt.Errorf("write to the pipe: %w", err)
	}
	if ready, err := waiter.Wait(waitPatience); err != nil || !ready {
		return 0, fmt.Errorf("wait for descriptor %d: ready %v: %w", number, ready, err)
	}
	return number, nil
}

// dupAbove duplicates a descriptor to a number from least on. Where the limit
// leaves none there, it is some lower number.
func dupAbove(f *os.File, least int) (number int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("duplicate a pipe: %w", err)
	}
	cerr := conn.Control(func(fd uintptr) {
		for _, from := range []int{least, 0} {
			number, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, from)
			if err != unix.EINVAL { // no number from there on is allowed
				return
			}
		}
	})
	if err == nil {
		err = cerr
	}
	if err != nil {
		return 0, fmt.Errorf("duplicate a pipe: %w", err)
	}
	return number, nil
}

// outerTerminal is what the environment tells of the terminal around us. What
// only the terminal itself could answer stays unknown.
func outerTerminal(ctx context.Context) doctor.Terminal {
	caps := screen.Detect(os.Getenv)
	t := doctor.Terminal{Passthrough: tmuxPassthrough(ctx)}
	if caps.Depth == screen.TrueColor {
		t.TrueColor = doctor.Yes
	}
	if caps.Sync {
		t.Sync = doctor.Yes
	}
	return t
}

// tmuxPassthrough asks the tmux around us whether it lets sequences through.
func tmuxPassthrough(ctx context.Context) doctor.Answer {
	if os.Getenv("TMUX") == "" {
		return doctor.NotKnown
	}
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "show-options", "-gv", "allow-passthrough").Output()
	switch text := strings.TrimSpace(string(out)); {
	case err != nil:
		return doctor.NotKnown
	case text == "on" || text == "all":
		return doctor.Yes
	case text == "off":
		return doctor.No
	}
	return doctor.NotKnown
}

// How old things of ours may become before they are called left over: what the
// part that makes them keeps them for, and a day more, for it sweeps when it is
// used. Outputs that were too large for a result are the user's for a month.
const (
	oldWork  = 2 * 24 * time.Hour
	oldLive  = 8 * 24 * time.Hour
	oldSpill = 30 * 24 * time.Hour
)

// leftovers are the folders in which something of ours may have been left.
func (a *app) leftovers() []doctor.Leftover {
	var out []doctor.Leftover
	for _, folder := range socketFolders() {
		out = append(out, doctor.Leftover{What: "sockets", Folder: folder, Pattern: "*.sock", Dead: doctor.SocketDead})
	}
	if stateDir("") == "" {
		return out
	}
	speech := stateDir("speech")
	return append(out,
		doctor.Leftover{What: "outputs that were spilled", Folder: stateDir("spill"), Pattern: "out-*.log", Age: oldSpill},
		doctor.Leftover{What: "live outputs", Folder: stateDir("live"), Pattern: "*.raw", Age: oldLive},
		doctor.Leftover{What: "folders of scripts", Folder: stateDir("code"), Pattern: "exec-*", Age: oldWork},
		doctor.Leftover{What: "job records", Folder: stateDir("jobs"), Pattern: "*.json", Dead: a.jobsForgotten()},
		doctor.Leftover{What: "notes of speech folders", Folder: filepath.Join(speech, "work"), Age: oldWork},
		doctor.Leftover{What: "parts of speech", Folder: filepath.Join(speech, "chunks"), Age: oldWork},
		doctor.Leftover{What: "notes to resume speech", Folder: filepath.Join(speech, "resume"), Age: oldWork},
	)
}

// jobsForgotten returns whether a job's record is left over: never while the
// host that keeps them runs, and else once it is older than the next host
// keeps it.
func (a *app) jobsForgotten() func(path string) (bool, error) {
	client, herr := jobhost.Dial(a.ctlEnv())
	if herr == nil {
		herr = client.Close()
		return func(string) (bool, error) { return false, herr }
	}
	return func(path string) (bool, error) {
		if !errors.Is(herr, jobhost.ErrNoHost) {
			return false, herr
		}
		info, err := os.Lstat(path)
		if err != nil {
			return false, err
		}
		return time.Since(info.ModTime()) > oldWork, nil
	}
}

// socketFolders are the places in which windows and the host of jobs listen, in
// the order of package ctl.
func socketFolders() []string {
	var bases []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		bases = append(bases, dir)
	}
	uid := strconv.Itoa(os.Geteuid())
	bases = append(bases, filepath.Join("/run/user", uid))
	var out []string
	for _, name := range []string{"honestty", "honestty-" + jobhost.Service} {
		for _, base := range bases {
			out = append(out, filepath.Join(base, name))
		}
		out = append(out, filepath.Join(os.TempDir(), name+"-"+uid))
	}
	seen := map[string]bool{}
	kept := out[:0]
	for _, folder := range out {
		if !seen[folder] {
			kept = append(kept, folder)
		}
		seen[folder] = true
	}
	return kept
}
