// Honestty is a terminal host that can prove it lost nothing, or says what it
// lost.
package main

import (
	"os"

	"github.com/honestty/honestty/cli"
)

// version is set by the build: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	os.Exit(cli.Main(version, os.Args[1:]))
}
