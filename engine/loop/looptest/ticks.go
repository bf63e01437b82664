package looptest

import (
	"testing"
	"time"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

func testTicks(t *testing.T, mk Make) {
	const n = 50
	r := &rig{}
	done := make(chan struct{})
	calls := 0
	wished := int64(0)
	r.onTick = func(now int64) int64 {
		if now < wished {
			t.Errorf("tick %d came %d ns early", calls, wished-now)
		}
		if real := loop.Now(); now > real {
			t.Errorf("tick %d was told a time %d ns ahead", calls, now-real)
		}
		if calls++; calls == n {
			close(done)
			return loop.Never
		}
		if calls > n {
			t.Error("a tick that nobody wished for")
			return loop.Never
		}
		switch calls % 10 {
		case 0:
			wished = now // at once
		case 5:
			wished = now - int64(time.Hour) // long ago
		default:
			wished = now + int64(calls)*int64(100*time.Microsecond)
		}
		return wished
	}
	r.start(t, mk, loop.Config{})
	await.Value(t, done, "the ticks")
	// Other events cause no tick.
	r.do(func() {})
	c := r.connect("x", 0)
	write(t, c, "y")
	r.do(func() {
		if calls != n {
			t.Errorf("%d ticks of %d", calls, n)
		}
	})
}

func testWake(t *testing.T, mk Make) {
	r := &rig{}
	ticks := make(chan int64, 100)
	far := loop.Now() + int64(time.Hour)
	r.onTick = func(now int64) int64 {
		ticks <- now
		return far
	}
	r.start(t, mk, loop.Config{})
	await.Value(t, ticks, "the first tick")
	var at int64
	r.do(func() {
		r.loop.Wake(far + 1) // later than wished: nothing
		at = loop.Now() + int64(5*time.Millisecond)
		r.loop.Wake(at)
	})
	if now := await.Value(t, ticks, "the tick woken for"); now < at {
		t.Errorf("woken %d ns early", at-now)
	}
	r.do(func() { r.loop.Wake(0) })
	await.Value(t, ticks, "the tick at once")
	// One at once is no appointment, and does not hide one that is late.
	counted := r.loop.Stats().Late.Ticks
	r.do(func() { r.loop.Wake(1); r.loop.Wake(0) })
	await.Value(t, ticks, "the tick for both")
	r.do(func() {
		if n := r.loop.Stats().Late.Ticks - counted; n != 1 {
			t.Errorf("%d ticks counted for one appointment", n)
		}
	})
	r.stop()
	if len(ticks) != 0 {
		t.Errorf("%d ticks too many", len(ticks))
	}
}
