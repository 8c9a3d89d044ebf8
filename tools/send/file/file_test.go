package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/honestty/honestty/internal/leak"
	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
	"golang.org/x/sys/unix"
)

// writeForever makes the test binary send messages to the outbox it names
// until it is killed.
const writeForever = "HONESTTY_TEST_OUTBOX"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writeForever); dir != "" {
		os.Exit(flood(dir))
	}
	os.Exit(m.Run())
}

// flood sends message after message and says so on stdout after each.
func flood(dir string) int {
	o, err := New(dir)
	if err != nil {
		return 1
	}
	for i := 0; ; i++ {
		d := o.Send(context.Background(), message(i))
		if d.Texts[0].Status != send.Sent {
			return 1
		}
		fmt.Println(i)
	}
}

// An inbox reads an outbox as whoever empties it would: whole messages only.
type inbox struct {
	dir string
	t   testing.TB
}

func (b *inbox) messages() []Record {
	b.t.Helper()
	var out []Record
	entries, err := os.ReadDir(b.dir)
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // being written, or left by a process that died
		}
		out = append(out, b.read(filepath.Join(b.dir, e.Name())))
	}
	return out
}

// read fails the test when the folder of a message is not whole.
func (b *inbox) read(dir string) Record {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, Manifest))
	if err != nil {
		b.t.Fatal(err)
	}
	var rec Record
	if err := json.Unmarshal(raw, &rec); err != nil {
		b.t.Errorf("%s: %v", dir, err)
	}
	for _, f := range rec.Files {
		file, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil {
			b.t.Error(err)
			continue
		}
		size, sum, err := sendtest.Hash(file)
		file.Close()
		if err != nil || size != f.Size || sum != f.SHA256 {
			b.t.Errorf("%s: %d bytes, %v; want %d", f.Path, size, err, f.Size)
		}
	}
	_, err = os.Stat(filepath.Join(dir, TextFile))
	if rec.Text != (err == nil) {
		b.t.Errorf("%s: text %v, %v", dir, rec.Text, err)
	}
	return rec
}

type fake struct {
	inbox
}

func newFake(t testing.TB) sendtest.Fake {
	return &fake{inbox{filepath.Join(t.TempDir(), "outbox"), t}}
}

