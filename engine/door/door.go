// Package door is the front door: it accepts connections, reads the head of the
// one request each of them starts with, has a Router decide, and hands the
// descriptor on. It keeps nothing of a connection that has been handed on, and
// bounds what the ones before that can cost.
//
//	        one gnet engine per core, each with its own SO_REUSEPORT listener
//	        +--------------------------------------------------------------+
//	SYN --->| pending: <= 8 KiB of head, <= 5 s, capped, capped per address|
//	        |    |                                                         |
//	        |    +-- malformed, too long ---> HTTP error, FIN -- parting ->|x
//	        |    +-- too slow, too many ------------------------------ -->|x
//	        |    |                                                         |
//	        |    +-- upgrade --> Router.Route --+-- no Target: Response -->|x
//	        |    |                              +-- Response, then --------|--> Target.Take(dup, early)
//	        |    +-- plain HTTP -------------------------------------------|--> HTTPListener, net/http
//	        +--------------------------------------------------------------+
//	                                                                           |
//	              an upgrade on a connection that net/http has kept alive <----+
//	              (proxies do that) comes back through Door.Handler
//
// A handover is a dup of the descriptor. gnet then closes its own, with close
// and never with shutdown, so the connection lives on and nothing of it stays in
// gnet's poller. Bytes that came behind the head go along: clients need not wait
// for the answer before they send their first frame.
//
// The answer that switches protocols is the Router's to make: a Decision carries
// the bytes that the door writes before it hands on, which may be none if the
// other side of the handover writes them.
//
// When too many wait, the oldest go that have not asked yet: those who connect and say
// nothing, or say it slowly. Whose request has come and was not read yet is not theirs to
// pay for; if there are only such, the newest connection is told to come again.
//
// gnet ends an engine when accept fails for want of descriptors. So the door
// refuses connections while there are still some, and starts an engine anew
// should it end all the same.
//
// A door may be given sockets that listen already and that somebody else keeps, as systemd
// does, over a restart of the process: see Inherited, and acceptor.go for the other half.
package door

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/gnetlog"
	"gamehoster/wire/ws"
)

// Router decides about upgrade requests. Route is called by several goroutines
// at once, and holds up the accepting of its core until it returns.
type Router interface {
	// Route judges req, whose handshake is sound. req and its slices are
	// borrowed for the call. client is the peer or, if the peer is a trusted
	// proxy, the address it says it speaks for, with port 0.
	Route(req *ws.Request, client netip.AddrPort) Decision
}

// Decision is what to do with an upgrade request.
type Decision struct {
	// Response is written as it is: ws.AppendResponse for a welcome, to which a
	// close frame may be added to refuse with a code, or ws.AppendError. It is
	// sent before the Target takes over. Empty without a Target: a bare 404.
	Response []byte
	// Target takes the connection. Nil: the door closes it after Response.
	Target Target
}

// Target is where a connection goes on.
type Target interface {
	// Take owns fd from now on, unless it returns an error. early are the bytes
	// that came behind the head, valid during the call.
	Take(fd int, early []byte) error
}

// TargetFunc is a function as a Target.
type TargetFunc func(fd int, early []byte) error

// Take calls f.
func (f TargetFunc) Take(fd int, early []byte) error { return f(fd, early) }

// Config is what a Door needs. Zero fields mean their defaults.
type Config struct {
	Addr   string // host:port to listen on; port 0 takes a free one
	Router Router // required

	// Listeners are sockets to accept on in place of Addr, which is not looked at then.
	// They are the door's from Open on, also if that fails. Closing the door closes its
	// descriptors of them and nothing else: whoever waits in the backlog of a socket that
	// somebody else has open, too, goes on waiting there.
	Listeners []*net.TCPListener

	// Trusted are the proxies whose X-Forwarded-For is believed. They are not
	// capped per address. Nil means loopback; empty means none.
	Trusted []netip.Prefix

	Engines     int           // accepting event loops; default the number of cores, at least one for each of Listeners
	HeadTimeout time.Duration // from accept to the end of the head; default 5 s
	MaxPending  int           // connections without a whole head; past it the oldest go that are slow. Default 8192
	MaxPerAddr  int           // the same of one IPv4 address or IPv6 /64, and those at the HTTPListener; past it new ones are refused. Default 256
	MaxFiles    int           // descriptors numbered from here on are refused; default 64 below the process's limit, or three quarters of a small one

	Now func() int64 // nanoseconds, monotonic; default loop.Now
	Log *slog.Logger // the door's own failures; nil discards them
}

