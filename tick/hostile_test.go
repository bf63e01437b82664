package tick

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// discard is a sink.
type discard struct{}

func (discard) Message([]byte) {}

// seated is an instance with one player at tick 10, its viewer and a spectator's.
func seated(t testing.TB, mood mood) (in *Instance, player, watch *Viewer) {
	t.Helper()
	m := mood
	s := newTestShard(t, testGame(testDef(10, 10, 4), &m), Options{})
	in, err := s.Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Join("ada")
	if err != nil {
		t.Fatal(err)
	}
	player = in.Attach(p, ViewerOptions{})
	watch = in.Attach(0, ViewerOptions{Watch: true})
	for range 10 {
		sendAll(in)
	}
	return in, player, watch
}

func sendAll(in *Instance) {
	in.Step()
	if in.SendDue() {
		in.Commit()
		for _, v := range in.viewers {
			v.Send(discard{})
		}
	}
}

func command(tick, seq, number uint32, fields ...byte) []byte {
	return append(wire.CommandHeader{Tick: tick, Seq: seq, Number: number}.Append(nil), fields...)
}

// unrun is the number of commands that have not run.
func unrun(in *Instance) (n int) {
	for _, o := range in.filing.list {
		if !o.ran {
			n++
		}
	}
	return n
}

func TestHostileMessages(t *testing.T) {
	for name, c := range map[string]struct {
		m    []byte
		code uint16 // 0: no error
	}{
		"empty":                        {nil, 1002},
		"unknown tag":                  {[]byte{0x06}, 1002},
		"tag 0":                        {[]byte{0}, 1002},
		"a server's tag":               {wire.Delta{Tick: 1}.Append(nil), 1002},
		"ack, short":                   {[]byte{2, 1, 2, 3}, 1002},
		"ack, trailing":                {[]byte{2, 1, 2, 3, 4, 5}, 1002},
		"ack of the future":            {wire.Ack{Tick: 99}.Append(nil), 0},
		"ack of half the range away":   {wire.Ack{Tick: 1 << 31}.Append(nil), 0},
		"ping, short":                  {[]byte{3, 0}, 1002},
		"state hash, short":            {[]byte{4, 0, 0, 0, 0, 1}, 1002},
		"state hash of any tick":       {wire.StateHash{Tick: 1 << 30, Hash: 5}.Append(nil), 0},
		"resync, trailing":             {[]byte{5, 0}, 1002},
		"command, no fields":           {command(11, 1, move), 1002},
		"command, trailing":            {command(11, 1, move, 1, 0, 0), 1002},
		"command, unknown number":      {command(11, 1, 99), 1002},
		"command, greatest number":     {command(11, 1, math.MaxUint32), 1002},
		"command, seq 0":               {command(11, 0, idle), 1002},
		"command, seq skipped":         {command(11, 2, idle), 1002},
		"command, seq greatest":        {command(11, math.MaxUint32, idle), 1002},
		"command, overlong seq":        {append(append([]byte{1, 11, 0, 0, 0}, 0x81, 0), 4), 1002},
		"command, out of bounds":       {command(11, 1, move, 0xff, 0xff), 0},
		"command, tick 0":              {command(0, 1, move, 1, 0), 0},
		"command, tick far ahead":      {command(1<<31-1, 1, move, 1, 0), 0},
		"command, tick far behind":     {command(1<<31+20, 1, move, 1, 0), 0},
		"command, without any handler": {command(11, 1, idle), 0},
		"4 KiB of varint":              {bytes.Repeat([]byte{0x80}, 4096), 1002},
		"4 KiB of command":             {append([]byte{1, 0, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 4096)...), 1002},
	} {
		t.Run(name, func(t *testing.T) {
			in, player, watch := seated(t, calm)
			hash := in.StateHash()
			filed := unrun(in)
			for _, v := range []*Viewer{player, watch} {
				err := v.Receive(c.m, 0, discard{})
				var closing *wire.CloseError
				switch {
				case c.code == 0 && err == nil:
				case errors.As(err, &closing) && closing.Code == c.code:
					if unrun(in) != filed {
						t.Error("a malformed message was filed")
					}
				case v == watch && err == nil:
					// No seq is wrong for a spectator: it has no seat to count them.
				default:
					t.Errorf("got %v, want code %d", err, c.code)
				}
			}
			if in.StateHash() != hash {
				t.Error("a message changed the state before any tick")
			}
			if w := in.filing.list; len(w) > 0 {
				if after := wire.TickDistance(w[0].tick, in.tick); after <= -int32(in.shard.rules.back) || after > int32(in.shard.rules.lead) {
					t.Errorf("a command was filed %d ticks ahead", after)
				}
			}
			for range in.shard.rules.lead {
				sendAll(in)
			}
			if player.Attached() && player.processed() != player.seat.received {
				t.Errorf("processed %d of %d", player.processed(), player.seat.received)
			}
		})
	}
}

