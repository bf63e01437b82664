package door

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"gamehoster/wire/ws"
)

const (
	partingTime  = int64(time.Second) // for a refused peer to read its answer
	partingBytes = 256 << 10          // that it may still send meanwhile
)

// engine is one accepting gnet engine. What is below mu may be touched by other
// goroutines that hold it, the rest belongs to gnet's event loop.
type engine struct {
	door     *Door
	client   *gnet.Client // what it is with Config.Listeners; nil without
	room     int          // its share of Config.MaxPending
	waiting  fifo
	parting  fifo
	request  ws.Request
	known    bool // loop below is set
	bootOnce sync.Once
	booted   chan struct{} // closed when it listens for the first time

	mu   sync.Mutex
	gnet gnet.Engine
	up   bool           // between OnBoot and OnShutdown
	loop gnet.EventLoop // known from the first connection on; before, there is nothing to sweep
}

// OnBoot implements gnet.EventHandler.
func (e *engine) OnBoot(g gnet.Engine) gnet.Action {
	e.mu.Lock()
	e.gnet, e.up, e.loop, e.known = g, true, nil, false
	e.mu.Unlock()
	e.bootOnce.Do(func() { close(e.booted) })
	select {
	case <-e.door.stopping: // stop may have looked before this boot
		e.stop()
	default:
	}
	return gnet.None
}

// OnShutdown implements gnet.EventHandler. From here on gnet may close its own
// descriptors, so nothing may wake it any more.
func (e *engine) OnShutdown(gnet.Engine) {
	e.mu.Lock()
	e.up, e.loop = false, nil
	e.mu.Unlock()
}

// OnTick implements gnet.EventHandler; it runs elsewhere than the event loop and
// is not used.
func (e *engine) OnTick() (time.Duration, gnet.Action) { return time.Hour, gnet.None }

func (e *engine) stop() {
	if e.client != nil {
		_ = e.client.Stop()
		return
	}
	e.mu.Lock()
	g, up := e.gnet, e.up
	e.mu.Unlock()
	if up {
		_ = g.Stop(stopped())
	}
}

// requestSweep has the event loop sweep, and call done after it if that is not
// nil. It reports whether it will.
func (e *engine) requestSweep(done func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock() // held over Execute: see OnShutdown
	if e.loop == nil {
		return false
	}
	return e.loop.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		e.sweep()
		if done != nil {
			done()
		}
		return nil
	})) == nil
}

func (e *engine) sweep() {
	now := e.door.cfg.Now()
	for p := e.waiting.first; p != nil && p.deadline <= now; p = e.waiting.first {
		e.door.stats.timedOut.Add(1)
		e.drop(p)
	}
	for p := e.parting.first; p != nil && p.deadline <= now; p = e.parting.first {
		e.drop(p)
	}
}

// drop closes p at once.
func (e *engine) drop(p *pending) {
	p.unlink() // also if gnet should not know it any more
	_ = p.conn.EventLoop().Close(p.conn)
}

// OnOpen implements gnet.EventHandler.
func (e *engine) OnOpen(c gnet.Conn) ([]byte, gnet.Action) {
	d := e.door
	d.stats.accepted.Add(1)
	if !e.known {
		e.known = true
		e.mu.Lock()
		if e.up {
			e.loop = c.EventLoop()
		}
		e.mu.Unlock()
	}
	if c.Fd() >= d.cfg.MaxFiles {
		d.stats.full.Add(1)
		return comeAgain, gnet.Close
	}
	p := &pending{conn: c}
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		peer := tcp.AddrPort()
		p.peer = netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())
	}
	if !d.trusts(p.peer.Addr()) {
		key, ok := d.addrs.take(p.peer.Addr())
		if !ok {
			d.stats.perAddr.Add(1)
			return nil, gnet.Close
		}
		p.counted = key
	}
	if e.waiting.n >= e.room && !e.evict() {
		d.stats.crowded.Add(1)
		d.addrs.give(p.counted)
		return comeAgain, gnet.Close
	}
	p.deadline = d.cfg.Now() + int64(d.cfg.HeadTimeout)
	c.SetContext(p)
	e.waiting.push(p)
	d.stats.pending.Add(1)
	return nil, gnet.None
}

// comeAgain is the answer to a connection for which there is no room. Its request has not
// been read, so it may be lost on the way.
var comeAgain = ws.AppendError(nil, 503, "too many are coming at once")

// evictLooks is how many of the oldest connections are looked at for a slow one.
const evictLooks = 8

