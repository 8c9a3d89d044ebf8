package jobhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/honestty/honestty/ctl"
	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
	"github.com/honestty/honestty/tools/process"
)

// patience bounds a wait so that a failure shows.
const patience = 20 * time.Second

// shortDir is a folder whose socket paths fit (104 bytes on macOS).
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

type rig struct {
	t     *testing.T
	env   ctl.Env
	state string
	ended chan error
	stop  context.CancelFunc
	table *process.Table
}

func envIn(dir string) ctl.Env {
	return ctl.Env{Version: "test", Getenv: func(k string) string {
		if k == "XDG_RUNTIME_DIR" {
			return dir
		}
		return ""
	}}
}

func serve(t *testing.T, idle time.Duration) *rig {
	t.Helper()
	before := leak.Take(t)
	t.Cleanup(func() { before.Check(t) })
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, env: envIn(dir), state: t.TempDir(), ended: make(chan error, 1)}
	r.table, err = process.Open(process.Options{Dir: r.state, Poller: p, Version: "test", KillGrace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		r.ended <- Serve(ctx, Config{Env: r.env, Table: r.table, Tool: process.Tool(r.table), Idle: idle})
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended
		if err := errors.Join(r.table.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) client() *Client {
	r.t.Helper()
	c, err := Connect(r.t.Context(), r.env, func() error { return nil })
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (r *rig) run(c *Client, params string) (tools.Answer, map[string]any) {
	r.t.Helper()
	a := c.Run(r.t.Context(), &tools.Call{Dir: r.state, Env: []string{"PATH=" + os.Getenv("PATH"), "WHO=caller"}}, json.RawMessage(params))
	raw, err := json.Marshal(a.Result)
	if err != nil {
		r.t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(raw, &m); err != nil {
		r.t.Fatal(err)
	}
	return a, m
}

// all reads a job's output to its end.
func all(t *testing.T, c *Client, id string) string {
	t.Helper()
	var out bytes.Buffer
	for from := int64(0); ; {
		chunk, err := c.Read(t.Context(), id, from, patience)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(chunk.Data)
		from = chunk.From + int64(len(chunk.Data))
		if chunk.End {
			return out.String()
		}
	}
}

func TestAJobRunsWithTheCallersDirectoryAndEnvironment(t *testing.T) {
	r := serve(t, time.Hour)
	c := r.client()
	a, m := r.run(c, `{"action":"start","command":"pwd; echo $WHO; seq 1 50000"}`)
	if a.Status != outcome.Complete {
		t.Fatalf("%+v", a)
	}
	out := all(t, c, m["session_id"].(string))
	dir, err := filepath.EvalSymlinks(r.state)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, dir+"\ncaller\n1\n2\n") || !strings.HasSuffix(out, "\n49999\n50000\n") {
		t.Errorf("%d bytes: %.80q", len(out), out)
	}
	jobs, err := c.List(t.Context())
	if err != nil || len(jobs) != 1 || jobs[0].ID != m["session_id"] || jobs[0].Read != int64(len(out)) {
		t.Errorf("%+v, %v", jobs, err)
	}
}

func TestInputReachesAJobAndItsEndIsTold(t *testing.T) {
	r := serve(t, time.Hour)
	c := r.client()
	_, m := r.run(c, `{"action":"start","command":"stty size; read x; echo got $x; exit 3","pty":true,"cols":70,"rows":20}`)
	id := m["session_id"].(string)
	if cols, rows, err := c.Resize(t.Context(), id, 90, 30); cols != 90 || rows != 30 || err != nil {
		t.Fatal(cols, rows, err)
	}
	if n, err := c.Write(t.Context(), id, []byte("hello\r")); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	if out := all(t, c, id); !strings.Contains(out, "got hello") {
		t.Errorf("%q", out)
	}
	jobs, err := c.List(t.Context())
	if err != nil || jobs[0].State != "exited" || jobs[0].ExitCode == nil || *jobs[0].ExitCode != 3 {
		t.Errorf("%+v, %v", jobs, err)
	}
	if _, err := c.Write(t.Context(), id, []byte("x")); err == nil {
		t.Error("an ended job took input")
	}
	if _, err := c.Read(t.Context(), "proc_nothere", 0, 0); err == nil {
		t.Error("a job that is not there was read")
	}
}

func TestOneHostServesAUser(t *testing.T) {
	r := serve(t, time.Hour)
	c := r.client()
	err := Serve(t.Context(), Config{Env: r.env, Table: r.table, Tool: process.Tool(r.table)})
	if !errors.Is(err, ErrRunning) {
		t.Errorf("a second host: %v", err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = <-r.ended
	r.ended <- err
	if err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := Dial(r.env); !errors.Is(err, ErrNoHost) {
		t.Errorf("after its end: %v", err)
	}
}

func TestAnIdleHostEndsAndABusyOneStays(t *testing.T) {
	r := serve(t, 50*time.Millisecond)
	c := r.client()
	_, m := r.run(c, `{"action":"start","command":"read x"}`)
	id := m["session_id"].(string)
	for range 20 { // many idle times, in which the job runs
		if _, err := c.Read(t.Context(), id, 0, 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.List(t.Context()); err != nil {
		t.Fatalf("the host ended beside a running job: %v", err)
	}
	if a, _ := r.run(c, `{"action":"kill","session_id":"`+id+`"}`); a.Status != outcome.Complete {
		t.Errorf("%+v", a)
	}
	_ = c.Close()
	err := <-r.ended
	r.ended <- err
	if err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestConnectStartsOneHostForManyWhoAsk(t *testing.T) {
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := envIn(dir)
	p, err := fdwait.New()
	if err != nil {
		t.Fatal(err)
	}
	table, err := process.Open(process.Options{Dir: t.TempDir(), Poller: p})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var hosts, clients sync.WaitGroup
	var mu sync.Mutex
	stayed := 0
	start := func() error {
		hosts.Go(func() {
			if err := Serve(ctx, Config{Env: env, Table: table, Tool: process.Tool(table)}); err == nil {
				mu.Lock()
				stayed++
				mu.Unlock()
			} else if !errors.Is(err, ErrRunning) {
				t.Error(err)
			}
		})
		return nil
	}
	for range 8 {
		clients.Go(func() {
			c, err := Connect(ctx, env, start)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := c.List(ctx); err != nil {
				t.Error(err)
			}
			_ = c.Close()
		})
	}
	clients.Wait()
	cancel()
	hosts.Wait()
	if stayed != 1 {
		t.Errorf("%d hosts stayed", stayed)
	}
	if err := errors.Join(table.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}

func TestAHostThatCannotBeStartedIsTold(t *testing.T) {
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Connect(t.Context(), envIn(dir), func() error { return os.ErrPermission })
	if err == nil || !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v", err)
	}
	asks := Tool(func(context.Context) (*Client, error) { return nil, ErrNoHost }, Gates{
		Check: func(string) (string, error) { return "recursive delete", nil },
	})
	call := &tools.Call{Ask: func(context.Context, tools.Question) error { return tools.ErrNobodyToAsk }}
	if a := asks.Run(t.Context(), call, json.RawMessage(`{"action":"start","command":"rm -r x"}`)); a.Status != outcome.Refused {
		t.Errorf("%+v", a)
	}
	if a := asks.Run(t.Context(), call, json.RawMessage(`{"action":"list"}`)); a.Status != outcome.Failed || !errors.Is(a.Err, ErrNoHost) {
		t.Errorf("%+v", a)
	}
}

func TestADirectoryThatARuleRefusesStartsNothing(t *testing.T) {
	reached := false
	starts := Tool(func(context.Context) (*Client, error) { reached = true; return nil, ErrNoHost }, Gates{
		Dir: func(workdir, dir string) (string, error) {
			if workdir != "below" || dir != "/here" {
				t.Errorf("it judges %q from %q", workdir, dir)
			}
			return "", &outcome.RefusedError{Rule: "a place of secrets"}
		},
	})
	a := starts.Run(t.Context(), &tools.Call{Dir: "/here"}, json.RawMessage(`{"action":"start","command":"true","workdir":"below"}`))
	if a.Status != outcome.Refused || reached || strings.Contains(a.Summary, "below") {
		t.Errorf("reached %v: %+v", reached, a)
	}
}

func TestAHostWaitsForTheOneBeforeItToWriteItsRecords(t *testing.T) {
	env, dir := envIn(shortDir(t)), t.TempDir()
	first, err := Begin(t.Context(), env, dir) // it ends: its socket is gone
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan error, 1)
	go func() {
		second, err := Begin(t.Context(), env, dir)
		if err == nil {
			err = second.Close()
		}
		began <- err
	}()
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if err := AwaitEnd(cut, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("while it lives: %v", err)
	}
	select {
	case err := <-began:
		t.Fatalf("the second did not wait: %v", err)
	default:
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-began; err != nil {
		t.Error(err)
	}
	if err := AwaitEnd(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func TestAHostBesideOneThatServesIsRefused(t *testing.T) {
	r, dir := serve(t, time.Hour), t.TempDir()
	life, err := Begin(t.Context(), r.env, dir) // the serving one's
	if err != nil {
		t.Fatal(err)
	}
	defer life.Close()
	if _, err := Begin(t.Context(), r.env, dir); !errors.Is(err, ErrRunning) {
		t.Errorf("%v", err)
	}
}
