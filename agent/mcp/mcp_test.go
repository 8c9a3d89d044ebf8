package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/outcome"
	"github.com/honestty/honestty/tools"
)

// patience bounds a wait so that a failure shows.
const patience = 20 * time.Second

type jobParams struct {
	Text string `json:"text" jsonschema:"what to say"`
	Size int    `json:"size,omitempty"`
}

type jobResult struct {
	Text   string          `json:"text"`
	Status outcome.Status  `json:"status"`
	Error  *string         `json:"error"`
	Parts  []string        `json:"parts"`
	Raw    json.RawMessage `json:"raw"`
}

// testTools are a tool for each way that a call can go. release lets those that
// wait go on.
func testTools(release <-chan struct{}) []tools.Tool {
	tool := func(name string, run func(ctx context.Context, c *tools.Call, p jobParams) tools.Answer) tools.Tool {
		return tools.Tool{
			Name: name, Short: name, Params: jobParams{}, Result: jobResult{},
			Run: func(ctx context.Context, c *tools.Call, raw json.RawMessage) tools.Answer {
				var p jobParams
				if err := json.Unmarshal(raw, &p); err != nil {
					return tools.Refuse("the parameters cannot be read")
				}
				return run(ctx, c, p)
			},
		}
	}
	answer := func(s outcome.Status, p jobParams, err error) tools.Answer {
		r := jobResult{Text: p.Text, Status: s, Raw: json.RawMessage(`{"a":1}`)}
		if err != nil {
			text := err.Error()
			r.Error = &text
		}
		return tools.Answer{Status: s, Err: err, Result: r}
	}
	return []tools.Tool{
		tool("works", func(_ context.Context, _ *tools.Call, p jobParams) tools.Answer {
			p.Text += strings.Repeat("x", p.Size)
			return answer(outcome.Complete, p, nil)
		}),
		tool("fails", func(_ context.Context, _ *tools.Call, p jobParams) tools.Answer {
			return answer(outcome.Failed, p, errors.New("on purpose"))
		}),
		tool("partial", func(_ context.Context, _ *tools.Call, p jobParams) tools.Answer {
			return answer(outcome.Partial, p, errors.New("1 of 2"))
		}),
		tool("asks", func(ctx context.Context, c *tools.Call, p jobParams) tools.Answer {
			err := c.Ask(ctx, tools.Question{Rule: "rule", Detail: "detail"})
			return answer(outcome.Refused, p, err)
		}),
		tool("waits", func(ctx context.Context, _ *tools.Call, p jobParams) tools.Answer {
			select {
			case <-release:
				return answer(outcome.Complete, p, nil)
			case <-ctx.Done():
				return answer(outcome.Cancelled, p, errors.New("interrupted"))
			}
		}),
		tool("counts", func(_ context.Context, c *tools.Call, p jobParams) tools.Answer {
			for i := range int64(5) {
				c.Report(i+1, 5, "steps")
			}
			return answer(outcome.Complete, p, nil)
		}),
		tool("panics", func(context.Context, *tools.Call, jobParams) tools.Answer { panic("on purpose") }),
	}
}

// A rig is a server and the two ends of its pipes.
type rig struct {
	t       *testing.T
	in      *io.PipeWriter
	out     *bufio.Reader
	outPipe *io.PipeReader
	served  chan error
	release chan struct{}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	before := leak.Take(t)
	t.Cleanup(func() { before.Check(t) })
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &rig{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), outPipe: outR, served: make(chan error, 1), release: make(chan struct{})}
	go func() {
		err := Serve(context.Background(), Config{
			Version: "test", Tools: testTools(r.release), Caller: &tools.Caller{}, Dir: "/",
			Displayed: func() bool { return false }, Stdin: inR, Stdout: outW,
		})
		_ = outW.Close()
		r.served <- err
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
		<-r.served
	})
	return r
}

func (r *rig) send(lines ...string) {
	r.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(r.in, l+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) read() map[string]any {
	r.t.Helper()
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		r.t.Fatalf("read an answer: %v", err)
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		r.t.Fatal(err)
	}
	return m
}

func hello(version string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"Test Agent","version":"1"}}}`
}

const ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func call(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// client connects the SDK's own client.
func client(t *testing.T, on func(context.Context, *sdk.ProgressNotificationClientRequest)) (*sdk.ClientSession, *rig) {
	t.Helper()
	r := newRig(t)
	c := sdk.NewClient(&sdk.Implementation{Name: "Test Agent", Version: "1"}, &sdk.ClientOptions{ProgressNotificationHandler: on})
	s, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: r.outPipe, Writer: r.in, MaxLineLength: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, r
}

func structured(t *testing.T, res *sdk.CallToolResult) map[string]any {
	t.Helper()
	m, ok := res.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("structured content is %T", res.StructuredContent)
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok || !json.Valid([]byte(text.Text)) {
		t.Fatalf("content %+v", res.Content)
	}
	return m
}

func TestEveryEndKeepsItsStructure(t *testing.T) {
	s, _ := client(t, nil)
	for tool, want := range map[string]string{"works": "complete", "fails": "failed", "partial": "partial", "asks": "refused", "panics": "failed"} {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"text": "hello"}})
		if err != nil {
			t.Fatal(tool, err)
		}
		m := structured(t, res)
		if m["status"] != want || res.IsError != (want != "complete") || m["displayed"] != false || m["call"] == "" {
			t.Errorf("%s: isError %v, %v", tool, res.IsError, m)
		}
		if (m["error"] == nil) != (want == "complete") {
			t.Errorf("%s: error %v", tool, m["error"])
		}
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"}); err == nil {
		t.Error("a tool that is not there answered")
	}
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "works", Arguments: map[string]any{"text": 7}})
	if err != nil || !res.IsError {
		t.Errorf("parameters of a wrong type: %+v, %v", res, err)
	}
}

func TestToolsDescribeWhatTheyTakeAndGive(t *testing.T) {
	s, _ := client(t, nil)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 7 {
		t.Fatalf("%v, %v", list, err)
	}
	raw, err := json.Marshal(list.Tools[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), ":true,") {
		t.Errorf("a property without a schema, which clients refuse: %s", raw)
	}
	for _, want := range []string{`"what to say"`, `"status":{"type":"string"}`, `"raw":{"description":`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
}

func TestACancelledCallSaysSo(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	r.send(call(1, "waits", `{"text":"x"}`), call(2, "works", `{"text":"y"}`))
	if m := r.read(); m["id"] != float64(2) {
		t.Fatalf("%v", m) // the first one waits and holds nobody up
	}
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"changed my mind"}}`)
	m := r.read()
	if raw, _ := json.Marshal(m); m["id"] != float64(1) || !strings.Contains(string(raw), "cancelled") {
		t.Errorf("%s", raw)
	}
}

