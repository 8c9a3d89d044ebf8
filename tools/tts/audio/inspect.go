package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Inspect reads the file at path to its end and says what it is. An error
// means that it is no whole audio file; Info then holds what was found so far.
//
// WAV and MP3 are decoded, Ogg is walked page by page with checksums. FLAC and
// MP4 are only recognised: for them Framed is false.
func Inspect(path string) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return InspectFile(f)
}

// InspectFile is Inspect for a file that is open. It moves the file's offset.
func InspectFile(f *os.File) (Info, error) {
	st, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	size := st.Size()
	if size == 0 {
		return Info{}, fmt.Errorf("%w: the file is empty", ErrEmpty)
	}
	c, err := Sniff(f)
	if err != nil {
		return Info{Size: size}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Info{Size: size}, err
	}
	var info Info
	switch c {
	case WAV:
		info, err = inspectWAV(f, size)
	case MP3:
		info, err = inspectMP3(f)
	case OggOpus, OggVorbis:
		info, err = inspectOgg(f, c)
	case FLAC:
		info, err = inspectFLAC(f)
	case MP4, AIFF:
		info = Info{Container: c, Frames: -1, Peak: -1}
	default:
		err = fmt.Errorf("%w: it begins with %q", ErrNotAudio, beginning(f))
	}
	info.Size = size
	return info, err
}

func beginning(r io.ReaderAt) []byte {
	b := make([]byte, 16)
	n, _ := r.ReadAt(b, 0)
	return b[:n]
}

func inspectWAV(r io.ReaderAt, size int64) (Info, error) {
	info := Info{Container: WAV, Peak: -1}
	w, err := OpenWAV(r, size)
	if err != nil {
		return info, err
	}
	info.Rate, info.Channels, info.Framed = w.Rate, w.Channels, w.Framed
	info.Frames, info.Peak, err = measure(w, w.Channels)
	if err == nil && info.Frames == 0 {
		err = ErrEmpty
	}
	return info, err
}

// measure reads 16 bit samples to their end.
func measure(r io.Reader, channels int) (frames int64, peak int, err error) {
	buf := make([]byte, 32<<10)
	var n int64
	half := -1 // the low byte of a sample that a read cut in two
	for {
		m, err := r.Read(buf)
		b := buf[:m]
		n += int64(m)
		if half >= 0 && len(b) > 0 {
			peak = max(peak, abs(int16(uint16(half)|uint16(b[0])<<8)))
			b, half = b[1:], -1
		}
		for ; len(b) >= 2; b = b[2:] {
			peak = max(peak, abs(int16(binary.LittleEndian.Uint16(b))))
		}
		if len(b) == 1 {
			half = int(b[0])
		}
		if errors.Is(err, io.EOF) {
			return n / int64(2*channels), peak, nil
		}
		if err != nil {
			return n / int64(2*channels), peak, err
		}
	}
}

func abs(v int16) int {
	if v < 0 {
		return -int(v)
	}
	return int(v)
}
