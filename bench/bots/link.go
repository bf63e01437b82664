package bots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime"
	"strings"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"

	"gamehoster/bench/dial"
	"gamehoster/engine/loop"
	"gamehoster/wire/ws"
)

// cut is how a connection ended without a close frame.
const cut = "cut"

// maxPending bounds what a socket does not take.
const maxPending = 1 << 20

// link is a bot's connection. netpoll reads it, unless the bot is one that does not read.
type link struct {
	fd      int // -1 for none
	polled  bool
	mine    bool   // ended by the bot
	code    string // of the server's close frame; empty where none has come
	pending []byte // not taken by the socket
	since   int64  // since when
}

func init() {
	// A bot never waits in OnRequest, so it runs on the poller's own goroutine. netpoll
	// takes its configuration while packages are initialised and at no other time.
	err := netpoll.Configure(netpoll.Config{
		PollerNum:    min(runtime.GOMAXPROCS(0), 8),
		BufferSize:   1024,
		Runner:       func(_ context.Context, f func()) { f() },
		LoggerOutput: io.Discard,
		LoadBalance:  netpoll.RoundRobin,
	})
	if err != nil {
		panic("configuring netpoll: " + err.Error()) // it knows no other errors than bad numbers
	}
}

// connect is what a dialer does for a bot: it connects and asks for the upgrade. It
// takes mu for a moment at a time.
func (b *bot) connect() {
	small := func(fd int) error {
		if b.kind != slow && b.kind != trickle {
			return nil
		}
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096)
	}
	fd, err := dial.TCP(b.fleet.server, dial.Source(b.fleet.server.Addr(), b.number), small)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	b.mu.Lock()
	if err != nil {
		if errno := unix.Errno(0); errors.As(err, &errno) {
			b.refused(errno.Error())
		} else {
			b.refused(err.Error())
		}
		b.ended(cut, true)
		b.mu.Unlock()
		return
	}
	b.link = link{fd: fd, pending: b.link.pending[:0]}
	b.stage, b.raised, b.head = upgrading, false, b.head[:0]
	b.reader = ws.NewReader(maxMessage, ws.ClientSide|ws.BinaryOnly)
	if b.kind == slow || b.kind == trickle {
		b.ask()
		b.stage = talking // the answer may never be read
		b.settle()
		b.mu.Unlock()
		return
	}
	b.link.polled = true
	b.mu.Unlock()

	conn, err := netpoll.NewFDConnection(fd)
	if err != nil {
		_ = unix.Close(fd)
		b.closed()
		return
	}
	// The server says nothing before it is asked, but it may hang up at any time. The
	// close callback comes first, so that it is there for whoever closes.
	_ = conn.AddCloseCallback(func(netpoll.Connection) error { b.closed(); return nil })
	_ = conn.SetOnRequest(func(_ context.Context, c netpoll.Connection) error { b.take(c); return nil })
	if !conn.IsActive() {
		_ = conn.Close()
		return
	}
	b.mu.Lock()
	if b.link.fd == fd && b.stage == upgrading {
		b.ask()
	}
	b.mu.Unlock()
}

// maxMessage is the most bytes of a message that a bot takes.
const maxMessage = 64 << 20

// ask sends the request for an upgrade.
func (b *bot) ask() {
	d := b.request()
	b.out = d.AppendRequest(b.out[:0])
	b.flush(loop.Now())
}

// request is what the bot asks for. The key's nonce is the bot's number.
func (b *bot) request() ws.Dial {
	f := b.fleet
	d := ws.Dial{Host: f.Host, Origin: f.Origin}
	for i := range 8 {
		d.Nonce[i] = byte(b.number >> (8 * i))
	}
	q := []string{}
	if f.Query != "" {
		q = append(q, f.Query)
	}
	if b.mirror != nil {
		q = append(q, "thin=1")
	}
	if b.hasToken {
		q = append(q, fmt.Sprintf("resume=%x", b.token))
	}
	q = append(q, "name="+url.QueryEscape(fmt.Sprintf("bot %d", b.number)))
	d.Target = f.Path + "?" + strings.Join(q, "&")
	return d
}

