package bench

import (
	"context"
	"errors"
	"os"
	"time"

	"gamehoster/bench/bots"
	"gamehoster/bench/pairs"
)

// bareSpec is what a server without a game is told.
type bareSpec struct {
	Transport string `json:"transport"`
	TickRate  int    `json:"tickRate"`
	SendRate  int    `json:"sendRate"`
	Crew      int    `json:"crew"`
	Payload   int    `json:"payload"`
}

// barePayload is what a send of Asteroids comes to with the heads of its messages, in bytes:
// what the bare loop sends in its place.
const barePayload = 62

// bareRun has the bots of a game play on a loop of ours without the game.
func bareRun(ctx context.Context, h hosted, transport string, split cores, spec bots.Spec) (f pairs.Figures, err error) {
	const sends = int(time.Second / sendPeriod)
	cmd, err := part(ctx, roleBare, bareSpec{Transport: transport, TickRate: 2 * sends, SendRate: sends, Crew: crewSize, Payload: barePayload})
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // as the whole server
	srv, err := start(ctx, cmd, split.server...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	spec.Thin = -1 // there is nothing to check
	r, err := h.play(ctx, srv, split, spec, nil)
	if err == nil {
		err = faults(r)
	}
	if err != nil {
		return nil, err
	}
	return botsTurn(r), nil
}
