package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"gamehoster/engine"
	"gamehoster/engine/door"
)

// supervise has a server accept on the sockets that the process was started with, if there
// are any, and tell who started it when it is ready and when it stops. systemd does both, by
// the environment variables LISTEN_FDS and NOTIFY_SOCKET; without them nothing changes.
func supervise(ctx context.Context, cfg *engine.Config) error {
	sockets, err := door.Inherited()
	if err != nil {
		return err
	}
	for _, s := range sockets {
		cfg.Sockets = append(cfg.Sockets, s.Listener)
	}
	tell := notifier()
	before := cfg.Ready
	cfg.Ready = func(b *engine.Box) {
		if before != nil {
			before(b)
		}
		if err := tell("READY=1"); err != nil {
			cfg.Log.Warn("whoever started this process does not learn that it is ready", "error", err)
		}
	}
	context.AfterFunc(ctx, func() { _ = tell("STOPPING=1") }) // who does not hear it sees it
	return nil
}

// notifier is how to send a line to NOTIFY_SOCKET, which is taken out of the environment:
// it is this process' and no child's. Without one nothing is sent.
func notifier() func(string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	_ = os.Unsetenv("NOTIFY_SOCKET") // fails for malformed names only
	return func(state string) error {
		if path == "" {
			return nil
		}
		c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
		if err != nil {
			return fmt.Errorf("reaching NOTIFY_SOCKET: %w", err)
		}
		defer func() { _ = c.Close() }() // the datagram is out, or its error told
		_, err = c.Write([]byte(state))
		return err
	}
}
