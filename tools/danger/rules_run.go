package danger

import (
	"slices"
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
)

// runsScript looks at shells and interpreters: the script they are given, the
// text in an option, or their input.
func (x *call) runsScript() {
	isShell := slices.Contains(shells, x.name)
	code, given := x.code(isShell)
	switch {
	case given && isShell:
		x.runs(code)
	case given && x.piped():
		x.ask(rulePiped, "code in an option works on what another command writes")
	case given && x.fetches():
		x.ask(ruleFetch, "it runs code that comes from the network")
	}
	if given || x.fileArgument() {
		return
	}
	if x.fetches() {
		x.ask(ruleFetch, "it runs what a download writes, unseen")
		return
	}
	if x.piped() {
		x.ask(rulePiped, "it runs what another command writes")
	}
	if isShell {
		if in := x.input(); in != "" {
			x.scan.script(in)
		}
	}
}

// code is the text behind -c of a shell or -e of an interpreter.
func (x *call) code(isShell bool) (shellwords.Word, bool) {
	if isShell {
		return x.shellCode()
	}
	flag := "e"
	if strings.HasPrefix(x.name, "python") {
		flag = "c"
	}
	for i, w := range x.words {
		t := w.Text
		if t == "--eval" || t == "--print" || t == "-r" && x.name == "php" || t == "-p" && (x.name == "node" || x.name == "nodejs") ||
			len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.HasSuffix(t, flag) && !strings.Contains(t, "=") {
			if i+1 < len(x.words) {
				return x.words[i+1], true
			}
			return shellwords.Word{}, false
		}
		if !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "+") {
			break
		}
	}
	return shellwords.Word{}, false
}

// shellCode is the first word that is no option, where -c is among those
// before it: in a cluster, at any place.
func (x *call) shellCode() (shellwords.Word, bool) {
	given := false
	for i := 0; i < len(x.words); i++ {
		switch t := x.words[i].Text; {
		case t == "-o" || t == "+o" || t == "-O" || t == "+O" || t == "--rcfile" || t == "--init-file":
			i++
		case t == "--" || strings.HasPrefix(t, "--") || strings.HasPrefix(t, "+"):
		case len(t) > 1 && t[0] == '-':
			given = given || strings.Contains(t, "c")
		default:
			return x.words[i], given
		}
	}
	return shellwords.Word{}, false
}

// fileArgument reports whether a script file is named. Where that is a
// substitution, its content comes from the commands in it.
func (x *call) fileArgument() bool {
	if x.has("s") && slices.Contains(shells, x.name) {
		return false // bash -s: the operands are its arguments
	}
	if ops := x.operands(); len(ops) > 0 {
		return !ops[0].Is("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") && len(ops[0].Subs) == 0
	}
	return x.name == "python3" && x.has("m") || x.has("--version", "--help")
}

// runs looks at a text that a shell runs.
func (x *call) runs(w shellwords.Word) {
	switch {
	case len(w.Subs) > 0 && x.fetches():
		x.ask(ruleFetch, "it runs what a download writes, unseen")
	case len(w.Subs) > 0 && strings.TrimSpace(w.Text) != "" && strings.HasPrefix(w.Text, "$(") || strings.HasPrefix(w.Text, "`") && !w.Known():
		x.ask(ruleText, "which commands it runs is not known before it runs")
	case !w.Known() && len(w.Params) > 0 && strings.HasPrefix(w.Text, "$"):
		x.ask(ruleText, "which commands it runs is not known before it runs")
	}
	if w.Text != "" {
		x.scan.script(w.Text)
	}
}

// runsText looks at eval, source and others that run their words.
func (x *call) runsText() {
	switch x.name {
	case "eval":
		all, known := make([]string, 0, len(x.words)), true
		for _, w := range x.words {
			all = append(all, w.Text)
			known = known && w.Known()
		}
		switch {
		case known:
			x.scan.script(strings.Join(all, " "))
		case x.fetches():
			x.ask(ruleFetch, "it runs what a download writes, unseen")
		default:
			x.ask(ruleText, "which commands it runs is not known before it runs")
		}
	case "source", ".":
		if x.fetches() {
			x.ask(ruleFetch, "it runs what a download writes, unseen")
		}
	case "su":
		if w, ok := x.value("-c", "--command"); ok {
			x.runs(w)
		}
	case "ssh":
		x.remote()
	case "trap":
		if ops := x.operands(); len(ops) > 0 {
			x.runs(ops[0])
		}
	}
}

