package hook

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkProcess is what a hook costs an agent: the time of a process from
// its start to its end, beside cat >/dev/null with the same input, turn by
// turn. The program is this test, or the one that HONESTTY_BIN names.
func BenchmarkProcess(b *testing.B) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		b.Skip("there is no shell")
	}
	dir := b.TempDir()
	event := hermes(b, "post_tool_call", "call_0", "terminal", fields{"command": "ls -l"},
		fields{"result": `{"output":"` + strings.Repeat("x", 4000) + `","exit_code":0,"error":null}`, "duration_ms": 40})
	hook := func() *exec.Cmd { return process(b, Hermes, dir, event) }
	if bin := os.Getenv("HONESTTY_BIN"); bin != "" {
		hook = func() *exec.Cmd {
			c := exec.Command(bin, "hook", Hermes)
			c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
			c.Stdin = strings.NewReader(event)
			return c
		}
	}
	cat := func() *exec.Cmd {
		c := exec.Command(sh, "-c", "exec cat >/dev/null")
		c.Stdin = strings.NewReader(event)
		return c
	}
	took := func(c *exec.Cmd) time.Duration {
		began := time.Now()
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(began)
	}
	var hooks, cats []time.Duration
	for b.Loop() {
		hooks = append(hooks, took(hook()))
		cats = append(cats, took(cat()))
	}
	for name, all := range map[string][]time.Duration{"hook": hooks, "cat": cats} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), name+"-median-µs")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), name+"-p99-µs")
	}
}
