package shellwords

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// show writes a list so that its structure can be read: words in [ ], joined
// by what joined them.
func show(l List) string {
	var b strings.Builder
	for i, it := range l {
		if i > 0 {
			b.WriteString([]string{" ; ", " && ", " || "}[it.Join])
		}
		if it.Negated {
			b.WriteString("! ")
		}
		for k, c := range it.Stages {
			if k > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(showCommand(c))
		}
		if it.Background {
			b.WriteString(" &")
		}
	}
	return b.String()
}

func showCommand(c *Command) string {
	var b strings.Builder
	if c.Kind != Simple {
		b.WriteString([]string{"", "subshell", "group", "compound", "function"}[c.Kind])
		if c.Name != "" {
			b.WriteString(" " + c.Name)
		}
	}
	for _, w := range c.Assigns {
		b.WriteString("=" + showWord(w))
	}
	for _, w := range c.Words {
		b.WriteString(showWord(w))
	}
	for _, r := range c.Redirs {
		fmt.Fprintf(&b, "%s%s%s", r.FD, r.Op, showWord(r.Target))
		if r.Op == "<<" {
			b.WriteString("{" + r.Here.Text + "}")
			for _, s := range r.Here.Subs {
				b.WriteString("$(" + show(s) + ")")
			}
		}
	}
	for _, l := range c.Body {
		b.WriteString("(" + show(l) + ")")
	}
	return b.String()
}

func showWord(w Word) string {
	s := "[" + w.Text + "]"
	if !w.Known() {
		s = "[" + w.Text + "]?"
	}
	for _, l := range w.Subs {
		s += "$(" + show(l) + ")"
	}
	return s
}

