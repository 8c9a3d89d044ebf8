package hostbench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// mprocs runs on a terminal of ours. Its list says how a command ended, and its
// log file has what the command put out.
type mprocs struct{}

func (mprocs) name() string    { return "mprocs" }
func (mprocs) program() string { return "mprocs" }

func (mprocs) version(ctx context.Context, b *bed) (string, error) {
	r, err := b.do(ctx, b.dir, "mprocs", "--version")
	return strings.TrimPrefix(firstLine(r.out), "mprocs "), err
}

func (mprocs) run(ctx context.Context, b *bed, t Task) (Kept, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Kept{}, err
	}
	defer remove()
	// JSON is YAML, and quotes every word.
	conf, err := json.Marshal(map[string]any{
		"procs":              map[string]any{"task": map[string]any{"cmd": t.Command}},
		"proc_log":           map[string]any{"dir": dir},
		"scrollback":         t.History,
		"hide_keymap_window": true,
	})
	if err != nil {
		return Kept{}, fmt.Errorf("write a file for the host: %w", err)
	}
	file := filepath.Join(dir, "mprocs.yaml")
	if err := b.write(file, string(conf)); err != nil {
		return Kept{}, err
	}
	argv, err := b.start(t, "mprocs", "--config", file)
	if err != nil {
		return Kept{}, err
	}
	o, err := b.openOuter(dir, argv)
	if err != nil {
		return Kept{}, err
	}
	defer o.close()
	k, err := o.shown(ctx, "mprocs", func(text string) bool {
		return parseMprocs(text).Words != ""
	})
	if err != nil || k.Trouble != "" {
		return k, err
	}
	k.End = parseMprocs(o.text())
	_, _ = o.bridge.Write([]byte("q")) // it quits, and its log is written to the end
	if err := until(ctx, "mprocs", func() (bool, error) {
		_, gone := o.ended()
		return gone, nil
	}); err != nil {
		return k, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "task.log"))
	if err != nil {
		k.Trouble = "no log file"
		return k, nil
	}
	k.Text = string(text)
	return k, nil
}

// mprocsEnd has a number only after an end: what was not started yet reads DOWN
// alone.
var mprocsEnd = regexp.MustCompile(`DOWN \(([^)]*)\)`)

// parseMprocs finds in the list how the command ended.
func parseMprocs(screen string) End {
	m := mprocsEnd.FindStringSubmatch(screen)
	if m == nil {
		return End{}
	}
	e := End{Words: m[0]}
	if code, err := strconv.Atoi(m[1]); err == nil {
		e.Code = &code
	} else {
		e.Signal = m[1]
	}
	return e
}
