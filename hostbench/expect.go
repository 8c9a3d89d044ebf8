package hostbench

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// expect spawns the command, reads to the end and asks how it ended.
type expect struct{}

func (expect) name() string    { return "expect" }
func (expect) program() string { return "expect" }

func (expect) version(ctx context.Context, b *bed) (string, error) {
	r, err := b.do(ctx, b.dir, "expect", "-v")
	return strings.TrimPrefix(firstLine(r.out), "expect version "), err
}

// expectEnd stands before what wait answers.
const expectEnd = "the command ended: "

const expectScript = `set timeout -1
set stty_init "rows 24 cols 80"
spawn -noecho {*}$argv
expect eof
puts stderr "` + expectEnd + `[wait]"
`

func (expect) run(ctx context.Context, b *bed, t Task) (Kept, error) {
	dir, remove, err := b.folder()
	if err != nil {
		return Kept{}, err
	}
	defer remove()
	file := filepath.Join(dir, "task.exp")
	if err := b.write(file, expectScript); err != nil {
		return Kept{}, err
	}
	argv, err := b.start(t, append([]string{"expect", "-f", file}, t.Command...)...)
	if err != nil {
		return Kept{}, err
	}
	r, err := b.do(ctx, dir, argv...)
	k := Kept{Text: r.out, End: parseExpect(r.err), Trouble: r.trouble()}
	if k.Trouble != "" || k.End.Words == "" {
		k.Said = r.said()
	}
	return k, err
}

// killed is what wait adds for a command that a signal ended.
var killed = regexp.MustCompile(`CHILDKILLED (\S+)`)

// parseExpect reads what wait answers: pid, spawn id, 0, exit code, and for a
// signal CHILDKILLED with its name.
func parseExpect(said string) End {
	_, rest, ok := strings.Cut(said, expectEnd)
	if !ok {
		return End{}
	}
	rest = firstLine(rest)
	f := strings.Fields(rest)
	if len(f) < 4 || f[2] != "0" {
		return End{Words: rest}
	}
	e := End{Words: strings.Join(f[3:], " ")}
	if m := killed.FindStringSubmatch(rest); m != nil {
		e.Signal = m[1]
		return e
	}
	if code, err := strconv.Atoi(f[3]); err == nil {
		e.Code = &code
	}
	return e
}
