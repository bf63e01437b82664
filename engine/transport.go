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
	// TransportAuto is io_uring where the kernel and its policy allow it and there is
	// enough of what it takes, else gnet, with a line in the log. It is what an empty
	// Transport means.
	TransportAuto Transport = "auto"
	// TransportGnet is gnet on epoll, which works everywhere.
	TransportGnet Transport = "gnet"
	// TransportUring is io_uring, or an error.
	TransportUring Transport = "uring"
)

// plan is one loop that a server wants.
type plan struct {
	handler loop.Handler
	config  loop.Config
}

// loops makes the loops of a server, which all run on the same; the transport that it
// returns is never auto. What io_uring takes of the kernel is taken here, where there is
// another choice: it may have run out though the kernel has io_uring. Loops that are not
// to be run after all are to be stopped.
func (t Transport) loops(plans []plan, log *slog.Logger) ([]loop.Loop, Transport, error) {
	switch t {
	case TransportGnet:
		return onGnet(plans), TransportGnet, nil
	case TransportAuto, TransportUring, "":
	default:
		return nil, "", fmt.Errorf("--transport: %q is not auto, gnet or uring", string(t))
	}
	all, err := onUring(plans)
	switch {
	case err == nil:
		return all, TransportUring, nil
	case t == TransportUring:
		return nil, "", fmt.Errorf("--transport=uring: io_uring cannot be used here: %w", err)
	}
	log.Warn("io_uring cannot be used here; the event loops run on gnet", "reason", err)
	return onGnet(plans), TransportGnet, nil
}

func onGnet(plans []plan) (all []loop.Loop) {
	for _, p := range plans {
		all = append(all, gnetloop.New(p.handler, p.config))
	}
	return all
}

func onUring(plans []plan) ([]loop.Loop, error) {
	if err := uring.Available(); err != nil {
		return nil, err
	}
	var all []loop.Loop
	for _, p := range plans {
		l := uring.New(p.handler, p.config)
		if err := l.Prepare(); err != nil {
			stop(all)
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// stop lets go of loops.
func stop(all []loop.Loop) {
	for _, l := range all {
		l.Stop()
	}
}
