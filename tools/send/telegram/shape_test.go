package telegram

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/honestty/honestty/tools/send"
	"github.com/honestty/honestty/tools/send/sendtest"
)

// serveRaw serves h without the rules of the fake.
func serveRaw(t *testing.T, h http.HandlerFunc) string {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestWebPSizesAreRead has the heads of three files as cwebp writes them, with
// the sizes set by hand.
func TestWebPSizesAreRead(t *testing.T) {
	for _, c := range []struct {
		name, head string
		w, h       int
	}{
		{"lossy", "524946461a0000005745425056503820100000003001009d012a40012c010000000000", 320, 300},
		{"lossless", "524946461a000000574542505650384c0e0000002f3fc14a000000000000000000", 320, 300},
		{"extended", "524946461a00000057454250565038580a000000100000003f01002b0100", 320, 300},
		{"lossy without its mark", "524946461a00000057454250565038201000000030010000000040012c010000000000", 0, 0},
		{"another chunk", "524946461a00000057454250414243440a000000100000003f01002b0100", 0, 0},
	} {
		raw, err := hex.DecodeString(c.head)
		if err != nil {
			t.Fatal(err)
		}
		w, h, err := pictureSize(sendtest.Bytes(t, "a.webp", raw))
		if w != c.w || h != c.h || (err == nil) != (c.w != 0) {
			t.Errorf("%s: %d×%d, %v; want %d×%d", c.name, w, h, err, c.w, c.h)
		}
	}
}

// FuzzPictureSize looks for heads that panic, or have a size and no error
// where the size is none.
func FuzzPictureSize(f *testing.F) {
	f.Add([]byte("RIFF....WEBPVP8 "))
	f.Add(picture(f, 3, 3, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		it := sendtest.Bytes(t, "a.webp", data)
		it.Kind = send.Photo
		w, h, err := pictureSize(it)
		if err == nil && (w <= 0 || h <= 0) {
			t.Errorf("%d×%d without an error", w, h)
		}
		shape(it)
	})
}
