package danger

import (
	"slices"
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
)

// The names of the rules. People write them into settings: a name stays.
const (
	ruleSystem    = "delete of the system or a home"
	ruleFormat    = "format a disk"
	ruleDisk      = "write to a disk"
	ruleForkBomb  = "fork bomb"
	ruleKillAll   = "kill every process"
	rulePower     = "shut down or restart"
	ruleRecursive = "recursive delete"
	ruleFind      = "delete what find finds"
	ruleShred     = "destroy the content of files"
	ruleOpen      = "open permissions"
	ruleOwner     = "recursive change of owner"
	ruleSQL       = "delete in a database"
	ruleService   = "stop or disable a service"
	ruleKill      = "kill by name"
	ruleFetch     = "run what comes from the network"
	rulePiped     = "run what comes from a pipe"
	ruleText      = "run text that is not known"
	ruleProtected = "write to a protected place"
	ruleGit       = "discard work in git"
	rulePush      = "force push"
	ruleContainer = "remove containers or their data"
	ruleCron      = "remove scheduled jobs"
	ruleCloud     = "destroy resources"
	ruleFirewall  = "open the firewall"
	ruleAccount   = "remove an account"
	ruleUnknown   = "unknown command"
	ruleUnread    = "command that cannot be read"
	ruleCode      = "script in a programming language"
)

// A rule looks at calls of the named commands, or at all of them.
type rule struct {
	names []string
	look  func(x *call)
}

