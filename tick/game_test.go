package tick

import (
	"math"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
)

// The test game has every kind of field, and bodies for every way in which an
// object can appear, change and go. Its numbers are whole.

// Types.
const (
	instance = iota
	player
	rock
	bullet
	token
)

// Fields by type.
const (
	instanceRound, instanceClock, instanceSecret = 0, 1, 2

	playerX, playerScore, playerHand, playerMood, playerName, playerHidden = 0, 1, 2, 3, 4, 5

	rockX, rockV, rockHP = 0, 1, 2

	bulletLife, bulletPower, bulletNote = 0, 1, 2

	tokenPlace, tokenTarget = 0, 1
)

// Commands.
const (
	move = iota
	fire
	cheat
	smash
	idle
	fail
	loop
)

// What must never reach anybody else, or anybody.
const (
	handMark   = 0xA5_C3_5A_00
	hiddenMark = 0x5E_C1_2E_75
)

func field(name string, k schema.Kind, s schema.Sync) *schema.Field {
	f := &schema.Field{Name: name, Kind: k, Sync: s, Min: math.Inf(-1), Max: math.Inf(1)}
	if k == schema.Str {
		f.Len = 12
	}
	return f
}

func owned(f *schema.Field) *schema.Field { f.Audience = schema.Owner; return f }

func stepped(f *schema.Field, step, from, to float64, bytes int) *schema.Field {
	f.Min, f.Max = from, to
	f.Quant = &schema.Quant{Step: step, Min: from, Max: to, Bytes: bytes}
	return f
}

func bounded(f *schema.Field, from, to float64) *schema.Field { f.Min, f.Max = from, to; return f }

func preset(f *schema.Field, v float64) *schema.Field { f.Default = v; return f }

func typeOf(i int, name string, most int, fields ...*schema.Field) *schema.Type {
	for k, f := range fields {
		f.Index = k
	}
	return &schema.Type{Index: i, Name: name, Max: most, Fields: fields}
}

// testDef is the game's definition with other rates.
func testDef(tickRate, sendRate, seats int) *schema.Definition {
	d := &schema.Definition{
		Name: "test", TickRate: tickRate, SendRate: sendRate, TimelineDepth: 8,
		InstancesPerShard: 20, PlayersPerInstance: seats, KeyframeSeconds: 1, BytesPerSend: 400,
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1,
			field("round", schema.U32, schema.Shared), field("clock", schema.U16, schema.Sent),
			field("secret", schema.U32, schema.Server)),
		typeOf(player, "player", seats,
			field("x", schema.U32, schema.Shared), preset(field("score", schema.U16, schema.Sent), 3),
			owned(field("hand", schema.U32, schema.Sent)), stepped(field("mood", schema.F32, schema.Sent), 4, 0, 1000, 1),
			field("name", schema.Str, schema.Sent), field("hidden", schema.U32, schema.Server)),
		typeOf(rock, "rock", 24,
			field("x", schema.U32, schema.Shared), preset(field("v", schema.I16, schema.Shared), 5),
			preset(field("hp", schema.U8, schema.Sent), 9)),
		typeOf(bullet, "bullet", 30,
			preset(field("life", schema.U8, schema.Shared), 20), owned(field("power", schema.U32, schema.Sent)),
			field("note", schema.Str, schema.Sent)),
		typeOf(token, "token", 6,
			field("place", schema.F64, schema.Shared), field("target", schema.Ref, schema.Sent)),
	}
	d.Types[bullet].Owned = true
	d.Types[token].Fields[tokenTarget].Ref = rock
	d.Commands = []*schema.Command{
		move:  {Name: "move", Fields: []*schema.Field{bounded(field("dx", schema.U16, schema.Server), 0, 100)}},
		fire:  {Name: "fire", MaxPerSecond: 2 * tickRate},
		cheat: {Name: "cheat", Fields: []*schema.Field{field("n", schema.U8, schema.Server)}},
		smash: {Name: "smash", Fields: []*schema.Field{field("n", schema.U8, schema.Server)}},
		idle:  {Name: "idle"},
		fail:  {Name: "fail"},
		loop:  {Name: "loop"},
	}
	for i, c := range d.Commands {
		c.Index = i
		for k, f := range c.Fields {
			f.Index = k
		}
	}
	return d
}

// mood is when the server bodies of the test game act.
type mood uint8

const (
	wild mood = iota // at any time: clients drift
	tame             // on send ticks only, at their end, so that clients have no reason to drift
	pure             // like tame, and whatever they do does not depend on what shared bodies have done
	calm             // not at all
)

