package door

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/wire/ws"
)

// httpBacklog is how many connections may wait for net/http to accept them.
const httpBacklog = 256

// answerTime is how long the answer to an upgrade may take to leave.
const answerTime = 5 * time.Second

// handed is a connection between an engine and net/http.
type handed struct {
	fd      int
	early   []byte
	counted netip.Addr // what it is counted under, until it ends
}

// handed counts a handover, or its failure. Failures are logged once a second: where the
// loops have no time for what comes, each of thousands that try again fails.
func (d *Door) handed(n *atomic.Int64, err error) {
	if err == nil {
		n.Add(1)
		return
	}
	failed := d.stats.failed.Add(1)
	d.failures.Lock()
	defer d.failures.Unlock()
	if now := d.cfg.Now(); failed == 1 || now-d.failures.told >= int64(time.Second) {
		d.cfg.Log.Warn("handing a connection on failed", "error", err, "times", failed-d.failures.logged)
		d.failures.told, d.failures.logged = now, failed
	}
}

// httpListener is a net.Listener without a socket.
type httpListener struct {
	addr   net.Addr
	addrs  *addrCounts
	queue  chan handed
	owed   atomic.Int64 // connections pushed of which none has been answered or closed yet
	once   sync.Once
	closed chan struct{}
}

func newHTTPListener(addr net.Addr, addrs *addrCounts) *httpListener {
	return &httpListener{addr: addr, addrs: addrs, queue: make(chan handed, httpBacklog), closed: make(chan struct{})}
}

// push reports whether there was room; the descriptor is the listener's then.
func (l *httpListener) push(h handed) bool {
	select {
	case <-l.closed:
		return false
	default:
	}
	l.owed.Add(1)
	select {
	case l.queue <- h:
		return true
	default:
		l.owed.Add(-1)
		return false
	}
}

// Accept implements net.Listener.
func (l *httpListener) Accept() (net.Conn, error) {
	for {
		select {
		case <-l.closed:
			return nil, net.ErrClosed
		case h := <-l.queue:
			f := os.NewFile(uintptr(h.fd), "handed")
			c, err := net.FileConn(f)
			_ = f.Close()
			if err != nil {
				l.gone(h)
				continue
			}
			tcp, ok := c.(*net.TCPConn)
			if !ok || tcp.RemoteAddr() == nil { // gone in the meantime
				_ = c.Close()
				l.gone(h)
				continue
			}
			return &replayConn{
				TCPConn:  tcp,
				early:    h.early,
				give:     sync.OnceFunc(func() { l.addrs.give(h.counted) }),
				answered: sync.OnceFunc(func() { l.owed.Add(-1) }),
			}, nil
		}
	}
}

// gone forgets a connection that nobody could be given.
func (l *httpListener) gone(h handed) {
	l.addrs.give(h.counted)
	l.owed.Add(-1)
}

// Close implements net.Listener.
func (l *httpListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *httpListener) Addr() net.Addr { return l.addr }

// drain closes what nobody accepted, once no engine pushes any more.
func (l *httpListener) drain() {
	for {
		select {
		case h := <-l.queue:
			_ = unix.Close(h.fd)
			l.gone(h)
		default:
			return
		}
	}
}

// replayConn is a TCP connection that first yields bytes read before.
type replayConn struct {
	*net.TCPConn
	early    []byte
	give     func() // gives back what it is counted under, once
	answered func() // owes it nothing from now on
}

// Close implements net.Conn.
func (c *replayConn) Close() error {
	c.give()
	c.answered()
	return c.TCPConn.Close()
}

// Read implements net.Conn.
func (c *replayConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		if c.early = c.early[n:]; len(c.early) == 0 {
			c.early = nil
		}
		return n, nil
	}
	return c.TCPConn.Read(p)
}

// Write implements net.Conn.
func (c *replayConn) Write(p []byte) (int, error) {
	c.answered()
	return c.TCPConn.Write(p)
}

// WriteTo keeps io.Copy from going past Read.
func (c *replayConn) WriteTo(w io.Writer) (int64, error) {
	n := int64(0)
	if len(c.early) > 0 {
		m, err := w.Write(c.early)
		c.early = c.early[m:]
		n = int64(m)
		if err != nil {
			return n, err
		}
	}
	m, err := c.TCPConn.WriteTo(w)
	return n + m, err
}

