package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/tui/keymap"
)

func TestEveryActionHasItsOrder(t *testing.T) {
	orders := newOrders()
	for _, info := range keymap.Actions() {
		if _, ok := orders[info.Action]; !ok {
			t.Errorf("%s stands in the palette and does nothing", info.Action)
		}
		delete(orders, info.Action)
	}
	for a := range orders {
		t.Errorf("%s is no action", a)
	}
}

func TestSplitsTabsFocusAndZoom(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.see("$")
	o.typ("echo first pane\r")
	o.see("first pane\n")
	o.typ(prefixKey + "%")
	o.see("─ 2 ")
	o.typ("echo second pane; stty size\r")
	o.see("28 49") // 30 rows, less bar and header; half of the columns
	o.typ(prefixKey + `"`)
	o.see("─ 3 ")
	o.typ("echo third pane; stty size\r")
	o.see("13 49")
	o.typ(prefixKey + "h") // back to the left one
	o.typ("echo left$((40+2))\r")
	o.see("left42")
	o.typ(prefixKey + "z")
	o.await("a zoomed pane", func(s string) bool { return !strings.Contains(s, "second pane") })
	o.typ("stty size\r")
	o.see("29 100")
	o.typ(prefixKey + "z")
	o.see("second pane")
	o.typ(prefixKey + "c")
	o.typ("echo in the second tab\r") // typed ahead: it is for the new tab
	o.see("in the second tab\n")
	o.typ(prefixKey + "1")
	o.see("left42")
	o.typ(prefixKey + ",")
	o.see("Rename tab")
	o.typ("work\r")
	o.see(" 1 work")
	o.typ(prefixKey + "n")
	o.see("in the second tab")
	o.typ(prefixKey + "&")
	o.see("Close this tab?")
	o.typ("y")
	o.await("one tab", func(s string) bool { return !strings.Contains(s, "in the second") && strings.Contains(s, "left42") })
	o.typ(prefixKey + "q")
	o.see("Leave honestty? 3 panes still run")
	o.typ("y")
	if e := o.end(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

func TestASplitThatDoesNotFitSaysWhy(t *testing.T) {
	o := open(t, outerConfig{cols: 38, rows: 8}, "/bin/sh")
	o.see("$")
	o.typ(prefixKey + "%")
	o.see("no room")
	o.typ("echo still here\r")
	o.see("still here\n")
}

func TestCopyModeSearchesSelectsAndCopies(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.see("$")
	o.typ("seq 1 500\r")
	o.see("499\n500\n")
	o.typ(prefixKey + "[")
	o.see("line 5")
	o.typ("?^123$\r")
	o.see("1 of 1")
	o.see("123\n")
	o.typ("Vjjy")
	o.see("copied 3 lines")
	o.mu.Lock()
	raw := string(o.raw)
	o.mu.Unlock()
	if want := "]52;c;MTIzCjEyNAoxMjU"; !strings.Contains(raw, want) { // 123, 124, 125
		t.Errorf("no %q was sent to the terminal", want)
	}
	o.typ("echo alive\r")
	o.see("alive\n")
	o.typ("cat\r" + prefixKey + "]") // paste what was copied
	o.see("124\n125")
}

func TestTheMouseFocusesScrollsAndSelects(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.see("$")
	o.typ("seq 1 300\r")
	o.see("299\n300\n")
	o.typ(prefixKey + "%")
	o.see("─ 2 ")
	o.typ("echo right$((40+2))\r")
	o.see("right42")
	o.typ("\x1b[<0;5;5M\x1b[<0;5;5m") // click into the left pane
	o.typ("echo left$((40+2))\r")
	o.see("left42")
	o.typ("\x1b[<64;5;5M\x1b[<64;5;5M") // wheel up
	o.see("copy mode")
	o.see("line ")
	o.typ("\x1b[<65;5;5M\x1b[<65;5;5M\x1b[<65;5;5M") // down to the end leaves it
	o.await("no copy mode", func(s string) bool { return !strings.Contains(s, "copy mode") })
	o.typ("\x1b[<0;1;4M\x1b[<32;4;4M\x1b[<0;4;4m") // drag over a number
	o.see("copied 1 line")
	o.await("no copy mode", func(s string) bool { return !strings.Contains(s, "copy mode") })
	o.typ("\x1b[<0;51;10M\x1b[<32;71;10M\x1b[<0;71;10m") // drag the border
	o.typ("stty size\r")
	o.see("28 70")
}

func TestAMouseProgramGetsTheMouseAtItsOwnPlace(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.see("$")
	o.typ(prefixKey + "%")
	o.see("─ 2 ")
	o.typ(`stty raw -echo; printf '\033[?1000;1006hrea''dy'; cat -v` + "\r") // the echo of the line is not the answer
	o.see("ready")
	o.typ("\x1b[<0;61;11M") // column 10, row 10 of a pane that begins at 51, 2
	o.see("^[[<0;10;10M")
}

func TestTheDockShowsDescriptors(t *testing.T) {
	o := open(t, outerConfig{cols: 120, rows: 30}, "/bin/sh")
	o.see("$")
	o.typ(prefixKey + "f")
	o.see("─ FDs ")
	o.see("highest")
	o.typ("q") // back to the pane
	o.typ("echo typed$((40+2))\r")
	o.see("typed42")
	o.typ(prefixKey + "D")
	o.await("no dock", func(s string) bool { return !strings.Contains(s, "─ FDs ") })
}

func TestThePaletteRunsWhatWasFoundAndSaysWhyNot(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.see("$")
	o.typ(prefixKey + ":")
	o.see("Palette")
	o.typ("zoom")
	o.see("this tab has only one pane")
	o.typ("\x1b")
	o.await("no palette", func(s string) bool { return !strings.Contains(s, "Zoom pane") })
	o.typ(prefixKey + ":spl ri\r")
	o.see("─ 2 ")
}

func TestAProgramAsksBeforeItSetsTheClipboard(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `printf '\033]52;c;c2VjcmV0\033\\ready'; sleep 60`)
	o.see("wants to put 6 B into the clipboard")
	if strings.Contains(string(o.raw), "]52;c;") {
		t.Error("the clipboard was set without asking")
	}
	o.typ("\x1b[A\x1b[A\x1b[A\r") // from Refuse once up to Allow once
	o.see("copied 1 line")
	o.mu.Lock()
	defer o.mu.Unlock()
	if !strings.Contains(string(o.raw), "]52;c;c2VjcmV0") {
		t.Error("the clipboard was not set after consent")
	}
}

func TestAnEndOutOfSightStaysInTheBarUntilLookedAt(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.see("$")
	o.typ("sleep 0.3; exit 7\r" + prefixKey + "c")
	o.see("sh: exit 7")
	o.see("^B a looks")
	o.typ(prefixKey + "a")
	o.see("✗ exit 7 · ")
	o.await("no alert", func(s string) bool { return !strings.Contains(s, "looks") })
}

func TestRerunKeepsTheScrollback(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", "echo run by $$; exit 2")
	s := o.see("q closes")
	first := strings.Fields(s[strings.Index(s, "run by"):])[2]
	o.typ("\r")
	o.see("exit 2 before")
	s = o.await("a second run", func(s string) bool { return strings.Count(s, "run by") == 2 && strings.Contains(s, "q closes") })
	if !strings.Contains(s, "run by "+first) {
		t.Errorf("the first run is gone:\n%s", s)
	}
}

func TestACommandThatTheShellMarksHasItsBadge(t *testing.T) {
	mark := func(s string) string { return `\033]133;` + s + `\033\\` }
	script := "printf '" + mark("A") + "$ " + mark("B") + `good\r\n` + mark("C") + `fine\r\n` + mark("D;0") +
		mark("A") + "$ " + mark("B") + `bad\r\n` + mark("C") + "'; sleep 0.3; printf '" + `oh\r\n` + mark("D;3") + mark("A") + "$ '; sleep 60"
	o := open(t, outerConfig{}, "/bin/sh", "-c", script)
	o.await("both badges", func(s string) bool {
		good, bad := rowWith(s, "$ good"), rowWith(s, "$ bad")
		return strings.Contains(good, "✓ 0.0") && strings.Contains(bad, "✗ 3 0.3")
	})
}

// rowWith is the first row of a screen that begins with a text.
func rowWith(screen, text string) string {
	for row := range strings.Lines(screen) {
		if strings.HasPrefix(row, text) {
			return row
		}
	}
	return ""
}

func TestALinkShowsWhereItLeadsBeforeItIsOpened(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `printf '\033]8;;https://evil.example/x\033\\bank\033]8;;\033\\ \033]8;;file:///etc/passwd\033\\file\033]8;;\033\\ ready'; sleep 60`)
	o.see("ready")
	o.typ("\x1b[<16;2;1M\x1b[<16;2;1m") // Ctrl and a click on "bank"
	o.see("https://evil.example/x")
	o.typ("\x1b")
	o.typ("\x1b[<16;7;1M\x1b[<16;7;1m")
	o.see("only http, https and mailto")
}