// A flood of commands for the farthest tick is bounded per seat, and one player's
// takes nothing from another's.
func TestFloodIsBounded(t *testing.T) {
	in, player, _ := seated(t, calm)
	bob, err := in.Join("bob")
	if err != nil {
		t.Fatal(err)
	}
	other := in.Attach(bob, ViewerOptions{})
	sendAll(in)
	for seq := uint32(1); seq < 10000; seq++ {
		if err := player.Receive(command(1<<20, seq, move, 1, 0), 0, discard{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := unrun(in); n != in.shard.rules.pending {
		t.Errorf("%d commands wait, the bound is %d", n, in.shard.rules.pending)
	}
	if err := other.Receive(command(in.tick+1, 1, move, 1, 0), 0, discard{}); err != nil {
		t.Fatal(err)
	}
	sendAll(in)
	if other.processed() != 1 {
		t.Error("another player's command had to wait")
	}
	for range 20 {
		sendAll(in)
	}
	if player.processed() != 9999 || unrun(in) != 0 {
		t.Errorf("processed %d, %d waiting", player.processed(), unrun(in))
	}
	if got := in.shard.stats.Refused[RefusedFull]; got != 9999-uint64(in.shard.rules.pending) {
		t.Errorf("%d were refused", got)
	}
}

// Whatever one player sends, the others are served as if it were not there.
func TestGarbageTouchesNobodyElse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	in, player, _ := seated(t, tame)
	client, err := testGame(in.shard.def, new(mood)).Module().NewClient(false)
	if err != nil {
		t.Fatal(err)
	}
	bob, err := in.Join("bob")
	if err != nil {
		t.Fatal(err)
	}
	other := in.Attach(bob, ViewerOptions{})
	for range 300 {
		for range 10 {
			m := make([]byte, rng.IntN(24))
			for i := range m {
				m[i] = byte(rng.Uint32())
			}
			if len(m) > 0 && rng.IntN(2) == 0 {
				m[0] = byte(1 + rng.IntN(5))
			}
			_ = player.Receive(m, 0, discard{}) // an engine would close it at the first error
		}
		in.Step()
		in.Commit()
		player.Send(discard{})
		other.Send(client)
		if client.Err != nil {
			t.Fatal(client.Err)
		}
		if err := client.Compare(in.shard.layout, in.block, nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, tick := range client.Acks {
			if err := other.Receive(wire.Ack{Tick: tick}.Append(nil), 0, discard{}); err != nil {
				t.Fatal(err)
			}
		}
		client.Acks = client.Acks[:0]
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(command(11, 1, move, 5, 0), command(12, 2, fire))
	f.Add(command(11, 1, smash, 0), wire.Ack{Tick: 10}.Append(nil))
	f.Add(wire.Ping{Nonce: 5}.Append(nil), wire.Resync{}.Append(nil))
	f.Add(wire.StateHash{Tick: 10, Hash: 77}.Append(nil), wire.StateHash{Tick: 10, Hash: 78}.Append(nil))
	f.Add(command(9, 1, fail), command(9, 2, cheat, 3))
	f.Add([]byte{1}, []byte{0x85, 0, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		in, player, watch := seated(t, calm)
		for _, m := range [][]byte{a, b} {
			for _, v := range []*Viewer{player, watch} {
				err := v.Receive(m, 9, discard{})
				var c *wire.CloseError
				if err != nil && (!errors.As(err, &c) || c.Code != wire.CloseMalformed) {
					t.Fatalf("% x: %v", m, err)
				}
			}
			sendAll(in)
		}
		for range 10 {
			sendAll(in)
		}
		if player.Attached() && player.processed() != player.seat.received {
			t.Fatalf("processed %d of %d", player.processed(), player.seat.received)
		}
		if in.count(schema.PlayerType) != 1 {
			t.Fatal("a message removed a player")
		}
	})
}

// Five bytes buy a snapshot, so that a client gets no more than one a second for them;
// the last one that asked is not forgotten.
func TestResyncsAreOneASecond(t *testing.T) {
	in, _, watch := seated(t, calm)
	rate := in.shard.def.TickRate
	count := func() uint64 { return in.shard.stats.Snapshots[CauseResync] }
	before := count()
	for range 3 * rate {
		if err := watch.Receive(wire.Resync{}.Append(nil), 0, discard{}); err != nil {
			t.Fatal(err)
		}
		sendAll(in)
	}
	if got := count() - before; got != 4 {
		t.Errorf("%d snapshots in three seconds of asking, want one at once and one after each second", got)
	}
	for range 3 * rate {
		sendAll(in)
	}
	if got := count() - before; got != 4 {
		t.Errorf("%d snapshots, the last of which nobody asked for", got)
	}
}
