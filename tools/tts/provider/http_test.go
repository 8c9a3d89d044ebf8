package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/honestty/honestty/tools/tts/audio"
)

// serve answers every request with do.
func serve(t *testing.T, do http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(do)
	t.Cleanup(s.Close)
	return s.URL
}

func openAI(url string) *OpenAI { return &OpenAI{URL: url, Key: secretKey} }

func TestAudioCutAtEveryThousandthByteIsTruncated(t *testing.T) {
	wav := spoken(t)
	for _, framing := range []string{"length", "chunked", "close"} {
		t.Run(framing, func(t *testing.T) {
			for n := 0; n < len(wav); n += 1000 {
				url := serve(t, func(w http.ResponseWriter, _ *http.Request) { sendCut(w, framing, wav, n) })
				r := request(t, "Guten Morgen")
				made, err := openAI(url).Speak(t.Context(), r)
				if err == nil {
					// The connection could not tell; then the file does.
					info, ierr := audio.Inspect(r.Out)
					if ierr == nil && (info.Framed || !made.Unproven) {
						t.Fatalf("cut at %d of %d passes", n, len(wav))
					}
					continue
				}
				if k := kindOf(t, err); k != Truncated && (n > 0 || k != Silent) {
					t.Fatalf("cut at %d: %v (%v)", n, err, k)
				}
			}
		})
	}
}

// sendCut sends the first n bytes of wav and ends the connection.
func sendCut(w http.ResponseWriter, framing string, wav []byte, n int) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(rw, "HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\n")
	switch framing {
	case "length":
		fmt.Fprintf(rw, "Content-Length: %d\r\n\r\n", len(wav))
	case "chunked":
		fmt.Fprintf(rw, "Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(wav))
	default:
		fmt.Fprint(rw, "Connection: close\r\n\r\n")
	}
	_, _ = rw.Write(wav[:n])
	_ = rw.Flush()
}

func TestAnswersHaveNamedOutcomes(t *testing.T) {
	wav := tone(t)
	header := func(kv ...string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(kv); i += 2 {
				w.Header().Set(kv[i], kv[i+1])
			}
		}
	}
	for _, c := range []struct {
		name   string
		head   func(w http.ResponseWriter)
		status int
		body   string
		want   Kind
		says   string
	}{
		{"429 with seconds", header("Retry-After", "17"), 429, `{"error":{"message":"slow down"}}`, Throttled, "slow down; it may be asked again in 17.0s"},
		{"429 with a date", header("Retry-After", "Fri, 02 Jan 2026 10:01:00 GMT", "Date", "Fri, 02 Jan 2026 10:00:00 GMT"), 429, "", Throttled, "asked again in 1m00s"},
		{"429 without a word", header(), 429, "", Throttled, "429 Too Many Requests"},
		{"503 with retry-after", header("Retry-After", "3"), 503, "warming up", Throttled, "warming up"},
		{"500", header(), 500, "stack trace", Failed, "500 Internal Server Error: stack trace"},
		{"401 with the key in it", header(), 401, `{"detail":"bad key ` + secretKey + `"}`, Denied, "bad key [key]"},
		{"404", header(), 404, `{"message":"no such model"}`, Config, "no such model"},
		{"422 as FastAPI", header(), 422, `{"detail":[{"msg":"voice unknown"}]}`, Config, "voice unknown"},
		{"redirect", header("Location", "http://evil.example/"), 307, "", Config, "points to another address"},
		{"JSON with 200", header("Content-Type", "application/json"), 200, `{"error":"quota used up"}`, NotAudio, "application/json instead of audio: quota used up"},
		{"HTML with 200", header("Content-Type", "text/html"), 200, "<html>login</html>", NotAudio, "login"},
		{"HTML that calls itself audio", header("Content-Type", "audio/mpeg"), 200, "<html>login</html>", NotAudio, "login"},
		{"audio that calls itself HTML", header("Content-Type", "text/html"), 200, string(wav), NotAudio, "text/html"},
		{"noise", header("Content-Type", "audio/wav"), 200, "\x00\x01\x02\x03\x04", NotAudio, "no audio"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				c.head(w)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			r := request(t, "x")
			_, err := openAI(url).Speak(t.Context(), r)
			if k := kindOf(t, err); k != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v; want %v with %q", k, err, c.want, c.says)
			}
			if strings.Contains(err.Error(), secretKey) {
				t.Errorf("%v holds the key", err)
			}
			if _, err := os.Lstat(r.Out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file was made of it")
			}
		})
	}
}