// allRules is the whole list.
func allRules() []rule {
	return []rule{
		{nil, (*call).follow},
		{nil, (*call).format},
		{[]string{"rm", "srm", "unlink", "rmdir"}, (*call).deletes},
		{[]string{"find", "fd", "fdfind"}, (*call).finds},
		{[]string{"shred", "wipe"}, (*call).shreds},
		{[]string{"wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "parted", "cryptsetup", "diskutil", "hdparm"}, (*call).disks},
		{[]string{"dd"}, (*call).dd},
		{[]string{"kill"}, (*call).kills},
		{[]string{"pkill", "killall", "killall5", "skill"}, (*call).killsByName},
		{[]string{"shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "loginctl"}, (*call).power},
		{[]string{"systemctl", "service", "launchctl", "rc-service", "sv"}, (*call).services},
		{[]string{"chmod", "setfacl"}, (*call).chmod},
		{[]string{"chown", "chgrp"}, (*call).chown},
		{[]string{"tee", "sponge", "cp", "mv", "install", "ln", "rsync", "scp", "sed", "perl", "truncate", "touch", "chattr"}, (*call).writes},
		{sqlClients, (*call).sql},
		{append(shells, interpreters...), (*call).runsScript},
		{[]string{"eval", "source", ".", "su", "ssh", "watch", "trap"}, (*call).runsText},
		{[]string{"git"}, (*call).git},
		{[]string{"docker", "podman", "nerdctl", "docker-compose"}, (*call).containers},
		{[]string{"crontab", "at", "atrm"}, (*call).cron},
		{[]string{"kubectl", "terraform", "tofu", "helm", "aws", "gcloud", "az", "gsutil"}, (*call).cloud},
		{[]string{"iptables", "ip6tables", "nft", "ufw", "setenforce", "pfctl"}, (*call).firewall},
		{[]string{"userdel", "deluser", "groupdel", "delgroup", "dscl"}, (*call).accounts},
	}
}

var (
	shells       = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh"}
	interpreters = []string{"python", "python2", "python3", "perl", "ruby", "node", "nodejs", "php", "lua", "osascript", "deno", "bun", "tclsh"}
	sqlClients   = []string{"mysql", "mariadb", "psql", "sqlite3", "sqlite", "clickhouse-client", "sqlcmd", "cqlsh", "duckdb", "dropdb", "mongosh", "mongo", "redis-cli"}
)

// follow remembers where cd goes.
func (x *call) follow() {
	if x.name != "cd" && x.name != "pushd" {
		return
	}
	ops := x.operands()
	if len(ops) == 0 {
		x.scan.dir = home
		return
	}
	at, _, known := x.where(ops[0])
	if !known || at == "" || at[0] != '/' && at[0] != home[0] {
		at = ""
	}
	x.scan.dir = at
}

// deletes looks at rm.
func (x *call) deletes() {
	recursive := x.has("r", "R", "--recursive") && x.name != "rmdir"
	if x.name == "" && !(recursive && x.has("f", "--force")) {
		return
	}
	for _, w := range x.operands() {
		if at, _, known := x.where(w); known && isVital(at) && (recursive || w.Globs()) {
			x.never(ruleSystem, "it deletes a directory that the system or a person lives in")
		} else if known && guards(at) != "" {
			x.ask(ruleProtected, "it deletes from "+guards(at))
		} else if known && isBlockDevice(at) {
			x.ask(ruleProtected, "it deletes a device")
		}
	}
	if x.has("--no-preserve-root") {
		x.never(ruleSystem, "--no-preserve-root is of use only to delete the system")
	}
	if recursive && x.name != "" {
		x.ask(ruleRecursive, "it deletes directories with everything in them")
	}
}

// finds looks at what find does with what it finds.
func (x *call) finds() {
	var from []shellwords.Word
	filtered, deletes := false, false
	for i, w := range x.words {
		switch {
		case w.Is("-delete"):
			deletes = true
		case w.Is("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
			inner := x.words[i+1:]
			if end := slices.IndexFunc(inner, func(w shellwords.Word) bool { return w.Is(";", "+") }); end >= 0 {
				inner = inner[:end]
			}
			y := &call{scan: x.scan, text: x.text}
			y.set(inner)
			deletes = deletes || y.name == "rm" || y.name == "shred" || y.name == "unlink"
			y.look()
		case strings.HasPrefix(w.Text, "-"):
			filtered = filtered || !w.Is("-H", "-L", "-P", "-depth", "-xdev", "-mount", "-print", "-print0", "-ignore_readdir_race", "-type", "-mindepth", "-noleaf", "-f")
		case i == len(from):
			from = append(from, w)
		}
	}
	if !deletes {
		return
	}
	x.ask(ruleFind, "it deletes everything that find finds")
	for _, w := range from {
		if at, _, known := x.where(w); known && isVital(at) && !filtered {
			x.never(ruleSystem, "it deletes everything below a directory that the system or a person lives in")
		}
	}
}

func (x *call) shreds() {
	for _, w := range x.operands() {
		x.writesTo(w, x.name)
	}
	if len(x.operands()) > 0 {
		x.ask(ruleShred, "it overwrites files so that nothing brings them back")
	}
}

// format looks at mkfs and its family.
func (x *call) format() {
	if x.name != "mke2fs" && x.name != "mkswap" && x.name != "mkfs" && !strings.HasPrefix(x.name, "mkfs.") && !strings.HasPrefix(x.name, "newfs") {
		return
	}
	level, targets := Ask, 0
	for _, w := range x.operands() {
		at, _, known := x.where(w)
		if known && !strings.Contains(at, "/") {
			continue // a type or a size, or an image file in this directory
		}
		targets++
		if !known || strings.HasPrefix(at, "/dev/") {
			level = Never
		}
	}
	if targets > 0 {
		x.match(ruleFormat, "it makes a new file system over what was there", level)
	} else if len(x.operands()) > 0 {
		x.ask(ruleFormat, "it makes a new file system")
	}
}

func (x *call) disks() {
	for _, w := range x.operands() {
		if at, _, known := x.where(w); known && isBlockDevice(at) {
			if x.has("l", "p", "--list", "--print", "--info", "--no-act", "n", "I") && !x.has("a", "--all", "Z", "o") {
				return // it only shows
			}
			x.never(ruleDisk, x.name+" changes what a disk holds")
			return
		}
	}
	if x.name == "diskutil" && len(x.words) > 0 && strings.HasPrefix(strings.ToLower(x.words[0].Text), "erase") {
		x.never(ruleFormat, "it erases a disk")
	}
}

func (x *call) dd() {
	for _, w := range x.words {
		if to, ok := strings.CutPrefix(w.Text, "of="); ok {
			if !w.Known() {
				x.ask(ruleDisk, "dd writes to a place that is not known")
				continue
			}
			x.writesTo(shellwords.Literal(to), "dd")
		}
	}
}

// kills looks at kill for the target −1, which is every process there is.
func (x *call) kills() {
	words := x.words
	if len(words) > 0 && words[0].Is("-l", "-L", "--list", "--table") {
		return
	}
	signal := false
	for i := 0; i < len(words); i++ {
		switch t := words[i].Text; {
		case t == "-s" || t == "-n" || t == "--signal" || t == "-q":
			i++
			signal = true
		case t == "--":
			signal = true
		case t == "-1" && (signal || len(words) == 1):
			x.never(ruleKillAll, "-1 is every process that can be reached")
		case strings.HasPrefix(t, "-"):
			signal = true
		}
	}
	if len(words) > 0 && slices.ContainsFunc(words, func(w shellwords.Word) bool { return w.Is("1") }) && !words[0].Is("-0") {
		x.ask(ruleKill, "process 1 is the one that starts all others")
	}
}

func (x *call) killsByName() {
	switch {
	case x.name == "killall5":
		x.never(ruleKillAll, "it kills every process")
	case x.has("-9", "-KILL", "-SIGKILL"):
		x.ask(ruleKill, "it kills every process of that name, and none can save its work")
	default:
		if w, ok := x.value("--signal", "-s"); ok && w.Is("9", "KILL", "SIGKILL") {
			x.ask(ruleKill, "it kills every process of that name, and none can save its work")
		}
	}
}

func (x *call) power() {
	if x.has("--help", "--version", "--show") {
		return
	}
	verb := x.first()
	switch x.name {
	case "systemctl", "loginctl":
		switch verb {
		case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "suspend", "hibernate", "hybrid-sleep", "emergency", "rescue", "exit":
			x.never(rulePower, "the machine goes down or to sleep")
		case "isolate":
			x.ask(ruleService, "it stops every service that the target does not want")
		}
	case "init", "telinit":
		if verb == "0" || verb == "6" || verb == "1" || verb == "S" || verb == "s" {
			x.never(rulePower, "the machine goes down")
		}
	case "shutdown":
		if !x.has("c") {
			x.never(rulePower, "the machine goes down")
		}
	default:
		x.never(rulePower, "the machine goes down")
	}
}

func (x *call) services() {
	var verbs []string
	for _, w := range x.operands() {
		verbs = append(verbs, w.Text)
	}
	bad := []string{"stop", "disable", "mask", "kill", "unload", "bootout", "remove", "down"}
	at := 0
	if x.name == "service" || x.name == "rc-service" {
		at = 1 // after the name of the service
	}
	if len(verbs) > at && slices.Contains(bad, verbs[at]) {
		x.ask(ruleService, "a service stops, or does not start again")
	}
}

// forkBomb looks at a function that starts itself in the background or twice.
func (x *call) forkBomb(c *shellwords.Command) {
	var calls int
	var background bool
	var count func(l shellwords.List)
	count = func(l shellwords.List) {
		for _, it := range l {
			for _, st := range it.Stages {
				if len(st.Words) > 0 && st.Words[0].Is(c.Name) {
					calls++
					background = background || it.Background || len(it.Stages) > 1
				}
				for _, b := range st.Body {
					count(b)
				}
			}
		}
	}
	for _, b := range c.Body {
		count(b)
	}
	if background && calls > 0 {
		x.never(ruleForkBomb, "the function starts itself again and again without waiting")
	}
}
