package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// outlived looks for processes of this user that were started in a window which
// is not there any more: after a window was killed, what ignores SIGHUP runs on
// and nobody sees it. A window names its socket to what it starts. Jobs are meant
// to outlive it and do not count. Nothing is signalled.
func outlived(ctx context.Context, env Env, c *Check) {
	if env.SocketVariable == "" {
		c.sees("no variable was given by which a window is known")
		c.finds(Unknown, "There was nothing to look at.", "Run `honestty doctor`, which gives it.")
		return
	}
	procs, scan := env.meter.OfUser(os.Geteuid())
	if !scan.Listed {
		c.sees("the processes could not be listed: %s", scan.Cause)
		c.finds(Unknown, "Which processes there are is not known.", unlisted(scan.Cause))
		return
	}
	if _, err := os.Stat(env.Proc); err != nil { // macOS has none
		c.sees("the environment of other processes is not shown: %s", reason(err))
		c.finds(Unknown, "Whether a process outlived its window is not known: this system does not show in which one it was started.", "Look for it by hand with `ps -axo pid,ppid,lstart,command`: its parent is 1.")
		return
	}
	procs = slices.DeleteFunc(procs, func(p fdmeter.Proc) bool { // threads of the kernel, and what has ended
		line, err := env.about(p.PID, "cmdline")
		return err == nil && len(line) == 0
	})
	jobs := env.jobs(procs)
	dead := map[string]bool{} // by the path of the socket
	in, left, hidden := 0, 0, 0
	hides := func(p fdmeter.Proc, err error) {
		if hidden++; hidden <= shown {
			c.sees("%s (%d) cannot be told: %s", clean(p.Name), p.PID, reason(err))
		}
	}
	for _, p := range procs {
		if ctx.Err() != nil {
			return
		}
		if jobs[p.PID] || p.PID == os.Getpid() {
			continue
		}
		socket, err := env.windowOf(p.PID)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has ended
			continue
		case err != nil:
			hides(p, err)
			continue
		case socket == "":
			continue
		}
		gone, known := dead[socket]
		if !known {
			gone, err = env.SocketDead(socket)
			if gone = gone || errors.Is(err, fs.ErrNotExist); err != nil && !gone {
				hides(p, err)
				continue
			}
			dead[socket] = gone
		}
		if !gone {
			in++
			continue
		}
		if left++; left <= shown {
			c.sees("%s", env.outlivedWords(p, socket))
		}
	}
	if left > shown {
		c.sees("and %s more", outcome.Count(int64(left-shown)))
	}
	c.sees("%s of this user looked at: %s in windows that are open, %s of windows that are gone, %s cannot be told, the rest in none",
		processes(len(procs)), outcome.Count(int64(in)), outcome.Count(int64(left)), outcome.Count(int64(hidden)))
	if left > 0 {
		c.finds(Attention, "Processes run on whose window is gone: it was killed, or they were left running when it was closed.", "End those that nobody needs, with kill and their number. A daemon that was started there is in order.")
	}
	if hidden > 0 {
		c.finds(Unknown, "Whether "+processes(hidden)+" outlived a window cannot be told.", "Programs that guard secrets, such as ssh-agent, do not show their environment. Run this as root to see the others.")
	}
	c.finds(OK, "No process runs on whose window is gone.", "")
}

// windowOf returns the path of the socket that a process was told at its start,
// or "".
func (e Env) windowOf(pid int) (string, error) {
	text, err := e.about(pid, "environ")
	if err != nil {
		return "", err
	}
	for v := range bytes.SplitSeq(text, []byte{0}) {
		if path, ok := bytes.CutPrefix(v, []byte(e.SocketVariable+"=")); ok {
			return string(path), nil
		}
	}
	return "", nil
}

// about reads a file that the kernel has about a process.
func (e Env) about(pid int, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(e.Proc, strconv.Itoa(pid), name))
}

// jobs are the job hosts with everything below them.
func (e Env) jobs(procs []fdmeter.Proc) map[int]bool {
	var hosts []int
	for _, p := range procs {
		text, err := e.about(p.PID, "cmdline")
		args := bytes.Split(text, []byte{0})
		if err == nil && len(args) > 2 && string(args[1]) == "job" && string(args[2]) == "host" {
			hosts = append(hosts, p.PID)
		}
	}
	out := map[int]bool{}
	if len(hosts) == 0 {
		return out
	}
	for _, p := range e.meter.Tree(hosts...).Procs {
		out[p.PID] = true
	}
	return out
}

// outlivedWords say which process it is, since when it runs, what it holds, and
// whose it was.
func (e Env) outlivedWords(p fdmeter.Proc, socket string) string {
	r := e.read(p.PID)
	text := called(r)
	if r.Command != "" {
		text += ": " + clean(r.Command)
	}
	if !r.Started.IsZero() {
		text += ", since " + r.Started.Format(time.DateTime)
	}
	held := "descriptors unknown: " + r.Count.Reason()
	if n, known := r.Count.Get(); known {
		held = outcome.Count(n) + " descriptors"
	}
	return fmt.Sprintf("%s, %s; its window was %s", text, held, clean(socket))
}
