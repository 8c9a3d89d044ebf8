//go:build !linux

package doctor

import "runtime"

const goarch = runtime.GOARCH
