package box

import "gamehoster/engine/worker"

// Adopt takes note of an instance that runs already: a worker has carried it over from an
// older version of the game, whose table has forgotten it. Its seats are taken, and count
// here from now on. It returns false, and nothing changes, where the shard is not there or
// has no room, where the instance has more seats than the game gives, and where its name is
// another one's.
func (t *Table) Adopt(shard uint32, id worker.InstanceID, name string, seats int, open bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	sh := t.shard(shard)
	if t.closed || sh == nil || sh.instances >= t.def.ShardInstances() || seats > t.def.PlayersPerInstance ||
		t.byName[name] != nil || t.instances[id] != nil {
		return false
	}
	in := &instance{id: id, name: name, shard: sh, seats: seats, running: true, closed: !open}
	sh.instances++
	t.instances[id] = in
	t.byName[name] = in
	t.list(in)
	return true
}
