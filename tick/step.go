package tick

import (
	"slices"

	"gamehoster/games/schema"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

// skip names body runs that a tick leaves out.
type skip struct{ body, actor uint32 }

// Step runs one tick. An instance that has ended runs none.
func (in *Instance) Step() {
	in.due = false
	if in.Ended() {
		return
	}
	s := in.shard
	t := in.tick + 1
	sending := in.until == 1
	leaves, joins := 0, 0
	if sending {
		leaves, joins = len(in.filing.leaves), in.joining()
	}
	commands := in.dueCommands(t)
	s.scratch.skips = s.scratch.skips[:0]
	in.save()
	for {
		in.input(leaves, joins, commands)
		f, ok := s.machine.Tick(in.base, s.scratch.input)
		if ok {
			break
		}
		in.restore()
		if !in.excuse(&f, t) {
			in.due = true // for the engine to see that it is over
			return
		}
		s.stats.Reruns++
	}
	in.tick = t
	s.stats.Ticks++
	if sending {
		in.filing.leaves = in.filing.leaves[:0]
		in.rows -= leaves
		in.joined(joins)
	}
	in.ran(commands)
	if in.count(schema.PlayerType) != in.rows {
		in.removed()
	}
	if in.until--; in.until == 0 {
		in.until = s.rules.perSend
		in.due = true
	}
	// What the game left behind goes out at once.
	in.due = in.due || in.Ended()
}

// SendDue reports whether the tick just run is a send tick. The tick in which the
// instance ended always is.
func (in *Instance) SendDue() bool { return in.due }

// joining is how many of the seats taken join in this tick. Their rows are made
// while those of leaving players still stand.
func (in *Instance) joining() int {
	n := in.taken - (in.rows - len(in.filing.leaves))
	return min(n, in.shard.def.Player().Max-in.rows)
}

// dueCommands is how many of the commands filed are for tick t.
func (in *Instance) dueCommands(t uint32) int {
	n := 0
	for n < len(in.filing.waiting) && !wire.TickAfter(in.filing.waiting[n].tick, t) {
		n++
	}
	return n
}

// input writes the tick's input.
func (in *Instance) input(leaves, joins, commands int) {
	s := in.shard
	b := s.scratch.inputs
	stride := s.layout.CommandStride
	le.PutUint32(b[0:], uint32(len(s.scratch.skips)))
	le.PutUint32(b[4:], uint32(leaves))
	le.PutUint32(b[8:], uint32(joins))
	le.PutUint32(b[12:], uint32(commands))
	b = b[schema.InputHeader:]
	for _, k := range s.scratch.skips {
		le.PutUint32(b[0:], k.body)
		le.PutUint32(b[4:], k.actor)
		b = b[schema.SkipSize:]
	}
	for _, p := range in.filing.leaves[:leaves] {
		le.PutUint32(b[0:], p)
		le.PutUint32(b[4:], 0)
		b = b[schema.LeaveSize:]
	}
	for last := uint32(0); joins > 0; joins-- {
		k := in.nextJoin(last)
		last = k.player
		clear(b[:schema.JoinSize])
		le.PutUint32(b, k.player)
		b[schema.JoinName] = byte(copy(b[schema.JoinName+1:schema.JoinSize], k.name))
		b = b[schema.JoinSize:]
	}
	copy(b, in.filing.records[:commands*stride])
}

// nextJoin is the seat with the smallest id over last whose player has not joined.
// There must be one.
func (in *Instance) nextJoin(last uint32) *seat {
	var next *seat
	for i := range in.seats {
		k := &in.seats[i]
		if k.player > last && !k.joined && (next == nil || k.player < next.player) {
			next = k
		}
	}
	return next
}

// joined marks the n players that joined in the tick just run.
func (in *Instance) joined(n int) {
	for ; n > 0; n-- {
		k := in.nextJoin(0)
		k.joined, k.joinTick = true, in.tick
		in.rows++
	}
}

// ran takes the n commands that the tick just run had out of the filing, and hands
// those that clients run too to the relay.
func (in *Instance) ran(n int) {
	if n == 0 {
		return
	}
	stride := in.shard.layout.CommandStride
	for i, o := range in.filing.waiting[:n] {
		if k := in.seat(o.player); k != nil {
			k.filed--
		}
		if in.shard.rules.handlers[o.number].Shared {
			in.relay.add(o, in.filing.records[i*stride:][:stride])
		}
	}
	in.filing.take(n, stride)
}

// removed finds the players whose rows the game removed and frees their seats.
func (in *Instance) removed() {
	n := in.count(schema.PlayerType)
	for i := range in.seats {
		k := &in.seats[i]
		if !k.joined || in.hasPlayer(k.player, n) {
			continue
		}
		if v := k.viewer; v != nil {
			v.removed = true
		}
		in.free(k)
	}
	in.filing.leaves = slices.DeleteFunc(in.filing.leaves, func(id uint32) bool { return !in.hasPlayer(id, n) })
	in.rows = n
}

func (in *Instance) hasPlayer(id uint32, n int) bool {
	for i := range n {
		if le.Uint32(in.row(schema.PlayerType, i)[schema.RowID:]) == id {
			return true
		}
	}
	return false
}

// excuse takes note of a fault in tick t, so that it can be run again without what
// failed. It returns false where that is no way out: the instance is over.
func (in *Instance) excuse(f *vm.Fault, t uint32) bool {
	b := &in.shard.scratch
	k := skip{f.Body, f.Actor}
	in.failed = !blamed(f) || int(k.body) >= len(in.shard.rules.bodies)
	times := 0
	for _, old := range b.skips {
		if old.body == k.body {
			times++
			// If it was to be left out already, the module is broken.
			in.failed = in.failed || old.actor == k.actor || old.actor == schema.AllActors
		}
	}
	all := !in.failed && times == rerunsPerBody
	if all {
		k.actor = schema.AllActors
	}
	if !in.failed {
		b.skips = append(b.skips, k)
	}
	in.fault(f, t, all)
	return !in.failed
}

// save copies the header and the live rows aside.
func (in *Instance) save() { in.spans(in.shard.scratch.saved, in.block) }

// restore puts them back. Rows that the failed run has appended stay behind the
// live ones, where nothing looks.
func (in *Instance) restore() { in.spans(in.block, in.shard.scratch.saved) }

// spans copies the header and the live rows, as from's header has them.
func (in *Instance) spans(to, from []byte) {
	types := in.shard.layout.Types
	end := types[schema.InstanceType].Rows + types[schema.InstanceType].Stride
	copy(to[:end], from[:end])
	for i := schema.PlayerType; i < len(types); i++ {
		t := &types[i]
		n := int(le.Uint32(from[t.Counts+schema.CountRows:])) * t.Stride
		copy(to[t.Rows:t.Rows+n], from[t.Rows:t.Rows+n])
	}
}
