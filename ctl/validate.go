package ctl

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// maxMS is the longest time that fits a time.Duration.
const maxMS = int64(math.MaxInt64 / time.Millisecond)

// Validate is nil: any version may ask.
func (p HelloParams) Validate() error { return nil }

// Validate is nil: there is nothing to check.
func (p ListParams) Validate() error { return nil }

// Validate reports the first parameter that is out of range.
func (p SplitParams) Validate() error {
	if p.Direction != Right && p.Direction != Down {
		return fmt.Errorf("direction is %q and must be right or down", p.Direction)
	}
	return errors.Join(checkID("pane", p.Pane), checkStart(p.Command, p.Cwd))
}

// Validate reports the first parameter that is out of range.
func (p TabParams) Validate() error { return checkStart(p.Command, p.Cwd) }

// Validate reports the first parameter that is out of range.
func (p FocusParams) Validate() error {
	given := 0
	for _, is := range []bool{p.Pane != 0, p.Direction != "", p.Tab != 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("%d of pane, direction and tab are given and one must be", given)
	}
	switch p.Direction {
	case "", Left, Right, Up, Down:
	default:
		return fmt.Errorf("direction is %q and must be left, right, up or down", p.Direction)
	}
	return errors.Join(checkID("pane", p.Pane), checkID("tab", p.Tab))
}

// Validate reports the first parameter that is out of range.
func (p SendParams) Validate() error {
	switch {
	case p.Text != "" && len(p.Bytes) > 0:
		return errors.New("text and bytes are given and one must be")
	case p.Text == "" && len(p.Bytes) == 0 && !p.Enter:
		return errors.New("there is nothing to send: give text, bytes or enter")
	case !utf8.ValidString(p.Text):
		return errors.New("text is not UTF-8: send it as bytes")
	}
	return checkID("pane", p.Pane)
}

// Validate reports the first parameter that is out of range.
func (p CaptureParams) Validate() error {
	if p.Rows < 0 {
		return fmt.Errorf("rows is %d and must not be negative", p.Rows)
	}
	return checkID("pane", p.Pane)
}

// Validate reports the first parameter that is out of range.
func (p WaitParams) Validate() error {
	switch p.Until {
	case UntilExit, UntilText, UntilIdle:
	default:
		return fmt.Errorf("until is %q and must be exit, text or idle", p.Until)
	}
	switch {
	case (p.Until == UntilText) != (p.Text != ""):
		return errors.New("text must be given with until text, and only there")
	case !utf8.ValidString(p.Text):
		return errors.New("text is not UTF-8")
	case strings.ContainsAny(p.Text, "\r\n"):
		return errors.New("text has a line break, and it is looked for within one line")
	case p.Until != UntilIdle && p.IdleMS != 0:
		return errors.New("idle_ms may be given only with until idle")
	case p.IdleMS < 0 || p.IdleMS > maxMS:
		return fmt.Errorf("idle_ms is %d and must be between 0 and %d", p.IdleMS, maxMS)
	case p.TimeoutMS < 0 || p.TimeoutMS > maxMS:
		return fmt.Errorf("timeout_ms is %d and must be between 0 and %d", p.TimeoutMS, maxMS)
	}
	return checkID("pane", p.Pane)
}

// Validate reports the first parameter that is out of range.
func (p AskParams) Validate() error {
	switch {
	case p.Tool == "" || p.Rule == "" || p.Detail == "":
		return errors.New("tool, rule and detail must be given: nobody can answer a question without them")
	case !utf8.ValidString(p.Tool + p.From + p.Rule + p.Detail):
		return errors.New("a text is not UTF-8, and would be shown as another one")
	case p.TimeoutMS <= 0 || p.TimeoutMS > maxMS:
		return fmt.Errorf("timeout_ms is %d and must be between 1 and %d", p.TimeoutMS, maxMS)
	}
	return nil
}

func checkID(name string, id int) error {
	if id < 0 {
		return fmt.Errorf("%s is %d and must not be negative", name, id)
	}
	return nil
}

// checkStart refuses what no system can start. A text that is not UTF-8 would
// arrive as another one.
func checkStart(command []string, cwd string) error {
	for i, arg := range command {
		switch {
		case i == 0 && arg == "":
			return errors.New("the command has an empty name")
		case strings.ContainsRune(arg, 0):
			return fmt.Errorf("command[%d] has a NUL byte", i)
		case !utf8.ValidString(arg):
			return fmt.Errorf("command[%d] is not UTF-8", i)
		}
	}
	switch {
	case cwd != "" && !filepath.IsAbs(cwd):
		return fmt.Errorf("cwd is %q and must be absolute: the window has another directory", cwd)
	case strings.ContainsRune(cwd, 0):
		return errors.New("cwd has a NUL byte")
	case !utf8.ValidString(cwd):
		return errors.New("cwd is not UTF-8")
	}
	return nil
}
