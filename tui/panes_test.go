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
	o.See("$")
	o.Type("echo first pane\r")
	o.See("first pane\n")
	o.Type(prefixKey + "%")
	o.See("─ 2 ")
	o.Type("echo second pane; stty size\r")
	o.See("28 49") // 30 rows, less bar and header; half of the columns
	o.Type(prefixKey + `"`)
	o.See("─ 3 ")
	o.Type("echo third pane; stty size\r")
	o.See("13 49")
	o.Type(prefixKey + "h") // back to the left one
	o.Type("echo left$((40+2))\r")
	o.See("left42")
	o.Type(prefixKey + "z")
	o.Await("a zoomed pane", func(s string) bool { return !strings.Contains(s, "second pane") })
	o.Type("stty size\r")
	o.See("29 100")
	o.Type(prefixKey + "z")
	o.See("second pane")
	o.Type(prefixKey + "c")
	o.Type("echo in the second tab\r") // typed ahead: it is for the new tab
	o.See("in the second tab\n")
	o.Type(prefixKey + "1")
	o.See("left42")
	o.Type(prefixKey + ",")
	o.See("Rename tab")
	o.Type("work\r")
	o.See(" 1 work")
	o.Type(prefixKey + "n")
	o.See("in the second tab")
	o.Type(prefixKey + "&")
	o.See("Close this tab?")
	o.Type("y")
	o.Await("one tab", func(s string) bool { return !strings.Contains(s, "in the second") && strings.Contains(s, "left42") })
	o.Type(prefixKey + "q")
	o.See("Leave honestty? 3 panes still run")
	o.Type("y")
	if e := o.End(); e.Code != 0 {
		t.Errorf("exit = %+v", e)
	}
}

func TestASplitThatDoesNotFitSaysWhy(t *testing.T) {
	o := open(t, outerConfig{cols: 38, rows: 8}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + "%")
	o.See("no room")
	o.Type("echo still here\r")
	o.See("still here\n")
}

func TestCopyModeSearchesSelectsAndCopies(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.See("$")
	o.Type("seq 1 500\r")
	o.See("499\n500\n")
	o.Type(prefixKey + "[")
	o.See("line 5")
	o.Type("?^123$\r")
	o.See("1 of 1")
	o.See("123\n")
	o.Type("Vjjy")
	o.See("copied 3 lines")
	raw := o.Raw()
	if want := "]52;c;MTIzCjEyNAoxMjU"; !strings.Contains(raw, want) { // 123, 124, 125
		t.Errorf("no %q was sent to the terminal", want)
	}
	o.Type("echo alive\r")
	o.See("alive\n")
	o.Type("cat\r" + prefixKey + "]") // paste what was copied
	o.See("124\n125")
}

func TestTheMouseFocusesScrollsAndSelects(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.See("$")
	o.Type("seq 1 300\r")
	o.See("299\n300\n")
	o.Type(prefixKey + "%")
	o.See("─ 2 ")
	o.Type("echo right$((40+2))\r")
	o.See("right42")
	o.Type("\x1b[<0;5;5M\x1b[<0;5;5m") // click into the left pane
	o.Type("echo left$((40+2))\r")
	o.See("left42")
	o.Type("\x1b[<64;5;5M\x1b[<64;5;5M") // wheel up
	o.See("copy mode")
	o.See("line ")
	o.Type("\x1b[<65;5;5M\x1b[<65;5;5M\x1b[<65;5;5M") // down to the end leaves it
	o.Await("no copy mode", func(s string) bool { return !strings.Contains(s, "copy mode") })
	o.Type("\x1b[<0;1;4M\x1b[<32;4;4M\x1b[<0;4;4m") // drag over a number
	o.See("copied 1 line")
	o.Await("no copy mode", func(s string) bool { return !strings.Contains(s, "copy mode") })
	o.Type("\x1b[<0;51;10M\x1b[<32;71;10M\x1b[<0;71;10m") // drag the border
	o.Type("stty size\r")
	o.See("28 70")
}

func TestAMouseProgramGetsTheMouseAtItsOwnPlace(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + "%")
	o.See("─ 2 ")
	o.Type(`stty raw -echo; printf '\033[?1000;1006hrea''dy'; cat -v` + "\r") // the echo of the line is not the answer
	o.See("ready")
	o.Type("\x1b[<0;61;11M") // column 10, row 10 of a pane that begins at 51, 2
	o.See("^[[<0;10;10M")
}

func TestTheDockShowsDescriptors(t *testing.T) {
	o := open(t, outerConfig{cols: 120, rows: 30}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + "f")
	o.See("─ FDs ")
	o.See("highest")
	o.Type("q") // back to the pane
	o.Type("echo typed$((40+2))\r")
	o.See("typed42")
	o.Type(prefixKey + "D")
	o.Await("no dock", func(s string) bool { return !strings.Contains(s, "─ FDs ") })
}

