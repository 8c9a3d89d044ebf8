package demo

import (
	"context"
	"encoding/binary"
	"os"
	"time"

	"github.com/honestty/honestty/tools/tts/audio"
	"github.com/honestty/honestty/tools/tts/provider"
)

// tone is a voice that hums for as long as the text would take to say. It needs
// no program and no network.
type tone struct{}

// perLetter is how long it hums for a letter.
const perLetter = 60 * time.Millisecond

func (tone) Name() string                        { return "tone" }
func (tone) Limits() provider.Limits             { return provider.Limits{Makes: audio.MP3} }
func (tone) Identity() string                    { return "tone of the demo" }
func (tone) Ready(context.Context, string) error { return nil }

func (tone) Speak(_ context.Context, r provider.Request) (provider.Made, error) {
	return provider.Made{Voice: "tone"}, os.WriteFile(r.Out, hum(time.Duration(len(r.Text))*perLetter), 0o600)
}

// hum makes MP3 of at least d: frames of MPEG 1 layer III at 44.1 kHz, mono, 64
// kbit/s, each with one spectral line (ISO/IEC 11172-3, 2.4.1).
func hum(d time.Duration) []byte {
	const (
		rate, samples = 44100, 1152
		bitrate       = 64000
		sideInfo      = 17 // bytes, mono
	)
	frame := make([]byte, samples/8*bitrate/rate)
	binary.BigEndian.PutUint32(frame, 0xFFFB50C0)
	put := func(at, bits int, v uint32) {
		for i := range bits {
			if v>>(bits-1-i)&1 == 1 {
				frame[(at+i)/8] |= 0x80 >> ((at + i) % 8)
			}
		}
	}
	for granule := range 2 {
		at := 32 + 18 + granule*59
		put(at, 12, 3)     // part2_3_length
		put(at+12, 9, 1)   // big_values
		put(at+21, 8, 200) // global_gain
		put(at+34, 5, 1)   // table_select of the first region
		put((4+sideInfo)*8+granule*3, 3, 0b010)
	}
	var out []byte
	for range int(d.Seconds()*rate/samples) + 1 {
		out = append(out, frame...)
	}
	return out
}
