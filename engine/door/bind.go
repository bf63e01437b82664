package door

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// bind takes the address for this door. The engines' listeners share the port
// among each other by SO_REUSEPORT, which would also let a second server of the
// same user take half of the connections without anybody noticing; so the port
// is first bound without it, which fails if somebody listens there. The socket
// never listens and is kept, so that the port stays ours.
func bind(addr string) (fd int, at netip.AddrPort, network, address string, err error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return -1, at, "", "", err
	}
	network = "tcp" // no host: every address of both families
	family := unix.AF_INET6
	var sa unix.Sockaddr
	switch ip, _ := netip.AddrFromSlice(tcp.IP); {
	case ip.Is4() || ip.Is4In6():
		network, family = "tcp4", unix.AF_INET
		sa = &unix.SockaddrInet4{Port: tcp.Port, Addr: ip.Unmap().As4()}
	case ip.Is6():
		network = "tcp6"
		sa = &unix.SockaddrInet6{Port: tcp.Port, Addr: ip.As16()}
	default:
		sa = &unix.SockaddrInet6{Port: tcp.Port}
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, at, "", "", fmt.Errorf("socket: %w", err)
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd)
			fd = -1
		}
	}()
	if family == unix.AF_INET6 {
		only := 0
		if network == "tcp6" {
			only = 1
		}
		if err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only); err != nil {
			return fd, at, "", "", fmt.Errorf("setting IPV6_V6ONLY: %w", err)
		}
	}
	// Connections of an earlier server in TIME_WAIT do not count.
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fd, at, "", "", fmt.Errorf("setting SO_REUSEADDR: %w", err)
	}
	if err = unix.Bind(fd, sa); err != nil {
		return fd, at, "", "", fmt.Errorf("bind: %w", err)
	}
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return fd, at, "", "", fmt.Errorf("setting SO_REUSEPORT: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fd, at, "", "", fmt.Errorf("getsockname: %w", err)
	}
	switch sa := name.(type) {
	case *unix.SockaddrInet4:
		at = netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		at = netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	address = at.String()
	if network == "tcp" {
		address = ":" + strconv.Itoa(int(at.Port()))
	}
	return fd, at, network, address, nil
}
