// Package engine is the whole server behind one type: a Box accepts players, seats
// them and runs their games until it is told to stop.
//
//	          +------ door: one accept loop per core, one port ------+
//	player -->| head of the request --> route: game, origin, seat    |
//	          +----|--------------------------------|----------------+
//	               v plain HTTP                     v upgrade: 101, descriptor
//	          net/http: web                    crew: inline, or pool --> worker processes
//	          library, dev pages               loop + worker.Host: instances, viewers, ticks
//
//	folder --> box.Catalog --> games.Load, bundle --> Live: definition, table, library
//	                                                    |
//	                          versions at each place: newest, and older ones that drain
//
// A crew is the cut between the two ways to run games: in this process, or in others. What
// is on this side of it, seats, rolls and stops, is the same for both.
//
// This package only joins its parts; each of them explains itself.
//
// # Words
//
//	game         a definition and its compiled bodies, live at a place, domain/game
//	version      a game from when it is live until nothing runs it; a place may have several
//	shard        a game's part of one loop: a machine and the instances in it
//	instance     one running world of a game
//	player       who plays in an instance, known by an id
//	seat         a player's place in an instance, kept for a while after its socket broke
//	reservation  what a client was promised: an instance and, unless it watches, a seat
//	client       the program at the other end of a socket
//	socket       one connection of a client, handed over by the door to a loop
//	viewer       what tick keeps of a socket: what was sent to it
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/door"
	"gamehoster/engine/gate"
	"gamehoster/engine/internal/latetrace"
	"gamehoster/engine/loop"
	"gamehoster/engine/web"
	"gamehoster/engine/worker"
	"gamehoster/wire"
)

// housekeepingPeriod is how often a box looks for what goes on without any event: seats
// that expire, definitions that nobody plays any more, memory that a crowd has left.
const housekeepingPeriod = 150 * time.Millisecond

// devHashes is how many state hashes of an instance a development box keeps, for
// who compares them with the clients'.
const devHashes = 256

// Box is a running server.
type Box struct {
	cfg                Config
	log, web           *slog.Logger // of the server, and of requests and sockets
	meters             meters
	catalog            *box.Catalog
	crew               crew
	versions           versions
	traces             *latetrace.Recorder // nil where none are wanted
	gate               *gate.Gate
	crowded            throttle // sockets refused because a loop was behind
	refusals           ration   // lines about sockets refused for what they ask
	sockets, instances worker.Crowd
	open               atomic.Int64 // sockets
	door               *door.Door
	surfaces           *surfaces
	http               *http.Server
	running, watching  sync.WaitGroup
	failed             chan error
}

// New builds the games and opens the port. Games with errors are reported by way of
// OnChange and left out.
func New(c Config) (_ *Box, err error) {
	if c, err = c.withDefaults(); err != nil {
		return nil, err
	}
	b := &Box{cfg: c, log: c.Log, gate: gate.New(c.Limits, c.TrustedProxies, loop.Now), failed: make(chan error, 1),
		sockets: worker.Crowd{Worth: worker.ManySockets}, instances: worker.Crowd{Worth: worker.ManyInstances}}
	if c.Dir != "" {
		b.catalog, err = box.OpenFolder(c.Dir, c.Log)
	} else {
		b.catalog, err = box.OpenRoot(c.Root, c.Log)
	}
	if err != nil {
		return nil, err
	}
	if c.LateTickTrace != "" {
		if b.traces, err = latetrace.Start(c.LateTickTrace, c.Log, loop.Now); err != nil {
			return nil, fmt.Errorf("--late-tick-trace: %w", err)
		}
		defer func() {
			if err != nil {
				b.traces.Close()
			}
		}()
	}
	b.web = c.webLog()
	b.meters.init(b)
	if b.crew, err = newCrew(c, b.lateTick(), b); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.crew.Close()
		}
	}()
	b.versions.init()
	if b.surfaces, err = b.openSurfaces(); err != nil {
		return nil, err
	}
	// The games are there before the first player can knock.
	if err = b.catalog.Refresh(b.apply); err != nil {
		return nil, err
	}
	b.door, err = door.Open(door.Config{
		Addr:      c.Addr,
		Listeners: c.Sockets,
		Router:    b,
		Engines:   c.Loops,
		Trusted:   c.TrustedProxies,
		Log:       c.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the port: %w", err)
	}
	b.http = httpServer(b.door.Handler(b.logged(b.surfaces.handler)), c.Log)
	b.http.RegisterOnShutdown(b.surfaces.stop)
	if err = b.meters.listen(b); err != nil {
		_ = b.door.Close()
		return nil, err
	}
	return b, nil
}

