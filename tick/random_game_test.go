package tick

import (
	"fmt"
	"math/rand/v2"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
)

// gameMaker makes games at random: schemas, and bodies out of a few acts, so that
// between them every way occurs in which objects can come, change and go.
type gameMaker struct {
	rng    *rand.Rand
	def    *schema.Definition
	game   *ticktest.Game
	traps  bool // bodies may fail
	server bool // there are server bodies beside those of start, join, leave and commands
	views  bool // there are view bodies; then bodies touch their own objects alone
	still  bool // server bodies of updates do nothing
}

type (
	world = *ticktest.World
	act   func(w world, self ticktest.Object, draw func(n int) uint32)
)

// randomDef is a definition at random.
func randomDef(rng *rand.Rand) *schema.Definition {
	per := 1 + rng.IntN(3)
	d := &schema.Definition{
		Name: "random", TickRate: 12 * per, SendRate: 12, TimelineDepth: []int{1, 4, 9, 24}[rng.IntN(4)],
		InstancesPerShard: 4, PlayersPerInstance: 2 + rng.IntN(5), KeyframeSeconds: float64(1 + rng.IntN(2)), BytesPerSend: 300 + rng.IntN(1000),
	}
	kinds := []schema.Kind{schema.U8, schema.U16, schema.U32, schema.I16, schema.I32, schema.F32, schema.F64, schema.Bool, schema.Str}
	fields := func(n int, owned bool) (list []*schema.Field) {
		for i := range n {
			f := field(fmt.Sprint("f", i), kinds[rng.IntN(len(kinds))], []schema.Sync{schema.Shared, schema.Shared, schema.Sent, schema.Sent, schema.Server}[rng.IntN(5)])
			if i == 0 {
				f = field("f0", schema.U32, schema.Shared)
			}
			if f.Kind.Number() && rng.IntN(3) == 0 {
				f.Default = float64(rng.IntN(100))
			}
			if f.Sync == schema.Sent && owned && rng.IntN(3) == 0 {
				f.Audience = schema.Owner
			}
			if f.Sync == schema.Sent && f.Kind == schema.F32 && rng.IntN(2) == 0 {
				f = stepped(f, 0.5, 0, 100, 1)
			}
			list = append(list, f)
		}
		return list
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1, fields(1+rng.IntN(3), false)...),
		typeOf(player, "player", d.PlayersPerInstance, fields(2+rng.IntN(4), true)...),
	}
	for i := range 1 + rng.IntN(4) {
		own := rng.IntN(2) == 0
		t := typeOf(2+i, fmt.Sprint("thing", i), 3+rng.IntN(20), fields(1+rng.IntN(4), own)...)
		t.Owned = own
		d.Types = append(d.Types, t)
	}
	for i := range 2 + rng.IntN(4) {
		c := &schema.Command{Index: i, Name: fmt.Sprint("do", i), Fields: []*schema.Field{field("n", schema.U8, schema.Server)}}
		d.Commands = append(d.Commands, c)
	}
	return d
}

// make makes the bodies.
func (m *gameMaker) make() *ticktest.Game {
	m.game = &ticktest.Game{Def: m.def}
	shared, server := schema.OnClient, schema.OnServer
	m.body(ticktest.Start, server, 0, 0)
	m.body(ticktest.Leave, server, player, 0)
	m.body(ticktest.Join, server, player, 0)
	for i := range m.def.Commands {
		kind := m.rng.IntN(6)
		if i == 0 {
			kind = 0 // one at least that clients run
		}
		if kind < 5 {
			m.body(ticktest.Handle, shared, player, i)
		}
		if kind > 3 {
			m.body(ticktest.Handle, server, player, i)
		}
	}
	for _, t := range append(m.def.Types[1:], m.def.Types[0]) {
		if m.rng.IntN(4) > 0 {
			m.body(ticktest.Update, shared, t.Index, 0)
		}
		if m.server && m.rng.IntN(3) == 0 {
			m.body(ticktest.Update, server, t.Index, 0)
		}
	}
	if m.views {
		for _, t := range m.def.Types[2:] {
			if m.rng.IntN(3) > 0 {
				m.view(t.Index)
			}
		}
		if m.rng.IntN(3) == 0 {
			m.view(player)
		}
	}
	return m.game
}

