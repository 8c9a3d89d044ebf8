//go:build differential

package vt

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestRandomProgramsGiveTheSameScreenAsXtermJS compares random programs of
// sequences on which both engines claim support. It needs node, and
// @xterm/headless where NODE_PATH or the working directory leads:
//
//	NODE_PATH=dir/node_modules go test -tags differential -run XtermJS ./vt
//
// Left out, because the engines differ on purpose (docs/sequences.md, Choices):
// SU, which xterm.js keeps out of its scrollback; EL and ED with a wrap pending;
// margins, which xterm.js has for each screen; DECSC, whose place scrolls with the
// text there; IL and DL outside the region, which end a pending wrap there; ICH on
// half a character.
func TestRandomProgramsGiveTheSameScreenAsXtermJS(t *testing.T) {
	if out, err := exec.Command("node", "-e", "require('@xterm/headless')").CombinedOutput(); err != nil {
		t.Skipf("skipped: no node with @xterm/headless: %v %.200s", err, out)
	}
	var x *xterm
	defer func() { x.stop() }()
	failed, compared := 0, 0
	for seed := range uint64(1500) {
		if x == nil {
			x = startXterm(t)
		}
		rnd := rand.New(rand.NewPCG(seed, 5))
		cols, rows := 4+rnd.IntN(17), 2+rnd.IntN(5)
		p := commonProgram(rnd, cols, rows)
		theirs, ok := x.run(cols, rows, p)
		if !ok {
			failed++
			x.stop()
			x = nil
			continue
		}
		compared++
		if ours := ourScreen(cols, rows, p); ours != theirs {
			t.Errorf("seed %d, %d×%d after %q:\nours\n%s\ntheirs\n%s", seed, cols, rows, p, ours, theirs)
		}
	}
	t.Logf("%d programs compared; xterm.js threw on %d", compared, failed)
}

// commonProgram returns a program of sequences that both engines treat alike.
func commonProgram(rnd *rand.Rand, cols, rows int) string {
	var b strings.Builder
	letters := []rune("abcdef xyz世é")
	for range 3 + rnd.IntN(22) {
		n := []string{"", "1", "2", "3", "5"}[rnd.IntN(5)]
		switch k := rnd.IntN(100); {
		case k < 35:
			for range 1 + rnd.IntN(15) {
				b.WriteRune(letters[rnd.IntN(len(letters))])
			}
		case k < 45:
			b.WriteString([]string{"\r\n", "\n", "\r", "\b", "\t"}[rnd.IntN(5)])
		case k < 55:
			fmt.Fprintf(&b, "\x1b[%d;%dH", 1+rnd.IntN(rows), 1+rnd.IntN(cols))
		case k < 78:
			fmt.Fprintf(&b, "\x1b[%s%c", n, "ABCDEFGdaeIX`Pb"[rnd.IntN(15)])
		case k < 84:
			fmt.Fprintf(&b, "\r\x1b[%s%c", n, "JK@T"[rnd.IntN(4)])
		case k < 88:
			fmt.Fprintf(&b, "\x1b[H\x1b[%s%c", n, "LM"[rnd.IntN(2)])
		case k < 92:
			top := 1 + rnd.IntN(rows-1)
			fmt.Fprintf(&b, "\x1b[%d;%dr", top, top+1+rnd.IntN(rows-top))
		case k < 95:
			b.WriteString([]string{"\x1bD", "\x1bM", "\x1bE", "\x1bH"}[rnd.IntN(4)])
		default:
			b.WriteString([]string{"\x1b[4h", "\x1b[4l"}[rnd.IntN(2)])
		}
	}
	return b.String()
}

func screenText(lines []string, x, y int) string {
	return strings.Join(lines, "\n") + fmt.Sprintf("\ncursor %d,%d", y, x)
}

func ourScreen(cols, rows int, p string) string {
	v := New(cols, rows, Options{Scrollback: 200})
	v.Write([]byte(p))
	var lines []string
	for i := range v.HistoryLen() {
		lines = append(lines, strings.TrimRight(rowText(v, v.HistoryLine(i, nil)), " "))
	}
	for r := range v.rows {
		lines = append(lines, strings.TrimRight(rowText(v, v.Line(r)), " "))
	}
	c := v.Cursor()
	x := int(c.Col)
	if c.PendingWrap {
		x++ // as xterm.js counts it
	}
	return screenText(lines, x, int(c.Row))
}

// An xterm is a node process that runs programs through @xterm/headless.
type xterm struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startXterm(t *testing.T) *xterm {
	x := &xterm{cmd: exec.Command("node", "../testdata/vt/differential.js")}
	out, err := x.cmd.StdoutPipe()
	if err == nil {
		x.in, err = x.cmd.StdinPipe()
	}
	if err == nil {
		err = x.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	x.out = bufio.NewReader(out)
	return x
}

func (x *xterm) stop() {
	if x != nil {
		x.in.Close()
		x.cmd.Wait()
	}
}

// run returns the screen after p, and false when the library threw.
func (x *xterm) run(cols, rows int, p string) (string, bool) {
	req, _ := json.Marshal(map[string]any{"cols": cols, "rows": rows, "data": []byte(p)})
	if _, err := x.in.Write(append(req, '\n')); err != nil {
		return "", false
	}
	line, err := x.out.ReadBytes('\n')
	var a struct {
		Lines  []string
		X, Y   int
		Failed string
	}
	if err != nil || json.Unmarshal(line, &a) != nil || a.Failed != "" {
		return "", false
	}
	lines := slices.Clone(a.Lines)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return screenText(lines, a.X, a.Y), true
}