// take reads what has come, as netpoll's OnRequest: on the poller's goroutine, one call at
// a time. It takes mu.
func (b *bot) take(c netpoll.Connection) {
	now := loop.Now()
	r := c.Reader()
	p, err := r.Next(r.Len())
	if err == nil {
		b.mu.Lock()
		b.hear(p, now)
		b.mu.Unlock()
	}
	_ = r.Release()
}

// closed is called once when the connection is gone, its descriptor still open. It takes mu.
func (b *bot) closed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.link.mine
	b.link.fd, b.link.polled = -1, false
	b.ended(b.link.how(), mine)
}

// how is how the connection ended: the server's close code, or cut.
func (l *link) how() string {
	if l.code != "" {
		return l.code
	}
	return cut
}

// close closes a descriptor that netpoll does not have.
func (b *bot) close(mine bool) {
	fd := b.link.fd
	b.link.fd = -1
	_ = unix.Close(fd)
	b.ended(b.link.how(), mine)
}

// flush writes the frames to be written.
func (b *bot) flush(now int64) {
	if len(b.out) == 0 {
		return
	}
	b.write(b.out, now)
	if cap(b.out) > 4096 {
		b.out = nil
	}
	b.out = b.out[:0]
}

// write writes p, and keeps what the socket does not take.
func (b *bot) write(p []byte, now int64) {
	if b.link.fd < 0 {
		return
	}
	if len(b.link.pending) == 0 {
		n, err := unix.Write(b.link.fd, p)
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			return // the poller tells
		}
		if p = p[max(n, 0):]; len(p) == 0 {
			return
		}
		b.link.since = now
		b.stripe.mu.Lock()
		b.stripe.backlogs++
		b.stripe.mu.Unlock()
	}
	if len(b.link.pending)+len(p) > maxPending {
		b.hangUp()
		return
	}
	b.link.pending = append(b.link.pending, p...)
}

// retry writes what the socket has not taken.
func (b *bot) retry(now int64) {
	if len(b.link.pending) == 0 || b.link.fd < 0 {
		return
	}
	n, err := unix.Write(b.link.fd, b.link.pending)
	if n > 0 {
		b.link.pending = b.link.pending[:copy(b.link.pending, b.link.pending[n:])]
		b.link.since = now
		return
	}
	if err != nil && now-b.link.since > int64(writeTimeout) {
		b.hangUp()
	}
}

// hangUp ends the connection from this side. For one that netpoll has, that is only
// begun here: its poller finds it ended and closes the descriptor.
func (b *bot) hangUp() {
	if b.link.fd < 0 {
		return
	}
	b.link.mine = true
	if b.link.polled {
		_ = unix.Shutdown(b.link.fd, unix.SHUT_RDWR) // ENOTCONN where the other side was faster
		return
	}
	b.close(b.link.code == "")
}

// dawdle is what bots do that do not read as they should: a trickle of bytes, or just
// looking whether the server has given up.
func (b *bot) dawdle(now int64) int64 {
	if now < b.actDue {
		return b.actDue
	}
	b.actDue = now + 1e9
	p := [1]unix.PollFd{{Fd: int32(b.link.fd), Events: unix.POLLRDHUP}}
	_, _ = unix.Poll(p[:], 0)
	over := p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	buf := make([]byte, trickleBytes)
	for over || b.kind == trickle {
		n, err := unix.Read(b.link.fd, buf)
		if n > 0 {
			b.hear(buf[:n], now)
		}
		if n <= 0 {
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			over = true
			break
		}
		if !over {
			break
		}
	}
	if over {
		b.close(false)
		return b.again
	}
	return b.actDue
}
