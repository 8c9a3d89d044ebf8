package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/agent/mcp"
	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/tui/screen"
)

func (a *app) cmdMCP() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the tools to an agent over the Model Context Protocol, on stdin and stdout",
		Long: `mcp is an MCP server on standard input and output, started by an agent. It offers
terminal, process, read_file, execute_code, text_to_speech, send_message,
fd_report and checkpoint. Every call stands in the journal; an open window shows
it while it runs, and asks there what needs approval. Without a window the tools
work all the same, and what needs approval is refused.

Success means that the agent closed the input and every call was answered.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context()) },
	}
	cmd.AddCommand(a.cmdMCPConfig())
	return cmd
}

func (a *app) serveMCP(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	k, err := a.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	list, err := k.tools()
	if err != nil { // the others work
		fmt.Fprintln(a.err, "honestty: not offered: "+oneLine(err))
	}
	in, out, err := a.agentPipes()
	if err != nil {
		return err
	}
	r := k.request(nil)
	return mcp.Serve(ctx, mcp.Config{
		Version: a.version, Tools: list, Caller: &k.caller, Source: k.source, Dir: r.Dir, Env: r.Env,
		Displayed: a.displayed(), Stdin: in, Stdout: out,
	})
}

// agentPipes are standard input and output in a form that closing ends a read
// or a write that waits, where that is possible: an agent that neither reads nor
// goes away must not hold the server. Writing to an agent that has gone is an
// error there and no signal, so that the calls that run are still ended well.
func (a *app) agentPipes() (in io.ReadCloser, out io.WriteCloser, err error) {
	in, out = io.NopCloser(a.in), stdout{a.out}
	f, err := closable(a.in, "agent")
	if err != nil {
		return nil, nil, fmt.Errorf("read from the agent: %w", err)
	}
	if f != nil {
		in = f
	}
	if to, ok := a.out.(*os.File); ok {
		g, err := closable(to, "agent")
		if err != nil {
			if f != nil {
				err = errors.Join(err, f.Close())
			}
			return nil, nil, fmt.Errorf("write to the agent: %w", err)
		}
		if g != nil {
			out = g
		}
	}
	return in, out, nil
}

// stdout is where answers go when it is a file. It is the process's and is not
// closed with the connection.
type stdout struct{ io.Writer }

func (stdout) Close() error { return nil }

const (
	// windowLook is how long an answer to whether a window is open holds:
	// looking costs a connection.
	windowLook = 2 * time.Second

	// windowPatience is how long a call waits for a window to say that it is
	// there: one that takes longer shows nothing in time either.
	windowPatience = 500 * time.Millisecond
)

// displayed tells whether a window of ours is open. Of calls that end at the
// same time one looks, and the others take what it finds.
func (a *app) displayed() func() bool {
	env := a.ctlEnv()
	env.Patience = windowPatience
	var at time.Time
	var open bool
	turn := make(chan struct{}, 1) // whoever puts its token in owns at and open
	return func() bool {
		turn <- struct{}{}
		defer func() { <-turn }()
		if time.Since(at) < windowLook {
			return open
		}
		c, err := ctl.Dial(env, "")
		if open = err == nil; open {
			_ = c.Close() // nothing was asked
		}
		at = time.Now()
		return open
	}
}

func (a *app) cmdMCPConfig() *cobra.Command {
	var client string
	cmd := &cobra.Command{
		Use: "config --client CLIENT", Short: "Print the settings that make an agent start this server",
		Long: `config prints what an agent needs in its settings, for the version that is found,
and changes nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if client == "" {
				return usagef("give --client: one of %s", strings.Join(mcp.Clients(), ", "))
			}
			exe, err := os.Executable()
			if err != nil {
				exe = "honestty"
			}
			version := ""
			if client == "opencode" {
				if version = versionOf(cmd.Context(), "opencode"); version == "" {
					fmt.Fprintln(a.err, "honestty: opencode does not tell its version here: this is for version 2 and later")
				}
			}
			s, err := mcp.SnippetFor(client, version, exe)
			if err != nil {
				return &usageError{err}
			}
			return a.printSnippet(s, version)
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "claude-code, codex, opencode, hermes, crush or gemini")
	return cmd
}

func (a *app) printSnippet(s mcp.Snippet, version string) error {
	if _, err := fmt.Fprintln(a.out, s.Text); err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	fmt.Fprintln(a.err, "honestty: this belongs into "+s.Where)
	if version != "" {
		fmt.Fprintln(a.err, "honestty: for version "+screen.Visible(version))
	}
	if s.Command != "" {
		fmt.Fprintln(a.err, "honestty: or run: "+s.Command)
	}
	if s.After != "" {
		fmt.Fprintln(a.err, "honestty: then "+s.After)
	}
	return nil
}

// versionTime bounds asking a program for its version.
const versionTime = 5 * time.Second

// versionOf asks a program; empty when it is not there or does not say.
func versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return ""
	}
	return oneLineText(out)
}

func oneLineText(b []byte) string {
	const most = 80
	for i, c := range b {
		if c == '\n' || i == most {
			return string(b[:i])
		}
	}
	return string(b)
}
