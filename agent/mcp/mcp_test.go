package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/journal"
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
	end     context.CancelFunc // as a signal does
	log     *agents
}

// agents are the names of those that called.
type agents struct {
	mu   sync.Mutex
	seen []string
}

func (a *agents) Begin(s journal.Start) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, s.Source.Agent)
}
func (*agents) Progress(journal.Progress) {}
func (*agents) End(journal.End)           {}

func newRig(t *testing.T) *rig {
	t.Helper()
	before := leak.Take(t)
	t.Cleanup(func() { before.Check(t) })
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, end := context.WithCancel(context.Background())
	r := &rig{end: end, log: &agents{}, t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), outPipe: outR, served: make(chan error, 1), release: make(chan struct{})}
	go func() {
		err := Serve(ctx, Config{
			Version: "test", Tools: testTools(r.release), Caller: &tools.Caller{Log: r.log}, Dir: "/",
			Displayed: func() bool { return false }, Stdin: inR, Stdout: outW,
		})
		_ = outW.Close()
		r.served <- err
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_ = outR.Close()
		<-r.served
		end()
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
func client(t *testing.T) *sdk.ClientSession {
	t.Helper()
	r := newRig(t)
	c := sdk.NewClient(&sdk.Implementation{Name: "Test Agent", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: r.outPipe, Writer: r.in, MaxLineLength: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
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
	s := client(t)
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
	s := client(t)
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

// TestProgressComesInOrderAndBeforeTheResult reads what is on the wire: a client
// of the SDK handles notifications beside the results.
func TestProgressComesInOrderAndBeforeTheResult(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"counts","arguments":{"text":"x"},"_meta":{"progressToken":"token"}}}`)
	var seen []float64
	for {
		m := r.read()
		if m["id"] == float64(1) {
			break
		}
		p, ok := m["params"].(map[string]any)
		if m["method"] != "notifications/progress" || !ok || p["progressToken"] != "token" {
			t.Fatalf("%v", m)
		}
		seen = append(seen, p["progress"].(float64))
	}
	if len(seen) < 2 || seen[0] != 1 || seen[len(seen)-1] != 5 || !slices.IsSorted(seen) {
		t.Errorf("%v", seen)
	}
}

func TestFiftyCallsAtOnceAreAllAnswered(t *testing.T) {
	s := client(t)
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
	s := client(t)
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "works", Arguments: map[string]any{"text": "", "size": size}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(structured(t, res)["text"].(string)); n != size {
		t.Errorf("%d bytes", n)
	}
}

func TestOldAndNewProtocolsAreSpoken(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		r := newRig(t)
		r.send(hello(version), ready, call(1, "works", `{"text":"x"}`))
		if m := r.read(); m["result"].(map[string]any)["protocolVersion"] != version {
			t.Errorf("%s: %v", version, m)
		}
		if m := r.read(); m["id"] != float64(1) || m["result"] == nil {
			t.Errorf("%s: %v", version, m)
		}
		if len(r.log.seen) != 1 || r.log.seen[0] != "test-agent" {
			t.Errorf("%s: the call is of %q", version, r.log.seen)
		}
	}
	// From 2026-07-28 on there is no first request: each says who asks.
	r := newRig(t)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"works","arguments":{"text":"x"},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"New Agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if m := r.read(); m["result"] == nil || len(r.log.seen) != 1 || r.log.seen[0] != "new-agent" {
		t.Errorf("%v, the call is of %q", m, r.log.seen)
	}
}

func TestListsOfMessagesAreAnsweredWhereTheVersionHasThem(t *testing.T) {
	list := "[" + call(1, "works", `{"text":"a"}`) + "," + call(2, "works", `{"text":"b"}`) + "]"
	r := newRig(t)
	r.send(hello("2025-03-26"), ready)
	r.read()
	r.send(list)
	line, err := r.out.ReadBytes('\n')
	var answers []map[string]any
	if err != nil || json.Unmarshal(line, &answers) != nil || len(answers) != 2 || answers[0]["result"] == nil {
		t.Errorf("%s, %v", line, err)
	}
	r = newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	r.send(list)
	if m := r.read(); m["error"] == nil {
		t.Errorf("%v", m)
	}
	r.send(call(3, "works", `{"text":"c"}`))
	if m := r.read(); m["id"] != float64(3) || m["result"] == nil {
		t.Errorf("the next: %v", m)
	}
}

// TestLinesThatAreNoMessagesEndNothing has a call that runs all the while.
func TestLinesThatAreNoMessagesEndNothing(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	r.send(call(1, "waits", `{"text":"x"}`))
	for line, code := range map[string]float64{
		"hello": -32700, `{"jsonrpc":"2.0",`: -32700, "{}{}": -32700, "\xff\x00": -32700,
		"{}": -32600, "7": -32600, "[]": -32600, `"x"`: -32600, "null": -32600, `{"jsonrpc":"1.0","id":4,"method":"ping"}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600, strings.Repeat("x", maxLine+1): -32600,
		call(1, "works", `{"text":"an id that is taken"}`): -32600,
	} {
		r.send("", line)
		m := r.read()
		if fail, ok := m["error"].(map[string]any); !ok || fail["code"] != code || fail["message"] == "" || m["id"] != nil {
			t.Errorf("%.40q: %v, want the code %v", line, m, code)
		}
	}
	_ = r.in.Close()
	close(r.release)
	if m := r.read(); m["id"] != float64(1) || m["result"] == nil {
		t.Errorf("the call that ran: %v", m)
	}
	if _, err := r.out.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v", err)
	}
}

func TestAServerThatIsToldToEndCancelsItsCallsAndAnswersThem(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	r.send(call(1, "waits", `{"text":"x"}`), call(2, "works", `{"text":"y"}`))
	r.read() // the second: so both were read
	r.end()
	m := r.read()
	if res, ok := m["result"].(map[string]any); !ok || res["structuredContent"].(map[string]any)["status"] != "cancelled" {
		t.Errorf("%v", m)
	}
	if _, err := r.out.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v", err)
	}
}

func TestAClientThatNeverReadsDoesNotHoldAServerThatIsToldToEnd(t *testing.T) {
	r := newRig(t)
	r.send(hello("2025-06-18"), ready)
	r.read()
	for i := range 5 {
		r.send(call(i+1, "works", `{"text":"x","size":100000}`))
	}
	_ = r.in.Close()
	r.end()
	select {
	case err := <-r.served:
		r.served <- err
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the server hangs on a client that does not read")
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
