package terminal

import "testing"

func TestMeaningIsToldOnlyWhereItIsKnown(t *testing.T) {
	const (
		noLine    = "grep: no line matched"
		inputs    = "diff: the inputs differ"
		condition = "test: the condition is false"
	)
	for _, c := range []struct {
		command string
		code    int
		output  string
		want    string
	}{
		{"grep x f", 1, "", noLine},
		{"grep x f", 0, "", ""},
		{"grep x f", 2, "", ""},
		{"/usr/bin/grep x f", 1, "", noLine},
		{"A=1 grep x f", 1, "", noLine},
		{"cat f | grep x", 1, "", noLine},
		{"grep x f | head", 1, "", ""},
		{"grep x f; ls", 1, "", ""},
		{"ls; grep x f", 1, "", noLine},
		{"ls\ngrep x f\n", 1, "", noLine},
		{"ls || grep x f", 1, "", noLine},
		{"make && grep x f", 1, "", ""},
		{"echo a && grep x f", 1, "", noLine},
		{"cd d && grep x f", 1, "", noLine},
		{"cd d && grep x f", 1, "bash: line 1: cd: d: No such file or directory\n", ""},
		{"cd d 2>/dev/null && grep x f", 1, "", ""},
		{"cd $(pwd) && grep x f", 1, "", ""},
		{"a || cd d && grep x f", 1, "", ""},
		{"grep x f || true", 1, "", ""},
		{"grep x f &", 1, "", ""},
		{"! grep x f", 1, "", ""},
		{"(grep x f)", 1, "", ""},
		{"if grep x f; then y; fi", 1, "", ""},
		{"set -o pipefail; a | grep x", 1, "", ""},
		{"set -e; a; grep x f", 1, "", ""},
		{"exit 1; grep x f", 1, "", ""},
		{"grep() { false; }; grep x", 1, "", ""},
		{"echo 'a; b' | grep 'c | d'", 1, "", noLine},
		{"echo grep", 1, "", ""},
		{"echo 'grep x", 1, "", ""},
		{"$GREP x f", 1, "", ""},
		{"\"gr\"ep x f", 1, "", noLine},
		{"sudo grep x f", 1, "", noLine},
		{"sudo -u max grep x f", 1, "sudo: a password is required\n", ""},
		{"env A=1 nice -n 5 grep x f", 1, "", noLine},
		{"timeout 5 grep x f", 1, "", noLine},
		{"timeout 5 grep x f", 124, "", "timeout(1) stopped the command because its time was up"},
		{"xargs grep x", 1, "", ""},
		{"grep x f > y 2>&1", 1, "", noLine},
		{"grep x <<E\n; ls\nE", 1, "", noLine},
		{"rg x", 1, "", "rg: no line matched"},
		{"ack x", 1, "", "ack: no line matched"},
		{"pgrep x", 1, "", "pgrep: no process matched"},
		{"diff a b", 1, "", inputs},
		{"diff a b", 2, "", ""},
		{"cmp a b", 1, "", "cmp: the inputs differ"},
		{"find / -name x", 1, "", "find: part of the search could not be done; the rest was"},
		{"test -f x", 1, "", condition},
		{"[ -f x ]", 1, "", "[: the condition is false"},
		{"[[ -f x && -d y ]]", 1, "", "the condition is false"},
		{"test -f x && ls", 1, "", ""},
		{"curl x", 6, "", "curl: the host name could not be resolved"},
		{"curl x", 7, "", "curl: the connection could not be made"},
		{"curl -f x", 22, "", "curl: the server answered with an error status"},
		{"curl x", 28, "", "curl: curl's own time limit passed"},
		{"curl x | jq .", 6, "", ""},
		{"git diff --exit-code", 1, "", "git diff: the inputs differ"},
		{"git -C d diff --quiet a", 1, "", "git diff: the inputs differ"},
		{"git diff", 1, "", ""},
		{"git grep x", 1, "", "git grep: no line matched"},
		{"git status", 1, "", ""},
		{"x", 127, "", "by convention: a command was not found"},
		{"x", 126, "", "by convention: a command was found and could not be executed"},
		{"x", 137, "", "by convention 128 + 9: a command was killed by SIGKILL"},
		{"a && b", 143, "", "by convention 128 + 15: a command was killed by SIGTERM"},
		{"x", 128, "", ""},
		{"x", 255, "", ""},
		{"", 1, "", ""},
	} {
		if got := Meaning(c.command, c.code, c.output); got != c.want {
			t.Errorf("%q with %d after %q: %q, want %q", c.command, c.code, c.output, got, c.want)
		}
	}
}
