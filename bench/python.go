package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A pythonPeer is peers/python/reader.py, which stays open for many jobs.
type pythonPeer struct {
	interpreter, script string
	cmd                 *exec.Cmd
	jobs                io.WriteCloser
	answers             *bufio.Reader
}

// startPython starts the peer. The interpreter is asked where it lies: the name
// may lead to a script that looks for it first.
func startPython(env []string) (*pythonPeer, error) {
	dir, err := peerDir("python")
	if err != nil {
		return nil, err
	}
	found, err := exec.LookPath("python3")
	if err != nil {
		return nil, errors.New("python3 is not here")
	}
	out, err := exec.Command(found, "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return nil, fmt.Errorf("ask python3 where it lies: %w", err)
	}
	p := &pythonPeer{interpreter: strings.TrimSpace(string(out)), script: filepath.Join(dir, "reader.py")}
	p.cmd = exec.Command(p.interpreter, p.script)
	p.cmd.Env = env
	if p.jobs, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, p.jobs.Close())
	}
	p.answers = bufio.NewReader(answers)
	return p, p.cmd.Start()
}

// do runs a command a number of times. What is "calls" or "bytes"; the times
// are Python's own, without its start.
func (p *pythonPeer) do(what string, argv []string, times int) (l lap, err error) {
	job, err := json.Marshal(map[string]any{"what": what, "argv": argv, "times": times})
	if err != nil {
		return lap{}, err
	}
	if _, err := p.jobs.Write(append(job, '\n')); err != nil {
		return lap{}, fmt.Errorf("write to Python: %w", err)
	}
	line, err := p.answers.ReadBytes('\n')
	if err != nil {
		return lap{}, fmt.Errorf("read from Python: %w", err)
	}
	var a struct {
		Wall, CPU float64 // seconds
		Bytes     int64
		Error     string
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return lap{}, fmt.Errorf("read from Python: %w", err)
	}
	if a.Error != "" {
		return lap{}, errors.New(a.Error)
	}
	return lap{wall: seconds(a.Wall), cpu: seconds(a.CPU), bytes: a.Bytes}, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (p *pythonPeer) close() error { return errors.Join(p.jobs.Close(), p.cmd.Wait()) }
