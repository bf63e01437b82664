package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine"
	"gamehoster/engine/box"
	"gamehoster/engine/gate"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// knock asks for an upgrade in the name of an address, as a proxy on this machine does,
// and returns the connection and the status line.
func knock(t *testing.T, s *server, from string) (net.Conn, string) {
	t.Helper()
	c, err := net.Dial("tcp", s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(await.Patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /pong HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", from)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return c, strings.TrimSpace(line)
}

func TestAnAddressHoldsSoManySockets(t *testing.T) {
	const in, out = "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 429 Too Many Requests"
	s := serve(t, engine.Config{Dir: samples, Limits: gate.Limits{Sockets: 3, Upgrades: 1000}})
	var held []net.Conn
	for range 3 {
		c, line := knock(t, s, "192.0.2.7")
		if line != in {
			t.Fatal(line)
		}
		held = append(held, c)
	}
	await.True(t, "the address to be full", func() bool {
		c, line := knock(t, s, "192.0.2.7")
		c.Close()
		return line == out
	})
	if !s.log.contains("sockets refused", "peer=192.0.2.7", "times=1") {
		t.Error("the refusal is not in the log")
	}
	for _, other := range []string{"192.0.2.8", "2001:db8::7", "127.0.0.1"} {
		if _, line := knock(t, s, other); line != in {
			t.Errorf("%s: %s", other, line)
		}
	}
	for _, c := range held {
		c.Close()
	}
	await.True(t, "the address to have room again", func() bool {
		c, line := knock(t, s, "192.0.2.7")
		c.Close()
		return line == in
	})
}

// TestACrowdedLoopTurnsAway wants newcomers to be told, before they are promised a seat,
// that they had better come later, and their seats to be free again.
func TestACrowdedLoopTurnsAway(t *testing.T) {
	log := &logbook{}
	b, err := engine.New(engine.Config{Addr: anyPort, Dir: samples, Loops: 1, Transport: transport, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	defer func() {
		if err := b.Run(ctx); err != nil {
			t.Errorf("the box ended with %v", err)
		}
	}()
	var req ws.Request
	ask := ws.Dial{Host: "play.example.com", Target: "/pong"}
	if err := req.Parse(ask.AppendRequest(nil)); err != nil {
		t.Fatal(err)
	}
	if err := req.Handshake(); err != nil {
		t.Fatal(err)
	}
	reason := wire.CloseReason(wire.CloseBoxFull)
	for range 5 {
		d := b.RouteCrowded(&req, netip.MustParseAddrPort("127.0.0.1:4000"))
		if d.Target != nil || !strings.HasPrefix(string(d.Response), "HTTP/1.1 101 ") || !strings.HasSuffix(string(d.Response), reason) {
			t.Fatalf("answered %q", d.Response)
		}
	}
	if !log.contains("sockets refused", "behind", "code=4009") {
		t.Error("the refusal is not in the log")
	}
	for _, g := range b.Games() {
		if l := g.Table.Load(); l != (box.Load{}) {
			t.Errorf("%s: the table counts %+v", g.Name, l)
		}
	}
}

// TestADeadSocketGivesItsSeatBack hands a loop a socket whose peer is gone already.
func TestADeadSocketGivesItsSeatBack(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples, Loops: 1, Transport: transport})
	var req ws.Request
	ask := ws.Dial{Host: "play.example.com", Target: "/pong"}
	if err := req.Parse(ask.AppendRequest(nil)); err != nil {
		t.Fatal(err)
	}
	if err := req.Handshake(); err != nil {
		t.Fatal(err)
	}
	taken := func() (n int) {
		for _, g := range s.Games() {
			n += g.Table.Load().Pending
		}
		return n
	}
	d := s.Route(&req, netip.MustParseAddrPort("127.0.0.1:4000"))
	if d.Target == nil || taken() != 1 {
		t.Fatalf("%d seats are taken, answered %q", taken(), d.Response)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Target.Take(fd, nil); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the seat to be free", func() bool { return taken() == 0 })
}

// TestASeatGivenUpTurnsItsSocketAway has a seat expire between the decision and the socket.
func TestASeatGivenUpTurnsItsSocketAway(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples, Loops: 1, Transport: transport})
	var req ws.Request
	ask := ws.Dial{Host: "play.example.com", Target: "/pong"}
	if err := req.Parse(ask.AppendRequest(nil)); err != nil {
		t.Fatal(err)
	}
	if err := req.Handshake(); err != nil {
		t.Fatal(err)
	}
	d := s.Route(&req, netip.MustParseAddrPort("127.0.0.1:4000"))
	for _, g := range s.Games() {
		g.Table.Expire(math.MaxInt64 - 1)
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[1])
	if err := d.Target.Take(ends[0], nil); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 256)
	n, err := unix.Read(ends[1], got)
	want := string(ws.AppendClose(nil, ws.CloseCode(wire.CloseDraining), wire.CloseReason(wire.CloseDraining)))
	if err != nil || string(got[:n]) != want {
		t.Errorf("it was told %q, %v", got[:n], err)
	}
	if n, err := unix.Read(ends[1], got); n != 0 || err != nil {
		t.Errorf("then %d bytes came, %v", n, err)
	}
}

func TestALogLineIsShort(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples})
	if _, err := tryDial(t, s.addr, "/"+strings.Repeat("x", 7000), "https://"+strings.Repeat("y", 900)); err == nil {
		t.Fatal("a game of 7000 letters was found")
	}
	await.True(t, "the refusal to be logged", func() bool { return s.log.contains("socket refused", "path=/xxx", "origin=https://yyy") })
	if s.log.contains(strings.Repeat("x", 200)) || s.log.contains(strings.Repeat("y", 200)) {
		t.Error("all of it is in the log")
	}
}
