package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Errors of a file that is not what it has to be.
var (
	ErrNotAudio    = errors.New("not audio")
	ErrTruncated   = errors.New("audio is truncated")
	ErrEmpty       = errors.New("audio has no samples")
	ErrTooLong     = errors.New("audio does not fit a WAV file (4 GiB)")
	ErrUnsupported = errors.New("audio format is not supported")
	ErrUnequal     = errors.New("chunks differ in sample rate or channels")
)

// A Format is how samples lie in a file.
type Format struct {
	Rate     int
	Channels int
}

const (
	wavHeaderLen = 44
	maxWAVData   = math.MaxUint32 - (wavHeaderLen - 8)

	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xFFFE

	// maxChunks bounds the walk over a hostile file of empty chunks.
	maxChunks = 10_000

	// Speech is made at 8 to 48 kHz; the limits leave room and keep a header of
	// noise from becoming a duration.
	minRate, maxRate = 4_000, 384_000
	maxChannels      = 8
)

// isOpenLength reports a data length that a program wrote before it knew the
// true one: all ones, zero, or the 0x7ffff000 of espeak-ng --stdout.
func isOpenLength(n uint32) bool {
	return n == 0 || n >= 0x7fff_f000
}

// A Wave is an opened WAV file. Read gives its samples as 16 bit little endian
// whatever they are in the file.
type Wave struct {
	Format
	Framed bool // the header states the true length

	r        io.ReaderAt
	at, end  int64 // of the samples not yet read
	bits     int
	float    bool
	raw      []byte
	pending  []byte // converted and not yet taken
	pendingB []byte
}

// OpenWAV reads the header of a WAV file of the given size. An error matches
// ErrNotAudio, ErrTruncated, ErrEmpty or ErrUnsupported.
func OpenWAV(r io.ReaderAt, size int64) (*Wave, error) {
	var h [12]byte
	if _, err := r.ReadAt(h[:], 0); err != nil {
		return nil, fmt.Errorf("%w: no WAV header (%d bytes)", ErrNotAudio, size)
	}
	if string(h[:4]) != "RIFF" || string(h[8:]) != "WAVE" {
		return nil, fmt.Errorf("%w: no WAV header", ErrNotAudio)
	}
	w := &Wave{r: r}
	at, haveFormat := int64(12), false
	for range maxChunks {
		var c [8]byte
		if _, err := r.ReadAt(c[:], at); err != nil {
			if !haveFormat {
				return nil, fmt.Errorf("%w: the header ends early", ErrTruncated)
			}
			return nil, fmt.Errorf("%w: no samples follow the header", ErrEmpty)
		}
		n := binary.LittleEndian.Uint32(c[4:])
		at += 8
		switch string(c[:4]) {
		case "fmt ":
			if err := w.readFormat(at, n); err != nil {
				return nil, err
			}
			haveFormat = true
		case "data":
			if !haveFormat {
				return nil, fmt.Errorf("%w: samples before their format", ErrNotAudio)
			}
			return w, w.setData(at, n, size)
		}
		at += int64(n) + int64(n&1)
	}
	return nil, fmt.Errorf("%w: no samples in the first %d chunks", ErrNotAudio, maxChunks)
}

func (w *Wave) readFormat(at int64, n uint32) error {
	b := make([]byte, min(n, 40))
	if len(b) < 16 {
		return fmt.Errorf("%w: WAV format of %d bytes", ErrNotAudio, n)
	}
	if _, err := w.r.ReadAt(b, at); err != nil {
		return fmt.Errorf("%w: the header ends early", ErrTruncated)
	}
	tag := binary.LittleEndian.Uint16(b)
	w.Channels = int(binary.LittleEndian.Uint16(b[2:]))
	w.Rate = int(binary.LittleEndian.Uint32(b[4:]))
	w.bits = int(binary.LittleEndian.Uint16(b[14:]))
	if tag == wavExtensible && len(b) >= 26 {
		tag = binary.LittleEndian.Uint16(b[24:])
	}
	w.float = tag == wavFloat
	if w.Rate < minRate || w.Rate > maxRate || w.Channels < 1 || w.Channels > maxChannels {
		return fmt.Errorf("%w: %d Hz with %d channels", ErrUnsupported, w.Rate, w.Channels)
	}
	switch {
	case tag == wavPCM && (w.bits == 8 || w.bits == 16 || w.bits == 24 || w.bits == 32), w.float && w.bits == 32:
		return nil
	}
	return fmt.Errorf("%w: WAV of kind %d with %d bits", ErrUnsupported, tag, w.bits)
}

func (w *Wave) setData(at int64, n uint32, size int64) error {
	have := max(0, size-at)
	claimed := int64(n)
	w.Framed = !isOpenLength(n)
	switch {
	case !w.Framed:
		claimed = have
	case claimed > have:
		return fmt.Errorf("%w: %d of %d bytes of samples are there", ErrTruncated, have, claimed)
	}
	frame := int64(w.Channels * w.bits / 8)
	if rest := claimed % frame; rest != 0 {
		return fmt.Errorf("%w: the last sample is cut after %d of %d bytes", ErrTruncated, rest, frame)
	}
	if claimed == 0 {
		return ErrEmpty
	}
	w.at, w.end = at, at+claimed
	return nil
}

