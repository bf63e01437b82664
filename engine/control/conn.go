package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What may wait in a Conn for a peer that does not read.
const (
	maxQueue = 32 << 20 // bytes of messages
	maxFiles = 1024     // descriptors: one of a process' own each, until it is sent
)

// retryRefs is how long the writer waits when the kernel takes no more descriptors of
// this user on the way: the peer has to read first, and nothing tells when it has.
const retryRefs = 5 * time.Millisecond

// messageCost is what a message takes in the queue beside its bytes.
const messageCost = 64

// What Send fails with.
var (
	ErrFull   = errors.New("the other side does not read its control messages")
	ErrClosed = errors.New("the control connection is closed")
)

// Conn is one end of the pair. Send may be called by any goroutine and does not block;
// Receive by one.
type Conn struct {
	conn   *net.UnixConn
	wrote  sync.WaitGroup
	in     []byte
	oob    []byte
	mu     sync.Mutex
	wake   sync.Cond // something was queued, or the Conn is closed
	queue  []packet
	bytes  int // of all that are queued
	files  int
	closed bool
	finish bool // closed, but what is queued is to be sent
}

type packet struct {
	bytes []byte
	fd    int // -1 for none
}

// Pair makes a pair of sockets: one end to use and one to give a child process, which is
// the caller's to close.
func Pair() (*Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a pair of control sockets: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "control of a worker")
	ours, err := Attach(os.NewFile(uintptr(fds[0]), "control"))
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// Attach makes a Conn of an end of a pair, which it closes in any case.
func Attach(end *os.File) (*Conn, error) {
	defer end.Close()
	opened, err := net.FileConn(end) // a copy
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	conn, ok := opened.(*net.UnixConn)
	if !ok {
		opened.Close()
		return nil, errors.New("opening the control socket: it is no unix socket")
	}
	c := &Conn{conn: conn, in: make([]byte, MaxMessage+1), oob: make([]byte, unix.CmsgSpace(4))}
	c.wake.L = &c.mu
	c.wrote.Go(c.write)
	return c, nil
}

// Send queues a message. The descriptor fd goes with it, -1 for none: it is the Conn's
// from here on, unless there is an error. That is ErrFull where too much waits already,
// ErrClosed, or tells of a message that is too long.
func (c *Conn) Send(m Message, fd int) error {
	b, err := Append(nil, m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return ErrClosed
	case c.bytes+len(b)+messageCost > maxQueue, fd >= 0 && c.files >= maxFiles:
		return ErrFull
	}
	c.bytes += len(b) + messageCost
	if fd >= 0 {
		c.files++
	}
	c.queue = append(c.queue, packet{b, fd})
	c.wake.Signal()
	return nil
}

// Crowded reports whether so many descriptors wait that Send may soon fail with ErrFull.
func (c *Conn) Crowded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files >= maxFiles/2
}

// Idle reports whether all that was queued is sent.
func (c *Conn) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) == 0
}

// Receive waits for the next message. A descriptor that came with it is the caller's; it
// is -1 for none. The error is io.EOF when the other side is gone, or when this one was
// closed, ErrMalformed, wrapped, for what is no message, or the socket's.
func (c *Conn) Receive() (m Message, fd int, err error) {
	n, oobn, flags, _, err := c.conn.ReadMsgUnix(c.in, c.oob) // descriptors come with close-on-exec
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, unix.ECONNRESET):
		return nil, -1, io.EOF
	case err != nil:
		return nil, -1, fmt.Errorf("reading the control socket: %w", err)
	}
	fd, err = descriptor(c.oob[:oobn])
	if err == nil && flags&unix.MSG_TRUNC != 0 {
		err = fmt.Errorf("%w: over %d bytes", ErrMalformed, MaxMessage)
	}
	if err == nil {
		m, err = Parse(c.in[:n])
	}
	// A seat whose socket is missing was sent when this process had no descriptor left.
	if err != nil && fd >= 0 {
		_ = unix.Close(fd)
		fd = -1
	}
	return m, fd, err
}

// descriptor takes the one descriptor out of a packet's ancillary data; -1 for none.
func descriptor(oob []byte) (int, error) {
	if len(oob) == 0 {
		return -1, nil
	}
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return -1, fmt.Errorf("%w: ancillary data: %w", ErrMalformed, err)
	}
	fd := -1
	for i := range all {
		fds, err := unix.ParseUnixRights(&all[i])
		if err != nil {
			continue // not of descriptors
		}
		for _, f := range fds {
			if fd >= 0 { // more than one has no room in the buffer
				_ = unix.Close(fd)
			}
			fd = f
		}
	}
	return fd, nil
}

// Finish sends what is queued and closes the Conn then. It does not wait.
func (c *Conn) Finish() { c.shut(true) }

// Close closes the Conn and the descriptors that wait in it. It returns when its
// goroutine is gone.
func (c *Conn) Close() {
	c.Abandon()
	c.wrote.Wait()
}

// Abandon gives up on the other side: it finds this one gone, as Receive does. What is
// queued is not sent.
func (c *Conn) Abandon() {
	c.shut(false)
	_ = c.conn.Close()
}

// Wait returns when all is sent after Finish, or cannot be.
func (c *Conn) Wait() { c.wrote.Wait() }

func (c *Conn) shut(finish bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.finish = true, finish
	c.wake.Signal()
}

// write is the goroutine that sends what is queued.
func (c *Conn) write() {
	defer c.drop()
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.closed {
			c.wake.Wait()
		}
		if c.closed && (!c.finish || len(c.queue) == 0) {
			c.mu.Unlock()
			return
		}
		p := c.queue[0]
		c.mu.Unlock()

		if err := c.writeOne(p); err != nil {
			return // Receive tells that the other side is gone
		}
		c.mu.Lock()
		c.queue[0] = packet{}
		c.queue = c.queue[1:]
		if len(c.queue) == 0 {
			c.queue = nil // what a burst has taken
		}
		c.bytes -= len(p.bytes) + messageCost
		if p.fd >= 0 {
			c.files--
			_ = unix.Close(p.fd)
		}
		c.mu.Unlock()
	}
}

func (c *Conn) writeOne(p packet) error {
	var oob []byte
	if p.fd >= 0 {
		oob = unix.UnixRights(p.fd)
	}
	for {
		_, _, err := c.conn.WriteMsgUnix(p.bytes, oob, nil) // waits for room
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.ETOOMANYREFS), errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.ENOMEM):
			if c.abandoned() {
				return ErrClosed
			}
			time.Sleep(retryRefs)
		default:
			return err
		}
	}
}

// abandoned reports whether what is queued is not to be sent any more.
func (c *Conn) abandoned() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed && !c.finish
}

// drop closes what is left in the queue, and our side for sending.
func (c *Conn) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, p := range c.queue {
		if p.fd >= 0 {
			_ = unix.Close(p.fd)
		}
	}
	c.queue, c.bytes, c.files = nil, 0, 0
	if c.finish {
		_ = c.conn.CloseWrite()
	}
}
