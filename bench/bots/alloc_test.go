package bots

import (
	"testing"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// seated is a bot that plays on a stream written by hand, without a socket.
func seated(t testing.TB) *bot {
	g, err := loadGame(samples+"/asteroids", "")
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{Spec: Spec{Bots: 1, Ping: time.Millisecond, Thin: -1}, game: g, stripes: newStripes(), sendPeriod: int64(time.Second) / 15, commandPeriod: 1e6}
	b := newBot(f, 0, honest)
	b.stage, b.raised, b.reader = talking, true, ws.NewReader(maxMessage, ws.ClientSide)
	welcome := wire.Welcome{Player: 1, Name: []byte("i"), TickRate: 30, SendRate: 15}
	now := loop.Now()
	f.from.Store(now)
	b.hear(ws.AppendFrame(nil, ws.OpBinary, welcome.Append(nil)), now)
	b.hear(ws.AppendFrame(nil, ws.OpBinary, wire.Snapshot{Tick: 10}.Append(nil)), now)
	if !b.seated {
		t.Fatal("the bot has no seat")
	}
	return b
}

// period is a send tick's time of a bot: commands and pings go out, an answer to
// each and a delta come.
func (b *bot) period(frames []byte, now int64) []byte {
	b.play(now)
	frames = frames[:0]
	var m [32]byte
	for _, p := range b.pings {
		frames = ws.AppendFrame(frames, ws.OpBinary, wire.Pong{Nonce: p.number}.Append(m[:0]))
	}
	d := wire.Delta{Tick: b.tick + 2, Base: b.tick, Processed: b.seq}
	frames = ws.AppendFrame(frames, ws.OpBinary, d.Append(m[:0]))
	b.hear(frames, now)
	return frames
}

func TestAllocBot(t *testing.T) {
	b := seated(t)
	now := loop.Now()
	var frames []byte
	run := func() {
		now += int64(10 * time.Millisecond)
		frames = b.period(frames, now)
	}
	for range 100 {
		run()
	}
	n := testing.AllocsPerRun(200, run)
	t.Logf("a bot's send tick with ten commands: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("a bot's send tick allocates %v times", n)
	}
	if c := b.stripe.command.Count(); c < 1000 || b.stripe.trip.Count() == 0 || len(b.waiting)+len(b.pings) != 0 {
		t.Errorf("%d commands and %d pings were confirmed", c, b.stripe.trip.Count())
	}
}

func BenchmarkBot(b *testing.B) {
	bot := seated(b)
	now := loop.Now()
	var frames []byte
	b.ReportAllocs()
	for range b.N {
		now += int64(10 * time.Millisecond)
		frames = bot.period(frames, now)
	}
}
