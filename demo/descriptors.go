package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/honestty/honestty/hostbench"
	"github.com/honestty/honestty/outcome"
)

// heldLines fit into a pipe, so that the command ends also when nobody reads.
const heldLines = 2000

func descriptors(ctx context.Context, s *stage) error {
	held := s.conf.Held
	s.part.Done = fmt.Sprintf("One process holds %s descriptors and runs `seq 1 %d`; its pipe gets a number that no set of select() has room for (%s and above).",
		outcome.Count(int64(held)), heldLines, outcome.Count(setSize))
	const room = 100 // what a helper opens besides
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("read the limit of descriptors: %w", err)
	}
	if lim.Max < uint64(held+room) {
		return fmt.Errorf("this machine allows %d descriptors, and %d are needed (ulimit -Hn)", lim.Max, held+room)
	}
	for _, way := range []struct {
		who  string
		held int
	}{{"select(), 0 held", 0}, {fmt.Sprintf("select(), %s held", outcome.Count(int64(held))), held}} {
		a, err := s.helper(ctx, RoleSelect, way.held)
		if err != nil {
			return err
		}
		s.add(counted(false, way.who, int64(hostbench.Numbers(a.Output, heldLines)), heldLines, a.shows()))
	}
	a, err := s.helper(ctx, RoleOurs, held)
	if err != nil {
		return err
	}
	n := hostbench.Numbers(s.found(a.Output), heldLines)
	s.add(counted(true, fmt.Sprintf("honestty, %s held", outcome.Count(int64(held))), int64(n), heldLines, a.shows()+", "+a.State+", waits by "+a.Waiting))
	lost := heldLines - *s.part.Rows[1].Count
	why := fmt.Sprintf("every line arrived; select() lost %s of them and reported exit 0 and no error", outcome.Count(lost))
	if lost == 0 {
		why = "every line arrived, and this time with select() too"
	}
	s.judge(n == heldLines && a.State == outcome.StateComplete.String() && a.Error == nil && a.ExitCode != nil && *a.ExitCode == 0,
		why, "lines are missing, or it was not said that all of them are there")
	return nil
}

// shows is what a reader of the answer sees.
func (a answer) shows() string {
	text := "output"
	if a.Output == "" {
		text = `output ""`
	}
	code, cause := "null", "null"
	if a.ExitCode != nil {
		code = strconv.Itoa(*a.ExitCode)
	}
	if a.Error != nil {
		cause = *a.Error
	}
	return text + ", exit_code " + code + ", error " + cause
}

// helper runs this program again in a role.
func (s *stage) helper(ctx context.Context, role string, held int) (answer, error) {
	cmd := s.conf.Helper(role, strconv.Itoa(held), strconv.Itoa(heldLines))
	out, err := output(ctx, cmd)
	if err != nil {
		return answer{}, fmt.Errorf("run the helper %s: %w", role, err)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return a, fmt.Errorf("read the answer of the helper %s: %w", role, err)
	}
	return a, nil
}