func (f *fake) Base() string { return f.dir }
func (f *fake) Platform(dir string) send.Platform {
	o, err := New(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	return o
}
func (f *fake) Wrong(string) (send.Platform, string) { return nil, "" }
func (f *fake) Secret() string                       { return "" }
func (f *fake) Arm(sendtest.Fault) bool              { return false }
func (f *fake) Requests() int                        { return 0 }
func (f *fake) Holding() <-chan struct{}             { return nil }

func (f *fake) Arrived() []sendtest.Arrival {
	var out []sendtest.Arrival
	entries, _ := os.ReadDir(f.dir)
	for _, e := range entries {
		dir := filepath.Join(f.dir, e.Name())
		rec := f.read(dir)
		if rec.Text {
			text, err := os.ReadFile(filepath.Join(dir, TextFile))
			if err != nil {
				f.t.Error(err)
			}
			out = append(out, sendtest.Arrival{Text: string(text)})
		}
		for _, l := range rec.Files {
			out = append(out, sendtest.Arrival{Name: l.Name, Size: l.Size, SHA256: l.SHA256})
		}
	}
	return out
}

func TestTheOutboxKeepsTheContract(t *testing.T) {
	before := leak.Take(t)
	sendtest.Run(t, sendtest.Subject{New: newFake, Target: send.Target{Platform: "file"}, Local: true})
	before.Check(t)
}

func message(i int) send.Message {
	return send.Message{Key: fmt.Sprintf("KEY%05d", i), Texts: []string{fmt.Sprintf("message %d", i)}}
}

func TestAThousandMessagesAtOnceArriveOnceEach(t *testing.T) {
	before := leak.Take(t)
	b := &inbox{t.TempDir(), t}
	o, err := New(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	var synced atomic.Int64
	o.sync = func(f *os.File) error {
		synced.Add(1)
		if sendtest.Soak() {
			return f.Sync()
		}
		return nil // six thousand real ones take a shared disk many seconds
	}
	const n = 1000
	it := sendtest.Bytes(t, "note.txt", []byte("the same file in each"))
	var all sync.WaitGroup
	ids := make([]string, n)
	for i := range n {
		all.Go(func() {
			m := message(i)
			m.Items = []send.Item{it}
			d := o.Send(t.Context(), m)
			if d.Texts[0].Status != send.Sent || d.Items[0].Status != send.Sent {
				t.Errorf("%d: %+v", i, d)
			}
			ids[i] = d.Texts[0].ID
		})
	}
	all.Wait()
	keys := map[string]int{}
	for _, r := range b.messages() {
		keys[r.Key]++
	}
	for i := range n {
		if c := keys[message(i).Key]; c != 1 {
			t.Errorf("message %d is there %d times", i, c)
		}
	}
	if got := synced.Load(); got != 6*n { // text, file, manifest, and three folders
		t.Errorf("%d syncs for %d messages", got, n)
	}
	if len(keys) != n {
		t.Errorf("%d messages", len(keys))
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, tempPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	before.Check(t)
}

func TestKillLeavesWholeMessagesOrNone(t *testing.T) {
	dir := t.TempDir()
	b := &inbox{dir, t}
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writeForever+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The kill comes right after a line, while the next message is written.
		said := 0
		buf := make([]byte, 1)
		for said < 3+round {
			if _, err := io.ReadFull(out, buf); err != nil {
				t.Fatal(err)
			}
			if buf[0] == '\n' {
				said++
			}
		}
		cmd.Process.Kill()
		cmd.Wait() // it says "killed", which is what was done to it
		if got := len(b.messages()); got < said {
			t.Errorf("round %d: %d messages were reported, %d are there", round, said, got)
		}
		for _, e := range glob(t, filepath.Join(dir, "*")) {
			os.RemoveAll(e)
		}
	}
}

func TestTheNextMessageSweepsWhatADeadProcessLeft(t *testing.T) {
	dir := t.TempDir()
	dead, live := filepath.Join(dir, tempPrefix+"DEAD-0"), filepath.Join(dir, tempPrefix+"LIVE-0")
	other := filepath.Join(dir, "unrelated")
	for _, d := range []string{dead, live, other} {
		if err := os.MkdirAll(filepath.Join(d, Files), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lock, ok, err := hold(live)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer lock.Close()
	o, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Send(t.Context(), message(1))
	for path, want := range map[string]bool{dead: false, live: true, other: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func TestADiskThatFailsLeavesNothing(t *testing.T) {
	for _, step := range []string{"sync", "rename"} {
		b := &inbox{t.TempDir(), t}
		o, err := New(b.dir)
		if err != nil {
			t.Fatal(err)
		}
		full := &os.PathError{Op: "write", Path: "/secret/path", Err: unix.ENOSPC}
		switch step {
		case "sync":
			o.sync = func(*os.File) error { return full }
		case "rename":
			o.rename = func(string, string) error { return full }
		}
		m := message(1)
		m.Items = []send.Item{sendtest.Bytes(t, "a.txt", []byte("a"))}
		d := o.Send(t.Context(), m)
		for _, out := range append(d.Texts, d.Items...) {
			if out.Status != send.Rejected || !strings.Contains(out.Reason, "ENOSPC") || strings.Contains(out.Reason, "/secret") {
				t.Errorf("%s: %+v", step, out)
			}
		}
		if left := glob(t, filepath.Join(b.dir, "*")); len(left) > 0 {
			t.Errorf("%s: left %v", step, left)
		}
		if left := glob(t, filepath.Join(b.dir, ".*")); len(left) > 0 {
			t.Errorf("%s: left %v", step, left)
		}
	}
}

func TestAPowerCutWarningIsNoFailure(t *testing.T) {
	b := &inbox{t.TempDir(), t}
	o, err := New(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	renamed := false
	o.rename = func(from, to string) error { renamed = true; return os.Rename(from, to) }
	o.sync = func(f *os.File) error {
		if renamed {
			return errors.New("sync is broken")
		}
		return f.Sync()
	}
	d := o.Send(t.Context(), message(1))
	if d.Texts[0].Status != send.Sent || len(d.Warnings) != 1 || len(b.messages()) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestAChatIsAFolderAndNothingElse(t *testing.T) {
	b := &inbox{t.TempDir(), t}
	o, err := New(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, chat := range []string{"..", "../x", "/tmp", ".hidden", "a/b", "a\nb"} {
		m := message(1)
		m.Target.Chat = chat
		if d := o.Send(t.Context(), m); d.Texts[0].Status != send.Rejected {
			t.Errorf("%q: %+v", chat, d)
		}
	}
	if left := glob(t, filepath.Join(b.dir, "*")); len(left) > 0 {
		t.Errorf("made %v", left)
	}
	m := message(1)
	m.Target.Chat = "ops"
	if d := o.Send(t.Context(), m); d.Texts[0].Status != send.Sent {
		t.Errorf("%+v", d)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
