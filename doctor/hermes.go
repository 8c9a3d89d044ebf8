package doctor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools/fdmeter"
)

// hermesPattern finds Hermes by its command line: the program itself, a script
// of that name under an interpreter, or the module that `hermes serve` runs as.
// An editor that has a file of that name open is none.
var hermesPattern = regexp.MustCompile(`(?i)^(\S*/)?hermes\S*( |$)` +
	`|^\S*(python|node|electron|uv|bash|sh)[\d.]*( -\S+)* (\S*/)?hermes\S*( |$)|hermes_cli\.`)

// lastSelect is the last release of Hermes that waits with select().
var lastSelect = version{0, 22, 2}

// hermes looks for a Hermes that runs, at its descriptors and its version.
func hermes(_ context.Context, env Env, c *Check) {
	found, scan := env.meter.Match(hermesPattern)
	if !scan.Listed {
		c.sees("the processes could not be listed: %s", scan.Cause)
		c.finds(Unknown, "Whether a Hermes runs is not known.", unlisted(scan.Cause))
		return
	}
	for _, p := range found {
		if p.PID != os.Getpid() {
			env.judgeHermes(c, p)
		}
	}
	if len(c.Evidence) == 0 {
		c.sees("no process with hermes in its command line, of %s", processes(scan.Read))
		if n := scan.Unseen(); n > 0 {
			c.sees("%s could not be looked at", processes(n))
		}
		if scan.Hidden {
			c.sees(hiddenWords)
		}
		if !scan.Complete() {
			c.finds(Unknown, "No Hermes was seen, and not every process could be looked at.", "Run this as the user that runs Hermes.")
		}
		c.finds(OK, "No Hermes runs.", "")
		return
	}
	c.finds(OK, "The Hermes that runs is far from the line at 1024.", "")
}

func (e Env) judgeHermes(c *Check, p fdmeter.Proc) {
	r := e.read(p.PID)
	number, from := e.hermesVersion(p.PID)
	told := "version not told by a file"
	if from != "" {
		told = fmt.Sprintf("version %s (from %s)", number, clean(from))
	}
	c.sees("%s: %s open, highest number %s, soft limit %s; %s", called(r), figure(r.Count), figure(r.Highest), figure(r.Soft), told)
	c.sees("%s: %s", called(r), clean(r.Command))
	line := fdmeter.Line{Limit: fdmeter.FDSetSize, Kind: fdmeter.LineSelect}
	for _, l := range fdmeter.Lines(r) {
		if l.Kind == fdmeter.LineSelect {
			line = l
		}
	}
	uses, known := line.Used.Get()
	old := from != "" && !lastSelect.less(number)
	update := "Update Hermes to a release after " + lastSelect.String() + ". Until then restart its gateway and the desktop app, which brings the numbers down."
	switch {
	case !known:
		c.finds(Unknown, "The descriptors of "+called(r)+" could not be counted: "+line.Used.Reason()+".", "Run this as the user that runs Hermes.")
	case uses > fdmeter.FDSetSize && from != "" && !old:
		c.finds(OK, called(r)+" is past 1024 and of a release that does not wait with select().", "")
	case uses > fdmeter.FDSetSize && old:
		c.finds(Failure, called(r)+" is past 1024 and waits with select(): commands come back with empty output and exit code 0, and that output is lost.", update)
	case uses > fdmeter.FDSetSize:
		c.finds(Attention, called(r)+" is past 1024. Up to release "+lastSelect.String()+" that loses the output of commands.", update)
	case line.Alert():
		c.finds(Attention, fmt.Sprintf("%s is near 1024: %s numbers are used.", called(r), outcome.Count(uses)), update)
	case old:
		c.finds(Attention, called(r)+" is of a release that loses the output of commands once it is past 1024.", update)
	}
}

// A version is the first three numbers of a release.
type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) less(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

var versionPattern = regexp.MustCompile(`(\d+)\.(\d+)(?:\.(\d+))?`)

func parseVersion(text string) (version, bool) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	var v version
	for i := range v {
		if m[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

// hermesVersion looks where a version may be written: the metadata that an
// installer leaves beside the program, the project file of a checkout that it
// runs in, and its own folder. From is "" when none of them tells.
func (e Env) hermesVersion(pid int) (v version, from string) {
	text, err := os.ReadFile(filepath.Join(e.Proc, strconv.Itoa(pid), "cmdline"))
	if err == nil {
		for _, arg := range strings.SplitN(string(text), "\x00", 4) {
			if !filepath.IsAbs(arg) || filepath.Base(filepath.Dir(arg)) != "bin" {
				continue
			}
			prefix := filepath.Dir(filepath.Dir(arg))
			found, _ := filepath.Glob(filepath.Join(prefix, "lib", "python*", "site-packages", "hermes_agent-*.dist-info"))
			for _, path := range found {
				if v, ok := parseVersion(strings.TrimPrefix(filepath.Base(path), "hermes_agent-")); ok {
					return v, path
				}
			}
		}
	}
	project := filepath.Join(e.Proc, strconv.Itoa(pid), "cwd", "pyproject.toml")
	if v, ok := projectVersion(project); ok {
		return v, "pyproject.toml of its folder"
	}
	home := e.HermesHome
	if home == "" {
		if dir, err := os.UserHomeDir(); err == nil {
			home = filepath.Join(dir, ".hermes")
		}
	}
	checkout := filepath.Join(home, "hermes-agent", "pyproject.toml")
	if v, ok := projectVersion(checkout); ok {
		return v, checkout
	}
	return version{}, ""
}

// projectVersion reads the version of a project file, when the project is
// Hermes.
func projectVersion(path string) (version, bool) {
	f, err := os.Open(path)
	if err != nil {
		return version{}, false
	}
	defer f.Close()
	ours, number, told := false, version{}, false
	const most = 400 // lines; the table that names the project comes first
	in := bufio.NewScanner(f)
	for range most {
		if !in.Scan() {
			break
		}
		key, value, _ := strings.Cut(in.Text(), "=")
		switch strings.TrimSpace(key) {
		case "name":
			ours = ours || strings.Trim(strings.TrimSpace(value), `"'`) == "hermes-agent"
		case "version":
			if v, ok := parseVersion(value); ok && !told {
				number, told = v, true
			}
		}
	}
	return number, ours && told
}
