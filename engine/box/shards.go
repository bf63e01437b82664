package box

import "slices"

// AddShard makes room for as many instances as a shard of the game runs. The number is one
// that no shard of the box has had, for it stands in resume tokens, unless all shards of
// the box are there for as long as it is. cpu is the core that the shard runs on; -1 if it
// runs on any. From now on players may be sent there.
func (t *Table) AddShard(number uint32, cpu int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shard(number) == nil {
		t.shards = append(t.shards, &shard{number: number, cpu: cpu, idle: t.now})
	}
}

// DropShard forgets a shard that is no more, with its instances and all seats there,
// those that are reserved included, and tells how many that were. Whoever has a seat
// there may go on calling Claim, which then gives nothing, Release and Retire.
func (t *Table) DropShard(number uint32) (instances, seats int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sh := t.shard(number)
	if sh == nil {
		return 0, 0
	}
	for _, in := range t.instances {
		if in.shard == sh {
			instances++
			seats += in.seats
			t.forget(in)
		}
	}
	t.shards = slices.DeleteFunc(t.shards, func(o *shard) bool { return o == sh })
	return instances, seats
}

// DrainShard sends nobody to a shard any more but who resumes a seat there or names an
// instance. To retire a shard that Idle tells of, drain it first and then ask Idle again:
// a player may have been sent there in between.
func (t *Table) DrainShard(number uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sh := t.shard(number); sh != nil {
		sh.draining = true
		t.relist(sh)
	}
}

// Suspect sends nobody new to a shard while it is suspect. Who resumes a seat still goes
// there: the seat is nowhere else.
func (t *Table) Suspect(number uint32, suspect bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sh := t.shard(number); sh != nil {
		sh.suspect = suspect
		t.relist(sh)
	}
}

// Idle tells since when a shard has had no instance, in the time that Place and Expire are
// told. ok is false while it has one, and if there is no such shard.
func (t *Table) Idle(number uint32) (since int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sh := t.shard(number)
	if sh == nil || sh.instances > 0 {
		return 0, false
	}
	return sh.idle, true
}

// ShardLoad is how much one shard holds, for who shows it.
type ShardLoad struct {
	Shard             uint32
	CPU               int // -1 if it runs on any
	Instances, Seats  int
	Draining, Suspect bool
}

// Shards counts what is placed on each shard, in the order in which they were added.
func (t *Table) Shards() []ShardLoad {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]ShardLoad, len(t.shards))
	seats := map[*shard]int{}
	for _, in := range t.instances {
		seats[in.shard] += in.seats
	}
	for i, sh := range t.shards {
		all[i] = ShardLoad{
			Shard: sh.number, CPU: sh.cpu, Instances: sh.instances, Seats: seats[sh],
			Draining: sh.draining || t.draining, Suspect: sh.suspect,
		}
	}
	return all
}

// shard is the shard of a number; nil if there is none.
func (t *Table) shard(number uint32) *shard {
	for _, sh := range t.shards {
		if sh.number == number {
			return sh
		}
	}
	return nil
}

// emptiest is the shard with the fewest instances that has room for another and takes new
// players, of several the one on the core cpu, else the one that is there longest; nil if
// there is none.
func (t *Table) emptiest(cpu int) (best *shard) {
	for _, sh := range t.shards {
		switch {
		case !sh.takes() || sh.instances >= t.def.ShardInstances():
		case best == nil || sh.instances < best.instances:
			best = sh
		case sh.instances == best.instances && cpu >= 0 && sh.cpu == cpu && best.cpu != cpu:
			best = sh
		}
	}
	return best
}

// relist keeps the list of open instances right after a shard has changed.
func (t *Table) relist(sh *shard) {
	for _, in := range t.instances {
		if in.shard == sh {
			t.list(in)
		}
	}
}
