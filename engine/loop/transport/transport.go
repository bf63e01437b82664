// Package transport makes event loops: on io_uring or on gnet, whichever is asked for or
// can be had.
//
//	Auto --> io_uring: the kernel has it, and enough of what it takes --> uring.Loop
//	   \--> what is missing goes to the log ----------------------------> gnetloop.Loop
package transport

import (
	"fmt"
	"log/slog"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/gnetloop"
	"gamehoster/engine/loop/uring"
)

// Name names what event loops run on.
type Name string

const (
	// Auto is io_uring where the kernel and its policy allow it and there is enough of
	// what it takes, else gnet, with a line in the log. It is what an empty Name means.
	Auto Name = "auto"
	// Gnet is gnet on epoll, which works everywhere.
	Gnet Name = "gnet"
	// Uring is io_uring, or an error.
	Uring Name = "uring"
)

// Plan is one loop that a server wants.
type Plan struct {
	Handler loop.Handler
	Config  loop.Config
}

// Loops makes the loops of a server, which all run on the same; the transport that it
// returns is never auto. What io_uring takes of the kernel is taken here, where there is
// another choice: it may have run out though the kernel has io_uring. Loops that are not
// to be run after all are to be stopped.
func (t Name) Loops(plans []Plan, log *slog.Logger) ([]loop.Loop, Name, error) {
	switch t {
	case Gnet:
		return onGnet(plans), Gnet, nil
	case Auto, Uring, "":
	default:
		return nil, "", fmt.Errorf("--transport: %q is not auto, gnet or uring", string(t))
	}
	all, err := onUring(plans)
	switch {
	case err == nil:
		return all, Uring, nil
	case t == Uring:
		return nil, "", fmt.Errorf("--transport=uring: io_uring cannot be used here: %w", err)
	}
	log.Warn("io_uring cannot be used here; the event loops run on gnet", "reason", err)
	return onGnet(plans), Gnet, nil
}

func onGnet(plans []Plan) (all []loop.Loop) {
	for _, p := range plans {
		all = append(all, gnetloop.New(p.Handler, p.Config))
	}
	return all
}

func onUring(plans []Plan) ([]loop.Loop, error) {
	if err := uring.Available(); err != nil {
		return nil, err
	}
	var all []loop.Loop
	for _, p := range plans {
		l := uring.New(p.Handler, p.Config)
		if err := l.Prepare(); err != nil {
			Stop(all)
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Stop lets go of loops.
func Stop(all []loop.Loop) {
	for _, l := range all {
		l.Stop()
	}
}
