package engine

import (
	"fmt"
	"log/slog"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/gnetloop"
	"gamehoster/engine/loop/uring"
)

// Transport names what the event loops run on.
type Transport string

const (
	// TransportAuto is io_uring where the kernel and its policy allow it, else gnet,
	// with a line in the log. It is what an empty Transport means.
	TransportAuto Transport = "auto"
	// TransportGnet is gnet on epoll, which works everywhere.
	TransportGnet Transport = "gnet"
	// TransportUring is io_uring, or an error.
	TransportUring Transport = "uring"
)

// maker makes the loops of one server.
type maker func(loop.Handler, loop.Config) loop.Loop

// maker decides what the loops run on; the transport that it returns is never auto.
func (t Transport) maker(log *slog.Logger) (maker, Transport, error) {
	onGnet := func(h loop.Handler, c loop.Config) loop.Loop { return gnetloop.New(h, c) }
	onUring := func(h loop.Handler, c loop.Config) loop.Loop { return uring.New(h, c) }
	switch t {
	case TransportGnet:
		return onGnet, TransportGnet, nil
	case TransportAuto, TransportUring, "":
	default:
		return nil, "", fmt.Errorf("--transport: %q is not auto, gnet or uring", string(t))
	}
	err := uring.Available()
	switch {
	case err == nil:
		return onUring, TransportUring, nil
	case t == TransportUring:
		return nil, "", fmt.Errorf("--transport=uring: io_uring cannot be used here: %w", err)
	}
	log.Warn("io_uring cannot be used here; the event loops run on gnet", "reason", err)
	return onGnet, TransportGnet, nil
}
