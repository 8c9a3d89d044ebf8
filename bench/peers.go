package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// feedDeadline is when a child counts as hung: it is asked for less than two
// seconds of CPU time, which a loaded machine may stretch.
const feedDeadline = 30 * time.Second

// An engine is a program that speaks `feed`.
type engine struct {
	name string
	argv []string
}

// A misfit is why a child gave no figure, in the few words that fit a table.
type misfit struct {
	short string
	cause error
}

func (m *misfit) Error() string { return m.cause.Error() }
func (m *misfit) Unwrap() error { return m.cause }

// feed runs one job. The error is a *misfit.
func (e engine) feed(j feedJob) (feedResult, error) { return e.feedWithin(feedDeadline, j) }

func (e engine) feedWithin(limit time.Duration, j feedJob) (feedResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, e.argv[0], append(e.argv[1:len(e.argv):len(e.argv)], j.args()...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		return feedResult{}, &misfit{fmt.Sprintf("over %.0f s", limit.Seconds()), fmt.Errorf("%s: no end within %v", e.name, limit)}
	}
	if err != nil {
		m := &misfit{"failed", fmt.Errorf("%s: %w: %s", e.name, err, firstLine(errs.String()))}
		if strings.HasPrefix(errs.String(), "panic:") || strings.Contains(errs.String(), "\npanic:") {
			m.short = "panic"
		}
		return feedResult{}, m
	}
	var r feedResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return feedResult{}, &misfit{"failed", fmt.Errorf("%s: read its result: %w", e.name, err)}
	}
	if r.Error != "" {
		return feedResult{}, &misfit{"failed", fmt.Errorf("%s: %s", e.name, r.Error)}
	}
	return r, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// allEngines is findEngines, asked once a run.
var allEngines = sync.OnceValues(findEngines)

// findEngines returns ours first and then every peer that can be had; the
// others are named as skipped.
func findEngines() ([]engine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	list := []engine{{"honestty", []string{self}}}
	for _, peer := range []struct {
		name  string
		build func() ([]string, error)
	}{
		{"x/vt", func() ([]string, error) { return buildPeer("xvt") }},
		{"xterm.js", installXterm},
	} {
		argv, err := peer.build()
		if err != nil {
			fmt.Printf("%s: skipped: %v\n", peer.name, err)
			continue
		}
		list = append(list, engine{peer.name, argv})
	}
	return list, nil
}

// buildPeer builds the module of a peer, whose go.mod pins the version.
func buildPeer(name string) ([]string, error) {
	src, err := peerDir(name)
	if err != nil {
		return nil, err
	}
	dir, err := cacheDir(name)
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Dir, cmd.Env = src, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, firstLine(string(out)))
	}
	return []string{bin}, nil
}

// installXterm copies peers/xterm, whose package.json pins the version, to the
// cache and lets npm fetch the package there.
func installXterm() ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("node is not here")
	}
	src, err := peerDir("xterm")
	if err != nil {
		return nil, err
	}
	dir, err := cacheDir("xterm")
	if err != nil {
		return nil, err
	}
	fresh, err := copyAll(dir, src, "package.json", "feed.mjs")
	if err != nil {
		return nil, err
	}
	argv := []string{node, "--expose-gc", filepath.Join(dir, "feed.mjs")}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@xterm", "headless")); err == nil && fresh {
		return argv, nil
	}
	cmd := exec.Command("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm install: %w: %s", err, firstLine(string(out)))
	}
	return argv, nil
}

// copyAll copies files to dir; same reports that they were there already.
func copyAll(dir, src string, names ...string) (same bool, err error) {
	same = true
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return false, err
		}
		to := filepath.Join(dir, name)
		if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, want) {
			continue
		}
		same = false
		if err := os.WriteFile(to, want, 0o600); err != nil {
			return false, err
		}
	}
	return same, nil
}