func TestScriptsAreReadAsAShellReadsThem(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`echo a b`, `[echo][a][b]`},
		{"  echo\ta\\\n b # c", `[echo][a][b]`},
		{`a&&b||c;d&e`, `[a] && [b] || [c] ; [d] & ; [e]`},
		{"a\n\n;b\n", `[a] ; [b]`},
		{`a | b |& c`, `[a] | [b] | [c]`},
		{"a |\n b &&\n c", `[a] | [b] && [c]`},
		{`! a`, `! [a]`},
		{`time -p a`, `[a]`},
		{`echo 'a b' "c d" e\ f`, `[echo][a b][c d][e f]`},
		{`echo "a;b|c&&d" 'e>f'`, `[echo][a;b|c&&d][e>f]`},
		{`echo 'a'"b"c`, `[echo][abc]`},
		{`echo "" ''`, `[echo][][]`},
		{`echo "a\"b\$c\\d\e"`, `[echo][a"b$c\d\e]`},
		{`echo $'a\tb\x41\101\u00e9\'c'`, "[echo][a\tbAAé'c]"},
		{`echo a#b #c`, `[echo][a#b]`},
		{`A=1 B="x y" cmd C=2`, `=[A=1]=[B=x y][cmd][C=2]`},
		{`A=1`, `=[A=1]`},
		{`a[1]=2 cmd`, `=[a[1]=2][cmd]`},
		{`A=(a $(b)) c`, `=[A=(…)]?$([b])[c]`},
		{`'A'=1`, `[A=1]`},
		{`echo $A "$B" '$C' ${D}x "${E:-f}"`, `[echo][$A]?[$B]?[$C][${D}x]?[${E:-f}]?`},
		{`echo "${A:-it's}" b`, `[echo][${A:-it's}]?[b]`},
		{`echo ${A:-$(b)}`, `[echo][${A:-$(b)}]?$([b])`},
		{`echo $(a b) "$(c; d)"`, `[echo][$(a b)]?$([a][b])[$(c; d)]?$([c] ; [d])`},
		{"echo `a \\`b\\``", "[echo][`a \\`b\\``]?$([a][`b`]?$([b]))"},
		{"echo \"`a`\" '`b`'", "[echo][`a`]?$([a])[`b`]"},
		{`echo $((1 + (2*3))) $(( $(a) ))`, `[echo][$((1 + (2*3)))]?[$(( $(a) ))]?$([a])`},
		{`echo $((a); (b))`, `[echo][$((a); (b))]?$(subshell([a]) ; subshell([b]))`},
		{`((x = 1 << 2)); b`, `compound (([((x = 1 << 2))]? ; [b]`},
		{`((a); b)`, `subshell(subshell([a]) ; [b])`},
		{`a >f 2>&1 <g >>h`, `[a]>[f]2>&[1]<[g]>>[h]`},
		{`a &>f`, `[a]&>[f]`},
		{`>f`, `>[f]`},
		{`echo 2 >f 3`, `[echo][2][3]>[f]`},
		{`echo a2>f`, `[echo][a2]>[f]`},
		{`{fd}>f a`, `[a]{fd}>[f]`},
		{`a <<<"b c"`, `[a]<<<[b c]`},
		{`diff <(a) >(b)`, `[diff][<(a)]?$([a])[>(b)]?$([b])`},
		{"a <<E; b\nx $(c)\nE\nd", "[a]<<[E]{x $(c)\n}$([c]) ; [b] ; [d]"},
		{"a <<'E'\nx $(c)\nE", "[a]<<[E]{x $(c)\n}"},
		{"a <<-E\n\tx\n\tE\nb", "[a]<<[E]{x\n} ; [b]"},
		{"a <<E <<F\n1\nE\n2\nF\nb", "[a]<<[E]{1\n}<<[F]{2\n} ; [b]"},
		{"a <<E | b\nrm -rf /\nE", "[a]<<[E]{rm -rf /\n} | [b]"},
		{`(a; b) | c`, `subshell([a] ; [b]) | [c]`},
		{`{ a; b; } >f`, `group>[f]([a] ; [b])`},
		{`{a,b} c`, `[{a,b}][c]`},
		{`if a; then b; elif c; then d; else e; fi >f; g`, `compound if>[f]([a])([b])([c])([d])([e]) ; [g]`},
		{`while a; do b; done | c`, `compound while([a])([b]) | [c]`},
		{"for x in a $(b); do c; done", "compound for[x][in][a][$(b)]?$([b])()([c])"},
		{"for x\ndo c; done", "compound for[x]()([c])"},
		{"for ((i=0; i<3; i++)); do c; done", "compound for[((i=0; i<3; i++))]?()([c])"},
		{"case $x in a|b) c;; (d) e;& *) f; esac; g", "compound case[$x]?([c])([e])([f]) ; [g]"},
		{"echo $(case a in b) c;; esac) d", "[echo][$(case a in b) c;; esac)]?$(compound case[a]([c]))[d]"},
		{`f() { a; }; g`, `function f(group([a])) ; [g]`},
		{`function f { a; }`, `function f(group([a]))`},
		{`:(){ :|:& };:`, `function :(group([:] | [:] &)) ; [:]`},
		{`[[ a > b && -n $(c) ]] && d`, `compound [[[a][b][-n][$(c)]?$([c]) && [d]`},
		{`echo if then fi`, `[echo][if][then][fi]`},
		{`echo "$(echo "$(a)")"`, `[echo][$(echo "$(a)")]?$([echo][$(a)]?$([a]))`},
		{"a && # why\nb", `[a] && [b]`},
		{`a;;b`, `[a] ; [b]`},
		{`echo a\
b`, `[echo][ab]`},
	} {
		s := Parse(c.src)
		if got := show(s.List); got != c.want || s.Problem != "" {
			t.Errorf("%q:\ngot  %s (%s)\nwant %s", c.src, got, s.Problem, c.want)
		}
	}
}

