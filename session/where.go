package session

import (
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/honestty/honestty/internal/proc"
)

// A Where says what really runs in a pane and where, as the kernel has it: a
// title can be set by anybody, and a directory can be one on another machine.
type Where struct {
	PID     int    // the process that has the terminal's keyboard; 0 when not known
	Command string // its name
	Dir     string // its directory; empty when not known
	Host    string // the machine that Dir is on, when it is not this one
	User    string // whose it is, when not ours and known
	Remote  bool   // it runs a shell on another machine (ssh, mosh …)
}

// remotes are the programs that put another machine's shell into a pane.
var remotes = []string{"ssh", "mosh", "mosh-client", "et", "telnet", "slogin", "autossh"}

// glance finds out what runs in the foreground of the pane.
func (p *Pane) glance() Where {
	p.mu.Lock()
	bridge, cwd := p.bridge, p.term.Cwd()
	p.mu.Unlock()
	if bridge == nil {
		return Where{}
	}
	pid, err := bridge.ForegroundGroup()
	if err != nil || pid <= 0 {
		pid = bridge.PID()
	}
	g, err := proc.Look(pid)
	if err != nil {
		// The group's leader is gone while others of the group live on.
		if g, err = proc.Look(bridge.PID()); err != nil {
			return Where{}
		}
	}
	w := Where{PID: g.PID, Command: g.Name, Dir: g.Dir}
	if len(g.Args) > 0 {
		w.Command = strings.TrimPrefix(filepath.Base(g.Args[0]), "-") // "-bash" is a login shell
	}
	w.User = otherUser(w.PID)
	w.Remote = slices.Contains(remotes, w.Command)
	host, dir := told(cwd)
	switch {
	case w.Remote && host != "":
		w.Host, w.Dir = host, dir
	case w.Remote:
		w.Host, w.Dir = destination(g.Args), "" // the local directory would be a lie
	case w.Dir == "" && host == "":
		w.Dir = dir
	}
	return w
}

// otherUser names the user whose process it is: as su, sudo and doas leave it.
// It is empty when that is ours or cannot be told, as where there is no /proc.
func otherUser(pid int) string {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return ""
	}
	id := effectiveUser(string(status))
	if id == "" || id == strconv.Itoa(os.Geteuid()) {
		return ""
	}
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

// effectiveUser takes the effective user's number from /proc/PID/status, see
// proc_pid_status(5): real, effective, saved and file system user.
func effectiveUser(status string) string {
	for line := range strings.Lines(status) {
		if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
			if f := strings.Fields(ids); len(f) > 1 {
				return f[1]
			}
		}
	}
	return ""
}

// told takes an OSC 7 address apart. The host is empty when it is this one.
func told(cwd string) (host, dir string) {
	u, err := url.Parse(cwd)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") {
		return "", ""
	}
	here, err := os.Hostname()
	if u.Host == "" || u.Host == "localhost" || err == nil && sameHost(u.Host, here) {
		return "", u.Path
	}
	return u.Host, u.Path
}

// sameHost compares two names of a machine, one of which may be short.
func sameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// withValue are the options of ssh(1) that take the next word.
const withValue = "BbcDEeFIiJLlmOopQRSWw"

// destination is the host that an ssh command line names, or "?".
func destination(args []string) string {
	for i := 1; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") {
			_, host, found := strings.Cut(a, "@")
			if !found {
				host = a
			}
			return strings.TrimPrefix(host, "ssh://")
		}
		if len(a) == 2 && strings.Contains(withValue, a[1:]) {
			i++
		}
	}
	return "?"
}
