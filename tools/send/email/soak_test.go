package email

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

// TestMailpitHoldsWhatWasSent sends to mailpit, where it is installed, and
// compares what it holds; then it lets mailpit refuse.
func TestMailpitHoldsWhatWasSent(t *testing.T) {
	if !sendtest.Soak() {
		t.Skip("HONESTTY_SOAK is not set")
	}
	program, err := exec.LookPath("mailpit")
	if err != nil {
		t.Skip("mailpit is not installed")
	}
	smtpAddr, api := freeAddress(t), freeAddress(t)
	cmd := exec.Command(program, "--smtp", smtpAddr, "--listen", api, "--quiet", "--enable-chaos", "--database", t.TempDir()+"/mail.db")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	await(t, smtpAddr)
	await(t, api)
	host, port, _ := net.SplitHostPort(smtpAddr)
	p, err := New(Config{Host: host, Port: atoi(t, port), Policy: Plain, From: me, Bytes: 200 << 20})
	if err != nil {
		t.Fatal(err)
	}
	m := letterOf(t, you)
	m.Items = append(m.Items, sendtest.Bytes(t, "日本語 \"x\".bin", sendtest.Random(20<<20)))
	if d := p.Send(t.Context(), m); statuses(d) != "sent sent sent sent" {
		t.Fatalf("%+v", d)
	}
	var list struct{ Messages []struct{ ID string } }
	get(t, api, "/api/v1/messages", &list)
	if len(list.Messages) != 1 {
		t.Fatalf("mailpit holds %d mails", len(list.Messages))
	}
	id := list.Messages[0].ID
	var held struct {
		Text        string
		Attachments []struct{ PartID, FileName string }
	}
	get(t, api, "/api/v1/message/"+id, &held)
	if strings.TrimSpace(held.Text) != m.Texts[0] || len(held.Attachments) != len(m.Items) {
		t.Fatalf("mailpit holds %q and %d attachments", held.Text, len(held.Attachments))
	}
	for i, a := range held.Attachments {
		sum := sha256.Sum256(fetch(t, api, "/api/v1/message/"+id+"/part/"+a.PartID))
		if hex.EncodeToString(sum[:]) != m.Items[i].SHA256 || a.FileName != m.Items[i].Name {
			t.Errorf("%s came back as %s with other content", m.Items[i].Name, a.FileName)
		}
	}
	for _, trouble := range []string{"Sender", "Recipient"} {
		chaos(t, api, fmt.Sprintf(`{"%s":{"ErrorCode":451,"Probability":100}}`, trouble))
		d := p.Send(t.Context(), letterOf(t, you))
		if statuses(d) != "rejected rejected rejected" || !strings.Contains(d.Items[0].Reason, "451") {
			t.Errorf("%s: %+v", trouble, d)
		}
	}
	chaos(t, api, `{}`)
	if d := p.Send(t.Context(), send.Message{Target: m.Target, Texts: []string{"again"}}); statuses(d) != "sent" {
		t.Errorf("after the chaos: %+v", d)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// await waits until something listens.
func await(t *testing.T, addr string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		nc, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			nc.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("nothing listens: %v", err)
		}
	}
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func fetch(t *testing.T, api, path string) []byte {
	t.Helper()
	res, err := http.Get("http://" + api + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return b
}

func get(t *testing.T, api, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(fetch(t, api, path), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func chaos(t *testing.T, api, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, "http://"+api+"/api/v1/chaos", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		t.Fatalf("chaos: %d %s", res.StatusCode, b)
	}
}
