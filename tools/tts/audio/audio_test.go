package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// sine is a WAV of one tone.
func sine(t testing.TB, f Format, frames int) []byte {
	t.Helper()
	h, err := WAVHeader(f, int64(frames*f.Channels*2))
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		v := int16(12000 * math.Sin(2*math.Pi*440*float64(i)/float64(f.Rate)))
		for range f.Channels {
			h = binary.LittleEndian.AppendUint16(h, uint16(v))
		}
	}
	return h
}

// A bitWriter writes the bit fields of an MPEG frame.
type bitWriter struct {
	b []byte
	n int
}

func (w *bitWriter) put(v uint32, bits int) {
	for i := bits - 1; i >= 0; i-- {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v>>i&1) << (7 - w.n%8)
		w.n++
	}
}

// toneMP3 makes MPEG 1 layer III frames, 44.1 kHz, mono, 64 kbit/s, that each
// hold one spectral line: the smallest MP3 that makes a sound.
func toneMP3(frames int) []byte {
	var out []byte
	for range frames {
		var w bitWriter
		w.put(0xFFFB50C0, 32) // sync, MPEG 1 layer III, no CRC, 64 kbit/s, 44.1 kHz, mono
		w.put(0, 9+5+4)       // main_data_begin, private_bits, scfsi
		for range 2 {
			w.put(3, 12)  // part2_3_length: one pair of table 1
			w.put(1, 9)   // big_values
			w.put(200, 8) // global_gain
			w.put(0, 4+1) // scalefac_compress, window_switching_flag
			w.put(1, 5)   // table_select, region 0
			w.put(0, 10)
			w.put(0, 4+3+1+1+1)
		}
		w.put(0b010, 3) // the pair (1, 0), positive
		w.put(0b010, 3)
		h, ok := parseMP3Header(w.b)
		if !ok {
			panic("the frame that the test makes has no valid header")
		}
		out = append(out, append(w.b, make([]byte, h.size-len(w.b))...)...)
	}
	return out
}

func inspectBytes(t testing.TB, b []byte) (Info, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return Inspect(path)
}

func TestWAVIsReadToItsEnd(t *testing.T) {
	for _, f := range []Format{{8000, 1}, {22050, 1}, {48000, 2}} {
		info, err := inspectBytes(t, sine(t, f, f.Rate/2))
		if err != nil || info.Container != WAV || !info.Framed || info.Duration() != 500*time.Millisecond || info.Channels != f.Channels {
			t.Errorf("%v: %+v, %v", f, info, err)
		}
		if info.Peak < 11000 || info.Peak > 12000 {
			t.Errorf("%v: peak %d", f, info.Peak)
		}
	}
}

