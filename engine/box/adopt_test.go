package box

import (
	"sync/atomic"
	"testing"

	"gamehoster/engine/worker"
)

func TestAdopt(t *testing.T) {
	ids := new(atomic.Uint32)
	tb := shards(NewTable(definition(3, 2), 1, ids), 2)
	id := worker.InstanceID(ids.Add(1))
	if !tb.Adopt(1, id, "carried", 2, true) {
		t.Fatal("an instance was not adopted")
	}
	for name, again := range map[string]bool{
		"its number":     tb.Adopt(0, id, "other", 1, true),
		"its name":       tb.Adopt(0, id+1, "carried", 1, true),
		"no shard":       tb.Adopt(7, id+1, "other", 1, true),
		"too many seats": tb.Adopt(0, id+1, "other", 4, true),
	} {
		if again {
			t.Errorf("%s: adopted", name)
		}
	}
	// Who resumes finds it there and takes no second seat; one seat is left for anybody.
	_, r := place(t, tb, Request{Resume: worker.NewToken(1, id, 7)})
	if r.Instance != id {
		t.Errorf("resumed in %d", r.Instance)
	}
	if p, r := place(t, tb, Request{}); r.Instance != id || p.Shard != 1 {
		t.Errorf("a new player came to %+v", r)
	}
	if _, r := place(t, tb, Request{}); r.Instance == id {
		t.Error("it got more players than it has seats")
	}
	tb.Adopt(1, worker.InstanceID(ids.Add(1)), "closed", 1, false)
	if _, err := tb.Place(Request{Instance: "closed"}, 0); err == nil {
		t.Error("a closed instance took a player")
	}
	if tb.Adopt(1, worker.InstanceID(ids.Add(1)), "over", 1, true) {
		t.Error("a full shard took another instance")
	}
	for range 3 {
		tb.Release(id)
	}
	if !tb.Retire(id, false) {
		t.Error("an adopted instance does not end when it is empty")
	}
	if l := tb.Load(); l.Instances != 2 || l.Seats != 2 {
		t.Errorf("the table counts %+v", l)
	}
	tb.Close()
	if tb.Adopt(0, worker.InstanceID(ids.Add(1)), "late", 0, true) {
		t.Error("a closed table took an instance")
	}
}
