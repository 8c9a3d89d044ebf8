package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/hostbench"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/terminal"
)

// The roles of the helper: both hold descriptors and read one command's output.
const (
	RoleSelect = "select" // with select(), and an error taken for the end
	RoleOurs   = "ours"   // with tools/terminal
)

// An answer is what either role says of the command, in the form that agents
// get it.
type answer struct {
	Output   string  `json:"output"`
	ExitCode *int    `json:"exit_code"`
	Error    *string `json:"error"`
	State    string  `json:"state,omitempty"` // ours only
	Waiting  string  `json:"waiting,omitempty"`
	Number   int     `json:"number,omitempty"` // of the pipe's descriptor
}

// Help is the helper process: role, descriptors to hold, lines to read. It
// writes one JSON object.
func Help(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("a helper of the demo needs a role and two numbers")
	}
	held, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("read the number of descriptors: %w", err)
	}
	if _, err := strconv.Atoi(args[2]); err != nil {
		return fmt.Errorf("read the number of lines: %w", err)
	}
	if err := hostbench.Hold(held); err != nil {
		return err
	}
	command := []string{"seq", "1", args[2]}
	var a answer
	switch args[0] {
	case RoleSelect:
		a, err = selectReader(command)
	case RoleOurs:
		a, err = ourReader(ctx, command)
	default:
		err = fmt.Errorf("%q is not a role of the demo", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(a)
}

// selectReader reads a command's output as many programs did: it waits with
// select(), and takes every error of the wait for the end of the output.
func selectReader(command []string) (answer, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return answer{}, err
	}
	defer r.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout = w
	err = cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		return answer{}, err
	}
	a := answer{Number: int(r.Fd())}
	buf := make([]byte, 4096)
	for {
		ready, err := selectReadable(a.Number, time.Second)
		if err != nil {
			break // "the pipe is closed"
		}
		if !ready {
			continue
		}
		n, err := unix.Read(a.Number, buf)
		if err != nil || n <= 0 {
			break
		}
		a.Output += string(buf[:n])
	}
	if err := cmd.Wait(); err != nil {
		return answer{}, err
	}
	a.ExitCode = new(int)
	return a, nil
}

// ourReader is the terminal tool in the same position.
func ourReader(ctx context.Context, command []string) (answer, error) {
	p, err := fdwait.New()
	if err != nil {
		return answer{}, err
	}
	r := terminal.Run(ctx, terminal.Spec{Command: command, Poller: p})
	a := answer{Output: string(r.Output.Bytes), ExitCode: r.ExitCode, State: r.State().String(), Waiting: r.Waiting}
	if r.Err != nil {
		text := outcome.Errno(r.Err)
		a.Error = &text
	}
	return a, p.Close()
}