func TestWhatCannotBeReadIsNamedAndTheRestStays(t *testing.T) {
	for _, c := range []struct{ src, problem, list string }{
		{`a; echo "b`, "a quote that does not close", `[a] ; [echo][b]`},
		{`a; echo 'b`, "a quote that does not close", `[a] ; [echo][b]`},
		{"a; echo `b", "a backtick that does not close", "[a] ; [echo][`b]?$([b])"},
		{`a; (b`, `no ")"`, `[a] ; subshell([b])`},
		{`a $(b`, `no ")"`, `[a][$(b]?$([b])`},
		{`a)b`, `a ")" that closes nothing`, `[a] ; [b]`},
		{`if a; then b`, `no "fi"`, `compound if([a])([b])`},
		{"a <<E\nb", "a here-document that does not end", "[a]<<[E]{b}"},
		{"a <<E", "a here-document without its body", "[a]<<[E]{}"},
		{`a >`, "a redirection without a target", `[a]>[]`},
		{"$\\\nHOME", goesOn, "[$HOME]"},
		{"a $HO\\\nME", goesOn, "[a][$HOME]?"},
		{"i\\\nf a", goesOn, "[if][a]"},
		{`case x a`, "a case without in", `compound case[x] ; [a]`},
	} {
		s := Parse(c.src)
		if s.Problem != c.problem || strings.ReplaceAll(show(s.List), "compound case[x][a]", "compound case[x] ; [a]") != c.list {
			t.Errorf("%q: %q, %s; want %q, %s", c.src, s.Problem, show(s.List), c.problem, c.list)
		}
	}
	for _, deep := range []string{
		strings.Repeat("(", 5000), strings.Repeat("$(", 5000), strings.Repeat("$((", 5000), strings.Repeat("((", 5000),
		strings.Repeat("{ ", 5000), strings.Repeat(`"$(`, 5000), strings.Repeat("${a:-", 5000), strings.Repeat("if ", 5000),
		strings.Repeat("f() ", 5000), "a " + strings.Repeat("<(", 5000), strings.Repeat("a <<E $(", 5000), strings.Repeat("$[", 5000),
		strings.Repeat("$((a) ", 300), strings.Repeat("`\\`", 3000), strings.Repeat("case a in ", 3000),
	} {
		if s := Parse(deep); s.Problem == "" {
			t.Errorf("%.20q…: read without a word", deep)
		}
	}
	if s := Parse(strings.Repeat("a", MaxSize+1)); s.Problem == "" {
		t.Error("too long, and read")
	}
}

func words(t *testing.T, src string) []Word {
	t.Helper()
	s := Parse(src)
	if s.Problem != "" || len(s.List) == 0 {
		t.Fatalf("%q: %s", src, s.Problem)
	}
	return s.List[0].Stages[0].Words
}

func texts(ws []Word) string {
	var out []string
	for _, w := range ws {
		out = append(out, w.Text)
	}
	return strings.Join(out, " ")
}

