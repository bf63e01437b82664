package engine_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/gate"
	"gamehoster/engine/internal/await"
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
