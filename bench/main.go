package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

func main() {
	runs := flag.Int("runs", 30, "runs of each task")
	flag.Parse()
	if err := run(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(runs int) error {
	fmt.Printf("honestty beside its peers, %d cores, %s\n", runtime.NumCPU(), runtime.Version())
	haveTmux := install("tmux")
	for _, loaded := range []bool{false, true} {
		if err := tail(runs, loaded, haveTmux); err != nil {
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
