package session

import (
	"fmt"
	"os"

	"github.com/honestty/honestty/internal/proc"
)

// resolve decides what runs where, and notes every fallback.
func (p *Pane) resolve() (command []string, dir string, notes []string) {
	command, dir = p.spec.Command, p.spec.Dir
	if len(command) == 0 {
		sh, note := shell()
		command = []string{sh}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if dir == "" {
		var note string
		if dir, note = ownDir(); note != "" {
			notes = append(notes, note)
		}
	}
	return command, dir, notes
}

// ownDir is the directory that we were started in or, when it was removed,
// home: a shell there is more use than none.
func ownDir() (dir, note string) {
	dir, err := os.Getwd()
	if err == nil && isDir(dir) {
		return dir, ""
	}
	gone := "the directory " + os.Getenv("PWD") + " is gone"
	if os.Getenv("PWD") == "" {
		gone = "our own directory is gone"
	}
	home, err := os.UserHomeDir()
	if err != nil || !isDir(home) {
		home = "/"
	}
	return home, gone + ": started in " + home
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// shell is $SHELL, or the first of the usual ones that can be executed.
func shell() (path, note string) {
	env := os.Environ()
	want := os.Getenv("SHELL")
	if want != "" {
		if _, err := proc.LookPath(want, "", env); err == nil {
			return want, ""
		}
	}
	for _, sh := range []string{"/bin/zsh", "/bin/bash", "/bin/sh"} {
		if _, err := proc.LookPath(sh, "", env); err == nil {
			if want != "" {
				note = fmt.Sprintf("SHELL is %s, which cannot be executed: started %s", want, sh)
			}
			return sh, note
		}
	}
	if want == "" {
		want = "/bin/sh"
	}
	return want, "" // the start will say why it cannot be had
}
