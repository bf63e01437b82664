package bare

import (
	"context"
	"testing"
	"time"

	"gamehoster/bench/beat"
	"gamehoster/bench/bots"
	"gamehoster/engine/loop/uring"
)

// TestBotsPlay has bots play what they take for a game: they get all their sends and
// pongs, and find nothing wrong.
func TestBotsPlay(t *testing.T) {
	for _, transport := range beat.Transports() {
		t.Run(transport, func(t *testing.T) {
			if err := uring.Available(); transport == "uring" && err != nil {
				t.Logf("not to be had here: %v", err)
				return
			}
			s, err := New(Config{Addr: "127.0.0.1:0", TickRate: 30, SendRate: 15, Crew: 4, Payload: 62, Loop: beat.Maker(transport)})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ran := make(chan error, 1)
			go func() { ran <- s.Run(ctx) }()
			const players = 20
			r, err := bots.Run(ctx, bots.Spec{
				Addr: s.Addr().String(), Game: "../../games/localhost/asteroids", Bots: players, Commands: 4, Ping: 100 * time.Millisecond, Thin: -1,
				Settle: 100 * time.Millisecond, Measure: time.Second,
			}, nil)
			cancel()
			if failed := <-ran; failed != nil {
				t.Error(failed)
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Closes) > 0 || r.Thin.Faults > 0 || len(r.Connection.Refused) > 0 {
				t.Errorf("closes %v, refused %v, faults %v", r.Closes, r.Connection.Refused, r.Thin.Examples)
			}
			// As many as a busy machine lets come.
			sends, pongs := r.Received["delta"], r.Received["pong"].Messages
			if sends.Messages < players*5 || sends.Messages > players*20 || sends.Bytes != 62*sends.Messages || pongs < players {
				t.Errorf("%d sends of %d bytes in all, %d pongs in %.1f s", sends.Messages, sends.Bytes, pongs, r.Seconds)
			}
			// At 15 sends a second every other one is acked.
			if acks := r.Sent["ack"].Messages; acks < sends.Messages*2/5 {
				t.Errorf("%d acks of %d sends", acks, sends.Messages)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{Addr: "127.0.0.1:0", TickRate: 30, SendRate: 15, Crew: 4, Payload: 62, Loop: beat.Maker("gnet")}
	for _, spoil := range []func(*Config){
		func(c *Config) { c.TickRate = 31 },
		func(c *Config) { c.SendRate = 0 },
		func(c *Config) { c.Crew = 0 },
		func(c *Config) { c.Payload = MinPayload - 1 },
		func(c *Config) { c.Payload = 126 },
		func(c *Config) { c.Loop = beat.Maker("none") },
	} {
		c := good
		spoil(&c)
		if s, err := New(c); err == nil {
			t.Errorf("%+v was taken: %v", c, s.Addr())
		}
	}
}
