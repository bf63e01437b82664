package wire

import (
	"hash/fnv"
	"testing"

	"gamehoster/games/schema"
)

// hashed is the state hash of w as the package takes it.
func hashed(w *world) Hash {
	h := NewHash().Fields(w.s.Fields(schema.InstanceType, Shared, false), w.row(w.objects[0]))
	for _, o := range w.objects[1:] {
		h = h.Object(w.s, o.typ, w.row(o))
	}
	return h
}

func naiveHash(w *world) Hash {
	h := fnv.New64a()
	h.Write(naiveHashed(w).bytes())
	return Hash(h.Sum64())
}

func stateHashVectors(w *world) []vector {
	var d dump
	h := naiveHash(w)
	d.tag(TagStateHash)
	d.u32(900, "tick 900")
	d.u64(uint64(h), "hash of the state that snapshot.golden begins with")
	return []vector{{"of the fixture", d, StateHash{900, hashed(w)}.Append(nil), map[string]any{"tick": 900, "hash": hex64(uint64(h))}}}
}

func TestStateHash(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "statehash", stateHashVectors(w)...)
	checkVectors(t, "hashed", vector{name: "the bytes that the state hash is taken over", want: naiveHashed(w), got: naiveHashed(w).bytes()})
	want := StateHash{7, 0x0123456789abcdef}
	if m, err := ParseStateHash(want.Append(nil)); err != nil || m != want {
		t.Errorf("%+v, %v", m, err)
	}
	rejects(t, func(p []byte) error { _, err := ParseStateHash(p); return err },
		bad{"short", "04 01020304 01020304050607", errShort},
		bad{"long", "04 01020304 010203040506070809", errTrailing})
}

func TestHashOfNothingAndOfText(t *testing.T) {
	if NewHash() != 0xcbf29ce484222325 {
		t.Errorf("%#x", NewHash())
	}
	if h := NewHash().Bytes([]byte("foobar")); h != 0x85944171f73967e8 {
		t.Errorf("%#x", h)
	}
}

func TestHashLeavesOutSentAndServerFields(t *testing.T) {
	w := fixtureWorld()
	same := w.edited(map[uint32]values{0: {"round": 8.0, "secret": 1.0}, 1: {"score": 5.0, "salt": 9.0}, 6: {"charge": 1.0}})
	if hashed(w) != hashed(same) {
		t.Error("a sent or server field changed the hash")
	}
	for id, v := range map[uint32]values{0: {"leader": uint32(1)}, 1: {"y": 0.5}, 2: {"name": "no"}, 10: {"by": uint32(2)}} {
		if hashed(w) == hashed(w.edited(map[uint32]values{id: v})) {
			t.Errorf("%v of %d did not change the hash", v, id)
		}
	}
}