// remote looks at the command that ssh runs elsewhere: what it destroys there
// is as lost.
func (x *call) remote() {
	takesValue := "bcDEeFIiJLlmOopQRSWw"
	for i := 0; i < len(x.words); i++ {
		t := x.words[i].Text
		if len(t) > 1 && t[0] == '-' {
			if len(t) == 2 && strings.Contains(takesValue, t[1:]) {
				i++
			}
			continue
		}
		var all []string
		for _, w := range x.words[i+1:] {
			all = append(all, w.Text)
		}
		if len(all) > 0 {
			x.scan.script(strings.Join(all, " "))
		} else if in := x.input(); in != "" {
			x.scan.script(in)
		}
		return
	}
}

func (x *call) sql() {
	if x.name == "dropdb" {
		x.ask(ruleSQL, "it removes a database")
		return
	}
	var text strings.Builder
	for _, w := range x.words {
		text.WriteString(strings.TrimPrefix(w.Text, "-e") + " ; ")
	}
	text.WriteString(x.input())
	upper := strings.ToUpper(text.String())
	if x.name == "redis-cli" {
		if strings.Contains(upper, "FLUSHALL") || strings.Contains(upper, "FLUSHDB") {
			x.ask(ruleSQL, "it empties the database")
		}
		return
	}
	if strings.Contains(upper, "DROPDATABASE(") || strings.Contains(upper, ".DROP(") {
		x.ask(ruleSQL, "it removes a database or a collection")
		return
	}
	for statement := range strings.SplitSeq(upper, ";") {
		x.statement(strings.Fields(statement))
	}
}

// statement looks at the words of one SQL statement.
func (x *call) statement(words []string) {
	for i, w := range words {
		w = strings.TrimLeft(w, `"'(`)
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "DROP" && slices.Contains([]string{"TABLE", "DATABASE", "SCHEMA", "VIEW", "INDEX", "USER", "ROLE", "KEYSPACE", "COLUMN", "MATERIALIZED"}, next):
			x.ask(ruleSQL, "DROP "+next+" removes it with everything in it")
		case w == "TRUNCATE" && next != "":
			x.ask(ruleSQL, "TRUNCATE removes every row")
		case w == "DELETE" && next == "FROM" && !slices.Contains(words[i:], "WHERE"):
			x.ask(ruleSQL, "DELETE without WHERE removes every row")
		}
	}
}

func (x *call) git() {
	sub, rest := "", []shellwords.Word(nil)
	for i := 0; i < len(x.words); i++ {
		t := x.words[i].Text
		if t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" {
			i++
			continue
		}
		if !strings.HasPrefix(t, "-") {
			sub, rest = t, x.words[i+1:]
			break
		}
	}
	y := &call{scan: x.scan, text: x.text, name: "git " + sub, words: rest}
	switch sub {
	case "push":
		y.push()
	case "reset":
		if y.has("--hard") {
			y.ask(ruleGit, "changes that were not committed are gone")
		}
	case "clean":
		if y.has("f", "--force") && !y.has("n", "--dry-run") {
			y.ask(ruleGit, "files that git does not know are deleted")
		}
	case "checkout":
		if y.has("f", "--force") || y.after("--") != nil || y.first() == "." {
			y.ask(ruleGit, "changes that were not committed are gone")
		}
	case "restore":
		if !y.has("--staged") || y.has("--worktree", "W") {
			y.ask(ruleGit, "changes that were not committed are gone")
		}
	case "branch":
		if y.has("D") || y.has("d", "--delete") && y.has("f", "--force") {
			y.ask(ruleGit, "a branch that may not be merged is deleted")
		}
	case "stash":
		if f := y.first(); f == "drop" || f == "clear" {
			y.ask(ruleGit, "what was put aside is gone")
		}
	case "reflog":
		if y.first() == "expire" || y.first() == "delete" {
			y.ask(ruleGit, "the way back to old states is gone")
		}
	case "filter-branch", "filter-repo":
		y.ask(ruleGit, "the history is written anew")
	case "update-ref":
		if y.has("d") {
			y.ask(ruleGit, "a reference is deleted")
		}
	}
}

