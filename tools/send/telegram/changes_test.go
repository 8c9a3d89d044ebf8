package telegram

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

// A moving source changes when its byte at is read.
type moving struct {
	data   []byte
	at     int64
	change func(s *moving)
}

func (s *moving) ReadAt(p []byte, off int64) (int, error) {
	if s.change != nil && off+int64(len(p)) > s.at {
		s.change(s)
	}
	return bytes.NewReader(s.data).ReadAt(p, off)
}

func (s *moving) Stat() (fs.FileInfo, error) { return sized(len(s.data)), nil }

type sized int64

func (sized) Name() string       { return "moving" }
func (s sized) Size() int64      { return int64(s) }
func (sized) Mode() fs.FileMode  { return 0o600 }
func (sized) ModTime() time.Time { return time.Time{} }
func (sized) IsDir() bool        { return false }
func (sized) Sys() any           { return nil }

func sealed(t *testing.T, name string, kind send.Kind, s *moving) send.Item {
	t.Helper()
	change := s.change
	s.change = nil
	it, err := send.Seal(t.Context(), name, kind, s)
	if err != nil {
		t.Fatal(err)
	}
	s.change = change
	return it
}

func TestAFileThatChangesDuringItsUploadIsNeverSent(t *testing.T) {
	for name, change := range map[string]func(s *moving){
		"shrinks":  func(s *moving) { s.data = s.data[:100<<10] },
		"grows":    func(s *moving) { s.data = append(s.data, "more"...) },
		"rewrites": func(s *moving) { s.data[len(s.data)-1]++ },
	} {
		f := startFake(t)
		s := &moving{data: sendtest.Random(300 << 10), at: 250 << 10, change: change}
		m := to(group, sealed(t, "a.bin", send.Document, s), sendtest.Bytes(t, "b.bin", []byte("b")))
		d := deliver(t, f, m)
		if d.Items[0].Status == send.Sent || !strings.Contains(d.Items[0].Reason, "changed") || d.Items[1].Status != send.Sent {
			t.Errorf("%s: %+v", name, d.Items)
		}
	}
}

func TestAChangedFileKeepsNoOtherFromAnAlbum(t *testing.T) {
	for changed := range 3 {
		f := startFake(t)
		var items []send.Item
		for i := range 3 {
			s := &moving{data: fmt.Appendf(nil, "video %d", i), at: 1 << 40}
			items = append(items, sealed(t, "v.mp4", send.Video, s))
			if i == changed {
				s.data = append(s.data, '!')
			}
		}
		d := deliver(t, f, to(group, items...))
		for i, o := range d.Items {
			if want := map[bool]send.Status{true: send.Rejected, false: send.Sent}[i == changed]; o.Status != want {
				t.Errorf("file %d changed: item %d is %+v", changed, i, o)
			}
		}
	}
}

func TestNoFileIsReadAfterSendReturned(t *testing.T) {
	f := startFake(t)
	big := make([]byte, 16<<20)
	for i, cut := range []int64{300, 5000, 1 << 20} {
		c := sendtest.NewCutter(t, f.Base(), cut, -1)
		s := &moving{data: big, at: 1 << 40}
		m := to(group, sealed(t, "a.bin", send.Document, s))
		over := false
		m.Progress = func(int, int64) { // the race detector sees a write after Send
			if over {
				t.Error("progress after Send")
			}
		}
		d := f.Platform(c.Base(f.Base())).Send(t.Context(), m)
		over = true
		s.data = nil
		if d.Items[0].Status != send.Unknown {
			t.Errorf("cut %d: %+v", i, d.Items[0])
		}
		c.Close()
	}
}

func TestACancelledUploadEndsAndIsUnknown(t *testing.T) {
	f := startFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := to(group, sendtest.Bytes(t, "a.bin", make([]byte, 8<<20)), sendtest.Bytes(t, "b.bin", []byte("b")))
	m.Progress = func(_ int, n int64) {
		if n > 1<<20 {
			cancel()
		}
	}
	d := f.Platform(f.Base()).Send(ctx, m)
	if statuses(d.Items) != "unknown dropped" || len(f.Arrived()) != 0 {
		t.Errorf("%+v, arrived %+v", d.Items, f.Arrived())
	}
}
