package readfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// sampleSize is how much of a file is looked at to tell text from the rest, in
// bytes.
const sampleSize = 8 << 10

// A format is known by its first bytes.
type format struct {
	name  string
	magic string
	image bool
}

var formats = []format{
	{"PNG image", "\x89PNG\r\n\x1a\n", true},
	{"JPEG image", "\xff\xd8\xff", true},
	{"GIF image", "GIF87a", true},
	{"GIF image", "GIF89a", true},
	{"TIFF image", "II*\x00", true},
	{"TIFF image", "MM\x00*", true},
	{"PDF document", "%PDF-", false},
	{"zip archive or office document", "PK\x03\x04", false},
	{"gzip archive", "\x1f\x8b", false},
	{"bzip2 archive", "BZh", false},
	{"xz archive", "\xfd7zXZ\x00", false},
	{"zstd archive", "\x28\xb5\x2f\xfd", false},
	{"7z archive", "7z\xbc\xaf\x27\x1c", false},
	{"ELF program", "\x7fELF", false},
	{"Mach-O program", "\xcf\xfa\xed\xfe", false},
	{"SQLite database", "SQLite format 3\x00", false},
	{"Ogg audio", "OggS", false},
	{"FLAC audio", "fLaC", false},
	{"MP3 audio", "ID3", false},
	{"UTF-16 text", "\xff\xfe", false},
	{"UTF-16 text", "\xfe\xff", false},
}

// refuseBinary looks at the beginning of f and refuses what is no text.
func (r *Result) refuseBinary(f io.ReaderAt) error {
	sample := make([]byte, sampleSize)
	n, err := f.ReadAt(sample, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the file: %w", bare(err))
	}
	kind, image := sniff(sample[:n], n == sampleSize)
	if kind == "" {
		return nil
	}
	r.IsBinary, r.IsImage = true, image
	if image {
		r.Hint = "an image: look at it with a tool for images"
	}
	return fmt.Errorf("%w (%s), and its content is not shown as text", ErrBinary, kind)
}

// sniff names the format of a binary sample; it is empty for text. Where the
// sample is cut, a character that the cut split counts as whole.
func sniff(sample []byte, cut bool) (kind string, image bool) {
	nul := bytes.IndexByte(sample, 0) >= 0
	strange := strangeBytes(sample, cut)
	for _, f := range formats {
		// A text may begin like a format in letters; then nothing else in it is strange.
		if bytes.HasPrefix(sample, []byte(f.magic)) && (nul || strange > 0) {
			return f.name, f.image
		}
	}
	switch {
	case bytes.HasPrefix(sample, []byte("RIFF")) && len(sample) >= 12 && nul:
		name := string(bytes.ToValidUTF8(sample[8:12], nil))
		return "RIFF: " + printable(name), name == "WEBP"
	case nul:
		return "it holds NUL bytes", false
	case strange*10 > len(sample)*3:
		return "more than 30 % of it is no text", false
	}
	return "", false
}

// strangeBytes counts control characters that text does not have, and bytes
// that are not UTF-8.
func strangeBytes(sample []byte, cut bool) int {
	n := 0
	for i := 0; i < len(sample); {
		r, size := utf8.DecodeRune(sample[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if cut && !utf8.FullRune(sample[i:]) {
				return n
			}
			n++
		case r < 0x20 && !bytes.ContainsRune([]byte("\t\n\v\f\r\b\x1b"), r), r == 0x7F:
			n++
		}
		i += size
	}
	return n
}

func printable(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F || r == utf8.RuneError {
			return '?'
		}
		return r
	}, []byte(s)))
}
