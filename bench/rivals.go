package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"gamehoster/bench/pairs"
	"gamehoster/bench/peer"
	"gamehoster/bench/rooms"
)

// rival is another server of the same game.
type rival struct {
	name     string
	about    string
	players  int // about half a core of them, as all cost less for a player the more there are
	bound    float64
	protocol rooms.Protocol
	cmd      func(ctx context.Context) *exec.Cmd
}

// rivals are those that can be had; what is missing says why others cannot. Programs are
// built into dir.
func rivals(ctx context.Context, source, dir string) (list []rival, missing []string) {
	rules, err := filepath.Abs(filepath.Join(source, "games", "localhost", "asteroids"))
	if err != nil {
		return nil, []string{err.Error()}
	}
	node := func(dir, program string) func(context.Context) *exec.Cmd {
		return func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "node", program, rules)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "NODE_ENV=production")
			return cmd
		}
	}
	add := func(r rival, err error) {
		if err != nil {
			missing = append(missing, r.name+": "+err.Error())
			return
		}
		r.name = fmt.Sprintf("%s, %d players", r.name, r.players)
		list = append(list, r)
	}
	at, err := peer.Colyseus(source)
	add(rival{name: "Colyseus", players: 600, bound: 8, protocol: rooms.Colyseus, cmd: node(at, "server.mjs"),
		about: "The Colyseus room runs the same files of rules over a state of what browsers draw, and nothing else; its clients take patches, steer and ping as ours do."}, err)
	at, err = peer.NPM(source)
	add(rival{name: "Node and ws", players: 1200, protocol: rooms.Plain, cmd: node(at, "home.mjs"),
		about: "Node and ws is what one would write at home: the same files of rules over plain objects, and all that browsers draw in one binary message to each player at each send."}, err)
	program, err := peer.Build(ctx, source, "home", dir)
	add(rival{name: "Go by hand, on gws", players: 2000, protocol: rooms.Plain, cmd: func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, program) },
		about: "Go by hand is the same once more, its rules written in Go. Neither of the two predicts, sends what has changed alone, keeps a seat or bounds what a client may do; and their players send 5 messages a second where ours send 13, as there is nothing to ack."}, err)
	return list, missing
}

// run is one turn. System calls are counted in the first one.
func (r rival) run(ctx context.Context, split cores, round int) (f pairs.Figures, err error) {
	srv, err := start(ctx, r.cmd(ctx), split.server...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	spec := rooms.Spec{Addr: srv.Addr.String(), Protocol: r.protocol, Clients: r.players, Commands: crewCommands, Send: sendPeriod,
		Settle: 2 * time.Second, Measure: 3 * time.Second, Watch: []int{srv.PID}}
	if round == 0 {
		spec.Calls = callsTime
	}
	of, err := runClients(ctx, roleRooms, spec, split, rooms.Read)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return besides(r.players, of.Watch[0], of.States, of.Bytes, of.Late, of.RoundTrip).with(of.Clients, of.Calls, float64(of.States)/of.Seconds), nil
}
