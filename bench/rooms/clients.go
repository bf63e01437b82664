// Package rooms plays Asteroids on other servers than ours: Colyseus rooms
// (bench/peers/colyseus), and what one would write at home (bench/peers/asteroids.mjs,
// bench/home). Clients connect over WebSockets, steer, ping, and count the states that come. They
// look at no state, as most bots of bench/bots do not either.
//
//	Colyseus                                       plain
//	POST matchmake/joinOrCreate   a seat
//	GET  processId/roomId         101              GET /          101 and a seat
//	  <- 10 JOIN_ROOM, -> 10      the seat is taken
//	  <- 14 ROOM_STATE            all there is
//	  <- 15 ROOM_STATE_PATCH      by a schedule      <- 1 state    all there is, likewise
//	  -> 13 ROOM_DATA "steer"     likewise           -> 1 turn, thrust and fire
//	  -> 18 PING, <- 18           once a second      -> 2, <- 2
package rooms

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"gamehoster/bench/latency"
	"gamehoster/bench/proc"
)

// Spec says what the clients do. Durations are nanoseconds in JSON.
type Spec struct {
	Addr     string        `json:"addr"`
	Protocol Protocol      `json:"protocol"`
	Clients  int           `json:"clients"`
	Commands float64       `json:"commands"` // a second and client
	Send     time.Duration `json:"send"`     // the time between two states
	Settle   time.Duration `json:"settle"`
	Measure  time.Duration `json:"measure"`
	Watch    []int         `json:"watch"` // processes to measure
	Calls    time.Duration `json:"calls"` // how long their system calls are counted, after the measured part
}

// Report is what they saw in the measured part.
type Report struct {
	Seconds   float64         `json:"seconds"`
	States    int64           `json:"states"` // or patches
	Bytes     int64           `json:"bytes"`  // of those, with frame headers
	Commands  int64           `json:"commands"`
	Late      latency.Summary `json:"late"`      // states, corrected for those that did not come
	RoundTrip latency.Summary `json:"roundTrip"` // pings, from when they were due
	Watch     []proc.Usage    `json:"watch"`
	Calls     []float64       `json:"calls,omitempty"` // of each watched process: system calls a second; none where they cannot be counted
	Clients   proc.Usage      `json:"clients"`         // what this process took
}

// pingPeriod is the time between a client's pings.
const pingPeriod = time.Second

// joiners is how many clients join at a time.
const joiners = 16

// fleet is all clients.
type fleet struct {
	spec      Spec
	protocol  *protocol
	mu        sync.Mutex // of what follows
	measuring bool
	report    Report
	late      *latency.Histogram
	trips     *latency.Histogram
	failed    error
}

// Main plays a spec, given as JSON, and writes the Report as JSON.
func Main(ctx context.Context, spec string, out io.Writer) error {
	var s Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return fmt.Errorf("reading the clients' spec: %w", err)
	}
	r, err := Run(ctx, s)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return fmt.Errorf("writing the clients' report: %w", err)
	}
	return nil
}

// Read reads what Main writes.
func Read(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("reading the clients' report: %w", err)
	}
	return &report, nil
}

