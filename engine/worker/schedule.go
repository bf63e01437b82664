package worker

// Ticks of a shard's instances are spread over the tick period so that the loop
// has no comb of idle and overload: the period has slots, evenly apart, and each
// instance ticks with its slot. There are few enough slots that a slot's
// instances share one wake-up and one batch of sends.
const (
	slotSpacing = int64(2e6) // ns; the least time between slots
	maxSlots    = 16
	maxBacklog  = 5 // ticks that an instance runs back to back after its loop was held up
)

// schedule says which slot is due when. Times are monotonic nanoseconds. The n-th
// turn since start is due at start + n * second / (rate * slots), computed afresh
// each time so that rounding never adds up, and belongs to slot n modulo slots.
type schedule[T comparable] struct {
	rate    int64 // ticks a second
	start   int64
	turn    int64 // the next one
	slots   []slot[T]
	members int
	dropped uint64 // turns left out, in ticks of one instance
	missed  uint64 // the same in tick periods: what each member has lost
}

type slot[T comparable] struct {
	members []T
	last    int64 // when its last turn was due
	first   int   // of the members, which begins the next turn
}

// each calls f for the slot's members, another one first in every turn: what they share
// may be used up before it is the last one's turn.
func (sl *slot[T]) each(f func(T)) {
	n := len(sl.members)
	for i := range n {
		f(sl.members[(sl.first+i)%n])
	}
	if sl.first++; sl.first >= n {
		sl.first = 0
	}
}

func newSchedule[T comparable](tickRate int) *schedule[T] {
	period := int64(1e9) / int64(tickRate)
	n := min(max(period/slotSpacing, 1), maxSlots)
	return &schedule[T]{rate: int64(tickRate), slots: make([]slot[T], n)}
}

// due keeps whole seconds apart, as turns in nanoseconds overflow after months.
func (s *schedule[T]) due(turn int64) int64 {
	perSecond := s.rate * int64(len(s.slots))
	return s.start + turn/perSecond*1e9 + turn%perSecond*1e9/perSecond
}

// next is when the next turn is due; false where nothing is scheduled.
func (s *schedule[T]) next() (int64, bool) {
	return s.due(s.turn), s.members > 0
}

// add puts a member into the emptiest slot and returns the slot's number. A
// schedule that was empty starts at now.
func (s *schedule[T]) add(m T, now int64) int {
	if s.members == 0 {
		s.start, s.turn = now, 1
	}
	best := 0
	for i := range s.slots {
		if len(s.slots[i].members) < len(s.slots[best].members) {
			best = i
		}
	}
	sl := &s.slots[best]
	if len(sl.members) == 0 {
		sl.last = now
	}
	sl.members = append(sl.members, m)
	s.members++
	return best
}

// remove takes a member out of its slot.
func (s *schedule[T]) remove(m T, slot int) {
	sl := &s.slots[slot]
	for i, o := range sl.members {
		if o != m {
			continue
		}
		copy(sl.members[i:], sl.members[i+1:])
		var zero T
		sl.members[len(sl.members)-1] = zero
		sl.members = sl.members[:len(sl.members)-1]
		s.members--
		return
	}
}

// take gives the slot whose turn is due at now, if one is. Where the loop was
// held up for more than maxBacklog periods it leaves whole periods out first.
func (s *schedule[T]) take(now int64) (*slot[T], bool) {
	if s.members == 0 {
		return nil, false
	}
	at := s.due(s.turn)
	if at > now {
		return nil, false
	}
	if behind := (now - at) * s.rate / 1e9; behind >= maxBacklog {
		left := behind - maxBacklog + 1
		s.turn += left * int64(len(s.slots))
		s.dropped += uint64(left) * uint64(s.members)
		s.missed += uint64(left)
		at = s.due(s.turn)
	}
	sl := &s.slots[s.turn%int64(len(s.slots))]
	sl.last = at
	s.turn++
	return sl, true
}

// elapsed is the part of a tick that has passed since a slot's last turn was due,
// 0..65535.
func (s *schedule[T]) elapsed(slot int, now int64) uint16 {
	part := (now - s.slots[slot].last) * s.rate * 65536 / 1e9
	return uint16(min(max(part, 0), 65535))
}
