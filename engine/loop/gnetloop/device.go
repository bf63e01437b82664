package gnetloop

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// device is a descriptor of the loop's own, a timer or an event counter, that
// gnet watches and reads like a connection.
type device struct {
	fd   int    // ours; gnet watches a duplicate of it
	hear func() // runs on the loop after each read
}

// enrol makes gnet watch the device. gnet only takes sockets in the form of a
// net.Conn, of which it duplicates the descriptor by number. So it is given one
// half of a socket pair whose descriptor has been made to refer to the device
// before: reads, epoll and close mean the same for both.
func (d *device) enrol(c *gnet.Client) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("making a socket pair: %w", err)
	}
	defer func() { _ = unix.Close(pair[1]) }()
	f := os.NewFile(uintptr(pair[0]), "device")
	shell, err := net.FileConn(f)
	_ = f.Close()
	if err != nil {
		return fmt.Errorf("wrapping a socket: %w", err)
	}
	raw, err := shell.(syscall.Conn).SyscallConn()
	if err == nil {
		ctlErr := raw.Control(func(fd uintptr) { err = unix.Dup3(d.fd, int(fd), unix.O_CLOEXEC) })
		if ctlErr != nil {
			err = ctlErr
		}
	}
	if err != nil {
		_ = shell.Close()
		return fmt.Errorf("replacing a socket's descriptor: %w", err)
	}
	if _, err = c.EnrollContext(shell, d); err != nil { // closes shell
		return fmt.Errorf("enrolling: %w", err)
	}
	return nil
}

func (d *device) close() {
	if d.fd > 0 {
		_ = unix.Close(d.fd)
		d.fd = -1
	}
}
