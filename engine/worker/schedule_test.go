package worker

import "testing"

func TestScheduleRunsEveryMemberOncePerPeriod(t *testing.T) {
	s := newSchedule[int](30)
	for i := range 50 {
		s.add(i, 1000)
	}
	counts := make([]int, 50)
	for now := int64(1000); now <= 1000+10e9; now += 1e6 {
		for {
			sl, ok := s.take(now)
			if !ok {
				break
			}
			if sl.last > now {
				t.Fatalf("a turn ran %d ns early", sl.last-now)
			}
			for _, m := range sl.members {
				counts[m]++
			}
		}
	}
	for m, n := range counts {
		if n < 299 || n > 300 {
			t.Errorf("member %d ran %d times in ten seconds at 30 Hz", m, n)
		}
	}
}

// What the members of a slot share, such as the ticks that may run again, is each one's
// first as often as the others'.
func TestScheduleLetsEachBeFirst(t *testing.T) {
	s := newSchedule[int](200) // two slots
	for i := range 10 {
		s.add(i, 0)
	}
	firsts := make([]int, 10)
	for now := int64(0); now <= 5e9; now += 1e6 {
		sl, ok := s.take(now)
		if !ok {
			continue
		}
		var order []int
		sl.each(func(m int) { order = append(order, m) })
		if len(order) != 5 {
			t.Fatalf("members %v of %v had their turn", order, sl.members)
		}
		firsts[order[0]]++
	}
	for m, n := range firsts {
		if n < 199 || n > 201 {
			t.Errorf("member %d was first %d times of 1000 turns of five members", m, n)
		}
	}
}

func TestScheduleSpreadsMembers(t *testing.T) {
	s := newSchedule[int](30)
	for i := range 160 {
		s.add(i, 0)
	}
	for i := range s.slots {
		if n := len(s.slots[i].members); n != 10 {
			t.Errorf("slot %d has %d members, want 10", i, n)
		}
	}
}

func TestScheduleDropsWholePeriodsAfterAHold(t *testing.T) {
	s := newSchedule[int](10)
	s.add(7, 0)
	before, _ := s.next()
	ran := 0
	now := int64(3e9) // held up for three seconds: 30 ticks
	for {
		sl, ok := s.take(now)
		if !ok {
			break
		}
		ran += len(sl.members)
	}
	if ran != maxBacklog {
		t.Errorf("%d ticks ran back to back, want %d", ran, maxBacklog)
	}
	if s.dropped != 30-maxBacklog {
		t.Errorf("%d ticks dropped, want %d", s.dropped, 30-maxBacklog)
	}
	after, _ := s.next()
	if after <= now {
		t.Error("still behind after the catching up")
	}
	spacing := int64(1e8) / int64(len(s.slots))
	if (after-before)%spacing != 0 {
		t.Errorf("the phase moved by %d ns", (after-before)%spacing)
	}
}

func TestScheduleKeepsTimeForYears(t *testing.T) {
	s := newSchedule[int](128)
	s.add(1, 0)
	const day = int64(24 * 3600 * 1e9)
	end := int64(0)
	for range 3650 {
		end += day
		s.take(end)
	}
	for range 1000 {
		last, _ := s.next()
		s.take(last)
		next, _ := s.next()
		if gap := next - last; gap < 2_604_166 || gap > 2_604_167 { // 3 slots of 1/128 s
			t.Fatalf("%d ns from turn to turn", gap)
		}
	}
	if at, _ := s.next(); at < end || at > end+4e9 {
		t.Errorf("after ten years the next turn is due at %d", at)
	}
}

func TestScheduleIdleIsIdle(t *testing.T) {
	s := newSchedule[int](60)
	slot := s.add(1, 5)
	s.remove(1, slot)
	if _, ok := s.next(); ok {
		t.Error("an empty schedule wants to be woken")
	}
	if _, ok := s.take(1e12); ok {
		t.Error("an empty schedule has a turn")
	}
	s.add(2, 2e12)
	if at, ok := s.next(); !ok || at <= 2e12 {
		t.Errorf("a restarted schedule is due at %d", at)
	}
}

func TestScheduleElapsed(t *testing.T) {
	s := newSchedule[int](10)
	slot := s.add(1, 0)
	for want := range int64(3) {
		now := 25e6 * want
		if got := s.elapsed(slot, now); int64(got) != want*16384 {
			t.Errorf("after %v ns of a tick of 100 ms: %d of 65536", now, got)
		}
	}
	if got := s.elapsed(slot, 1e12); got != 65535 {
		t.Errorf("long after: %d", got)
	}
}

func TestAllocSchedule(t *testing.T) {
	s := newSchedule[int](128)
	s.add(1, 0)
	now, sum := int64(0), int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += 1e6
		for {
			sl, ok := s.take(now)
			if !ok {
				break
			}
			sl.each(func(m int) { sum += int64(m) + now })
		}
	}); n != 0 {
		t.Fatalf("%v allocations a wake-up, budget 0", n)
	}
	t.Log("a wake-up: budget 0 allocations")
}
