// Package conditioner puts a bad network between clients and a server that sit on one
// machine: a TCP proxy whose connections are as late, uneven, halting and narrow as
// wire/line says. Bots and browsers dial it in place of the server.
//
//	client <==> socket  reader --> line.Pipe --> writer  socket <==> server
//	                    writer <-- line.Pipe <-- reader
//
// A connection is four goroutines, a reader and a writer each way, which share nothing
// but the pipe between them. A pipe that is full stops its reader, so that a client
// that does not read, or a line that is narrower than what is sent, is felt by the
// server as on a real network. The end of one direction travels behind its last byte
// and leaves the other direction open; a connection that breaks at one end breaks at
// the other at once.
package conditioner

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"gamehoster/wire/line"
)

// narrowBuffer is the size of the sockets' buffers where the line has a bound, in
// bytes: those of the system take seconds of such a line. Below the size of a loopback
// segment, 64 KiB, TCP would itself begin to stall.
const narrowBuffer = 64 << 10

// chunk is how many bytes a reader or writer moves at once.
const chunk = 32 << 10

// Proxy carries connections from a port to a server.
type Proxy struct {
	listener   *net.TCPListener
	server     string
	conditions line.Conditions
	done       chan struct{} // closed by Close
	closing    sync.Once
	running    sync.WaitGroup
}

// Start carries what l accepts to the server's address, host:port, under conditions
// that Validate has found fine. The proxy closes l. Connections differ by the order in
// which they come.
func Start(l *net.TCPListener, server string, c line.Conditions) *Proxy {
	p := &Proxy{listener: l, server: server, conditions: c, done: make(chan struct{})}
	p.running.Go(p.accept)
	return p
}

// Addr is where clients reach the proxy.
func (p *Proxy) Addr() netip.AddrPort { return p.listener.Addr().(*net.TCPAddr).AddrPort() }

// Close breaks all connections and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() {
	p.closing.Do(func() {
		close(p.done)
		_ = p.listener.Close() // nothing is lost with it
	})
	p.running.Wait()
}

func (p *Proxy) accept() {
	for n := uint64(0); ; n++ {
		client, err := p.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // one that is gone already, or a process without descriptors
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-p.done:
				return
			}
		}
		p.running.Go(func() { p.carry(client, n) })
	}
}

// carry joins the n-th client with the server until both directions have ended or one
// end broke.
func (p *Proxy) carry(client *net.TCPConn, n uint64) {
	c := &connection{begun: time.Now(), broken: make(chan struct{})}
	c.ends[0] = client
	defer c.close()
	conn, err := net.Dial("tcp", p.server)
	if err != nil {
		c.abort()
		return
	}
	c.ends[1] = conn.(*net.TCPConn)
	if p.conditions.Bandwidth > 0 {
		for _, e := range c.ends {
			_ = e.SetReadBuffer(narrowBuffer) // where it fails, a queue is longer than it was to be
			_ = e.SetWriteBuffer(narrowBuffer)
		}
	}
	there, back := p.conditions.Lines(n)
	var both sync.WaitGroup
	c.direction(&both, c.ends[0], c.ends[1], there)
	c.direction(&both, c.ends[1], c.ends[0], back)
	ended := make(chan struct{})
	go func() {
		both.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-p.done:
		c.abort()
		<-ended
	}
}

// connection is a client's socket and the one to the server.
type connection struct {
	begun  time.Time
	ends   [2]*net.TCPConn // the second is nil until it is dialled
	broken chan struct{}   // closed by abort
	once   sync.Once
}

// now is the time on the connection's lines.
func (c *connection) now() time.Duration { return time.Since(c.begun) }

// abort breaks both ends, so that whoever is blocked on one returns. What is under way
// is lost.
func (c *connection) abort() {
	c.once.Do(func() {
		close(c.broken)
		for _, e := range c.ends {
			if e != nil {
				_ = e.SetLinger(0) // the other side is to see it as broken, too
				_ = e.Close()
			}
		}
	})
}

// close gives the sockets back after both directions have ended.
func (c *connection) close() {
	for _, e := range c.ends {
		if e != nil {
			_ = e.Close() // abort may have
		}
	}
}

// direction carries bytes from one end to the other over a line, in two goroutines.
func (c *connection) direction(wait *sync.WaitGroup, from, to *net.TCPConn, l *line.Line) {
	d := &direction{pipe: line.NewPipe(l), room: make(chan struct{}, 1), more: make(chan struct{}, 1)}
	wait.Go(func() { c.read(from, d) })
	wait.Go(func() { c.write(to, d) })
}

// direction is a pipe between its reader and its writer.
type direction struct {
	mu   sync.Mutex
	pipe *line.Pipe
	room chan struct{} // has a token since something came out
	more chan struct{} // has a token since something went in
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// read puts what an end sends into the pipe, as far as there is room.
func (c *connection) read(from *net.TCPConn, d *direction) {
	buf := make([]byte, chunk)
	for {
		d.mu.Lock()
		room := d.pipe.Room()
		d.mu.Unlock()
		if room == 0 {
			select {
			case <-d.room:
				continue
			case <-c.broken:
				return
			}
		}
		n, err := from.Read(buf[:min(room, chunk)])
		end := errors.Is(err, io.EOF)
		d.mu.Lock()
		d.pipe.Write(c.now(), buf[:n])
		if end {
			d.pipe.CloseWrite(c.now())
		}
		d.mu.Unlock()
		signal(d.more)
		if err != nil {
			if !end {
				c.abort()
			}
			return
		}
	}
}

// write hands an end what comes out of the pipe, when it does.
func (c *connection) write(to *net.TCPConn, d *direction) {
	buf := make([]byte, chunk)
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		d.mu.Lock()
		n, end := d.pipe.Read(c.now(), buf)
		next, ok := d.pipe.Next()
		d.mu.Unlock()
		if n > 0 {
			signal(d.room)
			if _, err := to.Write(buf[:n]); err != nil {
				c.abort()
				return
			}
		}
		if end {
			if err := to.CloseWrite(); err != nil {
				c.abort()
			}
			return
		}
		if n > 0 {
			continue // writing took its time
		}
		var timer <-chan time.Time
		if ok {
			due.Reset(next - c.now())
			timer = due.C
		}
		select {
		case <-timer:
		case <-d.more:
		case <-c.broken:
			return
		}
	}
}
