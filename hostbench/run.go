package hostbench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// hosts are all that can be measured, ours first.
func hosts() []host {
	return []host{window{}, ownRun{}, tmux{}, screen{}, script{}, expect{}, mprocs{}}
}

// Hosts are the names that Config.Hosts may hold.
func Hosts() []string {
	var names []string
	for _, h := range hosts() {
		if h.program() != "" || h.name() == ours {
			names = append(names, h.name())
		}
	}
	return names
}

// ours is the name that stands for all hosts of this program.
const ours = "honestty"

// ErrHost matches the error of a name that is no host.
var ErrHost = errors.New("not a host that can be measured")

func chosen(names []string) ([]host, error) {
	if len(names) == 0 {
		return hosts(), nil
	}
	var out []host
	for _, name := range names {
		n := len(out)
		for _, h := range hosts() {
			if h.name() == name || name == ours && h.program() == "" {
				out = append(out, h)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("%q: %w; they are %s", name, ErrHost, strings.Join(Hosts(), ", "))
		}
	}
	return out, nil
}

// A Report is what was measured. It is a table: a row for each measure, a
// column for each host.
type Report struct {
	Hosts    []HostInfo `json:"hosts"`
	Measures []Row      `json:"measures"`
	Runs     int        `json:"runs"` // of each tail
}

// A HostInfo is one column.
type HostInfo struct {
	Name      string `json:"name"`
	Installed bool   `json:"installed"`
	Version   string `json:"version"` // empty: it tells none
}

// A Row is one measure.
type Row struct {
	Name  string `json:"name"`
	Asks  string `json:"asks"`
	Cells []Cell `json:"cells"` // in the order of the hosts
}

// Run measures the hosts, one after the other. The error is that of a wrong
// name, of our own folders, or of ctx; what a host does wrong is in the report,
// which holds what was measured so far in any case.
func Run(ctx context.Context, c Config) (r *Report, err error) {
	c = c.filled()
	r = &Report{Runs: c.Runs, Hosts: []HostInfo{}, Measures: []Row{}}
	list, err := chosen(c.Hosts)
	if err != nil {
		return r, err
	}
	b, err := newBed(c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, m := range measures(c) {
		r.Measures = append(r.Measures, Row{Name: m.name, Asks: m.asks, Cells: make([]Cell, len(list))})
	}
	for i, h := range list {
		r.Hosts = append(r.Hosts, b.look(ctx, h))
		for j, m := range measures(c) {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			if !r.Hosts[i].Installed {
				r.Measures[j].Cells[i] = Cell{State: StateNotInstalled}
				continue
			}
			if c.Progress != nil {
				c.Progress(h.name(), m.name)
			}
			cell, err := m.judge(ctx, b, h)
			if err != nil {
				cell = Cell{State: StateNotMeasured, Says: strings.ReplaceAll(err.Error(), "\n", "; ")}
			}
			r.Measures[j].Cells[i] = cell
		}
	}
	return r, ctx.Err()
}

// look finds out whether a host is there, and its version.
func (b *bed) look(ctx context.Context, h host) HostInfo {
	info := HostInfo{Name: h.name()}
	if p := h.program(); p != "" {
		if _, err := exec.LookPath(p); err != nil {
			return info
		}
	}
	info.Installed = true
	ctx, cancel := context.WithTimeout(ctx, b.conf.Patience)
	defer cancel()
	info.Version, _ = h.version(ctx, b) // a host that does not tell is measured all the same
	return info
}

// ErrNotInstalled matches the error of a host that is not on this machine.
var ErrNotInstalled = errors.New("is not installed")

// one runs do on one host, in a private world of its own.
func one(ctx context.Context, c Config, name string, do func(b *bed, h host) error) (info HostInfo, err error) {
	c = c.filled()
	list, err := chosen([]string{name})
	if err != nil {
		return info, err
	}
	b, err := newBed(c)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if info = b.look(ctx, list[0]); !info.Installed {
		return info, fmt.Errorf("%s %w", name, ErrNotInstalled)
	}
	return info, do(b, list[0])
}

// A Tail is what a host kept of one quick command.
type Tail struct {
	Lines int
	Says  string // in the host's own words
}

// TailsOf lets one host run `seq 1 last` c.Runs times.
func TailsOf(ctx context.Context, c Config, name string, last int) (info HostInfo, tails []Tail, err error) {
	info, err = one(ctx, c, name, func(b *bed, h host) error {
		for range b.conf.Runs {
			k, err := give(ctx, b, h, Task{Command: seq(last), History: last + 1000}, b.conf.Patience)
			if err != nil {
				return err
			}
			tails = append(tails, Tail{Numbers(k.Text, last), said(k)})
		}
		return nil
	})
	return info, tails, err
}

// HostileTo gives one host bytes that ask for too much.
func HostileTo(ctx context.Context, c Config, name string) (info HostInfo, cell Cell, err error) {
	info, err = one(ctx, c, name, func(b *bed, h host) (err error) {
		cell, err = hostile(ctx, b, h)
		return err
	})
	return info, cell, err
}
