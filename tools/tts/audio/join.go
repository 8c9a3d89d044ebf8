package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Levels is how many peak levels a result carries, enough for one line of a
// panel.
const Levels = 48

// A Part is one piece of 16 bit samples that Join reads once.
type Part struct {
	Format
	Frames int64 // how many Samples will give
	Stream io.Reader
}

// Join writes one WAV with the samples of all parts and a header from their
// true length. It returns the peak levels over time, each 0..15, and the
// number of frames. An error matches ErrUnequal, ErrTooLong, ErrTruncated, or is
// the writer's own.
func Join(w io.Writer, parts []Part) (levels []int, frames int64, err error) {
	if len(parts) == 0 {
		return nil, 0, ErrEmpty
	}
	format := parts[0].Format
	for i, p := range parts {
		if p.Format != format {
			return nil, 0, fmt.Errorf("%w: part %d has %d Hz with %d channels, the first %d Hz with %d",
				ErrUnequal, i+1, p.Rate, p.Channels, format.Rate, format.Channels)
		}
		frames += p.Frames
	}
	frame := int64(format.Channels * 2)
	h, err := WAVHeader(format, frames*frame)
	if err != nil {
		return nil, 0, err
	}
	if _, err := w.Write(h); err != nil {
		return nil, 0, err
	}
	m := NewMeter(frames*int64(format.Channels), Levels)
	both := io.MultiWriter(w, m) // w first: a level is only of what was written
	for i, p := range parts {
		n, err := io.Copy(both, io.LimitReader(p.Stream, p.Frames*frame))
		if err != nil {
			return nil, 0, fmt.Errorf("join part %d: %w", i+1, err)
		}
		if n != p.Frames*frame {
			return nil, 0, fmt.Errorf("join part %d: %w: %d of %d bytes", i+1, ErrTruncated, n, p.Frames*frame)
		}
	}
	return m.Levels(), frames, nil
}

// A Meter takes 16 bit samples and keeps the peak of each of n stretches.
type Meter struct {
	total, seen int64
	peaks       []int
	half        int // low byte of a sample cut in two; -1: none
}

// NewMeter makes a Meter for that many samples, all channels counted.
func NewMeter(samples int64, n int) *Meter {
	return &Meter{total: max(samples, 1), peaks: make([]int, n), half: -1}
}

// Write takes samples. It never fails.
func (m *Meter) Write(p []byte) (int, error) {
	n := len(p)
	if m.half >= 0 && len(p) > 0 {
		m.add(int16(uint16(m.half) | uint16(p[0])<<8))
		p, m.half = p[1:], -1
	}
	for ; len(p) >= 2; p = p[2:] {
		m.add(int16(binary.LittleEndian.Uint16(p)))
	}
	if len(p) == 1 {
		m.half = int(p[0])
	}
	return n, nil
}

func (m *Meter) add(v int16) {
	i := min(m.seen*int64(len(m.peaks))/m.total, int64(len(m.peaks)-1))
	m.peaks[i] = max(m.peaks[i], abs(v))
	m.seen++
}

// Levels gives the peaks as 0..15. Zero is silence and nothing else: the
// quietest sound is 1.
func (m *Meter) Levels() []int {
	out := make([]int, len(m.peaks))
	for i, p := range m.peaks {
		out[i] = min(15, p*16/32769)
		if p > 0 {
			out[i] = max(1, out[i])
		}
	}
	return out
}

// A mono reader keeps the left of two channels: the MP3 decoder gives two, also
// for a file of one.
type mono struct {
	r   io.Reader
	buf [8 << 10]byte
	n   int // bytes of buf that are filled
}

// Mono gives the left channel of 16 bit samples with two.
func Mono(r io.Reader) io.Reader { return &mono{r: r} }

func (m *mono) Read(p []byte) (int, error) {
	if len(p) < 2 {
		return 0, io.ErrShortBuffer
	}
	for m.n < 4 {
		n, err := m.r.Read(m.buf[m.n:])
		m.n += n
		if err != nil && m.n < 4 {
			if m.n > 0 && errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: the last sample is cut", ErrTruncated)
			}
			return 0, err
		}
	}
	out, used := 0, 0
	for used+4 <= m.n && out+2 <= len(p) {
		copy(p[out:], m.buf[used:used+2])
		out, used = out+2, used+4
	}
	m.n = copy(m.buf[:], m.buf[used:m.n])
	return out, nil
}
