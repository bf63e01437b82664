package tick

import "gamehoster/games/schema"

// rewind runs the ticks from that of the oldest late command on once more, with it
// and all others in their places, if the turn's budget allows it; if not, they stay
// waiting. It returns false if the instance is over.
func (in *Instance) rewind() bool {
	s, l := in.shard, &in.timeline
	first, late := in.filing.clampLate(in.earliest(), in.tick, s.scratch.record)
	if !late {
		return true
	}
	if s.turn <= 0 {
		s.stats.Queued += uint64(in.filing.late)
		return true
	}
	at := l.before(first)
	from, now := l.at(at).tick, in.tick
	s.turn -= int(now - from)
	l.rewound = true
	s.stats.Rewinds++
	s.stats.Replayed += uint64(now - from)
	s.stats.Depths[depthSlot(now-from)]++

	in.history.nextShare = min(in.history.nextShare, l.shared(first-1))
	before := s.scratch.before[:s.liveSize(in.block)]
	s.pack(before, in.block)
	s.unpack(in.block, l.at(at).buf)
	for t := from + 1; t != now+1; t++ {
		if !in.run(t, true) {
			// The state of the last tick stays the last one.
			s.unpack(in.block, before)
			return false
		}
		l.count(t, in.counters(), true)
		if at++; at < l.n && l.at(at).tick == t {
			in.restate(l.at(at))
		} else {
			at--
		}
	}
	if s.rules.view {
		// Not all viewers get the commands that changed the present.
		in.differ(before, func(row []byte, shared bool) {
			if shared {
				l.spoilt = append(l.spoilt, spoilt{le.Uint32(row[schema.RowID:]), in.sends + 1})
			}
		})
	}
	in.checkRemoved()
	return true
}

// restate puts the state of a past send tick, which has been run again, in place of
// what it was, and notes what viewers were told then that is not so any more.
func (in *Instance) restate(old *state) {
	l := &in.timeline
	in.differ(old.buf, func(row []byte, shared bool) {
		id := le.Uint32(row[schema.RowID:])
		if shared {
			l.spoilt = append(l.spoilt, spoilt{id, old.send})
		}
		// That a server body wrote has been told, unless it wrote something else or
		// the object is to be told of anew.
		mark := le.Uint32(row[schema.RowMark:])
		if mark&schema.MarkWritten != 0 && (!shared || in.history.rewrote(id, in.sends+1)) {
			le.PutUint32(row[schema.RowMark:], mark&^schema.MarkWritten)
		}
	})
	in.store(old)
}
