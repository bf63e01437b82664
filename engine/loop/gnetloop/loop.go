// Package gnetloop is the portable loop.Loop: gnet on epoll, which runs wherever
// Linux does, also under sandboxes that forbid io_uring.
//
// gnet is used as a client engine with a single event loop and no listener. Its
// own timer and wake-up are not used: the timer runs on another goroutine and
// drifts, the wake-up allocates. In their place two descriptors are enrolled
// beside the sockets:
//
//	            +--------- gnet event loop, locked thread ----------+
//	sockets ===>|  OnTraffic -> Handler.OnData                      |
//	timerfd --->|  OnTraffic -> Handler.OnTick, linger sweep        |
//	eventfd --->|  OnTraffic -> Handler.OnPost for the queue, halt  |
//	            +---------------------------------------------------+
//	                 ^ Enroll (blocks until the loop has it)
//	Adopt -> queue -> usher goroutines
//
// The timer is armed with the absolute time that the handler wished for, so it
// neither drifts nor fires early, and it is handled where the ticks run. gnet
// enrols sockets only; device.go tells how it is given other descriptors.
//
// What gnet allocates: about thirty objects to adopt a connection, buffers for
// bytes that a socket does not take, and a new event list when the number of
// ready descriptors moves across a power of two. Data in, Send, Flush, ticks and
// posts allocate nothing.
package gnetloop

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/gnetlog"
	"gamehoster/engine/loop/internal/arena"
	"gamehoster/engine/loop/internal/slot"
)

// Loop is a loop.Loop. The fields below mu belong to any goroutine that holds
// it; everything else but the counters to the loop's thread.
type Loop struct {
	handler loop.Handler
	cfg     loop.Config
	client  *gnet.Client

	conns   table
	out     arena.Arena
	written int // bytes written and not yet counted
	stalled []loop.Handle
	linger  lingering
	tick    schedule
	inside  bool // a handler's method or the settling after it is running

	timer, bell device
	usher       usher
	stats       slot.Tally

	stopOnce sync.Once
	stop     chan struct{} // closed by Stop
	dieOnce  sync.Once
	died     chan struct{} // closed when gnet's loop ends unasked
	halted   chan struct{} // closed on the loop when everything has been delivered
	started  atomic.Bool

	mu      sync.Mutex
	posts   []loop.Message
	spare   []loop.Message // the other half of the pair that posts alternates with
	rung    bool           // the bell has been written and not yet been heard
	halting bool           // the next hearing is the last
	closed  bool           // nothing is accepted any more
}

var _ loop.Loop = (*Loop)(nil)

// New prepares a loop that calls h. Descriptors are taken by Run.
func New(h loop.Handler, cfg loop.Config) *Loop {
	l := &Loop{
		handler: h,
		cfg:     cfg.Filled(),
		stop:    make(chan struct{}),
		died:    make(chan struct{}),
		halted:  make(chan struct{}),
	}
	l.linger.due = loop.Never
	l.usher.init()
	return l
}

// Run implements loop.Loop.
func (l *Loop) Run() error {
	if !l.started.CompareAndSwap(false, true) {
		return errors.New("running a loop that has run before")
	}
	defer l.close()
	select {
	case <-l.stop:
		return nil
	default:
	}
	if err := l.open(); err != nil {
		return err
	}
	ushered := make(chan struct{})
	go func() {
		defer close(ushered)
		l.usher.run(l)
	}()

	select {
	case <-l.stop:
	case <-l.died:
		// The usher may be waiting for a loop that is no more, so it cannot be
		// waited for; it ends when its queue closes if it is not.
		l.usher.close()
		return errors.Join(errors.New("event loop ended on its own"), l.client.Stop())
	}
	// The usher's last enrolment needs the loop alive, so it ends first.
	l.usher.close()
	<-ushered
	l.mu.Lock()
	l.halting = true
	l.ring()
	l.mu.Unlock()
	select {
	case <-l.halted:
	case <-l.died:
	}
	if err := l.client.Stop(); err != nil {
		return fmt.Errorf("stopping the event loop: %w", err)
	}
	return nil
}

