package engine_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// The sieges run against a box in a process of its own, so that its memory can be
// measured and both sides have descriptors enough. The process is this test binary.
const siegeServer = "GAMEHOSTER_SIEGE_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(workerProcess) != "" {
		beWorker()
	}
	if os.Getenv(siegeServer) == "" {
		// Tests that are parallel wait for seconds to pass, whatever the number of cores.
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	b, err := engine.New(childConfig())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(b.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		os.Stdin.Read(make([]byte, 1)) // ends with the test
		cancel()
	}()
	if err := b.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type besieged struct {
	t    *testing.T
	addr netip.AddrPort
	pid  int
}

func besiege(t *testing.T) *besieged {
	t.Helper()
	return child(t, os.Stderr)
}

// child runs a box in a process of its own for the length of a test, with variables added
// to its environment.
func child(t *testing.T, stderr io.Writer, env ...string) *besieged {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), siegeServer+"=1"), env...)
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the besieged server ended with %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, err := netip.ParseAddrPort(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return &besieged{t: t, addr: addr, pid: cmd.Process.Pid}
}

// resident is the server's memory in bytes.
func (b *besieged) resident() int {
	b.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", b.pid))
	if err != nil {
		b.t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// keepsTime plays some send ticks with an honest player and checks that the server
// accounts for all the time that has passed: each tick that was due ran, or is counted
// as dropped because the whole machine was too busy.
func (b *besieged) keepsTime(p *peer) {
	b.t.Helper()
	from, missed, began := p.now(), b.missed(p), time.Now()
	p.play(30)
	ran, due := int(p.now()-from), time.Since(began).Seconds()*30
	dropped := b.missed(p) - missed
	if total := float64(ran + dropped); total < due*0.9-10 || total > due*1.1+10 {
		b.t.Errorf("%d ticks ran and %d were dropped where %.0f were due", ran, dropped, due)
	}
}

// missed is how many ticks of a player's instance the server says it has dropped.
func (b *besieged) missed(p *peer) int {
	b.t.Helper()
	resp, err := http.Get("http://" + b.addr.String() + "/_dev/stats")
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	var report struct {
		Games map[string]struct {
			Instances []struct {
				Name   string
				Missed int
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&report); err != nil {
		b.t.Fatal(err)
	}
	for _, g := range report.Games {
		for _, in := range g.Instances {
			if in.Name == string(p.welcome.Name) {
				return in.Missed
			}
		}
	}
	b.t.Fatalf("the server does not know the instance %s", p.welcome.Name)
	return 0
}

func (b *besieged) connect() net.Conn {
	b.t.Helper()
	c, err := net.Dial("tcp", b.addr.String())
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func TestSiegeOfHalfOpenUpgrades(t *testing.T) {
	b := besiege(t)
	honest := dial(t, b.addr, "/asteroids")
	honest.until(wire.TagSnapshot)
	honest.play(5)
	before := b.resident()
	var open []net.Conn
	for i := range 10_000 {
		c := b.connect()
		if _, err := fmt.Fprintf(c, "GET /asteroids HTTP/1.1\r\nHost: a%d\r\nUpgra", i); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	grown := b.resident() - before
	t.Logf("10,000 half-open upgrades: %.1f KB each", float64(grown)/10_000/1024)
	if grown > 10_000*8<<10 {
		t.Errorf("10,000 half-open upgrades took %d MB", grown>>20)
	}
	b.keepsTime(honest)
	// All of them are cut once their time for a head is over.
	for _, c := range open {
		c.SetReadDeadline(time.Now().Add(await.Patience))
		if _, err := c.Read(make([]byte, 1<<10)); err != nil {
			if nerr, ok := err.(net.Error); ok && nerr.Timeout() {
				t.Fatal("a half-open upgrade was not cut")
			}
		}
		c.Close()
	}
}

func TestSiegeOfGarbageAndSlowHeads(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	honest := dial(t, b.addr, "/asteroids")
	honest.until(wire.TagSnapshot)
	for range 500 {
		c := b.connect()
		junk := make([]byte, 2000)
		rand.Read(junk)
		c.Write(junk) // the server may have closed in the middle
		c.Close()
	}
	// A byte a second never gets a head done: the time for it runs from the accept.
	slow := b.connect()
	defer slow.Close()
	head := "GET /asteroids HTTP/1.1\r\nHost: slow\r\n"
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	cut := make(chan error, 1)
	go func() {
		slow.SetReadDeadline(time.Now().Add(await.Patience))
		_, err := slow.Read(make([]byte, 1<<10))
		cut <- err
	}()
	for i := 0; ; i++ {
		select {
		case err := <-cut:
			if nerr, ok := err.(net.Error); ok && nerr.Timeout() {
				t.Fatal("a head of one byte a second was waited for")
			}
			b.keepsTime(honest)
			return
		case <-tick.C:
			if _, err := slow.Write([]byte{head[i%len(head)]}); err != nil {
				continue // cut; the reader says so
			}
			honest.play(10)
		}
	}
}

func TestSiegeOfSocketsThatNeverRead(t *testing.T) {
	b := besiege(t)
	honest := dial(t, b.addr, "/asteroids?name=honest")
	honest.until(wire.TagSnapshot)
	for range 40 {
		p := dial(t, b.addr, "/asteroids")
		raw, err := p.conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1)
		})
		// Pings beyond the flood limit would close it; these many answers nobody reads.
		for range 200 {
			p.write(ws.AppendMasked(nil, ws.OpBinary, mask, wire.Ping{Nonce: 1}.Append(nil)))
		}
	}
	before := b.resident()
	b.keepsTime(honest)
	b.keepsTime(honest)
	if grown := b.resident() - before; grown > 32<<20 {
		t.Errorf("40 sockets that never read took %d MB", grown>>20)
	}
}
