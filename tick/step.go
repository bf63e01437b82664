package tick

import (
	"errors"
	"slices"

	"gamehoster/games/schema"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

// skip names body runs that a tick leaves out.
type skip struct{ body, actor uint32 }

// Step runs one tick. If commands have come late it first goes back and runs the
// ticks since then once more, if the turn's budget allows it (Turn); what it does not
// allow waits for another Step. An instance that has ended runs none.
func (in *Instance) Step() {
	in.due = false
	if in.Ended() {
		return
	}
	s := in.shard
	if in.filing.late > 0 && !in.rewind() {
		in.due = true // for the engine to see that it is over
		return
	}
	t := in.tick + 1
	sending := in.until == 1
	joins := 0
	if sending {
		joins = in.arrive(t)
	}
	if !in.run(t, false) {
		in.due = true
		return
	}
	in.tick = t
	in.logged()
	in.filing.advance(t)
	in.timeline.count(t, in.counters(), false)
	s.stats.Ticks++
	if sending {
		in.rows -= len(in.filing.leaves)
		in.filing.leaves = in.filing.leaves[:0]
		in.joined(joins)
	}
	in.checkRemoved()
	if !s.rules.rewinds {
		in.forgetPast(t)
	}
	if in.until--; in.until == 0 {
		in.until = s.rules.perSend
		in.due = true
	}
	// What the game left behind goes out at once.
	in.due = in.due || in.Ended()
}

// lastID is what ids are below: those from there on are what clients give to what they
// only expect to be there.
const lastID = 1 << 31

// errIDs ends an instance: an id given twice would be another object to some and the
// same to others.
var errIDs = errors.New("all ids of the instance are used up")

// run runs tick t with what is filed on it, for the first time or again. It returns
// false if that is not possible: the instance is over, its state that before the tick.
func (in *Instance) run(t uint32, again bool) bool {
	s := in.shard
	s.scratch.skips = s.scratch.skips[:0]
	if c := in.counters(); max(c[0], c[1]) > lastID-s.rules.idsPerTick {
		in.failed = true
		in.fault(&vm.Fault{Err: errIDs}, t, false)
		return false
	}
	in.save()
	from, to := in.filing.span(t)
	for {
		in.input(t, from, to)
		f, ok := s.machine.Tick(in.base, s.scratch.input)
		if ok {
			break
		}
		in.restore()
		if !in.excuse(&f, t, again) {
			return false
		}
		s.stats.Reruns++
	}
	in.ran(from, to)
	return true
}

// SendDue reports whether the tick just run is a send tick. The tick in which the
// instance ended always is.
func (in *Instance) SendDue() bool { return in.due }

// arrive files the leaves and joins that wait for this send tick, and returns the
// number of joins.
func (in *Instance) arrive(t uint32) (joins int) {
	f := &in.filing
	slices.Sort(f.leaves)
	for _, p := range f.leaves {
		f.arrivals = append(f.arrivals, arrival{tick: t, player: p})
	}
	// Rows are made while those of leaving players still stand.
	joins = in.taken - (in.rows - len(f.leaves))
	joins = min(joins, in.shard.def.Player().Max-in.rows)
	last := uint32(0)
	for range joins {
		k := in.nextJoin(last)
		last = k.player
		a := arrival{tick: t, player: k.player, join: true}
		a.name[0] = byte(copy(a.name[1:], k.name))
		f.arrivals = append(f.arrivals, a)
	}
	return joins
}

// input writes the input of tick t, whose commands are the filing's from from up to
// to.
func (in *Instance) input(t uint32, from, to int) {
	s := in.shard
	b := s.scratch.inputs
	stride := s.layout.CommandStride
	counts := b[:schema.InputHeader]
	b = b[schema.InputHeader:]
	leaves, joins, commands := 0, 0, 0
	for _, k := range s.scratch.skips {
		le.PutUint32(b[0:], k.body)
		le.PutUint32(b[4:], k.actor)
		b = b[schema.SkipSize:]
	}
	for _, a := range in.filing.arrived(t) {
		n := schema.LeaveSize
		if a.join {
			n = schema.JoinSize
			joins++
		} else {
			leaves++
		}
		clear(b[:n])
		le.PutUint32(b, a.player)
		if a.join {
			copy(b[schema.JoinName:n], a.name[:])
		}
		b = b[n:]
	}
	for i := from; i < to; i++ {
		if !in.held(i) {
			copy(b, in.filing.records[i*stride:][:stride])
			b = b[stride:]
			commands++
		}
	}
	for i, n := range [...]int{len(s.scratch.skips), leaves, joins, commands} {
		le.PutUint32(counts[4*i:], uint32(n))
	}
}

// held reports whether command i, which is to run now for the first time, has to
// wait because an older one of its seat does.
func (in *Instance) held(i int) bool {
	f := &in.filing
	o := &f.list[i]
	return i >= f.next && in.shard.rules.handlers[o.number].Shared && f.behind(o.player)
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

// ran takes note that the filing's commands from from up to to have run, and hands
// those that clients run too and that had not run before to the relay.
func (in *Instance) ran(from, to int) {
	stride := in.shard.layout.CommandStride
	for i := from; i < to; i++ {
		o := &in.filing.list[i]
		if o.ran || in.held(i) {
			continue
		}
		o.ran = true
		if i < in.filing.next {
			in.filing.late--
		}
		if k := in.seat(o.player); k != nil {
			k.filed--
		}
		if in.shard.rules.handlers[o.number].Shared {
			in.relay.add(relayed{*o, in.tick + 1}, in.filing.records[i*stride:][:stride])
		}
	}
}

// forgetPast forgets what happened in ticks up to t.
func (in *Instance) forgetPast(t uint32) {
	in.filing.prune(t, func(player uint32) {
		if k := in.seat(player); k != nil {
			k.kept--
		}
	})
	in.faults = slices.DeleteFunc(in.faults, func(f faulted) bool { return !wire.TickAfter(f.tick, t) })
}

// checkRemoved frees the seats of players that the game has removed. That cannot be
// taken back, so the past up to now is not run otherwise any more.
func (in *Instance) checkRemoved() {
	if in.count(schema.PlayerType) != in.rows {
		in.timeline.floor, in.timeline.floored = in.tick, true
		in.removed()
	}
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
func (in *Instance) excuse(f *vm.Fault, t uint32, again bool) bool {
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
	// What has been reported once is not when the tick runs again.
	note := faulted{t, k}
	if !again || !slices.Contains(in.faults, note) {
		in.fault(f, t, all)
		if in.shard.rules.rewinds && !in.failed {
			in.faults = append(in.faults, note)
		}
	}
	return !in.failed
}

// faulted is a fault that was reported.
type faulted struct {
	tick uint32
	skip skip
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
