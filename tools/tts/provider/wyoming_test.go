package provider

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/tts/audio"
)

// listen accepts connections one after the other and hands each to do.
func listen(t *testing.T, do func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			do(conn)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}

// question reads the synthesize event and returns its text.
func question(conn net.Conn) string {
	br := bufio.NewReader(conn)
	line, err := br.ReadBytes('\n')
	if err != nil {
		return ""
	}
	var e event
	_ = json.Unmarshal(line, &e)
	data := make([]byte, e.DataLength)
	_, _ = io.ReadFull(br, data)
	var s synthesize
	_ = json.Unmarshal(data, &s)
	return s.Text
}

// say sends one event, its data in the block as the Python servers do.
func say(w io.Writer, kind string, data any, payload []byte) {
	raw, _ := json.Marshal(data)
	fmt.Fprintf(w, `{"type":%q,"version":"1.5.4","data_length":%d,"payload_length":%d}`+"\n", kind, len(raw), len(payload))
	_, _ = w.Write(raw)
	_, _ = w.Write(payload)
}

type startData struct {
	Rate     int `json:"rate"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

// stream sends a WAV as events.
func stream(w io.Writer, wav []byte) {
	rate := int(binary.LittleEndian.Uint32(wav[24:]))
	say(w, "audio-start", startData{rate, 2, 1}, nil)
	for pcm := wav[44:]; len(pcm) > 0; {
		n := min(len(pcm), 2048)
		say(w, "audio-chunk", startData{rate, 2, 1}, pcm[:n])
		pcm = pcm[n:]
	}
	say(w, "audio-stop", struct{}{}, nil)
}

func wyomingServer(t *testing.T, b behaviour) (engineUnderTest, string) {
	t.Helper()
	var mu sync.Mutex
	var text string
	asked := make(chan struct{})
	addr := listen(t, func(conn net.Conn) {
		got := question(conn)
		mu.Lock()
		text = got
		mu.Unlock()
		switch b {
		case works:
			stream(conn, tone(t))
		case silent:
			say(conn, "audio-stop", struct{}{}, nil)
		case empty:
			say(conn, "audio-start", startData{22050, 2, 1}, nil)
			say(conn, "audio-stop", struct{}{}, nil)
		case nonsense:
			_, _ = io.WriteString(conn, "<html>busy</html>\n")
		case refuses:
			say(conn, "error", map[string]string{"text": said, "code": "tts"}, nil)
		case dies:
			say(conn, "audio-start", startData{22050, 2, 1}, nil)
			say(conn, "audio-chunk", nil, tone(t)[44:1044])
		case hangs:
			close(asked)
			_, _ = conn.Read(make([]byte, 1)) // until the client gives up
		}
	})
	return engineUnderTest{got: func() string { mu.Lock(); defer mu.Unlock(); return text }, asked: asked}, addr
}

func TestWyomingCutAtEveryThousandthByteIsTruncated(t *testing.T) {
	wav := spoken(t)
	var all strings.Builder
	stream(&all, wav)
	whole := all.String()
	for n := 0; n < len(whole); n += 1000 {
		addr := listen(t, func(conn net.Conn) {
			question(conn)
			_, _ = io.WriteString(conn, whole[:n])
		})
		if _, err := (&Wyoming{Address: addr}).Speak(t.Context(), request(t, "x")); kindOf(t, err) != Truncated {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	addr := listen(t, func(conn net.Conn) { question(conn); _, _ = io.WriteString(conn, whole) })
	r := request(t, "x")
	if _, err := (&Wyoming{Address: "tcp://" + addr}).Speak(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if info, err := audio.Inspect(r.Out); err != nil || info.Frames != int64(len(wav)-44)/2 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestWyomingAllowsNothingWithoutBounds(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(conn net.Conn)
		want   Kind
	}{
		"a line without an end": {func(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("x", 1<<20)) }, NotAudio},
		"a huge payload": {func(c net.Conn) {
			_, _ = io.WriteString(c, `{"type":"audio-chunk","payload_length":2000000000}`+"\n")
		}, TooLarge},
		"a negative length": {func(c net.Conn) { _, _ = io.WriteString(c, `{"type":"audio-start","data_length":-1}`+"\n") }, TooLarge},
		"events for ever": {func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, `{"type":"ping"}`+"\n"); err != nil {
					return
				}
			}
		}, TooLarge},
		"samples for ever": {func(c net.Conn) {
			say(c, "audio-start", startData{22050, 2, 1}, nil)
			head := []byte(`{"type":"audio-chunk","payload_length":65536}` + "\n")
			for {
				if _, err := c.Write(append(head[:len(head):len(head)], make([]byte, 65536)...)); err != nil {
					return
				}
			}
		}, TooLarge},
		"wide samples":  {func(c net.Conn) { say(c, "audio-start", startData{22050, 4, 1}, nil) }, NotAudio},
		"absurd rate":   {func(c net.Conn) { say(c, "audio-start", startData{-5, 2, 1}, nil) }, NotAudio},
		"an error late": {func(c net.Conn) { say(c, "audio-start", startData{22050, 2, 1}, nil); say(c, "error", nil, nil) }, Failed},
	} {
		addr := listen(t, func(conn net.Conn) { question(conn); c.answer(conn) })
		r := request(t, "x")
		_, err := (&Wyoming{Client: Client{MaxBody: 1 << 20}, Address: addr}).Speak(t.Context(), r)
		if k := kindOf(t, err); k != c.want && k != Truncated {
			t.Errorf("%s: %v (%v), want %v", name, err, k, c.want)
		}
		if st, err := os.Stat(r.Out); err == nil && st.Size() > 2<<20 {
			t.Errorf("%s: stored %d bytes", name, st.Size())
		}
	}
}

func TestWyomingThatFallsSilentTimesOut(t *testing.T) {
	addr := listen(t, func(conn net.Conn) {
		question(conn)
		say(conn, "audio-start", startData{22050, 2, 1}, nil)
		_, _ = conn.Read(make([]byte, 1))
	})
	_, err := (&Wyoming{Client: Client{Stall: 50 * time.Millisecond}, Address: addr}).Speak(t.Context(), request(t, "x"))
	if kindOf(t, err) != TimedOut {
		t.Errorf("error = %v", err)
	}
}
