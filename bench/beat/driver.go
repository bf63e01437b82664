package beat

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/bench/dial"
	"gamehoster/bench/latency"
	"gamehoster/bench/proc"
	"gamehoster/engine/loop"
	"gamehoster/wire/ws"
)

// slice is the driver's grain: it sends, reads and sleeps once in each.
const slice = int64(time.Millisecond)

// socket is one connection to the server.
type socket struct {
	fd      int
	reader  ws.Reader
	sent    uint32
	beat    uint32 // the last that came
	counted uint32 // what the server said it had received
	echoed  uint32 // the number of the last echo
}

type driver struct {
	Spec
	epoll   int
	sockets []socket
	buf     []byte
	out     []byte // a frame being sent
	payload []byte
	events  []unix.EpollEvent

	measuring bool
	report    Report
	times     *latency.Histogram
}

// Drive connects, plays and measures. It takes one core.
func Drive(ctx context.Context, s Spec) (*Report, error) {
	s, err := s.filled()
	if err != nil {
		return nil, err
	}
	if err := dial.RaiseFiles(s.Sockets + 64); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := &driver{Spec: s, buf: make([]byte, 1<<16), payload: make([]byte, s.In), times: latency.New(), events: make([]unix.EpollEvent, 1024)}
	if d.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("making the driver's poller: %w", err)
	}
	defer func() { _ = unix.Close(d.epoll) }()
	defer d.disconnect()
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	if err := d.play(ctx, s.Settle); err != nil {
		return nil, fmt.Errorf("while settling: %w", err)
	}
	return d.measure(ctx)
}

func (d *driver) measure(ctx context.Context) (*Report, error) {
	all := append([]int{os.Getpid()}, d.Watch...)
	before, err := proc.ReadAll(all)
	if err != nil {
		return nil, err
	}
	d.measuring = true
	if err := d.play(ctx, d.Measure); err != nil {
		return nil, err
	}
	d.measuring = false
	after, err := proc.ReadAll(all)
	if err != nil {
		return nil, err
	}
	r := &d.report
	r.Spec, r.Latency = d.Spec, d.times.Summary(nil)
	r.Driver = after[0].Since(before[0])
	r.Seconds = r.Driver.At.Seconds()
	pairs := float64(r.Sent+r.Received) / 2
	for i := range d.Watch {
		u := after[i+1].Since(before[i+1])
		r.Watch = append(r.Watch, u)
		r.PairNS = append(r.PairNS, float64(u.CPU)/max(pairs, 1))
	}
	if d.Calls > 0 && len(d.Watch) > 0 {
		return r, d.countCalls(ctx)
	}
	return r, nil
}

// countCalls plays on, and counts the system calls of those that are watched.
func (d *driver) countCalls(ctx context.Context) error {
	r := &d.report
	measured := *r
	d.measuring = true
	calls, err := proc.CountAll(d.Watch, func() error { return d.play(ctx, d.Spec.Calls) })
	d.measuring = false
	pairs := float64(r.Sent-measured.Sent+r.Received-measured.Received) / 2
	*r = measured
	if errors.Is(err, proc.ErrNoCalls) {
		return nil
	}
	for _, n := range calls {
		r.Calls = append(r.Calls, float64(n)/max(pairs, 1))
	}
	return err
}

// connect opens the sockets one after the other, and reads the answers to some
// upgrades at a time.
func (d *driver) connect(ctx context.Context) error {
	d.sockets = make([]socket, 0, d.Sockets)
	server := netip.MustParseAddrPort(d.Addr)
	const some = 64
	for len(d.sockets) < d.Sockets {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := len(d.sockets)
		for len(d.sockets) < min(first+some, d.Sockets) {
			fd, err := dial.TCP(server, dial.Source(server.Addr(), len(d.sockets)))
			if err != nil {
				return err
			}
			d.sockets = append(d.sockets, socket{fd: fd, reader: ws.NewReader(1<<16, ws.ClientSide)})
			ask := ws.Dial{Host: d.Addr, Target: d.Path}
			if _, err := unix.Write(fd, ask.AppendRequest(nil)); err != nil {
				return fmt.Errorf("asking for an upgrade: %w", err)
			}
		}
		for i := first; i < len(d.sockets); i++ {
			if err := d.upgraded(i); err != nil {
				return fmt.Errorf("socket %d: %w", i, err)
			}
		}
	}
	return nil
}

// upgraded reads the answer to an upgrade, and what came behind it.
func (d *driver) upgraded(i int) error {
	s := &d.sockets[i]
	var head []byte
	for {
		n, err := unix.Read(s.fd, d.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return fmt.Errorf("reading the answer to an upgrade: %d bytes, %w", n, errors.Join(err, errEnded))
		}
		head = append(head, d.buf[:n]...)
		end, err := ws.HeadEnd(head, 0)
		if err != nil {
			return err
		}
		if end == 0 {
			continue
		}
		ask := ws.Dial{}
		if !ask.Accepted(head[:end]) {
			return fmt.Errorf("the upgrade was refused: %.40q", head)
		}
		if err := unix.SetNonblock(s.fd, true); err != nil {
			return fmt.Errorf("preparing a socket: %w", err)
		}
		e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(d.epoll, unix.EPOLL_CTL_ADD, s.fd, &e); err != nil {
			return fmt.Errorf("watching a socket: %w", err)
		}
		return d.take(s, head[end:], loop.Now())
	}
}

