package danger

import (
	"path"
	"strings"

	"github.com/honestty/honestty/internal/shellwords"
)

// vital are directories without which a machine does not work or is another
// one. What lies directly in those of deep is as vital.
var vital = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin",
	"/srv", "/sys", "/usr", "/var", "/mnt", "/media",
	"/System", "/Library", "/Applications", "/Users", "/private", "/Volumes", "/cores",
	"/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/usr/libexec", "/usr/include",
	"/var/lib", "/var/log", "/var/db", "/var/root", "/private/etc", "/private/var", home,
}

// deep hold the homes of people.
var deep = []string{"/home", "/Users", "/Volumes"}

// system are the directories into which an ordinary command does not write.
var system = []string{
	"/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr", "/sys", "/proc/sys", "/System", "/Library", "/private/etc",
	"/var/lib", "/var/spool/cron", "/root",
}

// secret are the files and folders with credentials, and those that run at the
// next login, below the home directory.
var secret = []string{
	".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh", ".config/gcloud", ".netrc", ".pgpass", ".npmrc", ".pypirc",
	".git-credentials", ".gitconfig", ".vault-token", ".password-store", "Library/Keychains",
	".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".config/fish", ".config/autostart",
	".config/systemd", "Library/LaunchAgents",
}

// blockDevices are the beginnings of their names in /dev.
var blockDevices = []string{
	"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "loop", "mapper/", "zd", "nbd", "mtdblock", "pmem", "ada", "da", "vg",
	"root", "block/",
}

// where is the path that a word names, as far as it is known, clean and with
// the home directory as "~". A glob at its end is taken off and told: it means
// everything in the directory.
func (x *call) where(w shellwords.Word) (at string, all, known bool) {
	if !w.Known() {
		return "", false, false
	}
	at = w.Text
	if w.Tilde() {
		user, rest, _ := strings.Cut(at[1:], "/")
		if user == "" {
			at = home + "/" + rest
		} else {
			at = "/home/" + user + "/" + rest
		}
	}
	if w.Globs() {
		dir, last := path.Split(strings.TrimRight(at, "/"))
		if strings.Trim(last, "*.[]!^?") != "" {
			return "", false, false // some of what is there, by name
		}
		at, all = dir, true
		if dir == "" {
			at = "."
		}
	}
	if at == "" {
		return "", false, false
	}
	if at[0] != '/' && at != home && !strings.HasPrefix(at, home+"/") {
		if x.scan.dir == "" {
			return path.Clean(at), all, true
		}
		at = x.scan.dir + "/" + at
	}
	return path.Clean(at), all, true
}

// isVital reports whether losing the directory is losing the machine or a home.
func isVital(at string) bool {
	for _, v := range vital {
		if at == v {
			return true
		}
	}
	for _, d := range deep {
		if path.Dir(at) == d {
			return true
		}
	}
	return false
}

// guards names what is written at the path: "", "the system" or "credentials
// and what runs at login".
func guards(at string) string {
	for _, s := range system {
		if at == s || strings.HasPrefix(at, s+"/") {
			return "the system"
		}
	}
	rest, isHome := strings.CutPrefix(at, home+"/")
	if !isHome {
		for _, d := range []string{"/home/", "/Users/"} {
			if in, ok := strings.CutPrefix(at, d); ok {
				_, rest, isHome = strings.Cut(in, "/")
			}
		}
	}
	if isHome {
		for _, s := range secret {
			if rest == s || strings.HasPrefix(rest, s+"/") {
				return "credentials or what runs at login"
			}
		}
	}
	base := path.Base(at)
	if base == ".env" || strings.HasPrefix(base, ".env.") && !strings.HasSuffix(base, ".example") || base == ".envrc" || base == "authorized_keys" {
		return "credentials or what runs at login"
	}
	return ""
}

// isBlockDevice reports whether the path is a disk.
func isBlockDevice(at string) bool {
	rest, ok := strings.CutPrefix(at, "/dev/")
	if !ok {
		return false
	}
	for _, b := range blockDevices {
		if strings.HasPrefix(rest, b) {
			return true
		}
	}
	return false
}

// writesTo looks at a path that is written to.
func (x *call) writesTo(w shellwords.Word, how string) {
	at, _, known := x.where(w)
	if !known {
		return
	}
	switch {
	case isBlockDevice(at):
		x.never(ruleDisk, how+" writes over a disk")
	case at == "/proc/sysrq-trigger":
		x.never(rulePower, how+" makes the kernel restart or stop")
	case guards(at) != "":
		x.ask(ruleProtected, how+" writes to "+guards(at))
	}
}