// testGame is the game. What m points to may be changed while it runs, but not from or
// to pure and calm if removals by server bodies are to be exact.
func testGame(d *schema.Definition, m *mood) *ticktest.Game {
	type (
		w = *ticktest.World
		o = ticktest.Object
	)
	per := uint32(d.TicksPerSend())
	g := &ticktest.Game{Def: d}
	if *m >= pure {
		g.Removes = []int{token}
	}
	add := func(s ticktest.Step, side schema.Side, typ, command int, run func(w w, self o)) {
		g.Bodies = append(g.Bodies, ticktest.Body{Step: s, Side: side, Type: typ, Command: command, Run: run})
	}
	shared, server := schema.OnClient, schema.OnServer
	add(ticktest.Start, server, 0, 0, func(w w, in o) {
		w.Set(in, instanceSecret, hiddenMark)
		for i := range uint32(5) {
			r, _ := w.Spawn(rock, 0)
			w.Set(r, rockX, 40*i)
		}
	})
	add(ticktest.Leave, server, 0, 0, func(w w, p o) {
		w.Set(w.Instance(), instanceClock, w.Get(w.Instance(), instanceClock)+100)
	})
	add(ticktest.Join, server, 0, 0, func(w w, p o) {
		w.Set(p, playerHand, handMark|p.ID())
		w.Set(p, playerHidden, hiddenMark)
		w.Set(p, playerName, uint32(len(w.Name())))
	})
	add(ticktest.Handle, shared, 0, move, func(w w, p o) {
		w.Set(p, playerX, w.Get(p, playerX)+w.Arg(move, 0))
		w.Set(p, playerScore, w.Get(p, playerScore)+1)
	})
	add(ticktest.Handle, shared, 0, fire, func(w w, p o) {
		if b, ok := w.Spawn(bullet, p.ID()); ok {
			w.Set(b, bulletLife, 1+w.Random(12))
			w.Set(b, bulletPower, handMark|p.ID())
			w.Set(b, bulletNote, w.Random(99999))
		}
	})
	add(ticktest.Handle, server, 0, cheat, func(w w, p o) {
		w.Set(p, playerScore, w.Get(p, playerScore)+w.Arg(cheat, 0))
		w.Set(p, playerHand, handMark|p.ID())
	})
	add(ticktest.Handle, shared, 0, smash, func(w w, p o) {
		n := w.Arg(smash, 0)
		w.Each(rock, func(r o) {
			if n == 0 {
				w.Remove(r)
				for range 2 {
					if x, ok := w.Spawn(rock, 0); ok {
						w.Set(x, rockX, w.Get(r, rockX))
						w.Set(x, rockV, 1+w.Random(9))
					}
				}
			}
			n--
		})
	})
	add(ticktest.Handle, server, 0, smash, func(w w, p o) { w.Set(p, playerMood, w.ServerRandom(1000)) })
	add(ticktest.Handle, shared, 0, fail, func(w w, p o) {
		w.Set(p, playerX, 0)
		w.Spawn(rock, 0)
		w.Trap(1)
	})
	add(ticktest.Handle, server, 0, loop, func(w w, p o) { w.Trap(5) })
	add(ticktest.Update, shared, player, 0, func(w w, p o) {
		w.Set(p, playerX, w.Get(p, playerX)+1+w.Random(3))
	})
	add(ticktest.Update, server, player, 0, func(w w, p o) {
		if w.ServerRandom(4) == 0 {
			w.Set(p, playerMood, w.ServerRandom(1000))
		}
	})
	add(ticktest.Update, shared, rock, 0, func(w w, r o) {
		x := w.Get(r, rockX) + w.Get(r, rockV)
		w.Set(r, rockX, x)
		if x%31 == 0 {
			w.Remove(r)
		} else if x%17 == 0 {
			if n, ok := w.Spawn(rock, 0); ok {
				w.Set(n, rockX, x+w.Random(50))
			}
		}
	})
	add(ticktest.Update, shared, bullet, 0, func(w w, b o) {
		if life := w.Get(b, bulletLife); life == 0 {
			w.Remove(b)
		} else {
			w.Set(b, bulletLife, life-1)
		}
	})
	add(ticktest.Update, shared, token, 0, func(w w, t o) { w.Set(t, tokenPlace, w.Get(t, tokenPlace)+2) })
	add(ticktest.Update, shared, instance, 0, func(w w, in o) { w.Set(in, instanceRound, w.Get(in, instanceRound)+1) })
	add(ticktest.Update, server, instance, 0, func(w w, in o) {
		if *m == calm || *m != wild && w.Tick()%per != 0 {
			return
		}
		does := w.ServerRandom(12)
		if *m == pure && (does == 3 || does >= 5 && does <= 7) {
			return
		}
		switch does {
		case 0:
			w.Set(in, instanceClock, w.ServerRandom(60000))
		case 1, 2:
			if t, ok := w.Spawn(token, 0); ok {
				w.Set(t, tokenPlace, w.ServerRandom(500))
			}
		case 3:
			if r, ok := w.Spawn(rock, 0); ok {
				w.Set(r, rockX, w.ServerRandom(300))
			}
		case 4:
			pick(w, token, func(t o) { w.Remove(t) })
		case 5:
			pick(w, rock, func(r o) { w.Remove(r) })
		case 6:
			pick(w, bullet, func(b o) { w.Remove(b) })
		case 7:
			pick(w, rock, func(r o) { w.Set(r, rockV, w.ServerRandom(20)) })
		case 8:
			pick(w, rock, func(r o) { w.Set(r, rockHP, w.ServerRandom(200)) })
		case 9:
			pick(w, token, func(t o) { pick(w, rock, func(r o) { w.Set(t, tokenTarget, r.ID()) }) })
		case 10:
			pick(w, bullet, func(b o) { w.Set(b, bulletNote, w.ServerRandom(1000000)) })
		}
	})
	return g
}

// pick calls f for a random object of a type.
func pick(w *ticktest.World, typ int, f func(o ticktest.Object)) {
	n := w.Count(typ)
	if n == 0 {
		return
	}
	i := int(w.ServerRandom(n))
	w.Each(typ, func(o ticktest.Object) {
		if i == 0 {
			f(o)
		}
		i--
	})
}

// newTestShard is a shard of a game of Go functions.
func newTestShard(t testing.TB, g *ticktest.Game, o Options) *Shard {
	t.Helper()
	s, err := newShard(g.Def, g.Program(), 0x1122334455667788, o, g.NewGuest(schema.OnServer))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
