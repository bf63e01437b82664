package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"

	"gamehoster/bench/bare"
	"gamehoster/bench/beat"
	"gamehoster/bench/bots"
	"gamehoster/bench/proc"
	"gamehoster/bench/rooms"
)

// A benchmark's parts run as processes of their own, of the same program: the command
// bench-part, which calls Part, is told a role and a JSON spec.
const (
	roleDrive = "drive" // the clients of echo
	roleBeat  = "beat"  // our own loops with nothing on them, the servers of echo
	roleBare  = "bare"  // one of them with the traffic of a game
	roleBots  = "bots"  // players
	roleRooms = "rooms" // players of other servers
	roleServe = "serve" // our own server
)

var errRole = errors.New("no such part of a benchmark")

// beatSpec is what a server of echo is told.
type beatSpec struct {
	Transport string `json:"transport"`
	Hz        int    `json:"hz"`
	Payload   int    `json:"payload"`
}

// Part is the process of one part.
func Part(ctx context.Context, role, spec string, out io.Writer) error {
	switch role {
	case roleDrive:
		return beat.Main(ctx, spec, out)
	case roleBots:
		return bots.Main(ctx, spec, out)
	case roleRooms:
		return rooms.Main(ctx, spec, out)
	case roleServe:
		return servePart(ctx, spec, os.Stdin, out)
	case roleBeat:
		var s beatSpec
		if err := json.Unmarshal([]byte(spec), &s); err != nil {
			return fmt.Errorf("reading the spec of a beat server: %w", err)
		}
		srv, err := beat.NewServer(beat.ServerConfig{Addr: "127.0.0.1:0", Hz: s.Hz, Payload: s.Payload, Transport: s.Transport})
		if err != nil {
			return err
		}
		sayListening(out, srv.Addr())
		return srv.Run(ctx)
	case roleBare:
		var s bareSpec
		if err := json.Unmarshal([]byte(spec), &s); err != nil {
			return fmt.Errorf("reading the spec of a bare server: %w", err)
		}
		srv, err := bare.New(bare.Config{Addr: "127.0.0.1:0", TickRate: s.TickRate, SendRate: s.SendRate, Crew: s.Crew, Payload: s.Payload, Loop: beat.Maker(s.Transport)})
		if err != nil {
			return err
		}
		sayListening(out, srv.Addr())
		return srv.Run(ctx)
	}
	return fmt.Errorf("%q: %w", role, errRole)
}

func sayListening(out io.Writer, a netip.AddrPort) { fmt.Fprintln(out, "listening", a.Port()) }

// part is the command of one part. spec is anything that JSON can say.
func part(ctx context.Context, role string, spec any) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("telling a part what to do: %w", err)
	}
	return exec.CommandContext(ctx, self, "bench-part", role, string(text)), nil
}

// runClients runs a part on the clients' cores and has read take what it says.
func runClients[R any](ctx context.Context, role string, spec any, split cores, read func(io.Reader) (R, error)) (r R, err error) {
	cmd, err := part(ctx, role, spec)
	if err != nil {
		return r, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, fmt.Errorf("starting %s: %w", role, err)
	}
	cmd.Stderr = os.Stderr
	if err := proc.Start(cmd, split.clients...); err != nil {
		return r, fmt.Errorf("starting %s: %w", role, err)
	}
	r, err = read(out)
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return r, fmt.Errorf("the part %s: %w", role, err)
	}
	return r, nil
}
