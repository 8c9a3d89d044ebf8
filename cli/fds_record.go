package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/honestty/honestty/internal/atomicfile"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// keep writes a snapshot of the processes of a report. An earlier snapshot is
// replaced as a whole or not at all; any other file is left alone.
func (c *fdsCall) keep(r fdsReport) error {
	pids := make([]int, 0, len(r.Processes))
	for _, p := range r.Processes {
		pids = append(pids, p.PID)
	}
	rec := c.meter.Record(filepath.Base(c.into), r.At, pids...)
	rec.Whole = c.all && r.Unseen == 0 && !r.Hidden
	tables := c.meter.Sockets()
	for i := range rec.Processes {
		c.meter.Join(&rec.Processes[i].Breakdown, tables)
	}
	if c.into == "-" {
		return rec.Write(c.app.out)
	}
	if _, err := os.Lstat(c.into); err == nil {
		if _, err := readRecord(c.into); err != nil {
			return fmt.Errorf("%s is there already and is no snapshot: name another file: %w", c.into, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the snapshot: %w", err)
	}
	var b bytes.Buffer
	if err := rec.Write(&b); err != nil {
		return err
	}
	const private = 0o600 // command lines and paths of other programs
	if err := atomicfile.Write(c.into, b.Bytes(), private); err != nil {
		return fmt.Errorf("write the snapshot: %w", err)
	}
	fmt.Fprintf(c.app.err, "honestty: %s in %s\n", processCount(len(rec.Processes)), c.into)
	return nil
}

func readRecord(path string) (fdmeter.Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return fdmeter.Record{}, fmt.Errorf("open the snapshot: %w", err)
	}
	defer f.Close()
	return fdmeter.ReadRecord(f)
}

// An fdsChange is what became of one process between two snapshots.
type fdsChange struct {
	PID      int           `json:"pid"`
	Name     string        `json:"name"`
	Before   fdmeter.Value `json:"before"` // its count; null when it was not there, or not counted
	After    fdmeter.Value `json:"after"`
	Reason   string        `json:"unknown_reason,omitempty"` // why there is no comparison
	Complete bool          `json:"complete"`
	fdmeter.Diff
}

// compare prints what changed between two snapshots.
func (c *fdsCall) compare(first, second string) error {
	a, err := readRecord(first)
	if err != nil {
		return fmt.Errorf("%s: %w", first, err)
	}
	b, err := readRecord(second)
	if err != nil {
		return fmt.Errorf("%s: %w", second, err)
	}
	changes, complete := []fdsChange{}, true
	for _, ch := range fdmeter.CompareRecords(a, b) {
		one := fdsChange{PID: ch.PID, Name: ch.Name, Before: ch.Before, After: ch.After, Diff: ch.Diff, Complete: ch.Diff.Complete}
		if ch.Diff.Cause != fdmeter.NotRead {
			one.Reason = ch.Diff.Cause.String()
		}
		complete = complete && ch.Diff.Complete && len(ch.Diff.Unknown) == 0
		changes = append(changes, one)
	}
	if c.json {
		err = c.app.printJSON(struct {
			Before   time.Time   `json:"before_at"`
			After    time.Time   `json:"after_at"`
			Complete bool        `json:"complete"`
			Changes  []fdsChange `json:"processes"`
		}{a.At, b.At, complete, changes})
	} else {
		w := &steady{Writer: c.app.out}
		fmt.Fprintf(w, "%v between the snapshots\n", b.At.Sub(a.At).Round(time.Second))
		if b.At.Before(a.At) {
			fmt.Fprintln(w, "! the second one is the earlier: opened and closed are the wrong way round")
		}
		printChanges(w, changes)
		err = w.err
	}
	if err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	if !complete {
		return errNotCompared
	}
	return nil
}

// printChanges writes what became of each process, and at the end how many stand
// in one of the snapshots only: there nothing can be compared.
func printChanges(w io.Writer, changes []fdsChange) {
	early, late := 0, 0
	for _, ch := range changes {
		switch {
		case ch.Before.Cause() == fdmeter.NotRecorded:
			late++
		case ch.After.Cause() == fdmeter.NotRecorded:
			early++
		default:
			printChange(w, ch)
		}
	}
	if early > 0 {
		fmt.Fprintf(w, "? not compared: %s only in the first snapshot: ended since, or not looked at in the second\n", processCount(early))
	}
	if late > 0 {
		fmt.Fprintf(w, "? not compared: %s only in the second snapshot, and may have been there before\n", processCount(late))
	}
}

func printChange(w io.Writer, ch fdsChange) {
	fmt.Fprintf(w, "pid %d %s: %s before, %s after\n", ch.PID, printable(ch.Name), presence(ch.Before), presence(ch.After))
	switch {
	case ch.Reason != "":
		fmt.Fprintf(w, "  ? not compared: %s\n", ch.Reason)
		return
	case ch.Replaced:
		fmt.Fprintln(w, "  ! the pid belongs to another process now: nothing survived")
	}
	for _, part := range []struct {
		word   string
		groups []fdmeter.Group
		always bool
	}{{"opened", ch.Opened, true}, {"closed", ch.Closed, true}, {"survived", ch.Survived, true}, {"not comparable", ch.Diff.Unknown, false}} {
		n := 0
		for _, g := range part.groups {
			n += g.Count
		}
		if n == 0 && !part.always {
			continue
		}
		fmt.Fprintf(w, "  %s %s\n", part.word, outcome.Count(int64(n)))
		for _, g := range part.groups {
			fmt.Fprintf(w, "%8d  %-8s  %s\n", g.Count, g.Kind, printable(g.Target))
		}
	}
}

// presence is a count, or why there is none.
func presence(v fdmeter.Value) string {
	switch {
	case v.Known():
		return count(v)
	case v.Cause() == fdmeter.Gone:
		return "not there"
	}
	return "? (" + v.Reason() + ")"
}
