package copymode

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Marks as shells send them.
const (
	markA = "\x1b]133;A\a"
	markB = "\x1b]133;B\a"
	markC = "\x1b]133;C\a"
)

func markD(code string) string { return "\x1b]133;D" + code + "\a" }

// shell returns what a shell with marks prints for some commands.
func shell(commands ...[3]string) string {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "%s$ %s%s\n%s%s%s", markA, markB, c[0], markC, c[1], markD(c[2]))
	}
	return b.String()
}

func TestMarksBecomeCommands(t *testing.T) {
	type got struct {
		typed, output string
		exit          int
		running, ok   bool
	}
	for _, c := range []struct {
		name, text string
		want       []got
	}{
		{"two commands and a prompt", shell([3]string{"ls", "a\nb\n", ";0"}, [3]string{"false", "", ";1"}) + markA + "$ " + markB, []got{
			{"ls", "a\nb", 0, false, true}, {"false", "", 1, false, true}, {"", "", -1, true, false},
		}},
		{"output without a line feed at its end", shell([3]string{"printf x", "xyz", ";0"}) + markA + "$ " + markB + "next", []got{
			{"printf x", "xyz", 0, false, true}, {"next", "", -1, true, false},
		}},
		{"a command that runs", markA + "$ " + markB + "make\n" + markC + "step 1\nstep 2\n", []got{
			{"make", "step 1\nstep 2", -1, true, true},
		}},
		{"no exit code told", shell([3]string{"ls", "a\n", ""}) + markA + "$ ", []got{
			{"ls", "a", -1, false, true}, {"", "", -1, true, false},
		}},
		{"no mark D at all", markA + "$ " + markB + "ls\n" + markC + "a\n" + markA + "$ " + markB, []got{
			{"ls", "a", -1, false, true}, {"", "", -1, true, false},
		}},
		{"no mark C: the output is unknown", markA + "$ " + markB + "ls\na\nb\n" + markD(";2") + markA + "$ " + markB, []got{
			{"ls\na\nb", "", 2, false, false}, {"", "", -1, true, false},
		}},
		{"C before the line feed", markD(";0") + markA + "$ " + markB + "ls" + markC + "\na\n" + markD(";0") + markA + "$ " + markB + "id" + markC + "\nme\n" + markD(";0") + markA + "$ ", []got{
			{"ls", "a", 0, false, true}, {"id", "me", 0, false, true}, {"", "", -1, true, false},
		}},
		{"a command of two lines", shell([3]string{"for i in 1\n> done", "1\n", ";0"}), []got{
			{"for i in 1\n> done", "1", 0, false, true},
		}},
		{"a command that wraps", shell([3]string{strings.Repeat("word ", 8) + "end", "1\n", ";0"}), []got{
			{strings.Repeat("word ", 8) + "end", "1", 0, false, true},
		}},
		{"an empty line entered", shell([3]string{"", "", ";0"}, [3]string{"ls", "x\n", ";0"}) + markA + "$ ", []got{
			{"", "", 0, false, true}, {"ls", "x", 0, false, true}, {"", "", -1, true, false},
		}},
		{"no marks", "plain\ntext\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 30, 12, 100, c.text)
			var list []got
			for _, k := range r.m.Commands() {
				o, ok := r.m.index.Output(Of(r.t), k)
				list = append(list, got{k.Text(Of(r.t)), o.Text, k.Exit, k.Running(), ok})
			}
			if !reflect.DeepEqual(list, c.want) {
				t.Errorf("commands\n%+v\nwant\n%+v", list, c.want)
			}
		})
	}
}

func TestTheIndexGrowsAsIfItWereReadAnew(t *testing.T) {
	r := newRig(t, 20, 6, 40, "")
	for i := range 200 {
		switch i % 9 {
		case 7:
			r.feed("\x1b[2J\x1b[H")
		case 8:
			r.t.Resize(20+i%3, 4+i%5)
			r.m.Use(Of(r.t))
		default:
			r.feed(shell([3]string{fmt.Sprint("cmd", i), numbered(1, i%5), fmt.Sprintf(";%d", i%3)}))
		}
		var x Index
		x.Sync(Of(r.t))
		if len(x.Commands()) != len(r.m.Commands()) || len(x.Commands()) > 0 && !reflect.DeepEqual(x.Commands(), r.m.Commands()) {
			t.Fatalf("step %d: %+v\nanew %+v", i, r.m.Commands(), x.Commands())
		}
	}
}

