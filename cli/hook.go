package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/agent/claims"
	"github.com/honestty/honestty/agent/hook"
	"github.com/honestty/honestty/journal"
	"github.com/honestty/honestty/tools/safepath"
	"github.com/honestty/honestty/tools/tts/audio"
)

// hookPatience bounds one hook as a whole: an agent may wait for it.
const hookPatience = 5 * time.Second

// cmdHook is what agents run for each call of a tool.
func (a *app) cmdHook() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook hermes|claude-code",
		Short: "Record a call of an agent's tool, from the agent's own hook",
		Long: `hook reads one event of an agent from stdin, records the call in the journal,
with a look at what its result claims, and ends. The agent's settings run it
before and after each call; hook config prints what to put there.

It never fails or blocks the agent: whatever goes wrong is a note on stderr and
exit code 0, and what could not be recorded is told in the journal later.
Nothing is written on stdout. Exit code 2, which agents take for an order to
stop, is never used.`,
		Example:            "  honestty hook config --agent claude-code\n  honestty hook hermes < event.json",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if len(args) != 1 {
				return errors.New("hook takes one name of an agent: hermes or claude-code")
			}
			return a.hook(cmd.Context(), args[0])
		},
	}
	cmd.AddCommand(a.cmdHookConfig())
	return cmd
}

// hook handles one event. Only a name that is none of an agent is an error: it
// is a mistake in the agent's settings, and its exit code 1 stops no agent.
func (a *app) hook(ctx context.Context, agent string) error {
	if agent != hook.Hermes && agent != hook.ClaudeCode {
		return fmt.Errorf("hook: there is no agent called %q; there are hermes and claude-code", agent)
	}
	signal.Ignore(unix.SIGPIPE) // an agent that reads no notes must not see a hook killed
	if err := a.handleEvent(ctx, agent); err != nil {
		fmt.Fprintln(a.err, "honestty: hook: "+oneLine(err))
	}
	return nil
}

func (a *app) handleEvent(ctx context.Context, agent string) (err error) {
	defer func() {
		if cause := recover(); cause != nil { // Go would exit with 2, which stops the agent
			err = fmt.Errorf("the hook itself failed: %v", cause)
		}
	}()
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, hookPatience)
	defer stop()
	if stateDir("") == "" {
		return errors.New("there is no home to keep the journal in, and the event was not recorded")
	}
	// Without descriptors the runtime ends the program with 2; start says so first.
	p, err := start()
	if err != nil {
		return err
	}
	defer p.Close()
	in, err := patientInput(a.in, began.Add(hookPatience))
	if err != nil {
		return err
	}
	defer in.Close()
	// A journal that cannot be opened takes every event and says why it is lost.
	j, _ := journal.Open(stateDir("journal"), journal.Options{Patience: hookPatience})
	defer func() { _ = j.Close() }() // Handle tells its trouble
	return hook.Handle(ctx, in, hook.Deps{
		Agent: agent, Log: j, Marks: stateDir("hooks"), Claims: claimDeps(os.Getenv), Owner: hook.Owner(), Began: began,
	})
}

// claimDeps are what looking at the claims of agents needs.
func claimDeps(getenv func(string) string) claims.Deps {
	d := claims.Deps{Decode: func(f *os.File) error {
		_, err := audio.InspectFile(f)
		return err
	}}
	policy, err := safepath.Default()
	if err != nil {
		d.Elsewhere = "not looked at: " + oneLine(err)
		return d
	}
	policy.State = ourFolders()
	d.Policy = policy
	// Hermes names the place where its commands and files are: local, docker,
	// ssh and others.
	if where := getenv("TERMINAL_ENV"); where != "" && where != "local" {
		d.Elsewhere = "the agent's files and processes are not on this machine"
	}
	return d
}

// patientInput makes reading from in end at a time, where that is possible: a
// pipe or a socket that the agent holds open must not hold the hook. Other
// files end by themselves.
func patientInput(in *os.File, until time.Time) (io.ReadCloser, error) {
	f, err := closable(in, "event")
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	if f == nil {
		return io.NopCloser(in), nil
	}
	if err := f.SetReadDeadline(until); err != nil {
		return nil, errors.Join(fmt.Errorf("read event: %w", err), f.Close())
	}
	return f, nil
}

// closable is another descriptor of a pipe or a socket, on which what waits ends
// when it is closed or its time is over. It is nil for any other file.
func closable(f *os.File, name string) (*os.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil, nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, ferr := -1, error(nil)
	err = conn.Control(func(n uintptr) {
		if fd, ferr = unix.FcntlInt(n, unix.F_DUPFD_CLOEXEC, 3); ferr == nil {
			ferr = unix.SetNonblock(fd, true)
		}
	})
	if err = errors.Join(err, ferr); err != nil {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing went through it
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (a *app) cmdHookConfig() *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use:   "config --agent hermes|claude-code",
		Short: "Print the settings that make an agent run the hook; nothing is edited",
		Long: `config prints what to put into the agent's own settings: config.yaml of Hermes,
settings.json of Claude Code (in ~/.claude, or .claude of a project). It edits
nothing. A note on stderr says where it goes.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if agent == "" {
				return usagef("give --agent: hermes or claude-code")
			}
			snippet, err := hook.Config(agent, a.self())
			if err != nil {
				return &usageError{err}
			}
			if agent == hook.ClaudeCode {
				fmt.Fprintln(a.err, "honestty: this goes into ~/.claude/settings.json, or .claude/settings.json of a project; merge it with the hooks that are there")
			}
			if _, err := io.WriteString(a.out, snippet); err != nil {
				return fmt.Errorf("write the settings: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "whose settings: hermes or claude-code")
	return cmd
}

// self is how agents call this program: by its name where the PATH leads to
// it, by its path otherwise.
func (a *app) self() string {
	me, err := os.Executable()
	if err != nil {
		return "honestty"
	}
	here, err := os.Stat(me)
	if err != nil {
		return me
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if there, err := os.Stat(filepath.Join(dir, "honestty")); err == nil && os.SameFile(here, there) {
			return "honestty"
		}
	}
	return me
}
