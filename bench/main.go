package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// options are the flags of one run.
type options struct {
	runs  int
	quick bool
}

// A part is one section of what a run prints.
type part struct {
	name string
	run  func(options) error
}

// parts are in the order in which they are printed.
var parts = []part{
	{"engine", engines},
	{"memory", memory},
	{"pty", throughPTY},
	{"tail", tails},
	{"window", windows},
	{"calls", calls},
	{"meter", meters},
	{"hook", hooks},
	{"panels", callPanel},
}

// children are what this program is when it measures itself: a process of its
// own for an engine, a meter, a program in a pane.
var children = map[string]func(args []string){
	feedCommand:  feedMain,
	echoCommand:  func([]string) { echoMain() },
	meterCommand: meterMain,
	herdCommand:  herdMain,
}

// asChild does a child's work and reports that it was one.
func asChild() bool {
	if len(os.Args) < 2 || children[os.Args[1]] == nil {
		return false
	}
	children[os.Args[1]](os.Args[2:])
	return true
}

func main() {
	if asChild() {
		return
	}
	var o options
	flag.IntVar(&o.runs, "runs", 30, "runs of each task of tail")
	flag.BoolVar(&o.quick, "quick", false, "shorter and noisier")
	profile := flag.String("cpuprofile", "", "write a profile of this process, in which the panes of pty and tail and the runs of calls run")
	only := flag.String("only", "", "one part: "+partNames())
	flag.Parse()
	if err := profiled(*profile, func() error { return run(*only, o) }); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// profiled runs do and writes a profile of it where a file is named.
func profiled(file string, do func() error) error {
	if file == "" {
		return do()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	err = do()
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}

func run(only string, o options) error {
	if only != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == only }) {
		return fmt.Errorf("-only %s: there is no such part, only %s", only, partNames())
	}
	if o.quick {
		o.runs = min(o.runs, 5)
	}
	fmt.Printf("honestty beside its peers, %d cores, %s, load %s\n", runtime.NumCPU(), runtime.Version(), loadAverage())
	for _, p := range parts {
		if only != "" && p.name != only {
			continue
		}
		if err := p.run(o); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// tails runs tail with the machine idle and with it loaded.
func tails(o options) error {
	haveTmux := install("tmux")
	for _, loaded := range []bool{false, true} {
		if err := tail(o.runs, loaded, haveTmux); err != nil {
			return err
		}
	}
	return nil
}

// install brings a peer onto the machine; false when it cannot be had.
func install(name string) bool {
	if _, err := exec.LookPath(name); err == nil {
		return true
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		fmt.Printf("%s: skipped, it is not here and cannot be installed\n", name)
		return false
	}
	fmt.Printf("installing %s\n", name)
	for _, args := range [][]string{{"update", "-qq"}, {"install", "-y", "-qq", "--no-install-recommends", name}} {
		if out, err := exec.Command("apt-get", args...).CombinedOutput(); err != nil {
			fmt.Printf("%s: skipped, apt-get %s: %v\n%s", name, args[0], err, out)
			return false
		}
	}
	return true
}

// cacheDir is where built and installed peers are kept between runs.
func cacheDir(peer string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "honestty-bench", peer)
	return dir, os.MkdirAll(dir, 0o700)
}

var errNotAtRoot = errors.New("its folder is not here: run from the root of the project")

// peerDir finds the sources of a peer's adapter.
func peerDir(peer string) (string, error) {
	for _, dir := range []string{filepath.Join("bench", "peers", peer), filepath.Join("peers", peer)} {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			return filepath.Abs(dir)
		}
	}
	return "", errNotAtRoot
}

// loadAverage is the load of the last minute in the system's words.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return one
}

// load keeps every core busy until the returned function is called.
func load() (stop func()) {
	var busy []*exec.Cmd
	for range runtime.NumCPU() {
		cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err == nil {
			busy = append(busy, cmd)
		}
	}
	return func() {
		for _, cmd := range busy {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}

// pick is quick's value when o is quick.
func pick[T int | time.Duration](o options, full, quick T) T {
	if o.quick {
		return quick
	}
	return full
}