// evict drops the oldest connection whose peer is to blame for that it waits. It reports
// false where all that it has looked at have sent what is yet to be read.
func (e *engine) evict() bool {
	p := e.waiting.first
	for range evictLooks {
		if p == nil {
			break
		}
		if unread, err := unix.IoctlGetInt(p.conn.Fd(), unix.TIOCINQ); err != nil || unread == 0 {
			e.door.stats.evicted.Add(1)
			e.drop(p)
			return true
		}
		p = p.next
	}
	return false
}

// OnClose implements gnet.EventHandler. It runs for every end, a handover's too.
func (e *engine) OnClose(c gnet.Conn, _ error) gnet.Action {
	if p, ok := c.Context().(*pending); ok {
		p.unlink()
		p.head = nil
		c.SetContext(nil)
		e.door.addrs.give(p.counted)
		e.door.stats.pending.Add(-1)
	}
	return gnet.None
}

// OnTraffic implements gnet.EventHandler.
func (e *engine) OnTraffic(c gnet.Conn) gnet.Action {
	p, ok := c.Context().(*pending)
	if !ok {
		return gnet.Close
	}
	data, err := c.Peek(-1)
	if err != nil || len(data) == 0 {
		return gnet.None
	}
	defer func() { _, _ = c.Discard(-1) }()
	if p.parting {
		if p.ignored += len(data); p.ignored > partingBytes {
			return gnet.Close
		}
		return gnet.None
	}
	// Most heads come whole and are read where gnet has them.
	if len(p.head) > 0 {
		p.head = append(p.head, data...)
		data = p.head
	}
	end, err := ws.HeadEnd(data, p.seen)
	switch {
	case err != nil:
		return e.refuse(p, err)
	case end > 0:
		return e.decide(p, data, end)
	}
	if len(p.head) == 0 {
		p.head = append(p.head, data...)
	}
	p.seen = len(data)
	return gnet.None
}

// decide takes the connection to where its first request, the head of which is
// data[:end], belongs.
func (e *engine) decide(p *pending, data []byte, end int) gnet.Action {
	d, q := e.door, &e.request
	if err := q.Parse(data[:end]); err != nil {
		return e.refuse(p, err)
	}
	if !q.Upgrade {
		fd, err := p.conn.Dup()
		if err == nil {
			if !d.http.push(handed{fd, bytes.Clone(data), p.counted}) {
				_ = unix.Close(fd)
				return e.part(p, ws.AppendError(nil, 503, "too many requests waiting"))
			}
			p.counted = netip.Addr{} // it counts on there
		}
		d.handed(&d.stats.http, err)
		return gnet.Close
	}
	if err := q.Handshake(); err != nil {
		return e.refuse(p, err)
	}
	verdict := d.route(q, d.client(p.peer, q.ForwardedFor.All))
	if verdict.Target == nil {
		return e.part(p, verdict.Response)
	}
	if len(verdict.Response) > 0 {
		if _, err := p.conn.Write(verdict.Response); err != nil {
			d.stats.failed.Add(1)
			return gnet.None // the failed write has closed it
		}
		if p.conn.OutboundBuffered() > 0 {
			// Nothing was written before, so this is a response larger than a
			// socket's buffer. Its rest would be lost with gnet's copy.
			d.stats.failed.Add(1)
			return gnet.Close
		}
	}
	fd, err := p.conn.Dup()
	if err == nil {
		if err = verdict.Target.Take(fd, data[end:]); err != nil {
			_ = unix.Close(fd)
		}
	}
	d.handed(&d.stats.upgraded, err)
	return gnet.Close
}

// notFound is what net/http says, to a byte, of what is not there to a request after which
// the connection closes: sockets and plain requests tell strangers the same.
func notFound() []byte {
	b := time.Now().UTC().AppendFormat([]byte("HTTP/1.1 404 Not Found\r\nDate: "), http.TimeFormat)
	return append(b, "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"...)
}

// refuse answers a request that is not sound.
func (e *engine) refuse(p *pending, err error) gnet.Action {
	if errors.Is(err, ws.ErrHeadTooLong) {
		e.door.stats.tooLong.Add(1)
	} else {
		e.door.stats.malformed.Add(1)
	}
	return e.part(p, ws.AppendRefusal(nil, err))
}

// part answers and ends a connection. What the peer still sends is read and
// thrown away for a while: closing on unread bytes would make the kernel reset
// the connection, and the answer might never be seen.
func (e *engine) part(p *pending, response []byte) gnet.Action {
	if _, err := p.conn.Write(response); err != nil {
		return gnet.None
	}
	if p.conn.OutboundBuffered() > 0 || unix.Shutdown(p.conn.Fd(), unix.SHUT_WR) != nil {
		return gnet.Close
	}
	if e.parting.n >= e.room {
		e.drop(e.parting.first)
	}
	p.unlink()
	p.parting, p.head = true, nil
	p.deadline = e.door.cfg.Now() + partingTime
	e.parting.push(p)
	return gnet.None
}
