package hostbench

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// script writes what a command puts on a terminal into a file.
type script struct{}

func (script) name() string    { return "script" }
func (script) program() string { return "script" }

var utilLinux = regexp.MustCompile(`util-linux ([0-9.]+)`)

// version is empty for the script of the BSDs and of macOS, which has none.
func (script) version(ctx context.Context, b *bed) (string, error) {
	r, err := b.do(ctx, b.dir, "script", "--version")
	if m := utilLinux.FindStringSubmatch(r.out); m != nil {
		return "util-linux " + m[1], err
	}
	return "", err
}

func (s script) run(ctx context.Context, b *bed, t Task) (Kept, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Kept{}, err
	}
	defer remove()
	version, err := s.version(ctx, b)
	if err != nil {
		return Kept{}, err
	}
	file := filepath.Join(dir, "typescript")
	argv := []string{"script", "-qec", quote(t.Command), file}
	if version == "" {
		argv = append([]string{"script", "-q", file}, t.Command...)
	}
	if argv, err = b.start(t, argv...); err != nil {
		return Kept{}, err
	}
	r, err := b.do(ctx, dir, argv...)
	if err != nil {
		return Kept{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil { // it did not come so far
		return Kept{Trouble: firstOf(r.trouble(), "no file"), Said: r.said()}, nil
	}
	k := Kept{Text: withoutFrame(string(text)), Said: firstLine(r.err), End: End{Code: &r.code, Words: "exit code " + itoa(r.code)}}
	if r.signal != 0 {
		k.Trouble, k.End = r.trouble(), End{}
	}
	return k, nil
}

// withoutFrame is a typescript without the lines of script itself.
func withoutFrame(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "Script started on ") && !strings.HasPrefix(line, "Script done on ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