func TestWrappersAreTakenOff(t *testing.T) {
	for _, c := range []struct{ src, by, want string }{
		{"rm -rf x", "", "rm -rf x"},
		{"sudo rm x", "sudo", "rm x"},
		{"sudo -u root -E rm x", "sudo", "rm x"},
		{"sudo -nu root rm x", "sudo", "rm x"},
		{"sudo -uroot A=1 rm x", "sudo", "rm x"},
		{"sudo --user=root --group wheel -- rm x", "sudo", "rm x"},
		{"sudo -l", "sudo", ""},
		{"env A=1 -i B=2 rm x", "env", "rm x"},
		{"env -u A -C /tmp rm x", "env", "rm x"},
		{"env -S 'rm -r' x", "env", "rm -r x"},
		{"nice -n 5 ionice -c 3 rm x", "nice ionice", "rm x"},
		{"nice -10 rm x", "nice", "rm x"},
		{"timeout -k 5 10s grep a", "timeout", "grep a"},
		{"timeout --signal KILL 10 grep a", "timeout", "grep a"},
		{"nohup setsid rm x", "nohup setsid", "rm x"},
		{"xargs -0 -I{} rm {}", "xargs", "rm {}"},
		{"xargs -n 1 rm -f", "xargs", "rm -f"},
		{"command -v rm", "command", ""},
		{"command rm x", "command", "rm x"},
		{"exec -a name rm x", "exec", "rm x"},
		{"/usr/bin/sudo /bin/rm x", "sudo", "/bin/rm x"},
		{"stdbuf -oL -e 0 rm x", "stdbuf", "rm x"},
		{"flock -w 3 lock rm x", "flock", "rm x"},
		{"sudo", "sudo", ""},
	} {
		w := Unwrap(words(t, c.src))
		if texts(w.Words) != c.want || strings.Join(w.By, " ") != c.by {
			t.Errorf("%q: %q by %q, want %q by %q", c.src, texts(w.Words), w.By, c.want, c.by)
		}
	}
	if n := Unwrap(words(t, "sudo /bin/rm x")).Name(); n != "rm" {
		t.Errorf("name %q", n)
	}
	if n := Unwrap(words(t, "$RM x")).Name(); n != "" {
		t.Errorf("the name of an unknown command is %q", n)
	}
}

func TestExpandReplacesOnlyWhatIsKnown(t *testing.T) {
	value := func(name string) (string, bool) { return "/h", name == "HOME" }
	for _, c := range []struct {
		src, want string
		known     bool
	}{
		{`"$HOME"/x`, "/h/x", true},
		{`${HOME}`, "/h", true},
		{`${HOME:?}`, "/h", true},
		{`${HOME:-/x}`, "/h", true},
		{`${HOME%/*}`, "${HOME%/*}", false},
		{`${HOME:1}`, "${HOME:1}", false},
		{`${#HOME}`, "${#HOME}", false},
		{`${!HOME}`, "${!HOME}", false},
		{`$HOMER`, "$HOMER", false},
		{`$HOME$A$HOME`, "/h$A/h", false},
		{`'$HOME'`, "$HOME", true},
		{`\$HOME`, "$HOME", true},
	} {
		w := words(t, "x "+c.src)[1].Expand(value)
		if w.Text != c.want || w.Known() != c.known || len(w.mask) != len(w.Text) {
			t.Errorf("%s: %q known %v, want %q %v", c.src, w.Text, w.Known(), c.want, c.known)
		}
	}
}

func TestBracesMakeWordsWhereTheyAreNotQuoted(t *testing.T) {
	for src, want := range map[string]string{
		`{a,b}`: "a b", `x{a,b}y`: "xay xby", `{a,b}{c,d}`: "ac ad bc bd", `{a,{b,c}}`: "a b c", `{,/etc}`: " /etc",
		`"{a,b}"`: "{a,b}", `{a}`: "{a}", `{a`: "{a", `a,b`: "a,b", `{}`: "{}", `{1..3}`: "{1..3}", `{a}{b,c}`: "{a}b {a}c",
		`{a"," ,b}`: `{a,`,
	} {
		got, whole := words(t, "x "+src)[1].Braces()
		if texts(got) != want || !whole {
			t.Errorf("%s: %q, want %q", src, texts(got), want)
		}
	}
	if got, whole := words(t, "x "+strings.Repeat("{a,b}", 20))[1].Braces(); whole || len(got) > maxBraces+1 {
		t.Errorf("%d words, whole %v", len(got), whole)
	}
}

func TestGlobsAndTildesWorkOnlyUnquoted(t *testing.T) {
	for src, want := range map[string][2]bool{
		`*`: {true, false}, `'*'`: {false, false}, `a\*`: {false, false}, `~`: {false, true}, `"~"`: {false, false}, `~/[a]`: {true, true},
	} {
		w := words(t, "x "+src)[1]
		if w.Globs() != want[0] || w.Tilde() != want[1] {
			t.Errorf("%s: globs %v, tilde %v", src, w.Globs(), w.Tilde())
		}
	}
}

