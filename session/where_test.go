package session

import (
	"os"
	"strings"
	"testing"
)

func TestTheHostOfAnSSHCommandLineIsFound(t *testing.T) {
	for line, want := range map[string]string{
		"ssh build":                           "build",
		"ssh ada@build.example.org":           "build.example.org",
		"ssh -p 2222 -i /key ada@build ls":    "build",
		"ssh -tt -o Compression=yes build":    "build",
		"ssh ssh://build":                     "build",
		"ssh -p2222 build":                    "build",
		"ssh -V":                              "?",
		"ssh":                                 "?",
		"ssh -J jump@gate ada@inner uname -a": "inner",
	} {
		if got := destination(strings.Fields(line)); got != want {
			t.Errorf("%q leads to %q, want %q", line, got, want)
		}
	}
}

func TestADirectoryIsTakenFromOSC7OnlyWithItsHost(t *testing.T) {
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string][2]string{
		"file:///home/ada":                    {"", "/home/ada"},
		"file://localhost/home/ada":           {"", "/home/ada"},
		"file://" + here + "/home/a%20b":      {"", "/home/a b"},
		"file://" + here + ".example.org/srv": {"", "/srv"},
		"file://elsewhere.example.org/srv":    {"elsewhere.example.org", "/srv"},
		"http://elsewhere.example.org/srv":    {"", ""},
		"file://elsewhere":                    {"", ""},
		"not an address":                      {"", ""},
		"":                                    {"", ""},
	} {
		if host, dir := told(cwd); host != want[0] || dir != want[1] {
			t.Errorf("%q: host %q, directory %q", cwd, host, dir)
		}
	}
}

func TestAUserIsNamedOnlyWhenItIsAnother(t *testing.T) {
	if got := otherUser(os.Getpid()); got != "" {
		t.Errorf("this process is %q's", got)
	}
	if got := otherUser(1 << 30); got != "" {
		t.Errorf("nobody's process is %q's", got)
	}
	if got := effectiveUser("Name:\tsu\nUid:\t1000\t0\t0\t0\nGid:\t1000\t1000\t1000\t1000\n"); got != "0" {
		t.Errorf("effective user %q", got)
	}
	for _, broken := range []string{"", "Uid:\n", "Uid:\t7\n"} {
		if got := effectiveUser(broken); got != "" {
			t.Errorf("%q: %q", broken, got)
		}
	}
}
