package bots

import (
	"encoding/binary"
	"errors"
	"testing"

	"gamehoster/games"
	"gamehoster/games/schema"
	"gamehoster/wire"
)

// small is a game of one kind of entity, for streams written by hand.
func small(t *testing.T) *game {
	t.Helper()
	def, findings := games.ParseDefinition("small", []byte(`{"tickRate": 30, "sendRate": 15,
		"instance": {"fields": {"level": "u16 shared"}},
		"player": {"fields": {"x": "f32 shared", "nick": "str(8) sent"}},
		"entities": {"rock": {"max": 8, "fields": {"x": "f32 shared", "y": "u8 sent"}}}}`))
	if def == nil {
		t.Fatal(findings)
	}
	g := &game{def: def, layout: schema.NewLayout(def, schema.OnClient)}
	g.schema = wire.NewSchema(def, g.layout)
	return g
}

// script is a server's side of a stream.
type script struct {
	t *testing.T
	g *game
	m *mirror
}

func (s script) row(typ int, id uint32, fill byte) []byte {
	row := make([]byte, s.g.layout.Types[typ].Stride)
	binary.LittleEndian.PutUint32(row[schema.RowID:], id)
	for i, f := range s.g.def.Types[typ].Fields {
		if at := s.g.layout.Types[typ].Offsets[i]; at >= 0 && f.Kind != schema.Str {
			row[at] = fill
		}
	}
	return row
}

func (s script) must(p []byte) {
	s.t.Helper()
	if err := s.m.take(p); err != nil {
		s.t.Fatalf("%v: %v", wire.TagOf(p), err)
	}
}

func (s script) welcome() []byte {
	w := wire.Welcome{Player: 1, Name: []byte("i"), TickRate: 30, SendRate: 15, TimelineDepth: uint16(s.g.def.TimelineDepth)}
	return w.Append(nil)
}

// snapshot has the instance, player 1 and rock 2.
func (s script) snapshot(tick uint32) []byte {
	p := wire.Snapshot{Tick: tick}.Append(nil)
	p = s.g.schema.Fields(schema.InstanceType, wire.Whole, false).AppendAll(p, s.row(0, 0, 1))
	var w wire.ObjectWriter
	p = w.Whole(p, s.g.schema, 1, s.row(1, 1, 1), 1)
	return w.Whole(p, s.g.schema, 2, s.row(2, 2, 1), 1)
}

func (s script) enter(tick, id uint32) []byte {
	var w wire.ObjectWriter
	return w.Whole(wire.Enter{Tick: tick}.Append(nil), s.g.schema, 2, s.row(2, id, 5), 1)
}

func (s script) leave(tick, id uint32) []byte {
	var w wire.ObjectWriter
	return w.ID(wire.Leave{Tick: tick}.Append(nil), id)
}

// delta lists rock id, with the mask given.
func (s script) delta(tick, base, id uint32, fill, mask byte) []byte {
	var w wire.ObjectWriter
	f := s.g.schema.Fields(2, wire.Whole, false)
	return w.Masked(wire.Delta{Tick: tick, Base: base}.Append(nil), id, f, s.row(2, id, fill), []byte{mask})
}

func begin(t *testing.T) script {
	s := script{t, small(t), nil}
	s.m = newMirror(s.g)
	s.must(s.welcome())
	s.must(s.snapshot(10))
	return s
}

func (s script) x(id uint32) byte {
	o := s.m.states[len(s.m.states)-1].objects[id]
	return o.row[s.g.layout.Types[2].Offsets[0]]
}

func TestMirrorFollows(t *testing.T) {
	s := begin(t)
	s.must(s.delta(12, 10, 2, 3, 1))
	if s.x(2) != 3 {
		t.Errorf("x is %d", s.x(2))
	}
	// The base is older than what came last: what the mask lacks is the base's.
	s.must(s.delta(14, 10, 2, 9, 2))
	if s.x(2) != 1 {
		t.Errorf("x is %d, at the base it was 1", s.x(2))
	}
	s.must(s.enter(16, 6))
	s.must(s.delta(16, 12, 6, 7, 3))
	if s.x(6) != 7 || s.x(2) != 1 {
		t.Errorf("x of 6 is %d, of 2 %d", s.x(6), s.x(2))
	}
	s.must(s.leave(18, 6))
	s.must(wire.Delta{Tick: 18, Base: 16}.Append(nil))
	s.must(s.snapshot(20))
	if m := s.m.seen; m.Snapshots != 2 || m.Sends != 6 || len(s.m.states) != 1 {
		t.Errorf("%+v, %d states", m, len(s.m.states))
	}
}

func TestMirrorSeesFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		want error
		bad  func(s script) []byte
	}{
		{"unknown base", errNoBase, func(s script) []byte { return s.delta(12, 11, 2, 3, 1) }},
		{"base that has been left behind", errNoBase, func(s script) []byte {
			s.must(s.delta(12, 10, 2, 3, 1))
			s.must(s.delta(14, 12, 2, 3, 1))
			return s.delta(16, 10, 2, 3, 1)
		}},
		{"object not held", errNotHeld, func(s script) []byte { return s.delta(12, 10, 6, 3, 3) }},
		{"partial mask of what the base lacks", errPartial, func(s script) []byte {
			s.must(s.enter(12, 6))
			return s.delta(12, 10, 6, 7, 1)
		}},
		{"same tick again", errBackward, func(s script) []byte { return s.delta(10, 10, 2, 3, 1) }},
		{"two ticks in one", errTicks, func(s script) []byte {
			s.must(s.enter(12, 6))
			return s.delta(14, 10, 2, 3, 1)
		}},
		{"leave after enter", errOrder, func(s script) []byte {
			s.must(s.enter(12, 6))
			return s.leave(12, 6)
		}},
		{"pong inside of a send tick", errOrder, func(s script) []byte {
			s.must(s.leave(12, 2))
			return wire.Pong{}.Append(nil)
		}},
		{"keyframe", errNotThin, func(s script) []byte { return wire.Keyframe{Tick: 12}.Append(nil) }},
		{"own player leaves", errNoSelf, func(s script) []byte {
			s.must(s.leave(12, 1))
			return wire.Delta{Tick: 12, Base: 10}.Append(nil)
		}},
		{"empty enter", errNoEffect, func(s script) []byte { return wire.Enter{Tick: 12}.Append(nil) }},
		{"a byte too many", wire.ErrMalformed, func(s script) []byte { return append(s.delta(12, 10, 2, 3, 1), 0) }},
		{"a byte too few", wire.ErrMalformed, func(s script) []byte {
			d := s.delta(12, 10, 2, 3, 1)
			return d[:len(d)-1]
		}},
		{"other rates", errRates, func(s script) []byte {
			w := wire.Welcome{Player: 1, TickRate: 60, SendRate: 15}
			return w.Append(nil)
		}},
	} {
		s := begin(t)
		if err := s.m.take(c.bad(s)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
