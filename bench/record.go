package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/ptybridge"
	"github.com/honestty/honestty/vt"
)

// recordLimit is how long a recorded program may take.
const recordLimit = 30 * time.Second

// vimSession is what the recorded vim does: paging, scrolling line by line,
// searching, typing, undoing and two windows, with a redraw after each step.
// A script of keys would be drawn only at its end.
const vimSession = `set nocompatible number ruler showcmd hlsearch laststatus=2
syntax on
func! Keys(n, keys)
  for i in range(a:n)
    exe "normal! " . a:keys
    redraw
  endfor
endfunc
call Keys(25, "\<C-f>")
call Keys(25, "\<C-b>")
call Keys(120, "\<C-e>")
call Keys(80, "\<C-y>")
call Keys(60, "jw")
let @/ = 'return'
call Keys(60, "n")
call Keys(40, "oif value != nil { return value }\<Esc>")
call Keys(40, "u")
call Keys(20, "ddp")
vsplit
call Keys(30, "\<C-d>")
call Keys(30, "\<C-u>")
qa!
`

// recordVim returns what vim writes during vimSession on a terminal of ours of
// that size, with the engine's replies given back to it.
func recordVim(cols, rows int) ([]byte, error) {
	if _, err := exec.LookPath("vim"); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-vim-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file, script := filepath.Join(dir, "text.go"), filepath.Join(dir, "session.vim")
	if err := os.WriteFile(file, sourceText(), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(script, []byte(vimSession), 0o600); err != nil {
		return nil, err
	}
	return record([]string{"vim", "-u", "NONE", "-i", "NONE", "-n", "-S", script, file}, dir, cols, rows)
}

func record(command []string, home string, cols, rows int) ([]byte, error) {
	poller, err := fdwait.New()
	if err != nil {
		return nil, err
	}
	defer poller.Close()
	var got []byte
	var bridge *ptybridge.Bridge
	term := vt.New(cols, rows, vt.Options{Version: "bench"})
	ready := make(chan struct{})
	bridge, err = ptybridge.Start(ptybridge.Config{
		Command: command, Size: ptybridge.Size{Cols: cols, Rows: rows}, Poller: poller,
		Env: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + home, "PATH=" + os.Getenv("PATH")},
		Output: func(p []byte) {
			<-ready
			got = append(got, p...)
			if reply := term.Write(p).Reply; len(reply) > 0 {
				_, _ = bridge.Write(bytes.Clone(reply)) // vim goes on without one
			}
		},
	})
	if err != nil {
		return nil, err
	}
	close(ready)
	select {
	case <-bridge.Done():
	case <-time.After(recordLimit):
	}
	exit := bridge.Close()
	if state := exit.Capture.State(); exit.Code != 0 || state != outcome.StateComplete {
		return nil, fmt.Errorf("record %s: exit %d, %s", command[0], exit.Code, state)
	}
	return got, nil
}

// sourceText is a Go file of 1,500 lines.
func sourceText() []byte {
	rnd := seeded(7)
	b := []byte("package text\n")
	for i := range 150 {
		b = fmt.Appendf(b, "\n// value%d %s\nfunc value%d(n int) (string, error) {\n", i, prose(nil, rnd, 50), i)
		b = fmt.Appendf(b, "\tfor i := range n {\n\t\tif i > %d { // %s\n", rnd.IntN(100), prose(nil, rnd, 20))
		b = fmt.Appendf(b, "\t\t\treturn fmt.Sprintf(%q, i), nil\n\t\t}\n\t}\n\treturn \"\", nil\n}\n", prose(nil, rnd, 30))
	}
	return b
}
