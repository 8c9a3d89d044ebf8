package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/jobhost"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tools/process"
	"github.com/honestty/honestty/tui/screen"
)

func (a *app) cmdJob() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "job COMMAND",
		Short: "Run commands in the background: start, list, log, wait, kill, write, attach",
		Long: `job keeps commands running in a host process of their own, which is started
when it is needed and ends ten minutes after the last job. Jobs outlive the
window, the shell and the agent that started them.

A job is named by its id or by a beginning of it that no other job has. Offsets
count bytes, or lines, from the start of the job and never move; what is no
longer kept is counted and named.

Success means that the action was done. It exits with 1 when it was not, and
with 2 on wrong use. --json prints the one object that agents get.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no job %s: give one of start, list, log, wait, kill, write, close, attach, host", screen.Visible(args[0]))
			}
			return usagef("give one of start, list, log, wait, kill, write, close, attach, host")
		},
	}
	j := &jobCall{app: a}
	cmd.PersistentFlags().BoolVar(&j.json, "json", false, "print the answer as one JSON object")
	cmd.AddCommand(j.start(), j.list(), j.log(), j.wait(), j.kill(), j.write(), j.close(), j.attach(), j.host())
	return cmd
}

// A jobCall is one call of the process tool.
type jobCall struct {
	app  *app
	json bool
}

// do makes one call and prints its result, as JSON or by show.
func (j *jobCall) do(ctx context.Context, p process.Params, show func(w io.Writer, r process.Result) error) error {
	k, err := j.app.openKit()
	if err != nil {
		return err
	}
	defer k.close()
	params, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the parameters: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	answer := k.call(ctx, "process", params, nil, nil)
	raw, err := json.Marshal(answer.Result)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if j.json {
		if _, err := j.app.out.Write(append(raw, '\n')); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		return k.judged(answer, true)
	}
	var r jobResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	if answer.Err == nil || r.Output != nil || r.Status == "killed" {
		if err := show(j.app.out, r.Result); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintln(j.app.err, "honestty: "+screen.Visible(n))
	}
	return k.judged(answer, false)
}

// A jobResult is a result of the process tool as it comes from the host. Its
// capture is left as JSON: the cause in it is a text there and no error.
type jobResult struct {
	process.Result
	Capture json.RawMessage `json:"capture,omitempty"`
}

func (j *jobCall) start() *cobra.Command {
	p := process.Params{Action: "start"}
	cmd := &cobra.Command{
		Use: "start [flags] -- COMMAND ARG...", Short: "Start a command in the background",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := command(cmd, args)
			if err != nil {
				return err
			}
			p.Command, p.Workdir = shellJoin(argv), climbed(p.Workdir)
			return j.do(cmd.Context(), p, func(w io.Writer, r process.Result) error {
				_, err := fmt.Fprintln(w, r.SessionID)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&p.PTY, "pty", false, "give it a terminal; where there is none that is an error")
	f.IntVar(&p.Cols, "cols", 0, "columns of the terminal (120 when not given)")
	f.IntVar(&p.Rows, "rows", 0, "rows of the terminal (30 when not given)")
	f.StringVarP(&p.Workdir, "dir", "C", "", "run in this directory")
	f.StringArrayVar(&p.Watch, "watch", nil, "tell when a line contains this; re:PATTERN is a regular expression")
	return cmd
}

// shellJoin writes words so that a shell reads them back as they are.
func shellJoin(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellQuote(w)
	}
	return strings.Join(out, " ")
}

func shellQuote(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@%+,", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func (j *jobCall) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the jobs, the newest first", Args: wordsOf(0, "job list takes no words: it lists all jobs"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return j.do(cmd.Context(), process.Params{Action: "list"}, printJobs)
		},
	}
}

func printJobs(out io.Writer, r process.Result) error {
	if len(r.Processes) == 0 {
		_, err := fmt.Fprintln(out, "no jobs")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\tpid\tstate\tran\toutput\tcommand")
	for _, e := range r.Processes {
		pid, ran := "-", "?"
		if e.PID != nil {
			pid = fmt.Sprint(*e.PID)
		}
		if e.Uptime != nil {
			ran = outcome.Duration(time.Duration(*e.Uptime * float64(time.Second)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.SessionID, pid, jobState(e), ran, outcome.Size(e.TotalBytes), screen.Visible(e.Command))
	}
	return w.Flush()
}

// jobState says in a word or two how a job stands.
func jobState(e process.Entry) string {
	switch {
	case e.Detached && e.Status == process.Running.String():
		return "detached"
	case e.Signal != nil:
		return *e.Signal
	case e.ExitCode != nil:
		return fmt.Sprintf("exit %d", *e.ExitCode)
	}
	return strings.ReplaceAll(e.Status, "_", " ")
}

func (j *jobCall) log() *cobra.Command {
	var offset int64
	var limit int
	var bytes, follow bool
	cmd := &cobra.Command{
		Use: "log [flags] ID", Short: "Print the output of a job: its end, or from an offset on",
		Long: `log prints the last 200 lines of a job's output, or from --offset on. What is
