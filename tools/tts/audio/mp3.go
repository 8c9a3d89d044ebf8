package audio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// An mp3Header is the first four bytes of an MPEG audio frame, layer III
// (ISO 11172-3 §2.4.1.3 and ISO 13818-3 for the low rates).
type mp3Header struct {
	rate     int
	channels int
	samples  int // frames of audio in one MPEG frame
	size     int // bytes, header included
	side     int // bytes of side information after the header
}

var mp3Bitrates = [2][16]int{ // kbit/s: MPEG 1, MPEG 2 and 2.5
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0},
}

func parseMP3Header(b []byte) (mp3Header, bool) {
	const layerIII, reservedVersion = 1, 1
	v := binary.BigEndian.Uint32(b)
	version, layer := v>>19&3, v>>17&3
	if v>>21 != 0x7FF || layer != layerIII || version == reservedVersion {
		return mp3Header{}, false
	}
	low := 0
	h := mp3Header{samples: 1152, channels: 2}
	if version != 3 {
		low = 1
		h.samples = 576
	}
	kbit := mp3Bitrates[low][v>>12&15]
	base := [4]int{44100, 48000, 32000, 0}[v>>10&3]
	if kbit == 0 || base == 0 {
		return mp3Header{}, false // free format is not made by any speech server
	}
	h.rate = base >> low
	if version == 0 {
		h.rate = base >> 2
	}
	if v>>6&3 == 3 {
		h.channels = 1
	}
	h.size = h.samples/8*kbit*1000/h.rate + int(v>>9&1)
	switch {
	case low == 0 && h.channels == 2:
		h.side = 32
	case low == 0 || h.channels == 2:
		h.side = 17
	default:
		h.side = 9
	}
	return h, true
}

// frames calls each with every MPEG frame of r, tags and the information frame
// of the encoder left out. It returns ErrTruncated when the last is cut.
func mp3Frames(r io.Reader, each func(h mp3Header, frame []byte) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	if err := skipID3(br); err != nil {
		return err
	}
	first := true
	buf := make([]byte, 0, 2<<10)
	for {
		b, err := br.Peek(4)
		switch {
		case len(b) == 0 && errors.Is(err, io.EOF):
			if first {
				return fmt.Errorf("%w: no MP3 frame", ErrNotAudio)
			}
			return nil
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case len(b) < 4:
			return fmt.Errorf("%w: the last MP3 frame is cut", ErrTruncated)
		}
		h, ok := parseMP3Header(b)
		if !ok {
			if !first && isMP3Trailer(br) {
				return nil
			}
			return fmt.Errorf("%w: bytes between MP3 frames that are none", ErrNotAudio)
		}
		buf = buf[:h.size]
		if n, err := io.ReadFull(br, buf); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				return fmt.Errorf("%w: %d of %d bytes of the last MP3 frame are there", ErrTruncated, n, h.size)
			}
			return err
		}
		if info := first && isInfoFrame(h, buf); !info {
			if err := each(h, buf); err != nil {
				return err
			}
		}
		first = false
	}
}

// skipID3 skips the ID3v2 tag before the first frame.
func skipID3(br *bufio.Reader) error {
	b, _ := br.Peek(10)
	if len(b) < 10 || string(b[:3]) != "ID3" {
		return nil
	}
	n := int64(b[6]&0x7F)<<21 | int64(b[7]&0x7F)<<14 | int64(b[8]&0x7F)<<7 | int64(b[9]&0x7F)
	if _, err := io.CopyN(io.Discard, br, 10+n); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: the MP3 tag is cut", ErrTruncated)
		}
		return err
	}
	return nil
}

// isMP3Trailer reports an ID3v1 or APE tag, or zero padding, behind the last
// frame.
func isMP3Trailer(br *bufio.Reader) bool {
	b, _ := br.Peek(8)
	if bytes.HasPrefix(b, []byte("TAG")) || bytes.HasPrefix(b, []byte("APETAGEX")) {
		return true
	}
	for {
		c, err := br.ReadByte()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if c != 0 {
			return false
		}
	}
}

