package audio

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

// A Container is what a file is, told by its bytes. The zero value is
// Unrecognised.
type Container string

// The containers that speech comes in.
const (
	Unrecognised Container = ""
	WAV          Container = "wav"
	MP3          Container = "mp3"
	OggOpus      Container = "ogg/opus"
	OggVorbis    Container = "ogg/vorbis"
	FLAC         Container = "flac"
	MP4          Container = "mp4"
	AIFF         Container = "aiff"
)

// Extensions returns the file extensions, with dot, that a file of this
// container may carry. The first is the usual one.
func (c Container) Extensions() []string {
	switch c {
	case WAV:
		return []string{".wav", ".wave"}
	case MP3:
		return []string{".mp3"}
	case OggOpus:
		return []string{".ogg", ".opus", ".oga"}
	case OggVorbis:
		return []string{".ogg", ".oga"}
	case FLAC:
		return []string{".flac"}
	case MP4:
		return []string{".m4a", ".mp4"}
	case AIFF:
		return []string{".aiff", ".aif"}
	}
	return nil
}

// ForExtension returns the container that a file name with this extension
// promises, and Unrecognised when it promises none that can be made.
func ForExtension(ext string) Container {
	switch strings.ToLower(ext) {
	case ".wav", ".wave":
		return WAV
	case ".mp3":
		return MP3
	case ".ogg", ".opus", ".oga":
		return OggOpus
	case ".flac":
		return FLAC
	case ".m4a":
		return MP4
	}
	return Unrecognised
}

// sniffLen is enough for an Ogg page header with the codec's first packet.
const sniffLen = 64

// Sniff tells the container from the first bytes of r.
func Sniff(r io.ReaderAt) (Container, error) {
	b := make([]byte, sniffLen)
	n, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Unrecognised, err
	}
	return SniffBytes(b[:n]), nil
}

// SniffBytes tells the container from the first bytes of a file.
func SniffBytes(b []byte) Container {
	has := func(at int, s string) bool {
		return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s
	}
	switch {
	case has(0, "RIFF") && has(8, "WAVE"):
		return WAV
	case has(0, "FORM") && (has(8, "AIFF") || has(8, "AIFC")):
		return AIFF
	case has(0, "fLaC"):
		return FLAC
	case has(4, "ftyp"):
		return MP4
	case has(0, "OggS"):
		switch {
		case bytes.Contains(b, []byte("OpusHead")):
			return OggOpus
		case bytes.Contains(b, []byte("\x01vorbis")):
			return OggVorbis
		}
		return Unrecognised
	case has(0, "ID3"):
		return MP3
	}
	if len(b) >= 4 {
		if _, ok := parseMP3Header(b); ok {
			return MP3
		}
	}
	return Unrecognised
}

// An Info is what is known of a file that was read to its end. The zero value
// claims nothing.
type Info struct {
	Container Container
	Rate      int   // frames a second
	Channels  int   // 0: the container does not say where we look
	Frames    int64 // counted, not claimed; -1: nobody counted
	Peak      int   // largest sample, 0..32768; -1: not decoded
	Size      int64 // of the file, in bytes

	// Framed is true when the container itself proves its end: a WAV with a
	// true length, an MP3 of whole frames, an Ogg stream with its last page. It
	// is false for a WAV whose header was written before its length was known.
	Framed bool
}

// Duration is how long the audio plays, and -1 when that is not known.
func (i Info) Duration() time.Duration {
	if i.Frames < 0 || i.Rate <= 0 {
		return -1
	}
	return time.Duration(float64(i.Frames) / float64(i.Rate) * float64(time.Second))
}