// The defaults of Config, and what is fixed.
const (
	DefaultHeadTimeout = 5 * time.Second
	DefaultMaxPending  = 8192
	DefaultMaxPerAddr  = 256

	sweepEvery  = 250 * time.Millisecond
	restartGap  = 200 * time.Millisecond // before an engine is started anew; doubles while it keeps ending
	restartMost = 5 * time.Second
	readSize    = 16 << 10 // bytes that one read may return
	spareFiles  = 64       // descriptors that the door leaves to the rest of the process
)

// Door is a running front door. Its methods may be called from any goroutine.
type Door struct {
	cfg     Config
	listen  netip.AddrPort
	hold    int // a bound socket that keeps the port while engines come and go; -1 with Listeners
	engines []*engine
	http    *httpListener
	addrs   addrCounts
	stats   counters

	failures struct { // of handovers, for the log
		sync.Mutex
		told   int64 // when the last was logged
		logged int64 // how many there were then
	}

	stopOnce  sync.Once
	stopping  chan struct{}
	ended     sync.WaitGroup
	accepting sync.WaitGroup // the acceptors of Listeners
}

// Open binds the address, unless it is given Listeners, and accepts until Close.
func Open(cfg Config) (_ *Door, err error) {
	defer func() {
		if err != nil {
			for _, l := range cfg.Listeners {
				_ = l.Close()
			}
		}
	}()
	if cfg.Router == nil {
		return nil, errors.New("opening the door: no router")
	}
	if cfg.Engines <= 0 {
		cfg.Engines = runtime.GOMAXPROCS(0)
	}
	if cfg.HeadTimeout <= 0 {
		cfg.HeadTimeout = DefaultHeadTimeout
	}
	if cfg.MaxPending <= 0 {
		cfg.MaxPending = DefaultMaxPending
	}
	if cfg.MaxPerAddr <= 0 {
		cfg.MaxPerAddr = DefaultMaxPerAddr
	}
	if cfg.Trusted == nil {
		cfg.Trusted = Loopback()
	}
	if cfg.Now == nil {
		cfg.Now = loop.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxFiles <= 0 {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return nil, fmt.Errorf("opening the door: reading the limit of descriptors: %w", err)
		}
		cfg.MaxFiles = maxFiles(limit.Cur)
	}
	d := &Door{cfg: cfg, hold: -1, stopping: make(chan struct{})}
	d.addrs.init(cfg.MaxPerAddr)
	if len(cfg.Listeners) > 0 {
		if err := d.openInherited(); err != nil {
			_ = d.Close()
			return nil, fmt.Errorf("listening on the socket that the process was started with: %w", err)
		}
		return d, nil
	}

	var network, address string
	if d.hold, d.listen, network, address, err = bind(cfg.Addr); err != nil {
		return nil, fmt.Errorf("listening on %s: %w", cfg.Addr, err)
	}
	d.http = newHTTPListener(net.TCPAddrFromAddrPort(d.listen), &d.addrs)
	for range cfg.Engines {
		e := &engine{door: d, booted: make(chan struct{}), room: max(1, cfg.MaxPending/cfg.Engines)}
		d.engines = append(d.engines, e)
		failed := make(chan error, 1)
		d.ended.Go(func() { failed <- d.serve(e, network+"://"+address) })
		select {
		case <-e.booted:
		case err := <-failed:
			_ = d.Close()
			return nil, fmt.Errorf("listening on %s: %w", cfg.Addr, err)
		}
	}
	d.ended.Go(d.sweeper)
	return d, nil
}

// maxFiles is how far the door may go towards the process's limit of descriptors. With
// none to spare, a handover fails and gnet ends the engine.
func maxFiles(limit uint64) int {
	n := int(min(limit, 1<<30))
	return n - min(spareFiles, n/4)
}

