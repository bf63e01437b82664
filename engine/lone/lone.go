// Package lone is one event loop behind a door, without games: what the echo server and
// benchmarks put their own handlers on. Every upgrade is taken.
//
//	client --> door: the upgrade, 101 --> loop.Adopt --> the handler's OnOpen
package lone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"

	"gamehoster/engine/door"
	"gamehoster/engine/loop"
	"gamehoster/wire/ws"
)

// Server is a loop behind its door.
type Server struct {
	door *door.Door
	loop loop.Loop
}

// Open opens the port at addr, host:port, of which port 0 takes any free one. The loop is
// made and does not run yet, and is the caller's to stop if there is an error; log may be nil.
func Open(addr string, l loop.Loop, log *slog.Logger) (*Server, error) {
	s := &Server{loop: l}
	var err error
	if s.door, err = door.Open(door.Config{Addr: addr, Router: s, Engines: 1, Log: log}); err != nil {
		return nil, fmt.Errorf("opening the door of a loop: %w", err)
	}
	return s, nil
}

// Addr is where it listens.
func (s *Server) Addr() netip.AddrPort { return s.door.Addr() }

// Route takes every upgrade. It makes a Server a door.Router.
func (s *Server) Route(req *ws.Request, _ netip.AddrPort) door.Decision {
	return door.Decision{
		Response: ws.AppendResponse(nil, req.Key, ""),
		Target:   door.TargetFunc(func(fd int, early []byte) error { return s.loop.Adopt(fd, early, 0) }),
	}
}

// Run serves until the context ends.
func (s *Server) Run(ctx context.Context) error {
	var running sync.WaitGroup
	failed := make(chan error, 1)
	running.Go(func() { failed <- s.loop.Run() })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	err = errors.Join(err, s.door.Close())
	s.loop.Stop()
	running.Wait()
	return err
}
