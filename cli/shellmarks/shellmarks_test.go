package shellmarks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/honestty/honestty/internal/outer"
)

var marks = regexp.MustCompile(`\x1b\]133;([A-D](?:;-?[0-9]+)?)(?:;[^\a\x1b]*)?(?:\a|\x1b\\)`)

// told are the marks that a shell wrote, in order.
func told(raw string) string {
	var out []string
	for _, m := range marks.FindAllStringSubmatch(raw, -1) {
		out = append(out, m[1])
	}
	return strings.Join(out, " ")
}

// start runs a shell interactively with before, our code and after as what it
// reads at its start.
func start(t *testing.T, shell, before, after string) *outer.Terminal {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("skipped: %s is not installed", shell)
	}
	home := t.TempDir()
	s, ok := Find(path)
	if !ok {
		t.Fatalf("nothing for %s", path)
	}
	file := map[string]string{"bash": "rc", "zsh": ".zshrc", "fish": "rc"}[shell]
	if err := os.WriteFile(filepath.Join(home, file), []byte(before+"\n"+s.Code+after+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rc := filepath.Join(home, file)
	argv := map[string][]string{
		"bash": {path, "--noprofile", "--rcfile", rc, "-i"},
		"zsh":  {path, "-d", "-i"},
		"fish": {path, "--no-config", "-i", "-C", "source " + rc},
	}[shell]
	return outer.Open(t, outer.Config{Command: argv, Env: []string{
		"HOME=" + home, "ZDOTDIR=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home,
	}})
}

func prompts(n int) func(raw string) bool {
	return func(raw string) bool {
		marks := told(raw)
		return strings.Count(marks, "A") >= n && strings.HasSuffix(marks, "B")
	}
}

// TestMarksStandWherePromptsAndCommandsAre types into the real shells: a command
// that fails, an empty line, a line that is taken back, one without a newline at
// its end, and one that shows what $? is.
func TestMarksStandWherePromptsAndCommandsAre(t *testing.T) {
	for _, c := range []struct{ name, shell, before, after string }{
		{"bash", "bash", `PS1='prompt> '`, ""},
		{"bash, set -u", "bash", `set -u; PS1='prompt> '`, ""},
		{"bash, a prompt command", "bash", `PROMPT_COMMAND='hooked=$?;'; PS1='prompt[$hooked]> '`, ""},
		{"bash, a list of prompt commands", "bash", `PROMPT_COMMAND=(one 'hooked=$?'); one() { return 99; }; PS1='prompt> '`, ""},
		{"bash, a prompt made anew", "bash", `PROMPT_COMMAND='PS1="prompt> "'`, ""},
		{"bash, twice", "bash", `PS1='prompt> '`, code("bash")},
		{"zsh", "zsh", `PS1='prompt> '`, ""},
		{"zsh, hooks", "zsh", `hook() { hooked=$? }; precmd_functions=(hook); PS1='prompt> '`, ""},
		{"zsh, a prompt made anew", "zsh", `hook() { PS1='prompt> ' }; precmd_functions=(hook)`, ""},
		{"zsh, ksh_arrays", "zsh", `setopt ksh_arrays; one() { : }; two() { : }; precmd_functions=(one two); PS1='prompt> '`, ""},
		{"zsh, twice", "zsh", `PS1='prompt> '`, code("zsh")},
		{"fish", "fish", `function fish_prompt; echo -n "prompt> "; end; function fish_greeting; end`, ""},
		{"fish, twice", "fish", `function fish_prompt; echo -n "prompt> "; end; function fish_greeting; end`, code("fish")},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := start(t, c.shell, c.before, c.after)
			o.AwaitRaw("the first prompt", prompts(1))
			want := "A B"
			for i, in := range []struct{ typed, marks string }{
				{"sh -c 'exit 7'\r", " C D;7 A B"},
				{"\r", " A B"},
				{"half a line\x15\r", " A B"},
				{"printf %s no-newline\r", " C D;0 A B"},
				{"false\r", " C D;1 A B"},
			} {
				o.Type(in.typed)
				want += in.marks
				o.AwaitRaw("the prompt after "+in.typed, prompts(i+2))
				if got := told(o.Raw()); got != want && c.shell != "fish" {
					t.Fatalf("after %q: %s, want %s", in.typed, got, want)
				}
			}
			if c.shell == "fish" { // it draws its prompt as often as it likes
				got := regexp.MustCompile(`(A B )+`).ReplaceAllString(told(o.Raw())+" ", "A B ")
				if got != "A B C D;7 A B C D;0 A B C D;1 A B " {
					t.Errorf("%s", got)
				}
			}
			if strings.Contains(c.before, "prompt[") {
				o.See("prompt[7]>")
				o.See("prompt[1]>")
			}
			status := "$?"
			if c.shell == "fish" {
				status = "$status"
			}
			o.Type("sh -c 'exit 5'\r")
			o.AwaitRaw("its end", func(raw string) bool { return strings.HasSuffix(told(raw), "D;5 A B") })
			o.Type("echo is[" + status + "]\r")
			o.See("is[5]")
			if screen := o.Screen(); strings.Contains(screen, "133") || strings.Contains(screen, "honestty_") {
				t.Errorf("it can be seen:\n%s", screen)
			}
		})
	}
}

func code(shell string) string {
	s, _ := Find(shell)
	return s.Code
}

func TestAShellWithoutAPersonIsLeftAlone(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("skipped: %s is not installed", shell)
			continue
		}
		out, err := exec.Command(path, "-c", code(shell)+"\necho done").CombinedOutput()
		if string(out) != "done\n" || err != nil {
			t.Errorf("%s: %q, %v", shell, out, err)
		}
	}
}

func TestAShellIsFoundByItsPathToo(t *testing.T) {
	for _, name := range []string{"bash", "/usr/bin/bash", "-bash"} {
		if s, ok := Find(name); !ok || s.Name != "bash" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s, ok := Find("tcsh"); ok {
		t.Errorf("%+v", s)
	}
}