func TestTheLastOutputIsThatOfTheLastCommandThatEnded(t *testing.T) {
	r := newRig(t, 20, 5, 100, "plain\n")
	if _, ok := r.m.Last(); ok {
		t.Error("there is an output without marks")
	}
	r.feed(shell([3]string{"seq", numbered(1, 30), ";0"}) + markA + "$ " + markB + "make\n" + markC + "run\n")
	o, ok := r.m.Last()
	if !ok || o.Text != strings.TrimSuffix(numbered(1, 30), "\n") || o.Lines != 30 || o.Cut || o.Running || o.Command.Exit != 0 {
		t.Errorf("output %+v, %v", o, ok)
	}
	if res := r.keys("G c"); res.Text != "run" || !res.Copied || !res.Leave {
		t.Errorf("c copied %+v", res)
	}
	if res := r.keys("2 G c"); res.Lines != 30 {
		t.Errorf("c copied %+v", res)
	}
}

func TestAnOutputWhoseBeginningWasCutSaysSo(t *testing.T) {
	r := newRig(t, 20, 5, 10, shell([3]string{"seq", numbered(1, 30), ";3"})+markA+"$ "+markB)
	o, ok := r.m.Last()
	if !ok || !o.Cut || o.Command.Exit != 3 || !strings.HasSuffix(o.Text, "line 29\nline 30") || o.Lines != 14 {
		t.Errorf("output %+v, %v", o, ok)
	}
	if res := r.keys("g c"); res.Lines != 14 || !r.m.Status().Warning {
		t.Errorf("copied %+v, status %+v", res, r.m.Status())
	}
}

func TestPromptJumps(t *testing.T) {
	r := newRig(t, 20, 5, 100, shell([3]string{"one", numbered(1, 10), ";0"}, [3]string{"two", numbered(1, 3), ";1"}, [3]string{"three", "x\n", ";0"})+markA+"$ "+markB)
	r.keys("G")
	for _, c := range []struct{ keys, want string }{
		{"[", "15,2"},
		{"[", "11,2"},
		{"[", "0,2"},
		{"]", "11,2"},
		{"2 ]", "17,0"},
		{"3 [", "0,2"},
		{"9 ]", "17,0"},
	} {
		r.keys(c.keys)
		r.wantAt(c.want)
	}
	r.keys("]")
	if s := r.m.Status().Notice; s != "no prompt further down" {
		t.Errorf("notice %q", s)
	}
	if r.keys("[ ["); r.m.View(5).CursorY != 0 {
		t.Error("the prompt is not at the top of the viewport")
	}
	r = newRig(t, 20, 5, 100, "plain")
	r.keys("[")
	if s := r.m.Status().Notice; s != noMarks {
		t.Errorf("notice %q", s)
	}
	r.keys("za")
	if s := r.m.Status().Notice; s != noMarks {
		t.Errorf("notice %q", s)
	}
}

func TestNothingRunsAtAFirstPrompt(t *testing.T) {
	for _, written := range []string{markA + "$ " + markB, "motd\r\n" + markA + "$ " + markB + "ls"} {
		r := newRig(t, 40, 5, 100, written)
		r.keys("za")
		if s := r.m.Status().Notice; s != "nothing was run at this prompt yet" {
			t.Errorf("%q: notice %q", written, s)
		}
	}
}

// TestTheWholeOutputIsWhatTheCommandWrote is what a program gets that counts lines.
func TestTheWholeOutputIsWhatTheCommandWrote(t *testing.T) {
	for _, wrote := range []string{"", "a\n", "a", "a\nb\n", "a\nb", "\n", "a\n\n"} {
		r := newRig(t, 30, 12, 100, shell([3]string{"x", wrote, ";0"})+markA+"$ "+markB)
		o, ok := r.m.Last()
		if !ok || o.Whole() != wrote {
			t.Errorf("%q became %q (%+v)", wrote, o.Whole(), o)
		}
	}
}
