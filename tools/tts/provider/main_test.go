package provider

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/honestty/honestty/fdwait"
	"github.com/honestty/honestty/internal/proc"
	"github.com/honestty/honestty/tools/tts/audio"
)

var poller *fdwait.Poller

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := proc.SealInherited(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if poller, err = fdwait.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer poller.Close()
	return m.Run()
}

// tone is a WAV of half a second.
func tone(t testing.TB) []byte {
	t.Helper()
	const rate, frames = 22050, 11025
	b, err := audio.WAVHeader(audio.Format{Rate: rate, Channels: 1}, frames*2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(9000*math.Sin(float64(i)/8))))
	}
	return b
}

var speech = struct {
	sync.Once
	wav []byte
}{}

// spoken is a WAV that espeak-ng made of a German sentence.
func spoken(t testing.TB) []byte {
	t.Helper()
	speech.Do(func() {
		dir := t.TempDir()
		out := filepath.Join(dir, "out.wav")
		if err := exec.Command("espeak-ng", "-v", "de", "-s", "300", "-w", out, "Guten Morgen").Run(); err == nil {
			speech.wav, _ = os.ReadFile(out)
		}
	})
	if len(speech.wav) == 0 {
		t.Skip("espeak-ng is not installed")
	}
	return speech.wav
}

func request(t testing.TB, text string) Request {
	t.Helper()
	return Request{Text: text, Speed: 1, Out: filepath.Join(t.TempDir(), "part")}
}