// lateTick is what the loops do about ticks that run late.
func (b *Box) lateTick() loop.LateTick {
	if b.traces == nil {
		return loop.LateTick{}
	}
	return loop.LateTick{After: b.cfg.LateTickThreshold, Tell: b.traces.Late}
}

// httpServer bounds what a plain request may cost: time to say what it wants, time to
// take the answer (a library of 100 KB on a bad line), and bytes.
func httpServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second, // a body that nobody asked for is read, too
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Addr is where the box listens.
func (b *Box) Addr() netip.AddrPort { return b.door.Addr() }

// Games lists what is live.
func (b *Box) Games() []*box.Live { return b.catalog.Games() }

// Run serves until the context ends. Then it takes nobody new, lets games go on for up to
// Config.DrainTimeout, closes what is left with 1001 and returns.
func (b *Box) Run(ctx context.Context) error {
	b.crew.Run(b.fail)
	if a := b.meters.admin; a != nil {
		b.running.Go(func() {
			if err := a.Serve(); err != nil {
				b.fail(err)
			}
		})
	}
	b.running.Go(func() {
		if err := b.http.Serve(b.door.HTTPListener()); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			b.fail(fmt.Errorf("http server: %w", err))
		}
	})
	if b.cfg.Ready != nil {
		b.cfg.Ready(b)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.watching.Go(func() { b.catalog.Watch(ctx, b.watchPeriod(), b.apply) })
	b.watching.Go(func() { b.surfaces.watch(ctx) })
	every := time.NewTicker(housekeepingPeriod)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return b.shutdown()
		case err := <-b.failed:
			cancel()
			return errors.Join(err, b.shutdown())
		case <-every.C:
			b.housekeeping()
		}
	}
}

// fail ends the box, if it is not ending already.
func (b *Box) fail(err error) {
	select {
	case b.failed <- err:
	default:
	}
}

func (b *Box) housekeeping() {
	now := loop.Now()
	b.expire(now)
	b.sweep(now)
	b.refusals.settle(now, b.log)
	b.tidy()
}

// expire gives seats back whose sockets did not come.
func (b *Box) expire(now int64) {
	b.versions.each(func(v *version) {
		if n := v.Table.Expire(now); n > 0 {
			b.log.Info("seats expired whose sockets were never handed on", "game", v.Name, "seats", n)
		}
	})
}

func (b *Box) opened(r worker.Reservation) {
	b.open.Add(1)
	b.gate.Enter(r.Peer)
}

// closed counts and logs the end of a socket.
func (b *Box) closed(c worker.Closed) {
	if c.Reservation.Peer.IsValid() { // else it was not opened
		b.open.Add(-1)
	}
	b.gate.Leave(c.Reservation.Peer)
	b.logClosed(c)
}

// shutdown ends the box: nobody new, then some time for those who play and for HTTP
// requests that are being answered, which a development box does not take, then nobody.
func (b *Box) shutdown() error {
	b.log.Info("stopping", "limit", b.cfg.DrainTimeout)
	deadline := loop.Now() + int64(b.cfg.DrainTimeout)
	err := b.door.Close()
	ctx, cancel := context.WithTimeout(context.Background(), b.cfg.DrainTimeout)
	defer cancel()
	var answered sync.WaitGroup
	answered.Go(func() {
		if herr := b.http.Shutdown(ctx); herr != nil {
			err = errors.Join(err, b.http.Close())
		}
	})
	if !b.cfg.Dev {
		b.playOut(deadline)
	}
	answered.Wait()
	b.watching.Wait() // for what it may still put live
	b.endAll(wire.CloseStopping, "the server stops")
	b.crew.Close()
	if a := b.meters.admin; a != nil {
		a.Close()
	}
	b.running.Wait()
	if b.traces != nil {
		b.traces.Close()
	}
	return err
}

// sites shows the catalog to the web.
type sites struct{ catalog *box.Catalog }

func (s sites) Site(host, segment string) (web.Site, bool) {
	l := s.catalog.Resolve(host, segment)
	if l == nil {
		return web.Site{}, false
	}
	return site(l), true
}

func (s sites) List() (all []web.Site) {
	for _, l := range s.catalog.Games() {
		all = append(all, site(l))
	}
	return all
}

func site(l *box.Live) web.Site {
	return web.Site{Name: l.Place.Game, Dir: l.Place.Dir, Library: l.Library}
}