// serve runs an engine until the door closes. It returns early only if the
// engine could not start the first time.
func (d *Door) serve(e *engine, address string) error {
	wait := restartGap
	for first := true; ; first = false {
		began := d.cfg.Now()
		err := gnet.Run(e, address,
			gnet.WithNumEventLoop(1),
			gnet.WithReusePort(true),
			gnet.WithReuseAddr(true),
			gnet.WithTCPNoDelay(gnet.TCPNoDelay),
			gnet.WithReadBufferCap(readSize),
			gnet.WithLogger(gnetlog.New(d.cfg.Log)))
		select {
		case <-d.stopping:
			return nil
		default:
		}
		select {
		case <-e.booted:
		default:
			if first && err != nil {
				return err
			}
		}
		d.stats.restarts.Add(1)
		d.cfg.Log.Error("an accepting engine ended and is started anew", "error", err)
		if d.cfg.Now()-began > int64(2*restartMost) {
			wait = restartGap
		}
		gap := time.NewTimer(wait)
		select {
		case <-d.stopping:
			gap.Stop()
			return nil
		case <-gap.C:
		}
		wait = min(2*wait, restartMost)
	}
}

// sweeper has every engine look for connections that took too long.
func (d *Door) sweeper() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-d.stopping:
			return
		case <-tick.C:
			for _, e := range d.engines {
				e.requestSweep(nil)
			}
		}
	}
}

// Addr is the address listened on, with the port that port 0 became.
func (d *Door) Addr() netip.AddrPort { return d.listen }

// HTTPListener yields the connections whose first request is plain HTTP, for
// http.Server.Serve. The bytes read by the door are read from them again. It is
// closed by Close.
func (d *Door) HTTPListener() net.Listener { return d.http }

// Close stops accepting, drops the connections that have not been handed on, and
// returns when the door's goroutines and descriptors are gone. What has been
// handed on is not touched. With Listeners, those that have been accepted have a
// second to say what they want, and are served. Connections taken from the HTTPListener are the
// http.Server's.
func (d *Door) Close() error {
	d.stopOnce.Do(func() {
		close(d.stopping)
		for _, l := range d.cfg.Listeners {
			_ = l.Close()
		}
		if len(d.cfg.Listeners) > 0 {
			d.settle()
		}
		for _, e := range d.engines {
			e.stop()
		}
		_ = d.http.Close()
		d.ended.Wait()
		d.http.drain()
		if d.hold >= 0 {
			_ = unix.Close(d.hold)
		}
	})
	return nil
}

// Stats counts connections by what became of them.
type Stats struct {
	Accepted  int64
	Pending   int64 // now, those that are being closed included
	Upgraded  int64 // handed to a Target
	HTTP      int64 // handed to the HTTPListener
	Refused   int64 // the Router named no Target
	Malformed int64 // no HTTP/1 head, or an unsound handshake
	TooLong   int64 // head over ws.MaxHead
	TimedOut  int64 // no whole head in Config.HeadTimeout
	Evicted   int64 // the oldest slow ones when there were over Config.MaxPending
	Crowded   int64 // refused likewise, for want of slow ones
	PerAddr   int64 // refused over Config.MaxPerAddr
	Full      int64 // refused because the process is short of descriptors
	Failed    int64 // went wrong at the handover
	Restarts  int64 // engines started anew
}

type counters struct {
	accepted, pending, upgraded, http, refused, malformed, tooLong,
	timedOut, evicted, crowded, perAddr, full, failed, restarts atomic.Int64
}

// Stats reads the counters.
func (d *Door) Stats() Stats {
	s := &d.stats
	return Stats{
		Accepted:  s.accepted.Load(),
		Pending:   s.pending.Load(),
		Upgraded:  s.upgraded.Load(),
		HTTP:      s.http.Load(),
		Refused:   s.refused.Load(),
		Malformed: s.malformed.Load(),
		TooLong:   s.tooLong.Load(),
		TimedOut:  s.timedOut.Load(),
		Evicted:   s.evicted.Load(),
		Crowded:   s.crowded.Load(),
		PerAddr:   s.perAddr.Load(),
		Full:      s.full.Load(),
		Failed:    s.failed.Load(),
		Restarts:  s.restarts.Load(),
	}
}

// stopped is the context that makes gnet's Stop ask and not wait: it would poll
// every half second, while the return of Run tells at once.
func stopped() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
