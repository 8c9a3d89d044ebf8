package hostbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// screen runs detached and unforked, so that its own end is seen. It keeps dead
// windows ("zombie").
type screen struct{}

func (screen) name() string    { return "screen" }
func (screen) program() string { return "screen" }

var screenVersion = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

func (screen) version(ctx context.Context, b *bed) (string, error) {
	r, err := b.do(ctx, b.dir, "screen", "--version") // exits with 1 in some versions
	return screenVersion.FindString(r.out), err
}

func (screen) run(ctx context.Context, b *bed, t Task) (k Kept, err error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Kept{}, err
	}
	defer remove()
	name, rc := "b"+filepath.Base(dir), filepath.Join(dir, "rc")
	if err := b.write(rc, fmt.Sprintf("startup_message off\ndefscrollback %d\nzombie qr\n", t.History)); err != nil {
		return Kept{}, err
	}
	argv, err := b.start(t, append([]string{"screen", "-c", rc, "-D", "-m", "-S", name}, t.Command...)...)
	if err != nil {
		return Kept{}, err
	}
	server, err := b.launch(dir, argv...)
	if err != nil {
		return Kept{}, err
	}
	ask := func(ctx context.Context, args ...string) (ran, error) {
		return b.do(ctx, dir, append([]string{"screen", "-S", name}, args...)...)
	}
	gone := false
	defer func() {
		if !gone {
			server.stop(ctx)
		}
	}()
	err = until(ctx, "screen", func() (bool, error) {
		if gone = server.gone(); gone {
			r, err := server.end(ctx)
			k.Trouble, k.Said = firstOf(r.trouble(), "exit 0 before its window could be read"), r.said()
			return true, err
		}
		r, err := ask(ctx, "-Q", "windows") // fails until the server listens
		return zombie(r.out), err
	})
	if err != nil || gone {
		return k, err
	}
	copied := filepath.Join(dir, "hardcopy")
	if _, err := ask(ctx, "-X", "hardcopy", "-h", copied); err != nil {
		return k, err
	}
	if _, err := ask(ctx, "-Q", "windows"); err != nil { // answered after the copy was made
		return k, err
	}
	text, err := os.ReadFile(copied)
	if err != nil {
		k.Trouble, k.Said = "no hardcopy", ""
		return k, nil
	}
	k.Text, k.End = string(text), parseScreen(string(text))
	return k, nil
}

// zombie reports whether the list of windows has one whose command has ended.
func zombie(windows string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(windows), " ")
	return strings.Contains(first, "Z")
}

var screenEnd = regexp.MustCompile(`(?m)^=== Command (.*) \(.*\) ===`)

// parseScreen finds the line that screen writes below a command that ended.
func parseScreen(text string) End {
	all := screenEnd.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return End{}
	}
	e := End{Words: all[len(all)-1][1]}
	switch rest, ok := strings.CutPrefix(e.Words, "terminated with exit status "); {
	case e.Words == "terminated normally":
		e.Code = new(int)
	case ok:
		if code, err := strconv.Atoi(rest); err == nil {
			e.Code = &code
		}
	case strings.HasPrefix(e.Words, "terminated with signal "):
		n, _, _ := strings.Cut(strings.TrimPrefix(e.Words, "terminated with signal "), " ")
		e.Signal = signalName(n)
	}
	return e
}
