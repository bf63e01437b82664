// Package dial opens many TCP connections from one machine, for benchmarks' clients.
//
// A connection is told from others by four numbers, so from one address to one server
// there are only as many as the kernel has ephemeral ports: 28,232 usually. To a server on
// this machine more are made from further addresses of 127.0.0.0/8.
package dial

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// perSource is how many connections share a source address: few enough for any
// usual range of ephemeral ports, with those of connections that ended lately.
const perSource = 20_000

// Source is the address that connection number n, from 0, to a server is made from. The
// zero Addr leaves it to the kernel.
func Source(server netip.Addr, n int) netip.Addr {
	if !server.Is4() || !server.IsLoopback() || n < perSource {
		return netip.Addr{}
	}
	k := n/perSource + 1 // from 127.0.0.2 on
	return netip.AddrFrom4([4]byte{127, 0, byte(k >> 8), byte(k)})
}

// TCP connects, and waits for it. The descriptor is blocking, closes on exec and does not
// gather small writes; the caller owns it. What prepares the socket runs before it connects.
func TCP(server netip.AddrPort, from netip.Addr, prepare ...func(fd int) error) (fd int, err error) {
	family := unix.AF_INET6
	if server.Addr().Is4() {
		family = unix.AF_INET
	}
	if fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, fmt.Errorf("making a socket: %w", err)
	}
	for _, p := range prepare {
		if err = p(fd); err != nil {
			break
		}
	}
	if err == nil {
		err = connect(fd, server, from)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("connecting to %v: %w", server, err)
	}
	return fd, nil
}

func connect(fd int, server netip.AddrPort, from netip.Addr) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return err
	}
	if from.IsValid() {
		// The port is chosen by connect, which may take one that is in use towards others.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
			return err
		}
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(from, 0))); err != nil {
			return err
		}
	}
	for {
		err := unix.Connect(fd, sockaddr(server))
		switch err {
		case unix.EINTR: // it goes on, and is asked about again
		case unix.EALREADY, unix.EINPROGRESS:
		case unix.EISCONN:
			return nil
		default:
			return err
		}
		if err := settled(fd); err != nil {
			return err
		}
	}
}

// settled waits until a connection that a signal has interrupted is made or refused.
func settled(fd int) error {
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		if _, err := unix.Poll(p, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			return err
		}
		n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && n != 0 {
			err = unix.Errno(n)
		}
		return err
	}
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// RaiseFiles raises the process's limit of open descriptors to n, where it is lower and
// the system allows it. Children inherit it.
func RaiseFiles(n int) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("asking for the limit of descriptors: %w", err)
	}
	if l.Cur >= uint64(n) {
		return nil
	}
	want := unix.Rlimit{Cur: uint64(n), Max: max(l.Max, uint64(n))}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &want); err != nil {
		return fmt.Errorf("%d descriptors are needed and %d allowed (ulimit -n %d as root): %w", n, l.Max, n, err)
	}
	return nil
}