var (
	errEnded  = errors.New("the server ended the connection")
	errFrames = errors.New("the server's frames are malformed")
)

func (d *driver) disconnect() {
	for i := range d.sockets {
		_ = unix.Close(d.sockets[i].fd)
	}
}

// play sends and reads for a while. The sockets are sent to in the order of their
// numbers: in slices over the period, or all at its start.
func (d *driver) play(ctx context.Context, length time.Duration) error {
	period := int64(time.Second) / int64(d.Hz)
	slices := max(period/slice, 1)
	if d.Burst {
		slices = 1
	}
	step := period / slices
	begin := loop.Now()
	due, k, at := begin, int64(0), 0
	for {
		now := loop.Now()
		if now >= begin+int64(length) {
			return ctx.Err()
		}
		if now >= due {
			for upto := int(int64(d.Sockets) * (k + 1) / slices); at < upto; at++ {
				if err := d.send(&d.sockets[at], due); err != nil {
					return err
				}
			}
			due += step
			if k++; k == slices {
				k, at = 0, 0
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
			if late := loop.Now() - due; late > period {
				due += late // the driver was held up: it goes on from here
			}
			continue
		}
		n, err := d.look()
		if err != nil {
			return err
		}
		if n == 0 {
			sleep(min(due, begin+int64(length), now+slice) - loop.Now())
		}
	}
}

// look reads from all sockets that have something, and says how many these were.
func (d *driver) look() (int, error) {
	n, err := pollNow(d.epoll, d.events)
	if err != nil {
		return 0, err
	}
	for i := range n {
		s := &d.sockets[d.events[i].Fd]
		got, err := readNow(s.fd, d.buf)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		case err != nil || got == 0:
			return 0, fmt.Errorf("socket %d: %w", d.events[i].Fd, errors.Join(err, errEnded))
		default:
			if err := d.take(s, d.buf[:got], loop.Now()); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// send sends the next message of a socket, which was due at the time given.
func (d *driver) send(s *socket, due int64) error {
	le.PutUint64(d.payload, uint64(due))
	le.PutUint32(d.payload[8:], s.sent+1)
	d.out = ws.AppendMasked(d.out[:0], ws.OpBinary, [4]byte{0xA7, 0x31, 0x5C, 0xE2}, d.payload)
	n, err := writeNow(s.fd, d.out)
	switch {
	case errors.Is(err, unix.EAGAIN):
		if d.measuring {
			d.report.Unsent++
		}
		return nil
	case err != nil || n != len(d.out):
		return fmt.Errorf("sending: %d of %d bytes, %w", n, len(d.out), errors.Join(err, errEnded))
	}
	s.sent++
	if d.measuring {
		d.report.Sent++
		d.report.BytesOut += int64(n)
	}
	return nil
}

// take takes what has come for a socket.
func (d *driver) take(s *socket, p []byte, now int64) error {
	if d.measuring {
		d.report.BytesIn += int64(len(p))
	}
	for {
		ev, rest, err := s.reader.Next(p)
		if err != nil {
			return fmt.Errorf("%w: %w", errFrames, err)
		}
		switch {
		case ev.Op == 0:
			return nil
		case ev.Op == ws.OpClose:
			return fmt.Errorf("%w with %d", errEnded, ev.Code)
		case !ev.Op.Control():
			d.message(s, ev.Payload, now)
		}
		p = rest
	}
}

func (d *driver) message(s *socket, p []byte, now int64) {
	var due int64
	var missed uint32
	var ok bool
	if d.Form == Beat {
		if ok = len(p) >= MinPayload; ok {
			m := Get(p)
			ok = (m.Beat > s.beat || s.beat == 0) && m.Received >= s.counted && m.Received <= s.sent
			if s.beat > 0 && m.Beat > s.beat {
				missed = m.Beat - s.beat - 1
			}
			s.beat, s.counted, due = m.Beat, m.Received, m.Due
		}
	} else if ok = len(p) == d.In; ok {
		due = int64(le.Uint64(p))
		n := le.Uint32(p[8:])
		ok = n > s.echoed && n <= s.sent
		if ok {
			missed = n - s.echoed - 1
		}
		s.echoed = n
	}
	if !d.measuring {
		return
	}
	d.report.Received++
	d.report.Missed += int64(missed)
	if !ok {
		d.report.Wrong++
	}
	if due > 0 {
		d.times.Record(time.Duration(now - due))
	}
}
