package door

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/panjf2000/gnet/v2"

	"gamehoster/engine/loop/gnetlog"
)

// gnet makes its own listeners and cannot be given one. So an engine of a door that has
// inherited sockets is a gnet client, which listens nowhere, and an acceptor beside it
// takes the connections and enrols them:
//
//	inherited socket ---> acceptor, a goroutine per engine ---> gnet client: as ever
//
// It costs a connection some twenty objects more than gnet's own accept, and in time little
// that BenchmarkConnections could find. It has two things for it: the acceptors can end
// while the engines go on, so that nobody whose connection was accepted is let down by a
// stop, and a lack of descriptors ends nothing.

const (
	// settleTime is how long a door with inherited sockets has for those that it has
	// accepted when it closes.
	settleTime = time.Second
	settlePoll = 2 * time.Millisecond

	acceptGap  = 5 * time.Millisecond // after an accept that failed; doubles while it does
	acceptMost = time.Second
)

// openInherited starts the engines on the sockets that the door was given. Several engines
// share one, or several sockets that share a port are dealt out to them.
func (d *Door) openInherited() error {
	at := d.cfg.Listeners[0].Addr().(*net.TCPAddr).AddrPort()
	d.listen = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	d.http = newHTTPListener(net.TCPAddrFromAddrPort(d.listen), &d.addrs)
	n := max(d.cfg.Engines, len(d.cfg.Listeners))
	for i := range n {
		e := &engine{door: d, booted: make(chan struct{}), room: max(1, d.cfg.MaxPending/n)}
		client, err := gnet.NewClient(e,
			gnet.WithNumEventLoop(1),
			gnet.WithTCPNoDelay(gnet.TCPNoDelay),
			gnet.WithReadBufferCap(readSize),
			gnet.WithLogger(gnetlog.New(d.cfg.Log)))
		if err == nil {
			err = client.Start()
		}
		if err != nil {
			return err
		}
		e.client = client
		d.engines = append(d.engines, e)
		l := d.cfg.Listeners[i%len(d.cfg.Listeners)]
		d.accepting.Go(func() { d.accept(l, client) })
	}
	d.ended.Go(d.sweeper)
	return nil
}

// accept enrols what comes until the listener is closed.
func (d *Door) accept(l *net.TCPListener, to *gnet.Client) {
	gap := acceptGap
	for {
		c, err := l.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// For want of descriptors or memory; who waits in the backlog loses nothing.
			d.cfg.Log.Warn("accepting a connection failed", "error", err)
			select {
			case <-d.stopping:
				return
			case <-time.After(gap):
			}
			gap = min(2*gap, acceptMost)
			continue
		}
		gap = acceptGap
		// A peer that has gone already leaves no address, which gnet insists on.
		if c.RemoteAddr() == nil || c.LocalAddr() == nil {
			_ = c.Close()
			continue
		}
		if _, err := to.EnrollContext(c, nil); err != nil { // closes c
			d.handed(nil, err)
		}
	}
}

// settle lets those go on whose connections were accepted, for they would be told that
// nobody is there while those behind them in the backlog are served by the next process.
// That includes plain requests until their answers begin: net/http drops what it has read
// and not begun to answer when it shuts down.
func (d *Door) settle() {
	d.accepting.Wait()
	look := time.NewTicker(settlePoll)
	defer look.Stop()
	end := time.After(settleTime)
	for d.stats.pending.Load() > 0 || d.http.owed.Load() > 0 {
		select {
		case <-end:
			return
		case <-look.C:
		}
	}
}