func (x *call) push() {
	if x.has("f", "--force", "--force-with-lease", "--mirror") {
		x.ask(rulePush, "what others pushed there is overwritten")
	}
	if x.has("d", "--delete") {
		x.ask(rulePush, "a branch is deleted for everybody")
	}
	for i, w := range x.operands() {
		if i > 0 && (strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, ":") && len(w.Text) > 1) {
			x.ask(rulePush, "a branch is overwritten or deleted for everybody")
		}
	}
}

func (x *call) containers() {
	var verbs []string
	for _, w := range x.operands() {
		verbs = append(verbs, w.Text)
	}
	if len(verbs) == 0 {
		return
	}
	second := ""
	if len(verbs) > 1 {
		second = verbs[1]
	}
	if x.name == "docker-compose" {
		verbs = append([]string{"compose"}, verbs...)
	}
	switch {
	case slices.Contains(verbs[:min(2, len(verbs))], "prune"):
		x.ask(ruleContainer, "everything that is not in use is removed")
	case verbs[0] == "volume" && (second == "rm" || second == "remove"):
		x.ask(ruleContainer, "a volume is removed with its data")
	case (verbs[0] == "rm" || verbs[0] == "rmi" || verbs[0] == "container" && second == "rm") && x.has("f", "--force"):
		x.ask(ruleContainer, "running containers or used images are removed")
	case verbs[0] == "compose" && slices.Contains(verbs, "down") && x.has("v", "--volumes"):
		x.ask(ruleContainer, "the volumes are removed with their data")
	case verbs[0] == "system" && second == "reset":
		x.ask(ruleContainer, "everything is removed")
	}
}

func (x *call) cron() {
	if x.name == "crontab" && x.has("r") || x.name == "atrm" || x.name == "at" && (x.has("d") || x.has("r")) {
		x.ask(ruleCron, "scheduled jobs are removed")
	}
}

func (x *call) cloud() {
	var verbs []string
	for _, w := range x.operands() {
		verbs = append(verbs, w.Text)
	}
	has := func(v ...string) bool {
		return slices.ContainsFunc(verbs[:min(4, len(verbs))], func(s string) bool { return slices.Contains(v, s) })
	}
	switch x.name {
	case "kubectl":
		if has("delete", "drain") {
			x.ask(ruleCloud, "it removes things from a cluster")
		}
	case "terraform", "tofu":
		if has("destroy") || has("apply") && x.has("-destroy") {
			x.ask(ruleCloud, "it removes what it built")
		}
	case "helm":
		if has("uninstall", "delete") {
			x.ask(ruleCloud, "it removes a release from a cluster")
		}
	case "aws":
		if has("s3") && (has("rb") || has("rm") && x.has("--recursive")) || slices.ContainsFunc(verbs, func(s string) bool {
			return strings.HasPrefix(s, "delete-") || strings.HasPrefix(s, "terminate-")
		}) {
			x.ask(ruleCloud, "it removes things in the cloud")
		}
	default:
		if slices.Contains(verbs, "delete") || x.name == "gsutil" && has("rm", "rb") {
			x.ask(ruleCloud, "it removes things in the cloud")
		}
	}
}

func (x *call) firewall() {
	verb := x.first()
	if x.has("F", "--flush", "X") || verb == "disable" || verb == "reset" || verb == "flush" || x.name == "setenforce" && verb == "0" || x.name == "pfctl" && x.has("d") {
		x.ask(ruleFirewall, "a protection of the machine is taken away")
	}
}

func (x *call) accounts() {
	if x.name == "dscl" && !slices.ContainsFunc(x.words, func(w shellwords.Word) bool { return w.Is("-delete", "delete") }) {
		return
	}
	if len(x.operands()) > 0 {
		x.ask(ruleAccount, "an account or a group is removed")
	}
}
