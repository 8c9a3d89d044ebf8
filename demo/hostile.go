package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/honestty/honestty/hostbench"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/vt"
)

const most = "2147483647"

type sequence struct{ name, bytes string }

// hostiles are sequences that have a safe answer: do little, answer nothing.
// They are 2 MB, made when they are asked for: a variable of the package would
// be paid for by every start of the program.
func hostiles() []sequence {
	return []sequence{
		{"repeat a character 2,147,483,647 times", "X\x1b[" + most + "b"},
		{"scroll, insert and delete as many lines", "\x1b[" + most + "S\x1b[" + most + "T\x1b[" + most + "L\x1b[" + most + "M"},
		{"a title of 2 MB", "\x1b]2;" + strings.Repeat("A", 2<<20) + "\a"},
		{"a sequence with 100,000 parameters", "\x1b[" + strings.Repeat("1;", 100_000) + "m"},
		{"type the title back", "\x1b]2;rm -rf\a\x1b[21t"},
		{"read the clipboard", "\x1b]52;c;?\a"},
		{"read the screen", "\x1b[1;1;1;1;24;80*y"},
		{"the answerback and the font", "\x05\x1b]50;?\a"},
	}
}

// What an engine may hold after any of them: a screen and a short history.
const (
	historyLines = 1000
	historyBytes = 2 << 20
)

// after is text that has to be shown after each of them.
const after = "still here"

func hostile(ctx context.Context, s *stage) error {
	s.part.Done = "A program writes what no screen can do, and asks for what it must not be told: an answer would stand in its input as if it were typed."
	info, cell, err := hostbench.HostileTo(ctx, hostbench.Config{Poller: s.conf.Poller, Version: s.conf.Version}, "screen")
	switch {
	case errors.Is(err, hostbench.ErrNotInstalled):
		s.add(Row{Who: "screen", NotRun: "screen is not installed"})
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.add(Row{Who: info.Title(), NotRun: err.Error()})
	default:
		s.add(Row{Who: info.Title(), Shows: cell.Figure + withWords(cell.Says)})
	}
	all := hostiles()
	good, bad := 0, []string{}
	for _, h := range all {
		t := vt.New(80, 24, vt.Options{Scrollback: historyLines, ScrollbackBytes: historyBytes, Version: s.conf.Version})
		answered := len(t.Write([]byte(h.bytes)).Reply)
		t.Write([]byte("\x1b[m\r\n" + after))
		stats := t.Stats()
		held := stats.HistoryBytes + stats.ScreenBytes
		text := s.found(string(textOf(t)))
		ok := answered == 0 && t.Check() == nil && strings.Contains(text, after) && held <= 2*historyBytes && t.HistoryLen() <= historyLines
		if ok {
			good++
		} else {
			bad = append(bad, h.name)
		}
		s.add(counted(true, "honestty: "+h.name, int64(answered), 0, fmt.Sprintf("bytes answered; what follows is shown: %v; %s held; told: %s",
			strings.Contains(text, after), outcome.Size(int64(held)), drops(stats.Dropped))))
	}
	s.judge(good == len(all), fmt.Sprintf("%d of %d were bounded, answered with nothing, and followed by what came next", good, len(all)),
		"not safe: "+strings.Join(bad, ", "))
	return nil
}

func withWords(s string) string {
	if s == "" {
		return ""
	}
	return "; " + s
}

// drops names what the engine counted as not done.
func drops(d map[string]int64) string {
	if len(d) == 0 {
		return "nothing to tell"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, fmt.Sprintf("%s ×%s", name, outcome.Count(d[name])))
	}
	return strings.Join(parts, ", ")
}