// open starts gnet and enrols the timer and the bell.
func (l *Loop) open() (err error) {
	if l.timer.fd, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return fmt.Errorf("making the tick timer: %w", err)
	}
	l.timer.hear = l.onTimer
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("making the wake-up event: %w", err)
	}
	l.bell.hear = l.onBell
	l.mu.Lock() // a Post may look at the bell already
	l.bell.fd = bell
	l.mu.Unlock()
	l.client, err = gnet.NewClient(&events{l},
		gnet.WithNumEventLoop(1),
		gnet.WithLockOSThread(true),
		gnet.WithTCPNoDelay(gnet.TCPNoDelay),
		gnet.WithLogger(gnetlog.New(l.cfg.Log)))
	if err != nil {
		return fmt.Errorf("making the event loop: %w", err)
	}
	if err = l.client.Start(); err != nil {
		return fmt.Errorf("starting the event loop: %w", err)
	}
	for _, d := range []*device{&l.bell, &l.timer} {
		if err = d.enrol(l.client); err != nil {
			return errors.Join(fmt.Errorf("enrolling the loop's own events: %w", err), l.client.Stop())
		}
	}
	// Armed here once; the loop's thread has the timer from its first expiry on.
	if err = setTimer(l.timer.fd, 0); err != nil {
		return errors.Join(err, l.client.Stop())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.posts) > 0 { // posted before there was a bell
		l.ring()
	}
	return nil
}

// close gives back what Run took; after it every call is a no-op or refused.
func (l *Loop) close() {
	l.usher.close()
	l.mu.Lock()
	l.closed = true
	l.posts, l.spare = nil, nil
	l.mu.Unlock()
	for _, d := range []*device{&l.bell, &l.timer} {
		d.close()
	}
}

// Stop implements loop.Loop.
func (l *Loop) Stop() { l.stopOnce.Do(func() { close(l.stop) }) }

// Adopt implements loop.Loop.
func (l *Loop) Adopt(fd int, early []byte, tag uint64) error { return l.usher.put(fd, early, tag) }

// Crowded implements loop.Loop.
func (l *Loop) Crowded() bool { return l.usher.crowded() }

// events receives gnet's callbacks, all but OnBoot and OnShutdown on the loop.
type events struct{ *Loop }

func (e *events) OnBoot(gnet.Engine) gnet.Action           { return gnet.None }
func (e *events) OnShutdown(gnet.Engine)                   {}
func (e *events) OnTick() (d time.Duration, a gnet.Action) { return 0, gnet.None }

func (e *events) OnOpen(g gnet.Conn) ([]byte, gnet.Action) {
	switch x := g.Context().(type) {
	case *device:
		if x == &e.bell { // the first one: this is the loop's thread
			e.claimThread()
		}
	case *adoption:
		// What was posted before the connection was adopted may not have been
		// heard yet, and is to be known.
		e.hearPosts()
		x.opened = true
		g.SetContext(nil)
		e.inside = true
		e.opened(g, x)
		e.settle()
	}
	return nil, gnet.None
}

func (e *events) OnTraffic(g gnet.Conn) gnet.Action {
	switch x := g.Context().(type) {
	case *conn:
		p, err := g.Peek(-1)
		if err != nil || len(p) == 0 {
			return gnet.None
		}
		e.stats.In.Add(int64(len(p)))
		if x.State != slot.Open { // the peer's last bytes before its own close
			_, _ = g.Discard(-1)
			return gnet.None
		}
		e.inside = true
		e.handler.OnData(x.Handle(), p)
		// Everything is taken each time, so gnet never copies a rest into its
		// own buffer and p is always its read buffer.
		_, _ = g.Discard(-1)
		e.settle()
	case *device:
		_, _ = g.Discard(-1)
		x.hear()
	}
	return gnet.None
}

// OnClose may come from inside a write of a handler's running call.
func (e *events) OnClose(g gnet.Conn, err error) gnet.Action {
	switch x := g.Context().(type) {
	case *conn:
		e.buried(x, err)
		if !e.inside {
			e.inside = true
			e.settle()
		}
	case *device:
		select {
		case <-e.halted:
		default:
			e.dieOnce.Do(func() { close(e.died) })
		}
	}
	return gnet.None
}

// claimThread binds the thread to its core. The second lock outlives gnet's
// unlock, so the thread ends with the loop and takes its binding with it.
func (l *Loop) claimThread() {
	if !l.cfg.Pin {
		return
	}
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(l.cfg.CPU)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		l.cfg.Log.Warn("pinning the loop's thread failed", "cpu", l.cfg.CPU, "error", err)
	}
}

// settle ends a handler's call: it does what the call asked for, tells the
// handler what became of its connections, which may ask for more, and sets the
// timer to what is wanted next.
func (l *Loop) settle() {
	for l.finishClosing() || l.tellClosed() {
	}
	if l.tick.prompt || l.tick.wish <= 0 { // at once, without the way by the timer
		l.runTick(loop.Now())
		for l.finishClosing() || l.tellClosed() {
		}
	}
	l.inside = false
	l.arm()
}