shown, and what is no longer kept, is said on stderr. --follow prints every byte
from the first that is kept, and goes on until the job ends.`,
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			p := process.Params{Action: "log", SessionID: args[0]}
			if bytes {
				p.Unit = "bytes"
			}
			if cmd.Flags().Changed("offset") {
				p.Offset = &offset
			}
			if cmd.Flags().Changed("limit") {
				p.Limit = &limit
			}
			if follow {
				if p.Limit != nil || p.Unit != "" || j.json {
					return usagef("--follow prints everything: it goes with neither --limit, --bytes nor --json")
				}
				return j.follow(cmd.Context(), args[0], offset)
			}
			return j.do(cmd.Context(), p, func(w io.Writer, r process.Result) error {
				fmt.Fprintln(j.app.err, "honestty: "+r.Showing)
				if r.Output == nil {
					return nil
				}
				_, err := io.WriteString(w, endLine(*r.Output))
				return err
			})
		},
	}
	f := cmd.Flags()
	f.Int64Var(&offset, "offset", 0, "lines to skip from the start; with --bytes or --follow the first byte")
	f.IntVar(&limit, "limit", 200, "how many lines, or bytes")
	f.BoolVar(&bytes, "bytes", false, "count bytes, not lines")
	f.BoolVarP(&follow, "follow", "f", false, "go on until the job ends")
	return cmd
}

// endLine ends a text that has no newline at its end, for a terminal.
func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// follow copies a job's output, byte for byte, until its end.
func (j *jobCall) follow(ctx context.Context, id string, from int64) error {
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	c, err := j.app.jobs(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	lost := int64(0)
	for {
		chunk, err := c.Read(ctx, id, from, readWait)
		if err != nil {
			return err
		}
		lost += chunk.Lost
		if chunk.Lost > 0 {
			fmt.Fprintf(j.app.err, "honestty: %s are not kept any more\n", outcome.CountBytes(chunk.Lost))
		}
		if _, err := j.app.out.Write(chunk.Data); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		from = chunk.From + int64(len(chunk.Data))
		if chunk.End {
			if lost > 0 {
				return &codeError{exitNotComplete}
			}
			return nil
		}
	}
}

// readWait is how long one read waits for output before it asks again.
const readWait = 20 * time.Second

var oneJob = wordsOf(1, "give one job: its id, or the beginning of it")

// show prints what a job wrote last and how it ended.
func showJob(w io.Writer, r process.Result) error {
	for _, out := range []*string{r.Output, r.OutputPreview} {
		if out != nil && *out != "" {
			if _, err := io.WriteString(w, endLine(*out)); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

func (j *jobCall) wait() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait [--timeout D] ID", Short: "Wait for the end of a job, and print its last output",
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			p := process.Params{Action: "wait", SessionID: args[0]}
			if cmd.Flags().Changed("timeout") {
				s := timeout.Seconds()
				p.Timeout = &s
			}
			return j.do(cmd.Context(), p, showJob)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 180*time.Second, "at most so long; the job goes on")
	return cmd
}

func (j *jobCall) kill() *cobra.Command {
	var grace time.Duration
	cmd := &cobra.Command{
		Use: "kill [--grace D] ID", Short: "End a job and every process below it: TERM, then KILL",
		Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			p := process.Params{Action: "kill", SessionID: args[0]}
			if cmd.Flags().Changed("grace") {
				s := grace.Seconds()
				p.Timeout = &s
			}
			return j.do(cmd.Context(), p, func(w io.Writer, r process.Result) error {
				text := r.Status
				switch {
				case r.Status == "already_exited" && r.Signal != nil:
					text = "had ended already, by " + *r.Signal
				case r.Status == "already_exited" && r.ExitCode != nil:
					text = fmt.Sprintf("had ended already, with exit %d", *r.ExitCode)
				case r.Status == "already_exited":
					text = "had ended already; how is not known"
				case r.Signal != nil:
					text += " by " + *r.Signal
				}
				for _, n := range r.NotSignalled {
					text += "; left alone: " + n
				}
				_, err := fmt.Fprintln(w, strings.ReplaceAll(text, "_", " "))
				return err
			})
		},
	}
	cmd.Flags().DurationVar(&grace, "grace", process.DefaultKillGrace, "between TERM and KILL")
	return cmd
}

func (j *jobCall) write() *cobra.Command {
	var enter bool
	cmd := &cobra.Command{
		Use: "write [--enter] ID TEXT|-", Short: "Give input to a job; - takes it from stdin",
		Args: wordsOf(2, "give a job and the text for it, or - to take it from stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data := args[1]
			if data == "-" {
				raw, err := io.ReadAll(io.LimitReader(j.app.in, maxInput+1))
				if err != nil {
					return fmt.Errorf("read stdin: %w", err)
				}
				if len(raw) > maxInput {
					return usagef("stdin has more than %s: a job takes input in pieces", outcome.Size(maxInput))
				}
				data = string(raw)
			}
			p := process.Params{Action: "write", SessionID: args[0], Data: &data}
			if enter {
				p.Action = "submit"
			}
			return j.do(cmd.Context(), p, func(io.Writer, process.Result) error { return nil })
		},
	}
	cmd.Flags().BoolVar(&enter, "enter", false, "end it as the Enter key does")
	return cmd
}

// maxInput is how much input one call carries: what fits a request.
const maxInput = 512 << 10

func (j *jobCall) close() *cobra.Command {
	return &cobra.Command{
		Use: "close ID", Short: "End the input of a job", Args: oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			return j.do(cmd.Context(), process.Params{Action: "close", SessionID: args[0]}, func(io.Writer, process.Result) error { return nil })
		},
	}
}

// host serves jobs. It is what `job` starts when there is none, and it can be
// run by hand or by a service manager.
func (j *jobCall) host() *cobra.Command {
	var stop bool
	cmd := &cobra.Command{
		Use: "host [--stop]", Short: "Be the process that keeps jobs, or stop it and every job",
		Args: wordsOf(0, "job host takes no words"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
			defer cancel()
			if !stop {
				return j.app.serveJobs(ctx)
			}
			c, err := jobhost.Dial(j.app.ctlEnv())
			if errors.Is(err, jobhost.ErrNoHost) {
				return nil
			}
			if err != nil {
				return err
			}
			defer c.Close()
			if err := c.Stop(ctx); err != nil {
				return err
			}
			return jobhost.AwaitEnd(ctx, stateDir("jobs"))
		},
	}
	cmd.Flags().BoolVar(&stop, "stop", false, "end the host and every job")
	return cmd
}

func (a *app) ctlEnv() ctl.Env { return ctl.Env{Version: a.version} }

// jobs reaches the job host and starts it when there is none.
func (a *app) jobs(ctx context.Context) (*jobhost.Client, error) {
	return jobhost.Connect(ctx, a.ctlEnv(), a.startHost)
}

// startHost starts this program again as the host, in a session of its own and
// without anything of ours: it must outlive us.
func (a *app) startHost() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(exe, []string{os.Args[0], "job", "host"}, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	return p.Release()
}

func (a *app) serveJobs(ctx context.Context) error {
	p, err := start()
	if err != nil {
		return err
	}
	life, err := jobhost.Begin(ctx, a.ctlEnv(), stateDir("jobs"))
	if errors.Is(err, jobhost.ErrRunning) {
		return p.Close() // somebody was quicker, and that one serves
	}
	if err != nil {
		return errors.Join(err, p.Close())
	}
	defer life.Close() // after the last record was written
	t, err := process.Open(process.Options{
		Dir: stateDir("jobs"), Poller: p, Version: a.version, Redact: redactBytes,
	})
	if err != nil {
		return errors.Join(err, p.Close())
	}
	meter := &fdmeter.Meter{}
	err = jobhost.Serve(ctx, jobhost.Config{
		Env: a.ctlEnv(), Table: t, Tool: process.Tool(t),
		Descriptors: func(pid int) (int64, bool) { return meter.Read(pid, time.Now()).Count.Get() },
	})
	return errors.Join(err, t.Close(), p.Close())
}