// Run plays.
func Run(ctx context.Context, s Spec) (*Report, error) {
	p := protocols[s.Protocol]
	if p == nil {
		return nil, fmt.Errorf("clients of %q: there is no such protocol", s.Protocol)
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &fleet{spec: s, protocol: p, late: latency.New(), trips: latency.New()}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	clients := make([]*client, s.Clients)
	joined := make(chan error, s.Clients)
	free := make(chan struct{}, joiners)
	for i := range clients {
		go func() {
			free <- struct{}{}
			var err error
			clients[i], err = f.join(ctx)
			<-free
			joined <- err
		}()
	}
	var err error
	for range clients {
		err = errors.Join(err, <-joined)
	}
	for _, c := range clients {
		if c != nil {
			context.AfterFunc(ctx, func() { c.conn.Close() })
		}
	}
	if err != nil {
		return nil, fmt.Errorf("joining: %w", err)
	}
	for _, c := range clients {
		running.Go(func() { f.end(ctx, c.read()) })
		running.Go(func() { f.end(ctx, c.write(ctx)) })
	}
	if err := f.wait(ctx, s.Settle); err != nil {
		return nil, err
	}
	watched := append([]int{os.Getpid()}, s.Watch...)
	before, err := proc.ReadAll(watched)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	f.measure(true)
	if err := f.wait(ctx, s.Measure); err != nil {
		return nil, err
	}
	f.measure(false)
	after, err := proc.ReadAll(watched)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	calls, err := f.countCalls(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.report
	r.Seconds, r.Calls = seconds, calls
	r.Late, r.RoundTrip = f.late.Summary(nil), f.trips.Summary(nil)
	r.Clients = after[0].Since(before[0])
	for i := range s.Watch {
		r.Watch = append(r.Watch, after[i+1].Since(before[i+1]))
	}
	return &r, nil
}

// countCalls plays on, and counts the system calls of those that are watched.
func (f *fleet) countCalls(ctx context.Context) (calls []float64, err error) {
	if f.spec.Calls <= 0 {
		return nil, nil
	}
	all, err := proc.CountAll(f.spec.Watch, func() error { return f.wait(ctx, f.spec.Calls) })
	if errors.Is(err, proc.ErrNoCalls) {
		return nil, nil
	}
	for _, n := range all {
		calls = append(calls, float64(n)/f.spec.Calls.Seconds())
	}
	return calls, err
}

// wait lets time pass. A client that failed meanwhile is an error.
func (f *fleet) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

func (f *fleet) measure(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.measuring = on
}

// end notes why a client's part is over, unless all are to be.
func (f *fleet) end(ctx context.Context, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil && f.failed == nil {
		f.failed = err
	}
}

// client is one of them.
type client struct {
	fleet *fleet
	conn  net.Conn
	in    *bufio.Reader
	buf   []byte
	last  time.Time // when a state came

	mu     sync.Mutex
	pinged time.Time // when the ping that is out was due; zero if none is
}

// join takes a seat and connects.
func (f *fleet) join(ctx context.Context) (*client, error) {
	target, err := f.protocol.seat(ctx, f.spec.Addr)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", f.spec.Addr)
	if err != nil {
		return nil, err
	}
	c := &client{fleet: f, conn: conn, in: bufio.NewReaderSize(conn, 1<<12)}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", target, f.spec.Addr)
	answer, err := http.ReadResponse(c.in, nil)
	if err == nil && answer.StatusCode != http.StatusSwitchingProtocols {
		err = errors.New(answer.Status)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("upgrading: %w", err)
	}
	return c, nil
}

// send writes one message. Its mask is of zeros, so the payload stays what it is.
func (c *client) send(payload ...byte) error {
	frame := append([]byte{0x82, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
	_, err := c.conn.Write(frame)
	return err
}

// read takes what comes until the connection ends.
func (c *client) read() error {
	for {
		op, payload, size, err := c.frame()
		if err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		if op == 8 {
			return fmt.Errorf("the server closed the connection: %q", payload)
		}
		if op != 2 || len(payload) == 0 {
			continue
		}
		switch p := c.fleet.protocol; p.kind(payload) {
		case joined:
			if err := c.send(p.ready...); err != nil {
				return fmt.Errorf("joining: %w", err)
			}
		case state:
			c.state(size)
		case pong:
			c.pong()
		}
	}
}

const maxFrame = 1 << 20

func (c *client) frame() (op byte, payload []byte, size int, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:2]); err != nil {
		return 0, nil, 0, err
	}
	op = head[0] & 15
	n, size := int(head[1]&127), 2
	switch n {
	case 126:
		_, err = io.ReadFull(c.in, head[:2])
		n, size = int(binary.BigEndian.Uint16(head[:])), 4
	case 127:
		_, err = io.ReadFull(c.in, head[:8])
		n, size = int(min(binary.BigEndian.Uint64(head[:]), maxFrame+1)), 10
	}
	if err == nil && n > maxFrame {
		err = fmt.Errorf("a frame of more than %d bytes", maxFrame)
	}
	if err != nil {
		return 0, nil, 0, err
	}
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	payload = c.buf[:n]
	_, err = io.ReadFull(c.in, payload)
	return op, payload, size + n, err
}

func (c *client) state(size int) {
	now := time.Now()
	late := now.Sub(c.last) - c.fleet.spec.Send
	first := c.last.IsZero()
	c.last = now
	f := c.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.measuring || first {
		return
	}
	f.report.States++
	f.report.Bytes += int64(size)
	f.late.RecordCorrected(late, f.spec.Send)
}

func (c *client) pong() {
	c.mu.Lock()
	took := time.Since(c.pinged)
	known := !c.pinged.IsZero()
	c.pinged = time.Time{}
	c.mu.Unlock()
	f := c.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.measuring && known {
		f.trips.Record(took)
	}
}

// write steers and pings by a schedule of its own.
func (c *client) write(ctx context.Context) error {
	period := time.Duration(float64(time.Second) / c.fleet.spec.Commands)
	start := time.Now()
	steer, ping := start.Add(rand.N(period)), start.Add(rand.N(pingPeriod))
	for {
		due, pings := steer, ping.Before(steer)
		if pings {
			due = ping
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(due)):
		}
		if pings {
			ping = ping.Add(pingPeriod)
			c.mu.Lock()
			out := !c.pinged.IsZero()
			if !out {
				c.pinged = due
			}
			c.mu.Unlock()
			if out {
				continue // the last one waits still: it counts from when it was due
			}
			if err := c.send(c.fleet.protocol.ping...); err != nil {
				return fmt.Errorf("pinging: %w", err)
			}
			continue
		}
		steer = steer.Add(period)
		if err := c.steer(); err != nil {
			return fmt.Errorf("steering: %w", err)
		}
	}
}

// steer sends a command of chance.
func (c *client) steer() error {
	flag := func() bool { return rand.IntN(2) == 1 }
	if err := c.send(c.fleet.protocol.steer(rand.IntN(3)-1, flag(), flag())...); err != nil {
		return err
	}
	f := c.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.measuring {
		f.report.Commands++
	}
	return nil
}
