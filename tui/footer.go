package tui

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/session"
	"github.com/honestty/honestty/tools/fdmeter"
	"github.com/honestty/honestty/tui/theme"
)

// A line is one row of text in one role.
type line struct {
	text string
	role role
}

// footer is what stands below the last screen of a pane whose process has
// ended or never was: what happened, why, and what to do.
func footer(i session.Info, meter fdmeter.Snapshot, metered bool, g theme.Glyphs) []line {
	var lines []line
	switch i.State {
	case session.StateEnded:
		lines = ended(i, g)
	case session.StateNotStarted:
		lines = notStarted(i, meter, metered, g)
	default:
		return nil
	}
	for _, n := range i.Notes {
		lines = append(lines, line{g.State(theme.Partial) + " " + n, roleAttention})
	}
	return lines
}

func ended(i session.Info, g theme.Glyphs) []line {
	c := i.Capture()
	state := c.State()
	how := session.Ending(i.Exit)
	if i.Exit.Err != nil {
		how += " (" + outcome.Errno(i.Exit.Err) + ")"
	}
	dot := " " + g.Dot + " "
	text := how + dot + outcome.Duration(i.Exit.Duration()) + dot
	lines := []line{}
	switch {
	case state == outcome.StateComplete && i.Exit.Code == 0:
		lines = append(lines, line{g.State(theme.Complete) + " " + text + bytesWhole(c), roleOK})
	case state == outcome.StateComplete:
		lines = append(lines, line{g.State(theme.Failed) + " " + text + bytesWhole(c), roleFailure})
	case state == outcome.StateLost:
		lines = append(lines, line{g.State(theme.Failed) + " " + text + "output lost", roleFailure},
			line{g.State(theme.Failed) + " " + c.Sentence() + ". " + exitProves(i), roleFailure})
	case state == outcome.StateDetached:
		lines = append(lines, line{g.State(theme.Partial) + " " + text + outcome.CountBytes(c.Read) + ", detached", roleAttention},
			line{g.State(theme.Partial) + " " + survivors(c), roleAttention})
	case state == outcome.StateTruncated:
		lines = append(lines, line{g.State(theme.Partial) + " " + text + c.Sentence(), roleAttention})
	default:
		lines = append(lines, line{g.State(theme.Unknown) + " " + text + c.Sentence(), roleAttention})
	}
	if i.Refused > 0 {
		lines = append(lines, line{fmt.Sprintf("%s %s of input never reached the program", g.State(theme.Partial), outcome.CountBytes(i.Refused)), roleAttention})
	}
	return append(lines, line{"Enter runs it again" + dot + "q closes", roleDim})
}

// bytesWhole says how much there was and that it is all.
func bytesWhole(c outcome.Capture) string {
	if c.Read == 0 {
		return "0 bytes, end seen"
	}
	return outcome.CountBytes(c.Read) + ", complete"
}

// exitProves keeps a reader from taking the exit code for more than it is.
func exitProves(i session.Info) string {
	if i.Exit.Signal == 0 && i.Exit.Code == 0 {
		return "Exit 0 says nothing about the rest."
	}
	return ""
}

// survivors says who outlived the command. On a terminal that was hung up
// they can still run, but nothing they write arrives.
func survivors(c outcome.Capture) string {
	who := c.Holders[0].String()
	if n := len(c.Holders) - 1; n > 0 {
		who += fmt.Sprintf(" and %d more", n)
	}
	if c.End.Seen() {
		return "detached: " + who + " still runs; the terminal was hung up, its later output cannot be captured"
	}
	return c.Sentence()
}

func notStarted(i session.Info, meter fdmeter.Snapshot, metered bool, g theme.Glyphs) []line {
	lines := []line{}
	if start, ok := errors.AsType[*outcome.StartError](i.Err); ok {
		lines = append(lines, line{fmt.Sprintf("%s did not start: %s", g.State(theme.Failed), outcome.Errno(start.Err)), roleFailure})
		if !errors.Is(start.Err, os.ErrNotExist) || errors.Is(start.Err, unix.ENOENT) { // a name that is in no folder is all there is to say
			lines = append(lines, line{"  while trying to " + start.Step, roleNormal})
		}
	} else {
		lines = append(lines, line{g.State(theme.Failed) + " did not start: " + i.Err.Error(), roleFailure})
	}
	if why := remedy(i.Err, meter, metered); why != "" {
		lines = append(lines, line{"  " + why, roleNormal})
	}
	return append(lines, line{"Enter tries again " + g.Dot + " q closes", roleDim})
}

// remedy says what to do about an error that has one.
func remedy(err error, meter fdmeter.Snapshot, metered bool) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		s := "this process has no descriptor left: close something, or raise the limit and start again"
		if count, ok := meter.Own.Count.Get(); metered && ok {
			if soft, ok := meter.Own.Soft.Get(); ok {
				s = fmt.Sprintf("this process holds %s of %s descriptors (soft limit): close something, or raise the limit and start again",
					outcome.Count(count), outcome.Count(soft))
			}
		}
		return s
	case errors.Is(err, unix.ENFILE):
		return "the whole machine has no descriptor left: end what holds many of them"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.ENXIO):
		return "the machine has no terminal pair left: close other terminals (their number is in /proc/sys/kernel/pty)"
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM):
		return "the machine is out of processes or memory: end something and try again"
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOTDIR):
		return "check the name and its permissions"
	case errors.Is(err, os.ErrNotExist):
		return "check the name, or give the whole path"
	}
	return ""
}
