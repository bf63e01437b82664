package dial

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSources(t *testing.T) {
	local, remote := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.0.2.1")
	for _, c := range []struct {
		server netip.Addr
		n      int
		want   string
	}{
		{local, 0, "invalid IP"},
		{local, 19_999, "invalid IP"},
		{local, 20_000, "127.0.0.2"},
		{local, 199_999, "127.0.0.10"},
		{remote, 150_000, "invalid IP"},
		{netip.MustParseAddr("::1"), 150_000, "invalid IP"},
	} {
		if got := Source(c.server, c.n).String(); got != c.want {
			t.Errorf("connection %d to %v is made from %s, want %s", c.n, c.server, got, c.want)
		}
	}
}

func TestTCP(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := netip.MustParseAddrPort(l.Addr().String())
	for _, from := range []netip.Addr{{}, netip.MustParseAddr("127.0.0.7")} {
		fd, err := TCP(server, from)
		if err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got := netip.MustParseAddrPort(c.RemoteAddr().String()).Addr(); from.IsValid() && got != from {
			t.Errorf("came from %v, not %v", got, from)
		}
		if v, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || v == 0 {
			t.Errorf("small writes are gathered: %v %v", v, err)
		}
		c.Close()
		if err := unix.Close(fd); err != nil {
			t.Error(err)
		}
	}
	l.Close()
	if _, err := TCP(server, netip.Addr{}); err == nil {
		t.Error("connected to a closed port")
	}
}

func TestRaiseFiles(t *testing.T) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	if err := RaiseFiles(int(l.Cur)); err != nil {
		t.Error(err)
	}
	if err := RaiseFiles(1 << 40); err == nil {
		t.Error("a trillion descriptors are allowed")
	}
}
