package telegram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for image.DecodeConfig
	_ "image/jpeg" // for image.DecodeConfig
	_ "image/png"  // for image.DecodeConfig
	"io"
	"path/filepath"
	"strings"

	"github.com/honestty/honestty/tools/send"
)

// headBytes is how much of a picture is looked at for its size. Cameras put up
// to 64 KB of other data before it, some programs several times that.
const headBytes = 1 << 20

// shape decides by which method an item goes. The note says why it is not the
// one that was asked for; it is empty when it is.
func shape(it send.Item) (kind send.Kind, note string) {
	ext := strings.ToLower(filepath.Ext(it.Name))
	switch it.Kind {
	case send.Photo:
		if why := notAPhoto(it, ext); why != "" {
			return send.Document, fmt.Sprintf("%s went as a document and not as a photo: %s", it.Name, why)
		}
	case send.Video:
		if ext != ".mp4" && ext != ".m4v" {
			return send.Document, fmt.Sprintf("%s went as a document and not as a video: Telegram shows MPEG-4 as videos", it.Name)
		}
	case send.Voice:
		switch ext {
		case ".ogg", ".opus":
		case ".mp3", ".m4a":
			return send.Audio, fmt.Sprintf("%s went as audio and not as a voice message: those are Ogg Opus", it.Name)
		default:
			return send.Document, fmt.Sprintf("%s went as a document and not as a voice message: those are Ogg Opus", it.Name)
		}
	case send.Audio:
		if ext != ".mp3" && ext != ".m4a" {
			return send.Document, "" // every other sound is a document here, as it is for Hermes
		}
	}
	return it.Kind, ""
}

// notAPhoto says why an item is not taken as a photo; empty when it is.
func notAPhoto(it send.Item, ext string) string {
	switch ext {
	case ".jpg", ".jpeg", ".png", ".webp":
	case ".gif":
		return "as a photo it would not move"
	default:
		return "photos are JPEG, PNG or WebP"
	}
	if it.Size > maxPhoto {
		return "photos have 10 MB at most"
	}
	w, h, err := pictureSize(it)
	switch {
	case err != nil:
		return "its content is not a picture of that kind"
	case w+h > maxSides:
		return fmt.Sprintf("%d×%d pixels are too many for a photo", w, h)
	case max(w, h) > maxRatio*min(w, h):
		return fmt.Sprintf("%d×%d pixels are too narrow for a photo", w, h)
	}
	return ""
}

// pictureSize reads width and height from the head of a picture.
func pictureSize(it send.Item) (w, h int, err error) {
	b := it.Body()
	defer b.Close()
	var head [30]byte
	if n, err := io.ReadFull(b, head[:]); err == nil && isWebP(head[:n]) {
		return webPSize(head[:])
	}
	if _, err := b.Seek(0, io.SeekStart); err != nil {
		return 0, 0, err
	}
	c, _, err := image.DecodeConfig(io.LimitReader(b, headBytes))
	if err == nil && (c.Width <= 0 || c.Height <= 0) {
		err = errors.New("a picture without pixels")
	}
	return c.Width, c.Height, err
}

func isWebP(b []byte) bool {
	return len(b) >= 16 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP"
}

// webPSize reads the size from the first chunk of a WebP file: VP8 for lossy
// (RFC 6386, 9.1), VP8L for lossless, VP8X for everything with extras (both in
// RFC 9649, 2.6 and 2.7). The head has 30 bytes.
func webPSize(b []byte) (w, h int, err error) {
	switch string(b[12:16]) {
	case "VP8 ":
		if b[23] != 0x9d || b[24] != 0x01 || b[25] != 0x2a {
			break
		}
		w = int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff
		h = int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff
	case "VP8L":
		if b[20] != 0x2f {
			break
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		w, h = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case "VP8X":
		w = 1 + (int(b[24]) | int(b[25])<<8 | int(b[26])<<16)
		h = 1 + (int(b[27]) | int(b[28])<<8 | int(b[29])<<16)
	}
	if w == 0 || h == 0 {
		return 0, 0, errors.New("a WebP head without a size")
	}
	return w, h, nil
}