func TestTangledTextEndsAfterItsSteps(t *testing.T) {
	steps := 500
	s := parse(strings.Repeat("echo a; ", 300), 0, &steps)
	if s.Problem != "too tangled to be read" || steps < -maxDepth*20 {
		t.Errorf("%q, %d steps past the limit", s.Problem, -steps)
	}
	nested := strings.Repeat("$((a);", 15) + "b" + strings.Repeat(")", 15)
	if s := Parse(nested); s.Problem != "" {
		t.Errorf("what looks like arithmetic at 15 levels: %s", s.Problem)
	}
	if got, whole := words(t, "x "+strings.Repeat("{", 1<<20-10))[1].Braces(); whole || len(got) != 1 {
		t.Errorf("%d words, whole %v", len(got), whole)
	}
}

// TestWordsAreThoseThatBashMakes compares with bash on texts of quotes.
func TestWordsAreThoseThatBashMakes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	tokens := []string{"a", "b ", " ", `'`, `"`, `\\`, "#", "=", "{", "}", "!", "~x", "é", "\t", `\"`, `\'`, "$'", `\n`, `\x41`, "\\\n", "[", "$", "%", "''", `""`}
	r := rand.New(rand.NewPCG(3, 4))
	var script strings.Builder
	var want []string
	for len(want) < 1000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		src := "p x" + b.String()
		s := Parse(src)
		if s.Problem != "" || len(s.List) != 1 || len(s.List[0].Stages[0].Words) == 0 || strings.Contains(b.String(), "$\"") || strings.Contains(b.String(), "=~x") {
			continue
		}
		var line strings.Builder
		for _, w := range s.List[0].Stages[0].Words[1:] {
			if !w.Known() {
				line.Reset()
				break
			}
			line.WriteString("[" + w.Text + "]")
		}
		if line.Len() == 0 {
			continue
		}
		want = append(want, src+"\x01"+line.String())
		script.WriteString(src + "\n")
	}
	out, err := exec.Command(bash, "--norc", "-c", "set +H -f\np() { printf '[%s]' \"$@\"; printf '\\0'; }\n"+script.String()).Output()
	if err != nil {
		t.Fatalf("bash: %v", err)
	}
	got := strings.Split(string(out), "\x00")
	if len(got) != len(want)+1 {
		t.Fatalf("bash ran %d commands of %d", len(got)-1, len(want))
	}
	for i, w := range want {
		src, line, _ := strings.Cut(w, "\x01")
		if got[i] != line {
			t.Errorf("%q: %s, bash makes %s", src, line, got[i])
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a | b && c $(d `e`) <<E\nf\nE\n", `if a; then "$(b)"; fi`, ":(){ :|:& };:", "$((1+(2)))", "case a in b) c;; esac"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s := Parse(src)
		var walk func(l List)
		check := func(w Word) {
			if len(w.mask) != len(w.Text) {
				t.Fatalf("mask of %d bytes for %d", len(w.mask), len(w.Text))
			}
			for _, p := range w.Params {
				if p.at < 0 || p.end > len(w.Text) || p.at >= p.end {
					t.Fatalf("parameter at %d to %d of %d", p.at, p.end, len(w.Text))
				}
			}
			w.Braces()
			w.Expand(func(string) (string, bool) { return "v", true })
			for _, l := range w.Subs {
				walk(l)
			}
		}
		walk = func(l List) {
			for _, it := range l {
				for _, c := range it.Stages {
					Unwrap(c.Words)
					for _, w := range c.Words {
						check(w)
					}
					for _, r := range c.Redirs {
						check(r.Target)
						check(r.Here)
					}
					for _, b := range c.Body {
						walk(b)
					}
				}
			}
		}
		walk(s.List)
	})
}