// Frames is how many frames the file holds that were not read yet.
func (w *Wave) Frames() int64 { return (w.end - w.at) / int64(w.Channels*w.bits/8) }

// Read gives the samples as 16 bit little endian.
func (w *Wave) Read(p []byte) (int, error) {
	for len(w.pending) == 0 {
		if w.at == w.end {
			return 0, io.EOF
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.pending)
	w.pending = w.pending[n:]
	return n, nil
}

func (w *Wave) fill() error {
	if w.raw == nil {
		w.raw = make([]byte, 48<<10) // a multiple of every sample size up to 4 bytes
		w.pendingB = make([]byte, 0, 96<<10)
	}
	b := w.raw[:min(int64(len(w.raw)), w.end-w.at)]
	if n, err := w.r.ReadAt(b, w.at); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: %d bytes before its end", ErrTruncated, w.end-w.at-int64(n))
		}
		return err
	}
	w.at += int64(len(b))
	w.pending = w.convert(w.pendingB[:0], b)
	return nil
}

// convert appends the samples of b to out as 16 bit.
func (w *Wave) convert(out, b []byte) []byte {
	put := func(v int) { out = binary.LittleEndian.AppendUint16(out, uint16(int16(v))) }
	switch {
	case w.float:
		for ; len(b) >= 4; b = b[4:] {
			f := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			if math.IsNaN(f) {
				f = 0
			}
			put(int(math.Round(max(-1, min(1, f)) * 32767)))
		}
	case w.bits == 8: // unsigned, as RIFF has it
		for _, v := range b {
			put((int(v) - 128) << 8)
		}
	case w.bits == 24:
		for ; len(b) >= 3; b = b[3:] {
			put(int(int16(uint16(b[1]) | uint16(b[2])<<8)))
		}
	case w.bits == 32:
		for ; len(b) >= 4; b = b[4:] {
			put(int(int16(uint16(b[2]) | uint16(b[3])<<8)))
		}
	default:
		out = append(out, b...)
	}
	return out
}

// header is the canonical 44 bytes before 16 bit samples.
func header(f Format, dataLen int64) []byte {
	b := make([]byte, 0, wavHeaderLen)
	le := binary.LittleEndian
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, uint32(dataLen+wavHeaderLen-8))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, wavPCM)
	b = le.AppendUint16(b, uint16(f.Channels))
	b = le.AppendUint32(b, uint32(f.Rate))
	b = le.AppendUint32(b, uint32(f.Rate*f.Channels*2))
	b = le.AppendUint16(b, uint16(f.Channels*2))
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	return le.AppendUint32(b, uint32(dataLen))
}

// WAVHeader is the header of a WAV file whose samples, 16 bit, have the given
// length in bytes. The error matches ErrTooLong or ErrUnsupported.
func WAVHeader(f Format, dataLen int64) ([]byte, error) {
	if f.Rate < minRate || f.Rate > maxRate || f.Channels < 1 || f.Channels > maxChannels {
		return nil, fmt.Errorf("%w: %d Hz with %d channels", ErrUnsupported, f.Rate, f.Channels)
	}
	if dataLen < 0 || dataLen > maxWAVData {
		return nil, fmt.Errorf("%w: %d bytes of samples", ErrTooLong, dataLen)
	}
	return header(f, dataLen), nil
}

// A WAVWriter writes samples that come piece by piece. Its header is open,
// that is, it proves no end, until Finish writes the true length.
type WAVWriter struct {
	f   Format
	w   io.WriterAt
	len int64
}

// NewWAVWriter begins a WAV file at offset 0 of w.
func NewWAVWriter(w io.WriterAt, f Format) (*WAVWriter, error) {
	h, err := WAVHeader(f, 0)
	if err != nil {
		return nil, err
	}
	if _, err := w.WriteAt(h, 0); err != nil {
		return nil, err
	}
	return &WAVWriter{f: f, w: w}, nil
}

// Write appends samples.
func (w *WAVWriter) Write(p []byte) (int, error) {
	if w.len+int64(len(p)) > maxWAVData {
		return 0, ErrTooLong
	}
	n, err := w.w.WriteAt(p, wavHeaderLen+w.len)
	w.len += int64(n)
	return n, err
}

// Finish writes the true length into the header.
func (w *WAVWriter) Finish() error {
	if frame := int64(w.f.Channels * 2); w.len%frame != 0 {
		return fmt.Errorf("%w: the last sample is cut", ErrTruncated)
	}
	if w.len == 0 {
		return ErrEmpty
	}
	h, err := WAVHeader(w.f, w.len)
	if err != nil {
		return err
	}
	_, err = w.w.WriteAt(h, 0)
	return err
}
