package wire

import (
	"bytes"
	"testing"

	"gamehoster/games/schema"
)

func appendCommands(dst []byte, w *world, m Commands, list ...relayedValues) []byte {
	dst = m.Append(dst)
	cw := NewCommandWriter(m.Tick)
	for _, c := range list {
		dst = cw.Append(dst, c.Relayed)
		dst = w.s.Command(c.Number).AppendAll(dst, w.record(int(c.Number), c.v))
	}
	return dst
}

func commandsVectors(w *world) (list []vector) {
	add := func(name string, m Commands, cmds ...relayedValues) {
		expect := []any{}
		for _, c := range cmds {
			expect = append(expect, map[string]any{"tick": c.Tick, "player": c.Player, "seq": c.Seq, "command": c.Number,
				"fields": expectFields(w.def.Commands[c.Number].Fields, c.v)})
		}
		list = append(list, vector{name, naiveCommands(w, m, cmds...), appendCommands(nil, w, m, cmds...),
			map[string]any{"tick": m.Tick, "commands": expect}})
	}
	add("of three ticks", Commands{902},
		relayedValues{Relayed{870, 3, 9, cmdThrust}, thrustOn},
		relayedValues{Relayed{901, 1, 200, cmdProbe}, probing},
		relayedValues{Relayed{901, 3, 10, cmdFire}, fireAhead},
		relayedValues{Relayed{901, 3, 11, cmdStop}, nil},
		relayedValues{Relayed{902, 1, 201, cmdThrust}, values{"on": false}})
	add("over the wrap of ticks", Commands{1},
		relayedValues{Relayed{0xffffffff, 3, 12, cmdStop}, nil},
		relayedValues{Relayed{0, 3, 13, cmdStop}, nil})
	return list
}

func TestCommands(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "commands", commandsVectors(w)...)
	list := []relayedValues{
		{Relayed{0xfffffffe, 1, 1, cmdThrust}, thrustOn},
		{Relayed{0xfffffffe, 3, 1, cmdProbe}, probing},
		{Relayed{3, 1, 2, cmdFire}, fireAhead},
		{Relayed{3, 1, 3, cmdStop}, nil},
	}
	m, rest, err := ParseCommands(appendCommands(nil, w, Commands{4}, list...))
	if err != nil || m.Tick != 4 {
		t.Fatalf("%+v, %v", m, err)
	}
	r := NewCommandReader(w.s, m.Tick, rest)
	rec := make([]byte, w.server.CommandStride)
	for _, c := range list {
		if !r.Next(rec) || r.Command() != c.Relayed {
			t.Fatalf("%+v, %v", r.Command(), r.Err())
		}
		if !bytes.Equal(rec[schema.CommandFields:], w.record(int(c.Number), c.v)[schema.CommandFields:]) {
			t.Errorf("%+v: record % x", c, rec)
		}
	}
	if r.Next(rec) || r.Err() != nil {
		t.Errorf("more follows, or %v", r.Err())
	}
	rejects(t, func(p []byte) error {
		m, rest, err := ParseCommands(p)
		if err != nil {
			return err
		}
		r := NewCommandReader(w.s, m.Tick, rest)
		for r.Next(rec) {
		}
		return r.Err()
	},
		bad{"short", "85 000000", errShort},
		bad{"cut at player", "85 00000000 00", errShort},
		bad{"cut at seq", "85 00000000 00 01", errShort},
		bad{"cut at number", "85 00000000 00 01 01", errShort},
		bad{"cut at fields", "85 00000000 00 01 01 00", errShort},
		bad{"player", "85 00000000 00 02 01 04", errID},
		bad{"seq", "85 00000000 00 01 00 04", errSeq},
		bad{"number", "85 00000000 00 01 01 05", errCommand},
		bad{"later tick first", "85 00000000 00 01 01 04 01 01 02 04", errRelay},
		bad{"greater player first", "85 00000000 00 03 01 04 00 01 02 04", errRelay},
		bad{"same seq", "85 00000000 00 03 01 04 00 03 01 04", errRelay},
		bad{"half the ticks back", "85 00000000 8080808008 03 01 04", errRelay},
		bad{"NaN", "85 00000000 00 01 01 01 0000c07f 05 00", errFinite},
		bad{"bounds", "85 00000000 00 01 01 01 00000000 63 00", errBounds})
}

func TestCommandWriterInsistsOnOrder(t *testing.T) {
	for name, list := range map[string][]Relayed{
		"tick to come": {{11, 1, 1, 0}},
		"no player":    {{10, 2, 1, 0}},
		"seq 0":        {{10, 1, 0, 0}},
		"ticks":        {{10, 1, 1, 0}, {9, 1, 2, 0}},
		"players":      {{10, 3, 1, 0}, {10, 1, 1, 0}},
		"seqs":         {{10, 3, 1, 0}, {10, 3, 1, 0}},
	} {
		panics(t, name, func() {
			w := NewCommandWriter(10)
			for _, c := range list {
				w.Append(nil, c)
			}
		})
	}
}