func TestWAVCutAnywhereIsAnError(t *testing.T) {
	whole := sine(t, Format{22050, 1}, 4000)
	for n := 0; n < len(whole); n += 97 {
		if _, err := inspectBytes(t, whole[:n]); err == nil {
			t.Fatalf("cut at %d of %d passes", n, len(whole))
		} else if n > wavHeaderLen && !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func TestOpenLengthOfAStreamIsUnframed(t *testing.T) {
	for _, n := range []uint32{0, 0x7ffff000, 0xFFFFFFFF} {
		b := sine(t, Format{22050, 1}, 100)
		binary.LittleEndian.PutUint32(b[40:], n)
		info, err := inspectBytes(t, b)
		if err != nil || info.Framed || info.Frames != 100 {
			t.Errorf("%#x: %+v, %v", n, info, err)
		}
	}
}

func TestHostileWAVIsNamed(t *testing.T) {
	patch := func(at int, v ...byte) []byte {
		b := sine(t, Format{22050, 1}, 100)
		copy(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"empty file", nil, ErrEmpty},
		{"text", []byte(`{"error":"no such voice"}`), ErrNotAudio},
		{"no samples", patch(40, 0, 0, 0, 0)[:44], ErrEmpty},
		{"odd end", append(patch(40, 0, 0, 0, 0), 1), ErrTruncated},
		{"no channels", patch(22, 0, 0), ErrUnsupported},
		{"absurd rate", patch(24, 255, 255, 255, 255), ErrUnsupported},
		{"A-law", patch(20, 6, 0), ErrUnsupported},
		{"12 bits", patch(34, 12, 0), ErrUnsupported},
		{"header only", patch(0)[:30], ErrTruncated},
		{"endless chunks", append([]byte("RIFF\xff\xff\xff\xffWAVE"), bytes.Repeat([]byte("junk\x00\x00\x00\x00"), 20000)...), ErrNotAudio},
	} {
		if _, err := inspectBytes(t, c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestOtherSampleSizesBecome16Bit(t *testing.T) {
	make := func(tag, bits int, data []byte) []byte {
		b := header(Format{8000, 1}, int64(len(data)))
		binary.LittleEndian.PutUint16(b[20:], uint16(tag))
		binary.LittleEndian.PutUint16(b[34:], uint16(bits))
		return append(b, data...)
	}
	f32 := binary.LittleEndian.AppendUint32(nil, math.Float32bits(-1))
	for _, c := range []struct {
		name string
		b    []byte
		want int16
	}{
		{"8 bit", make(1, 8, []byte{0}), -32768},
		{"16 bit", make(1, 16, []byte{1, 2}), 0x201},
		{"24 bit", make(1, 24, []byte{9, 1, 2}), 0x201},
		{"32 bit", make(1, 32, []byte{9, 9, 1, 2}), 0x201},
		{"float", make(3, 32, f32), -32767},
	} {
		w, err := OpenWAV(bytes.NewReader(c.b), int64(len(c.b)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := io.ReadAll(w)
		if err != nil || len(got) != 2 || int16(binary.LittleEndian.Uint16(got)) != c.want {
			t.Errorf("%s: % x, %v; want %d", c.name, got, err, c.want)
		}
	}
}

func openPart(t testing.TB, b []byte) Part {
	t.Helper()
	w, err := OpenWAV(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return Part{w.Format, w.Frames(), w}
}

func TestJoinedWAVPlaysTheSumOfItsParts(t *testing.T) {
	f := Format{22050, 1}
	var parts []Part
	for _, n := range []int{22050, 11025, 4410} {
		parts = append(parts, openPart(t, sine(t, f, n)))
	}
	var out bytes.Buffer
	levels, frames, err := Join(&out, parts)
	if err != nil || frames != 37485 || len(levels) != Levels {
		t.Fatalf("Join = %v, %d, %v", levels, frames, err)
	}
	info, err := inspectBytes(t, out.Bytes())
	if err != nil || info.Frames != frames || !info.Framed {
		t.Errorf("%+v, %v", info, err)
	}
	for i, l := range levels {
		if l < 4 || l > 6 {
			t.Errorf("level %d of a steady tone is %d", i, l)
		}
	}
}

func TestJoinRefusesUnequalAndShortParts(t *testing.T) {
	a := openPart(t, sine(t, Format{22050, 1}, 100))
	for _, f := range []Format{{24000, 1}, {22050, 2}} {
		if _, _, err := Join(io.Discard, []Part{a, openPart(t, sine(t, f, 100))}); !errors.Is(err, ErrUnequal) {
			t.Errorf("%v: %v", f, err)
		}
	}
	short := openPart(t, sine(t, Format{22050, 1}, 100))
	short.Frames = 101
	if _, _, err := Join(io.Discard, []Part{short}); !errors.Is(err, ErrTruncated) {
		t.Errorf("a part that ends early: %v", err)
	}
	huge := Part{Format{48000, 2}, 1 << 31, strings.NewReader("")}
	if _, _, err := Join(io.Discard, []Part{huge}); !errors.Is(err, ErrTooLong) {
		t.Errorf("above 4 GiB: %v", err)
	}
}

func TestSilenceIsLevelZeroAndTheQuietestSoundIsNot(t *testing.T) {
	m := NewMeter(96, Levels)
	pcm := make([]byte, 192)
	pcm[100] = 1
	if _, err := io.Copy(m, iotest.OneByteReader(bytes.NewReader(pcm))); err != nil {
		t.Fatal(err)
	}
	for i, l := range m.Levels() {
		if want := map[bool]int{true: 1}[i == 25]; l != want {
			t.Errorf("level %d = %d, want %d", i, l, want)
		}
	}
}

func TestMP3IsWalkedAndDecoded(t *testing.T) {
	info, err := inspectBytes(t, toneMP3(20))
	if err != nil || info.Container != MP3 || info.Frames != 20*1152 || info.Rate != 44100 || info.Channels != 1 || !info.Framed {
		t.Fatalf("%+v, %v", info, err)
	}
	if info.Peak <= 0 {
		t.Errorf("peak %d of a tone", info.Peak)
	}
}

func TestMP3CutInsideAFrameIsTruncated(t *testing.T) {
	whole := toneMP3(10)
	h, _ := parseMP3Header(whole)
	for n := 10; n < len(whole); n += 31 {
		_, err := inspectBytes(t, whole[:n])
		if onFrame := n%h.size == 0; (err == nil) != onFrame {
			t.Fatalf("cut at %d of %d (frame %d): %v", n, len(whole), h.size, err)
		}
	}
}

func TestJoinedMP3HasTheFramesOfAllAndNoTagInside(t *testing.T) {
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x00\x05"), "hello"...)
	info := toneMP3(1)
	copy(info[4+17:], "Xing")
	var parts []io.Reader
	for range 3 {
		parts = append(parts, io.MultiReader(bytes.NewReader(tag), bytes.NewReader(info), bytes.NewReader(toneMP3(8)), strings.NewReader("TAG"+strings.Repeat("x", 125))))
	}
	var out bytes.Buffer
	if err := JoinMP3(&out, parts...); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), toneMP3(24)) {
		t.Errorf("the joined file has %d bytes, want the %d of 24 frames", out.Len(), len(toneMP3(24)))
	}
	if got, err := inspectBytes(t, out.Bytes()); err != nil || got.Frames != 24*1152 {
		t.Errorf("%+v, %v", got, err)
	}
	low := toneMP3(1)
	low[2] = 0x54 // 48 kHz
	if err := JoinMP3(io.Discard, bytes.NewReader(toneMP3(1)), bytes.NewReader(low)); !errors.Is(err, ErrUnequal) && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrNotAudio) {
		t.Errorf("unequal rates: %v", err)
	}
}

func TestMonoKeepsTheLeftChannelHoweverItIsRead(t *testing.T) {
	var stereo, left []byte
	for i := range uint16(5000) {
		stereo = binary.LittleEndian.AppendUint16(stereo, i)
		stereo = binary.LittleEndian.AppendUint16(stereo, ^i)
		left = binary.LittleEndian.AppendUint16(left, i)
	}
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(stereo), "byte by byte": iotest.OneByteReader(bytes.NewReader(stereo)), "with end": iotest.DataErrReader(bytes.NewReader(stereo)),
	} {
		got, err := io.ReadAll(Mono(r))
		if err != nil || !bytes.Equal(got, left) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// oggPage makes one page with a right checksum.
func oggPage(flags byte, granule uint64, seq uint32, packet []byte) []byte {
	var h [27]byte
	copy(h[:], "OggS")
	h[5] = flags
	binary.LittleEndian.PutUint64(h[6:], granule)
	binary.LittleEndian.PutUint32(h[18:], seq)
	h[26] = 1
	table := []byte{byte(len(packet))}
	binary.LittleEndian.PutUint32(h[22:], oggCRC(h, table, packet))
	return append(append(h[:], table...), packet...)
}

func TestOggOpusLengthComesFromTheLastPage(t *testing.T) {
	head := append([]byte("OpusHead\x01\x01\x38\x01"), make([]byte, 9)...) // pre-skip 312
	whole := append(append(oggPage(2, 0, 0, head), oggPage(0, 0, 1, []byte("OpusTags"))...), oggPage(4, 48312, 2, []byte("audio"))...)
	info, err := inspectBytes(t, whole)
	if err != nil || info.Container != OggOpus || info.Duration() != time.Second || !info.Framed {
		t.Fatalf("%+v, %v", info, err)
	}
	for n := len(whole) - 1; n > 40; n-- {
		if _, err := inspectBytes(t, whole[:n]); !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	whole[len(whole)-1]++
	if _, err := inspectBytes(t, whole); !errors.Is(err, ErrNotAudio) {
		t.Errorf("a wrong checksum: %v", err)
	}
}

func TestNamesAreNotBelieved(t *testing.T) {
	for want, begins := range map[Container]string{
		FLAC: "fLaC\x00\x00\x00\x22", MP4: "\x00\x00\x00\x20ftypM4A ", AIFF: "FORM\x00\x00\x00\x00AIFF", MP3: "\xff\xfb\x90\x64",
		Unrecognised: "<html>",
	} {
		if got := SniffBytes([]byte(begins)); got != want {
			t.Errorf("%q is %q, want %q", begins, got, want)
		}
	}
	for _, c := range []Container{WAV, MP3, OggOpus, FLAC, MP4} {
		if got := ForExtension(strings.ToUpper(c.Extensions()[0])); got != c {
			t.Errorf("%q has the extension of %q", c, got)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(sine(f, Format{8000, 1}, 50))
	f.Add(toneMP3(3))
	f.Add(append(oggPage(2, 0, 0, append([]byte("OpusHead\x01\x01\x38\x01"), make([]byte, 9)...)), oggPage(4, 48312, 2, []byte("audio"))...))
	f.Fuzz(func(t *testing.T, b []byte) {
		info, err := inspectBytes(t, b)
		if err == nil && info.Framed && info.Frames <= 0 {
			t.Errorf("a whole file without samples: %+v", info)
		}
	})
}