// isInfoFrame reports the frame in which an encoder tells length and seek
// points (Xing, Info, VBRI). It holds no sound, and in the middle of a joined
// file it would lie about the length.
func isInfoFrame(h mp3Header, b []byte) bool {
	for _, at := range []int{4 + h.side, 36} {
		if len(b) >= at+4 {
			switch string(b[at : at+4]) {
			case "Xing", "Info", "VBRI":
				return true
			}
		}
	}
	return false
}

// JoinMP3 writes the frames of the parts one after the other, without their
// tags. The error matches ErrUnequal when a part has another rate or other
// channels than the first.
func JoinMP3(w io.Writer, parts ...io.Reader) error {
	var want mp3Header
	for i, p := range parts {
		err := mp3Frames(p, func(h mp3Header, frame []byte) error {
			if want.rate == 0 {
				want = h
			}
			if h.rate != want.rate || h.channels != want.channels {
				return fmt.Errorf("%w: part %d has %d Hz with %d channels, the first %d Hz with %d", ErrUnequal, i+1, h.rate, h.channels, want.rate, want.channels)
			}
			_, err := w.Write(frame)
			return err
		})
		if err != nil {
			return fmt.Errorf("join part %d: %w", i+1, err)
		}
	}
	return nil
}

// inspectMP3 walks the frames, which finds a cut, and decodes all of them,
// which finds noise with the shape of frames.
func inspectMP3(r io.ReadSeeker) (Info, error) {
	info := Info{Container: MP3, Peak: -1, Framed: true}
	err := mp3Frames(r, func(h mp3Header, _ []byte) error {
		if info.Rate == 0 {
			info.Rate, info.Channels = h.rate, h.channels
		}
		if h.rate != info.Rate {
			return fmt.Errorf("%w: the sample rate changes inside the file", ErrUnequal)
		}
		info.Frames += int64(h.samples)
		return nil
	})
	if err != nil {
		return info, err
	}
	if info.Frames == 0 {
		return info, ErrEmpty
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return info, err
	}
	frames, peak, err := decodeWhole(r)
	// An encoder's information frame may decode as one frame of silence.
	if off := frames - info.Frames; err == nil && (off < -2*1152 || off > 2*1152) {
		err = fmt.Errorf("%w: %d of %d samples decode", ErrTruncated, frames, info.Frames)
	}
	switch {
	case err == nil:
		info.Peak = peak
	case info.Rate < lowRate:
		// The decoder lacks MPEG 2.5, and loses its place in padded frames of
		// MPEG 2. The frames themselves were walked to the end.
	default:
		return info, err
	}
	return info, nil
}

// lowRate is where MPEG 1 begins.
const lowRate = 32_000

func decodeWhole(r io.Reader) (frames int64, peak int, err error) {
	pcm, _, err := DecodeMP3(r)
	if err != nil {
		return 0, 0, err
	}
	return measure(pcm, 2)
}

// DecodeMP3 gives the samples of an MP3 as 16 bit with two channels. The error
// matches ErrUnsupported for a rate below 16 kHz (MPEG 2.5).
func DecodeMP3(r io.Reader) (pcm io.Reader, rate int, err error) {
	defer recoverDecoder(&err)
	br := bufio.NewReaderSize(r, 4<<10)
	if err := skipID3(br); err != nil {
		return nil, 0, err
	}
	if b, _ := br.Peek(4); len(b) == 4 && b[1]>>3&3 == 0 {
		return nil, 0, fmt.Errorf("%w: MPEG 2.5", ErrUnsupported)
	}
	d, err := mp3.NewDecoder(br)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: decode MP3: %w", ErrNotAudio, err)
	}
	return &mp3Reader{d}, d.SampleRate(), nil
}

// An mp3Reader turns a panic of the decoder, which a hostile file can cause,
// into an error.
type mp3Reader struct{ d *mp3.Decoder }

func (r *mp3Reader) Read(p []byte) (n int, err error) {
	defer recoverDecoder(&err)
	n, err = r.d.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: decode MP3: %w", ErrNotAudio, err)
	}
	return n, err
}

func recoverDecoder(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: the MP3 decoder gave up (%v)", ErrNotAudio, p)
	}
}