// Handler serves upgrade requests as the door does and leaves the others to
// next. It belongs around the handler of the http.Server that serves the
// HTTPListener: proxies send an upgrade over a connection on which they have
// sent plain requests before, which the door has handed on for good. Nor does it leave
// next what the door would have refused.
func (d *Door) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoAtLeast(1, 1) && r.ProtoMajor == 1 && hasToken(r.Header, "Connection", "upgrade") && hasToken(r.Header, "Upgrade", "websocket") {
			d.upgrade(w, r)
			return
		}
		if !sound(r) {
			d.stats.malformed.Add(1)
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if len(r.TransferEncoding) > 0 {
			// It may have had a length as well, which net/http does not tell. Then a proxy
			// may see what follows the length as the next request: there is to be none.
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// sound reports whether a request's target is one that the door lets through when it is
// the first on its connection: net/http takes any scheme, drops who is named before an @,
// and goes back to the Host header where a target in absolute form names no host.
func sound(r *http.Request) bool {
	if strings.HasPrefix(r.RequestURI, "/") || r.RequestURI == "*" {
		return true
	}
	switch u := r.URL; u.Scheme { // in lower case
	case "http", "https", "ws", "wss":
		return u.Host != "" && u.User == nil && u.Opaque == ""
	}
	return false
}

func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for t := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// upgrade takes the request back from net/http. It is written out and parsed
// again, so that the Router sees the same request whichever way it came.
func (d *Door) upgrade(w http.ResponseWriter, r *http.Request) {
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.RequestURI, r.Host)
	if len(r.TransferEncoding) > 0 { // net/http takes it out of the headers
		head.WriteString("Transfer-Encoding: chunked\r\n")
	}
	_ = r.Header.Write(&head) // to memory
	head.WriteString("\r\n")
	verdict := d.judge(head.Bytes(), r.RemoteAddr)

	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		d.handed(nil, fmt.Errorf("taking a connection from net/http: %w", err))
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	defer func() { _ = conn.Close() }()
	// Whoever has asked for much before and read none of it has no room for an answer.
	// The deadline is net's and does not go with the descriptor.
	_ = conn.SetWriteDeadline(time.Now().Add(answerTime))
	if _, err := conn.Write(verdict.Response); err != nil || verdict.Target == nil {
		if err != nil {
			d.stats.failed.Add(1)
		}
		return
	}
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	d.handed(&d.stats.upgraded, take(verdict.Target, conn, early))
}

// judge decides on a whole head as engine.decide does.
func (d *Door) judge(head []byte, remote string) Decision {
	var q ws.Request
	end, err := ws.HeadEnd(head, 0)
	if err == nil {
		err = q.Parse(head[:end])
	}
	if err == nil {
		err = q.Handshake()
	}
	if err != nil {
		d.stats.malformed.Add(1)
		return Decision{Response: ws.AppendRefusal(nil, err)}
	}
	return d.route(&q, d.client(peerOf(remote), q.ForwardedFor.All))
}

// route asks the Router, and sees to it that a refusal has a Response. Should the Router
// panic, it costs this request and not the process: what it reads are a stranger's bytes.
func (d *Door) route(q *ws.Request, client netip.AddrPort) (verdict Decision) {
	defer func() {
		if r := recover(); r != nil {
			d.stats.failed.Add(1)
			d.cfg.Log.Error("routing a request failed", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			verdict = Decision{Response: ws.AppendError(nil, 500, "the server failed")}
		}
	}()
	verdict = d.cfg.Router.Route(q, client)
	if verdict.Target == nil {
		d.stats.refused.Add(1)
		if len(verdict.Response) == 0 {
			verdict.Response = notFound()
		}
	}
	return verdict
}

// peerOf reads the peer of net/http's Request.RemoteAddr; the zero value if it is no
// address.
func peerOf(remote string) netip.AddrPort {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())
}

// take hands a duplicate of conn's descriptor to t.
func take(t Target, conn net.Conn, early []byte) error {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("a %T has no descriptor", conn)
	}
	if rc, ok := conn.(*replayConn); ok && len(rc.early) > 0 {
		early = append(bytes.Clone(early), rc.early...)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	ctl := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) })
	if ctl != nil {
		return ctl
	}
	if err != nil {
		return fmt.Errorf("duplicating a descriptor: %w", err)
	}
	if err := t.Take(fd, early); err != nil {
		_ = unix.Close(fd)
		return err
	}
	return nil
}