// call talks to the window of o through its socket.
func call(t *testing.T, o *outer, method string, params, result any) {
	t.Helper()
	env := map[string]string{ctl.SocketVariable: socketOf(t, o)}
	c, err := ctl.Dial(ctl.Env{Getenv: func(k string) string { return env[k] }}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Call(t.Context(), method, params, result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// socketOf asks the shell in the pane.
func socketOf(t *testing.T, o *outer) string {
	t.Helper()
	if o.socket != "" {
		return o.socket
	}
	file := t.TempDir() + "/socket"
	o.typ(fmt.Sprintf("printf %%s \"$HONESTTY_SOCKET\" >%s; clear; echo written\r", file))
	o.see("written\n")
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) == 0 {
		t.Fatalf("no socket is told to children: %v", err)
	}
	o.socket = string(raw)
	return o.socket
}

func TestCommandsDriveTheWindow(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30, env: []string{"XDG_RUNTIME_DIR=" + t.TempDir()}}, "/bin/sh")
	o.see("$")
	var list ctl.ListResult
	call(t, o, ctl.MethodList, ctl.ListParams{}, &list)
	if len(list.Tabs) != 1 || len(list.Tabs[0].Panes) != 1 || list.Tabs[0].Panes[0].State != ctl.StateRunning {
		t.Fatalf("list = %+v", list)
	}
	var opened ctl.OpenResult
	call(t, o, ctl.MethodSplit, ctl.SplitParams{Direction: ctl.Right, Command: []string{"/bin/sh", "-c", "seq 1 50; exit 3"}}, &opened)
	var wait ctl.WaitResult
	call(t, o, ctl.MethodWait, ctl.WaitParams{Pane: opened.Pane, Until: ctl.UntilExit}, &wait)
	if !wait.Reached || wait.Exit == nil || *wait.Exit.Code != 3 || wait.Capture.State != ctl.CaptureComplete {
		raw, _ := json.Marshal(wait)
		t.Errorf("wait = %s", raw)
	}
	var text ctl.CaptureResult
	call(t, o, ctl.MethodCapture, ctl.CaptureParams{Pane: opened.Pane, Scrollback: true}, &text)
	if want := strings.Fields(text.Text); len(want) != 50 || want[49] != "50" || !text.Whole() {
		t.Errorf("capture = %+v", text)
	}
	call(t, o, ctl.MethodFocus, ctl.FocusParams{Pane: list.Tabs[0].Panes[0].ID}, &ctl.FocusResult{})
	var sent ctl.SendResult
	call(t, o, ctl.MethodSend, ctl.SendParams{Text: "echo sent by a command", Enter: true}, &sent)
	call(t, o, ctl.MethodWait, ctl.WaitParams{Until: ctl.UntilText, Text: "sent by a command"}, &wait)
	if sent.Refused != 0 || !wait.Reached {
		t.Errorf("send = %+v, wait = %+v", sent, wait)
	}
}

// TestPanesAreNoLoadWhenIdle and the flood beside typing are measured by make
// bench; here only that both go on at once.
func TestAFloodInOnePaneLeavesTheOtherUsable(t *testing.T) {
	if _, err := exec.LookPath("yes"); err != nil {
		t.Skip("skipped: yes is not here")
	}
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.see("$")
	o.typ("yes flooding\r")
	o.see("flooding")
	o.typ(prefixKey + "%")
	o.see("─ 2 ")
	o.typ("echo beside$((40+2))\r")
	o.see("beside42")
}
