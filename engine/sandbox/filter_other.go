//go:build !amd64 && !arm64

package sandbox

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

func program(int) ([]unix.SockFilter, error) {
	return nil, fmt.Errorf("sandbox: %w: there is no filter for %s", ErrUnsupported, runtime.GOARCH)
}
