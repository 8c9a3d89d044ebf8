package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// herdCommand makes this program the root of a herd.
const herdCommand = "herd"

// herdFDs is how many descriptors each sleeping process holds: the three of
// every process, and some as programs have them.
const herdFDs = 16

// herdReady stands before the pids that the root of a herd prints.
const herdReady = "herd:"

// herdMain starts all but one of n processes, which is itself, and ends them
// when its input ends.
func herdMain(args []string) {
	if err := tend(args); err != nil {
		fmt.Println("herd failed:", err)
	}
}

func tend(args []string) (err error) {
	if len(args) != 1 {
		return errors.New("usage: herd N")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var files []*os.File
	for range herdFDs - 3 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer f.Close()
		files = append(files, f)
	}
	var flock []*exec.Cmd
	defer func() {
		for _, cmd := range flock {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed, as it says
		}
	}()
	line := herdReady + " " + strconv.Itoa(os.Getpid())
	for range n - 1 {
		cmd := exec.Command("sleep", "3600")
		cmd.ExtraFiles = files
		if err := cmd.Start(); err != nil {
			return err
		}
		flock = append(flock, cmd)
		line += " " + strconv.Itoa(cmd.Process.Pid)
	}
	fmt.Println(line)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// A herd is a tree of sleeping processes.
type herd struct {
	pids  []int             // the root first
	file  string            // holds them, one a line
	known int64             // descriptors that they held together at the last look
	wrong map[string]string // by way: what it saw beside what there is
	cmd   *exec.Cmd
	stdin io.Closer
	dir   string
}

func newHerd(n int) (_ *herd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &herd{cmd: exec.Command(self, herdCommand, strconv.Itoa(n)), wrong: map[string]string{}}
	if h.dir, err = os.MkdirTemp("", "bench-herd-"); err != nil {
		return nil, err
	}
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(h.dir))
	}
	if err := h.gather(out, n); err != nil {
		return nil, errors.Join(fmt.Errorf("start a herd of %d: %w", n, err), h.close())
	}
	return h, nil
}

func (h *herd) gather(out io.Reader, n int) error {
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	list, ok := strings.CutPrefix(line, herdReady)
	if !ok {
		return errors.New(strings.TrimSpace(line))
	}
	h.file = filepath.Join(h.dir, "pids")
	if err := os.WriteFile(h.file, []byte(list), 0o600); err != nil {
		return err
	}
	if h.pids, err = readPIDs(h.file); err != nil {
		return err
	}
	if len(h.pids) != n {
		return fmt.Errorf("%d processes were started", len(h.pids))
	}
	return nil
}

// count lists the descriptors that all hold together now.
func (h *herd) count() (sum int64, err error) {
	for _, pid := range h.pids {
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			return 0, err
		}
		sum += int64(len(fds))
	}
	return sum, nil
}

// close ends the herd: its root ends and reaps the others.
func (h *herd) close() error {
	return errors.Join(h.stdin.Close(), h.cmd.Wait(), os.RemoveAll(h.dir))
}

// check compares what a way saw with what there is. The root, which has a
// runtime, may open or close a descriptor of its own, so that a difference
// counts only when it is still there after another look.
func (h *herd) check(way string, saw int64) (err error) {
	if saw == h.known {
		return nil
	}
	before := h.known
	if h.known, err = h.count(); err == nil && saw != before && saw != h.known {
		h.wrong[way] = fmt.Sprintf("%s of %d: saw %d descriptors, there are %d", way, len(h.pids), saw, h.known)
	}
	return err
}

// printWrong names the ways that saw something else than there is: their cost
// is that of another answer.
func (h *herd) printWrong() {
	for _, way := range slices.Sorted(maps.Keys(h.wrong)) {
		fmt.Println("  " + h.wrong[way])
	}
}