func TestRedirectCarriesNoKeyElsewhere(t *testing.T) {
	var reached bool
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached = true })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	if _, err := openAI(url).Speak(t.Context(), request(t, "x")); err == nil || reached {
		t.Errorf("%v; reached %v", err, reached)
	}
}

func TestHugeBodyIsStoppedWithLittleMemory(t *testing.T) {
	wav := tone(t)
	block := bytes.Repeat([]byte{1}, 64<<10)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(wav)
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := request(t, "x")
	_, err := openAI(url).Speak(t.Context(), r)
	runtime.ReadMemStats(&after)
	if kindOf(t, err) != TooLarge {
		t.Errorf("error = %v", err)
	}
	if st, err := os.Stat(r.Out); err != nil || st.Size() > MaxBody+1 {
		t.Errorf("stored %v, %v", st, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > MaxBody/2 {
		t.Errorf("allocated %d bytes for a body of %d", grown, MaxBody)
	}
}

func TestSlowDripEndsAsTimedOut(t *testing.T) {
	wav := tone(t)
	for name, c := range map[string]Client{
		"falls silent":   {Stall: 50 * time.Millisecond, Timeout: time.Hour},
		"drips too long": {Stall: time.Hour, Timeout: 300 * time.Millisecond},
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client left
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(wav[:1000])
			w.(http.Flusher).Flush()
			for i := 1000; name == "drips too long"; i++ {
				select {
				case <-r.Context().Done():
					return
				case <-time.After(5 * time.Millisecond):
				}
				_, _ = w.Write(wav[i%len(wav) : i%len(wav)+1])
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		})
		if name == "falls silent" {
			c.Timeout = 5 * time.Second // the stall before the header is bounded by this
		}
		p := openAI(url)
		p.Client = c
		if _, err := p.Speak(t.Context(), request(t, "x")); kindOf(t, err) != TimedOut {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnreachableServerIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Provider{openAI("http://" + addr), &Wyoming{Address: addr}, &PiperHTTP{URL: "http://" + addr}} {
		_, err := p.Speak(t.Context(), request(t, "x"))
		if kindOf(t, err) != Unreachable || !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "ECONNREFUSED") {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}

func TestBareSamplesTakeTheRateThatTheServerSays(t *testing.T) {
	samples := tone(t)[44:]
	for _, c := range []struct {
		kind, extra string
		want        int
	}{
		{"audio/pcm", "", 24000},
		{"audio/pcm;rate=16000", "", 16000},
		{"application/octet-stream", "22050", 22050},
		{"audio/L16; rate=48000; channels=1", "", 48000},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			if c.extra != "" {
				w.Header().Set("X-Audio-Sample-Rate", c.extra)
			}
			_, _ = w.Write(samples)
		})
		p := openAI(url)
		p.Format = "pcm"
		r := request(t, "x")
		if _, err := p.Speak(t.Context(), r); err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		if info, err := audio.Inspect(r.Out); err != nil || info.Rate != c.want || info.Frames != 11025 {
			t.Errorf("%s: %+v, %v", c.kind, info, err)
		}
	}
}

func TestBareSamplesWithoutALengthProveNothing(t *testing.T) {
	samples := tone(t)[44:]
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { sendCut(w, "close", samples, len(samples)) })
	p := openAI(url)
	p.Format = "pcm"
	if _, err := p.Speak(t.Context(), request(t, "x")); kindOf(t, err) != Truncated {
		t.Errorf("error = %v", err)
	}
}

func TestFullDiskIsOursAndNotTheServers(t *testing.T) {
	for _, step := range []string{"create", "write", "close"} {
		e, url := server(t, works, "input")
		_ = e
		p := openAI(url)
		p.Fault = func(s string) error {
			if s == step {
				return syscall.ENOSPC
			}
			return nil
		}
		if _, err := p.Speak(t.Context(), request(t, "x")); kindOf(t, err) != Local || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", step, err)
		}
	}
}

func TestSettingsAreCheckedBeforeTheFirstByte(t *testing.T) {
	for name, p := range map[string]Provider{
		"no key":        &OpenAI{},
		"no URL":        &OpenAI{URL: "localhost:8880"},
		"a file URL":    &OpenAI{URL: "file:///etc/passwd"},
		"a format":      &OpenAI{URL: "http://x", Format: "aac"},
		"eleven no key": &ElevenLabs{},
		"wyoming none":  &Wyoming{},
		"wyoming path":  &Wyoming{Address: "http://x/y"},
	} {
		if err := p.Ready(context.Background(), ""); kindOf(t, err) != Config {
			t.Errorf("%s: %v", name, err)
		}
	}
}
