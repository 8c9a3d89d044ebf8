package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// settle is how long nothing must come until a step is over: three frames of
// a host that draws 60 a second.
const settle = 50 * time.Millisecond

// An activity is a piece of a scripted session: each key is a step, and what
// comes between two steps is what the step cost.
type activity struct {
	name  string
	enter string   // typed before, not counted
	keys  []string // the steps
	leave string   // typed after, not counted
}

// activities are what a shell in dir is asked for, in their order.
func activities(dir string, haveVim bool) []activity {
	list := []activity{
		{"typing at the prompt", "", strings.Split("echo the words of a line that somebody types", ""), "\r"},
		{"ls --color", "", repeat("ls --color=always -C '"+dir+"'\r", 10), ""},
	}
	if !haveVim {
		fmt.Println("vim: skipped, it is not here")
		return list
	}
	file := filepath.Join(dir, "text.go")
	open := "vim -u NONE -i NONE -n -N -c 'syntax on' -c 'set number' '" + file + "'\r"
	return append(list,
		activity{"vim, a line down", open, repeat("\x05", 40), ""},
		activity{"vim, a page down", "", repeat("\x06", 15), ""},
		activity{"vim, half a page up", "", repeat("\x15", 15), ""},
		activity{"vim, typing", "o", strings.Split("if value != nil { return value }", ""), "\x1b:q!\r"},
	)
}

func repeat(key string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = key
	}
	return keys
}

// outerBytes prints what each host writes to its terminal for a session that
// is the same for all.
func outerBytes(b *bed, _ options) error {
	fmt.Printf("\nBytes to the outer terminal a step, for the same session of a shell on %d×%d, after each step %s of silence\n", windowCols, windowRows, settle)
	b.skipTmux()
	dir, err := b.files()
	if err != nil {
		return err
	}
	_, noVim := exec.LookPath("vim")
	script := activities(dir, noVim == nil)
	list := b.starters()
	t := table{append(append([]string{"step", "steps"}, hostNames(list)...), "honestty ÷ bare", "honestty ÷ tmux", "screens")}
	var all [][]stepCost
	for _, s := range list {
		costs, err := playSession(b, s, script)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, costs)
	}
	for i, a := range script {
		addBytes(&t, a, all, i)
	}
	fmt.Println()
	t.print(os.Stdout)
	fmt.Println("bare: what the programs themselves write, for the TERM of the outer terminal; screens: whether all terminals showed the same after the last step")
	return nil
}

func addBytes(t *table, a activity, all [][]stepCost, i int) {
	row := []string{a.name, fmt.Sprint(len(a.keys))}
	by := map[string]float64{}
	same := "the same"
	for _, costs := range all {
		c := costs[i]
		by[c.host] = float64(c.bytes) / float64(len(a.keys))
		row = append(row, fmt.Sprintf("%.0f", by[c.host]))
		if c.screen != all[0][i].screen {
			same = "differ at " + firstDifference(c.screen, all[0][i].screen)
		}
	}
	ratio := func(peer string) string {
		if by[peer] == 0 {
			return none
		}
		return times(by[product] / by[peer])
	}
	*t = append(*t, append(row, ratio(bare), ratio(tmuxPeer), same))
}

// firstDifference names the first row in which two screens differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("row %d", i+1)
		}
	}
	return fmt.Sprintf("row %d", min(len(x), len(y))+1)
}

// A stepCost is what one activity cost one host, and what it left to see
// without the host's own row.
type stepCost struct {
	host   string
	bytes  int64
	screen string
}

func playSession(b *bed, s starter, script []activity) (costs []stepCost, err error) {
	h, err := s.start(b, "/bin/sh")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	o := h.outer
	if _, err := o.await(shows(strings.TrimSpace(prompt))); err != nil {
		return nil, err
	}
	for _, a := range script {
		if err := o.step(a.enter); err != nil {
			return nil, err
		}
		o.quiet(300 * time.Millisecond) // a program has come up
		c := stepCost{host: s.name}
		for _, key := range a.keys {
			before := o.count()
			if err := o.step(key); err != nil {
				return nil, err
			}
			c.bytes += o.count() - before
		}
		c.screen = o.program()
		costs = append(costs, c)
		if err := o.step(a.leave); err != nil {
			return nil, err
		}
	}
	return costs, nil
}

// step types, waits for the first byte that follows and then for silence.
func (o *outer) step(keys string) error {
	if keys == "" {
		return nil
	}
	before := o.count()
	if err := o.send([]byte(keys)); err != nil {
		return err
	}
	for end := time.Now().Add(stepLimit); o.count() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("%q: %w", keys, errSilent)
		}
	}
	o.quiet(settle)
	return nil
}

// program is what a program shows: every row but a host's own, the last.
func (o *outer) program() string {
	rows := strings.Split(o.text(), "\n")
	return strings.TrimRight(strings.Join(rows[:min(len(rows), windowRows-1)], "\n"), "\n ")
}

// files makes a folder with a text and names of several colours.
func (b *bed) files() (string, error) {
	dir := filepath.Join(b.dir, "files")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "text.go"), sourceText(), 0o600); err != nil {
		return "", err
	}
	rnd := seeded(5)
	for i := range 150 {
		name := filepath.Join(dir, fmt.Sprintf("%s-%s%d", filepath.Base(string(word(rnd))), filepath.Base(string(word(rnd))), i))
		var err error
		switch i % 4 {
		case 0:
			err = os.Mkdir(name, 0o700)
		case 1:
			err = os.WriteFile(name, nil, 0o700)
		default:
			err = os.WriteFile(name+".tar", nil, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}
