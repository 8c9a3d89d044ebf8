package fdmeter

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	text.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", name, text.Bytes())
	}
}

func TestAReportHasNullWhereNothingIsKnown(t *testing.T) {
	tree := newProcTree(t)
	tree.process(100, 1, 100, "server", map[int]string{0: "/dev/pts/1", 1: "socket:[1]", 2: "socket:[2]", 870: "/data/log"})
	tree.modes["fd/870"] = modeRegular
	tree.process(101, 1, 101, "postgres", nil)
	tree.fail["names 101/fd"] = syscall.EACCES
	tree.fail["read 101/limits"] = syscall.EACCES
	tree.fail["read 101/cmdline"] = syscall.EACCES
	tree.fail["read pty/nr"] = syscall.ENOENT
	m := tree.meter()
	at := noon.UTC()
	readings := []Reading{m.ReadTypes(100, at), m.ReadTypes(101, at), m.Read(102, at)}
	for i := range readings {
		readings[i].Started = readings[i].Started.In(time.UTC)
		if readings[i].Birth == 0 {
			readings[i].Started = time.Time{}
		}
	}
	golden(t, "report.json", Report{Processes: readings, System: m.System()})
	golden(t, "report_empty.json", Report{})
}

func TestASampleProcessHasItsHistoryInJSON(t *testing.T) {
	w := newWorld()
	a := w.add(100, 1, upTo(820))
	a.argv = []string{"node", "server.js"}
	s := w.sampler()
	var p Process
	for i := range 120 {
		if i%20 == 0 {
			a.fds = append(a.fds, len(a.fds))
		}
		p, _ = s.Sample(noon.UTC().Add(time.Duration(i)*time.Second), []int{100}).Nearest()
	}
	golden(t, "process.json", p)
}
