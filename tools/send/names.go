package send

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds a file's name at the other end; most systems stop at 255
// bytes, and some services add to a name.
const maxName = 200

// inName is a directive within a single name: the anchors that hold a slash
// cannot occur there.
var inName = regexp.MustCompile("(?i)media:([ \t]*[\"'`~]|[ \t]*[a-z]:)")

// SafeName is a file's name as it may be told to the other end: the last part
// only, no control or direction character, no quote that would end a header
// early, no directive.
func SafeName(path string) string {
	name := filepath.Base(filepath.ToSlash(path))
	name = strings.Map(func(r rune) rune {
		switch {
		case unsafeRune(r), r == utf8.RuneError, r == '/', r == '\\', r == '"':
			return '_'
		}
		return r
	}, name)
	name = inName.ReplaceAllStringFunc(name, func(s string) string {
		return strings.Replace(s, ":", "_", 1)
	})
	if name == "." || name == ".." || strings.Trim(name, "_ ") == "" {
		return "file"
	}
	if len(name) > maxName {
		ext := filepath.Ext(name)
		if len(ext) > 16 {
			ext = ""
		}
		stem := name[:maxName-len(ext)]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
		name = stem + ext
	}
	return name
}

// unsafeRune reports whether r moves the cursor, breaks a line, or turns the
// direction of what follows.
func unsafeRune(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	case r == '\u061c', r >= '\u200e' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// Plain is s on one line, without control characters: what may be repeated of
// a text that came from outside.
func Plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case unsafeRune(r):
			return '\uFFFD'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// types are the MIME types of the endings that are common among attachments.
// They are written out so that the same file is the same thing on every
// machine.
var types = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".bmp": "image/bmp", ".tiff": "image/tiff", ".svg": "image/svg+xml",
	".mp4": "video/mp4", ".mov": "video/quicktime", ".avi": "video/x-msvideo", ".mkv": "video/x-matroska",
	".webm": "video/webm", ".3gp": "video/3gpp",
	".mp3": "audio/mpeg", ".m2a": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".opus": "audio/ogg",
	".m4a": "audio/mp4", ".flac": "audio/flac",
	".pdf": "application/pdf", ".txt": "text/plain; charset=utf-8", ".md": "text/markdown; charset=utf-8",
	".csv": "text/csv; charset=utf-8", ".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8",
	".json": "application/json", ".xml": "application/xml", ".zip": "application/zip", ".gz": "application/gzip",
	".tar": "application/x-tar",
}

func mimeType(name string) string {
	if t, ok := types[strings.ToLower(filepath.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}

// KindOf is how a file of this name is shown unless it is asked otherwise.
func KindOf(name string) Kind {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff":
		return Photo // not .svg: no platform draws it as a picture
	case ".mp4", ".mov", ".avi", ".mkv", ".webm", ".3gp":
		return Video
	case ".mp3", ".m2a", ".wav", ".ogg", ".opus", ".m4a", ".flac":
		return Audio
	}
	return Document
}
