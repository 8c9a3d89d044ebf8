package matrix

import (
	"os"
	"testing"
)

// TestMain keeps a proxy of the environment out of the way: a host without an
// address has to fail here, and not there.
func TestMain(m *testing.M) {
	for _, v := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		os.Unsetenv(v)
	}
	os.Exit(m.Run())
}