// view makes a view body: what is seen depends on both and changes.
func (m *gameMaker) view(typ int) {
	shift, most, all := uint32(m.rng.IntN(6)), uint32(1+m.rng.IntN(5)), uint32(6)
	m.game.Bodies = append(m.game.Bodies, ticktest.Body{Step: ticktest.View, Side: schema.OnServer, Type: typ,
		See: func(w world, viewer, o ticktest.Object, held bool) bool {
			rim := most
			if held {
				rim++
			}
			return (w.Get(o, 0)>>shift+viewer.ID()/2+w.Tick()/64)%all < rim
		}})
}

func (m *gameMaker) body(s ticktest.Step, side schema.Side, typ, command int) {
	var acts []act
	for range 1 + m.rng.IntN(3) {
		acts = append(acts, m.act(s, side, typ, command))
	}
	m.game.Bodies = append(m.game.Bodies, ticktest.Body{Step: s, Side: side, Type: typ, Command: command,
		Run: func(w world, self ticktest.Object) {
			if m.still && side == schema.OnServer && s == ticktest.Update {
				return
			}
			draw := w.Random
			if side == schema.OnServer {
				draw = w.ServerRandom
			}
			for _, a := range acts {
				a(w, self, draw)
			}
		}})
}

// stored is a field that the side can write.
func (m *gameMaker) stored(typ int, side schema.Side) int {
	for range 20 {
		if f := m.def.Types[typ].Fields[m.rng.IntN(len(m.def.Types[typ].Fields))]; side == schema.OnServer || f.Sync == schema.Shared || f.Sync == schema.Sent {
			return f.Index
		}
	}
	return 0
}

// act is one thing that a body does. A shared one decides by what clients have: field
// 0 of every type is shared.
func (m *gameMaker) act(s ticktest.Step, side schema.Side, typ, command int) act {
	rng := m.rng
	to, by, odds := m.stored(typ, side), uint32(1+rng.IntN(9)), 2+rng.IntN(40)
	other := 2 + rng.IntN(len(m.def.Types)-2)
	often := s == ticktest.Start || s == ticktest.Handle || s == ticktest.Join
	if often {
		odds = 1
	}
	theirs := m.stored(other, side)
	switch n := rng.IntN(12); {
	case n < 3:
		return func(w world, self ticktest.Object, draw func(int) uint32) {
			w.Set(self, to, w.Get(self, 0)+by+draw(20))
		}
	case n == 3:
		return func(w world, self ticktest.Object, draw func(int) uint32) {
			x := w.Tick() * by
			if s == ticktest.Handle {
				x += w.Arg(command, 0)
			}
			w.Set(self, 0, w.Get(self, 0)+x)
		}
	case n < 7:
		return func(w world, self ticktest.Object, draw func(int) uint32) {
			if draw(odds) != 0 {
				return
			}
			owner := self.ID()
			if owner&1 == 0 {
				owner = 0
			}
			a, b := draw(1000), draw(1000)
			if o, ok := w.Spawn(other, owner); ok {
				w.Set(o, 0, w.Get(self, 0)+a)
				w.Set(o, theirs, b)
			}
		}
	case n < 9 && s == ticktest.Update && typ >= 2:
		return func(w world, self ticktest.Object, draw func(int) uint32) {
			if w.Get(self, 0)%uint32(4+odds) == 0 || draw(60) == 0 {
				w.Remove(self)
			}
		}
	case n < 10 && !m.views:
		return func(w world, self ticktest.Object, draw func(int) uint32) {
			if draw(odds) != 0 {
				return
			}
			w.Each(other, func(o ticktest.Object) {
				if (o.ID()+w.Get(self, 0))%by == 0 {
					w.Set(o, 0, w.Get(o, 0)*3+w.Tick())
				}
			})
		}
	case n == 10 && !m.views:
		return func(w world, self ticktest.Object, draw func(int) uint32) {
			if draw(odds+1) != 0 {
				return
			}
			done := false
			w.Each(other, func(o ticktest.Object) {
				if !done && w.Get(o, 0)%3 == 0 {
					w.Remove(o)
					done = true
				}
			})
		}
	}
	return func(w world, self ticktest.Object, draw func(int) uint32) {
		w.Set(self, to, w.Get(self, 0)^by)
		if m.traps && draw(8*odds) == 0 {
			w.Trap(2)
		}
	}
}