func TestThePaletteRunsWhatWasFoundAndSaysWhyNot(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + ":")
	o.See("Palette")
	o.Type("zoom")
	o.See("this tab has only one pane")
	o.Type("\x1b")
	o.Await("no palette", func(s string) bool { return !strings.Contains(s, "Zoom pane") })
	o.Type(prefixKey + ":spl ri\r")
	o.See("─ 2 ")
}

func TestAProgramAsksBeforeItSetsTheClipboard(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", `printf '\033]52;c;c2VjcmV0\033\\ready'; sleep 60`)
	o.See("wants to put 6 B into the clipboard")
	if strings.Contains(o.Raw(), "]52;c;") {
		t.Error("the clipboard was set without asking")
	}
	o.Type("\x1b[A\x1b[A\x1b[A\r") // from Refuse once up to Allow once
	o.See("copied 1 line")
	if !strings.Contains(o.Raw(), "]52;c;c2VjcmV0") {
		t.Error("the clipboard was not set after consent")
	}
}

func TestAnEndOutOfSightStaysInTheBarUntilLookedAt(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh")
	o.See("$")
	o.Type("sleep 0.3; exit 7\r" + prefixKey + "c")
	o.See("sh: exit 7")
	o.See("^B a looks")
	o.Type(prefixKey + "a")
	o.See("✗ exit 7 · ")
	o.Await("no alert", func(s string) bool { return !strings.Contains(s, "looks") })
}

func TestRerunKeepsTheScrollback(t *testing.T) {
	o := open(t, outerConfig{}, "/bin/sh", "-c", "echo run by $$; exit 2")
	s := o.See("q closes")
	first := strings.Fields(s[strings.Index(s, "run by"):])[2]
	o.Type("\r")
	o.See("exit 2 before")
	s = o.Await("a second run", func(s string) bool { return strings.Count(s, "run by") == 2 && strings.Contains(s, "q closes") })
	if !strings.Contains(s, "run by "+first) {
		t.Errorf("the first run is gone:\n%s", s)
	}
}

func TestACommandThatTheShellMarksHasItsBadge(t *testing.T) {
	mark := func(s string) string { return `\033]133;` + s + `\033\\` }
	script := "printf '" + mark("A") + "$ " + mark("B") + `good\r\n` + mark("C") + `fine\r\n` + mark("D;0") +
		mark("A") + "$ " + mark("B") + `bad\r\n` + mark("C") + "'; sleep 0.3; printf '" + `oh\r\n` + mark("D;3") + mark("A") + "$ '; sleep 60"
	o := open(t, outerConfig{}, "/bin/sh", "-c", script)
	o.Await("both badges", func(s string) bool {
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
	o.See("ready")
	o.Type("\x1b[<16;2;1M\x1b[<16;2;1m") // Ctrl and a click on "bank"
	o.See("https://evil.example/x")
	o.Type("\x1b")
	o.Type("\x1b[<16;7;1M\x1b[<16;7;1m")
	o.See("only http, https and mailto")
}

// call talks to the window of o through its socket.
func call(t *testing.T, o *window, method string, params, result any) {
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
func socketOf(t *testing.T, o *window) string {
	t.Helper()
	if o.socket != "" {
		return o.socket
	}
	file := t.TempDir() + "/socket"
	o.Type(fmt.Sprintf("printf %%s \"$HONESTTY_SOCKET\" >%s; clear; echo wri\"\"tten\r", file)) // the echo of what is typed is not it
	o.See("written\n")
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) == 0 {
		t.Fatalf("no socket is told to children: %v", err)
	}
	o.socket = string(raw)
	return o.socket
}

func TestCommandsDriveTheWindow(t *testing.T) {
	o := open(t, outerConfig{cols: 100, rows: 30, env: []string{"XDG_RUNTIME_DIR=" + t.TempDir()}}, "/bin/sh")
	o.See("$")
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
	o.See("$")
	o.Type("yes flooding\r")
	o.See("flooding")
	o.Type(prefixKey + "%")
	o.See("─ 2 ")
	o.Type("echo beside$((40+2))\r")
	o.See("beside42")
}

func TestTheKeysOfAPanelAreListedAndRun(t *testing.T) {
	o := open(t, outerConfig{cols: 200, rows: 30}, "/bin/sh")
	o.See("$")
	o.Type(prefixKey + "f")
	o.See("? keys")
	o.See("sorts by count")
	o.Type("?")
	o.See("Keys of FDs")
	o.See("sort by another column")
	o.Type("another col")
	o.Await("one key that is found", func(s string) bool {
		return strings.Contains(s, "1 of ") && !strings.Contains(s, "snapshot of the process")
	})
	o.Type("\r")
	o.Await("another order", func(s string) bool {
		return !strings.Contains(s, "Keys of FDs") && !strings.Contains(s, "sorts by count")
	})
	o.Type("?")
	o.See("Keys of FDs")
	o.Type("back to the pane\r")
	o.Await("no keys of the panel without the keyboard", func(s string) bool { return !strings.Contains(s, "? keys") })
	o.Type("echo in the pan'e'\r")
	o.See("in the pane")
}