func TestProgressComesInOrderAndBeforeTheResult(t *testing.T) {
	var mu sync.Mutex
	var seen []float64
	s, _ := client(t, func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		mu.Lock()
		seen = append(seen, r.Params.Progress)
		mu.Unlock()
	})
	p := &sdk.CallToolParams{Name: "counts", Arguments: map[string]any{"text": "x"}}
	p.SetProgressToken("token")
	if _, err := s.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) < 2 || seen[0] != 1 || seen[len(seen)-1] != 5 {
		t.Errorf("%v", seen)
	}
}

func TestFiftyCallsAtOnceAreAllAnswered(t *testing.T) {
	s, _ := client(t, nil)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			text := fmt.Sprint("call ", i)
			res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "works", Arguments: map[string]any{"text": text, "size": i * 100}})
			if err != nil || !strings.HasPrefix(fmt.Sprint(res.StructuredContent.(map[string]any)["text"]), text) {
				t.Error(i, err)
			}
		})
	}
	wg.Wait()
}

// TestCallsInFlightAreAnsweredWhenTheInputEnds closes the input while 20 calls
// run, and lets them go on only then.
func TestCallsInFlightAreAnsweredWhenTheInputEnds(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	for i := range 20 {
		r.send(call(i+1, "waits", `{"text":"x"}`))
	}
	if err := r.in.Close(); err != nil {
		t.Fatal(err)
	}
	close(r.release)
	got := map[float64]bool{}
	for len(got) < 20 {
		m := r.read()
		if m["result"] == nil {
			t.Fatalf("%v", m)
		}
		got[m["id"].(float64)] = true
	}
	if _, err := r.out.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v", err)
	}
	err := <-r.served
	r.served <- err
	if err != nil {
		t.Errorf("served: %v", err)
	}
}

func TestALargeResultArrivesWhole(t *testing.T) {
	const size = 11 << 20
	s, _ := client(t, nil)
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "works", Arguments: map[string]any{"text": "", "size": size}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(structured(t, res)["text"].(string)); n != size {
		t.Errorf("%d bytes", n)
	}
}

func TestOldAndNewProtocolsAreSpoken(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18"} {
		r := newRig(t)
		r.send(hello(version), ready, call(1, "works", `{"text":"x"}`))
		if m := r.read(); m["result"].(map[string]any)["protocolVersion"] != version {
			t.Errorf("%s: %v", version, m)
		}
		if m := r.read(); m["id"] != float64(1) || m["result"] == nil {
			t.Errorf("%s: %v", version, m)
		}
	}
}

func TestAClientThatStopsReadingEndsNothingElse(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	for i := range 5 { // their answers have nobody to read them
		r.send(call(i+1, "works", `{"text":"x","size":100000}`))
	}
	_ = r.outPipe.CloseWithError(io.ErrClosedPipe)
	_ = r.in.Close()
	select {
	case err := <-r.served:
		r.served <- err
	case <-time.After(patience):
		t.Fatal("the server hangs on a client that has gone")
	}
}

func TestSnippetsNameTheProgramAndFitTheVersion(t *testing.T) {
	for _, client := range Clients() {
		s, err := SnippetFor(client, "", `/opt/my tools/honestty`)
		if err != nil || !strings.Contains(s.Text, `"/opt/my tools/honestty"`) || s.Where == "" {
			t.Errorf("%s: %+v, %v", client, s, err)
		}
		if s.Text[0] == '{' && !json.Valid([]byte(s.Text)) {
			t.Errorf("%s: %s is no JSON", client, s.Text)
		}
	}
	old, err := SnippetFor("opencode", "opencode 1.4.2", "honestty")
	if err != nil || !strings.Contains(old.Text, `"enabled":true`) {
		t.Errorf("%+v, %v", old, err)
	}
	if fresh, _ := SnippetFor("opencode", "v2.0.1", "honestty"); !strings.Contains(fresh.Text, `"servers"`) {
		t.Errorf("%+v", fresh)
	}
	if _, err := SnippetFor("emacs", "", "honestty"); err == nil || !strings.Contains(err.Error(), "claude-code") {
		t.Errorf("%v", err)
	}
}

func TestNamesOfClientsAreSafeToShow(t *testing.T) {
	if got := agentName("  Claude\x1b[2J Code\n" + strings.Repeat("x", 100)); strings.ContainsAny(got, "\x1b\n") || len(got) > 40 || !strings.HasPrefix(got, "claude[2j-code") {
		t.Errorf("%q", got)
	}
}
