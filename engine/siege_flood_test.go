package engine_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
	"gamehoster/wire"
)

// files is how many descriptors the server has open.
func (b *besieged) files() int {
	b.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.pid))
	if err != nil {
		b.t.Fatal(err)
	}
	return len(list)
}

// knocks asks for a socket of a game that is not there, by a proxy in the name of an
// address, and reads the refusal to its end.
func (b *besieged) knocks(n int) error {
	c, err := net.Dial("tcp", b.addr.String())
	if err != nil {
		return err
	}
	defer c.Close()
	// No port is to wait for stragglers of a connection that both sides know to be over.
	if err := c.(*net.TCPConn).SetLinger(0); err != nil {
		return err
	}
	if err := c.SetDeadline(time.Now().Add(await.Patience)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "GET /game-%d HTTP/1.1\r\nHost: host-%d.example\r\nX-Forwarded-For: 2001:db8:%x:%x::1\r\nUpgrade: websocket\r\n"+
		"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", n, n, n>>12, n&0xFFF); err != nil {
		return err
	}
	r := bufio.NewReaderSize(c, 512)
	line, err := r.ReadString('\n')
	if err != nil || line != "HTTP/1.1 404 Not Found\r\n" {
		return fmt.Errorf("answered %q: %w", line, err)
	}
	_, err = io.Copy(io.Discard, r)
	return err
}

// flood knocks as often as it is told, some at a time, and tells what it took.
func (b *besieged) flood(times int) time.Duration {
	b.t.Helper()
	began := time.Now()
	var knocking sync.WaitGroup
	failed := make(chan error, 16)
	for from := range cap(failed) {
		knocking.Go(func() {
			for n := from; n < times; n += cap(failed) {
				if err := b.knocks(n); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	knocking.Wait()
	close(failed)
	for err := range failed {
		b.t.Errorf("a knock: %v", err)
	}
	return time.Since(began)
}

// TestSiegeOfUnknownGames has 50,000 come, each from an address of its own, who want
// games that there are not: they leave nothing but some lines in the log.
func TestSiegeOfUnknownGames(t *testing.T) {
	times := 50_000
	if testing.Short() || transport != "" { // it is the door's business, not the loops'
		times = 5_000
	}
	var log logbook
	b := child(t, &log, childLimited+"=nofile=1024")
	honest := dial(t, b.addr, "/asteroids")
	honest.until(wire.TagSnapshot)
	b.flood(times / 10) // what comes once is there
	memory, files := b.resident(), b.files()
	lines := log.lines()
	took := b.flood(times)
	seconds := int(took/time.Second) + 2
	await.True(t, "descriptors to be closed", func() bool { return b.files() <= files+2 })
	honest.play(30) // its game goes on
	grown, told := b.resident()-memory, log.lines()-lines
	t.Logf("%d in %v, %d KB of memory more, %d lines in the log", times, took.Round(time.Millisecond), grown>>10, told)
	if grown > 8<<20 {
		t.Errorf("they left %d KB behind", grown>>10)
	}
	// At most twenty lines a second, and a count.
	if most := 21 * seconds; told > most {
		t.Errorf("%d lines in %d seconds, at most %d", told, seconds, most)
	}
	await.True(t, "the others to be counted", func() bool { return log.contains("sockets refused", "times=") })
}

// lines is how many there are.
func (l *logbook) lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "\n")
}
