package worker

import (
	"slices"
	"strings"
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/games"
	"gamehoster/wire"
)

func TestReplaysFollowTheSchedule(t *testing.T) {
	const rate, period = 20, int64(1e9 / 20)
	var r replays
	for late := range period / 2 {
		if late%1e6 == 0 && r.allow(late, rate) != replayTicks {
			t.Fatalf("less is allowed when late by %d ns of %d", late, period)
		}
	}
	var down []int
	for range 8 {
		down = append(down, r.allow(period/2, rate))
	}
	if want := []int{256, 128, 64, 32, 16, 8, leastReplays, leastReplays}; !slices.Equal(down, want) {
		t.Errorf("while late %v are allowed, want %v", down, want)
	}
	turns := 0
	for last := leastReplays; last < replayTicks; turns++ {
		now := r.allow(0, rate)
		if now <= last {
			t.Fatalf("%d after %d, in time again", now, last)
		}
		last = now
	}
	if turns != 16 || r.turns != 8+16-1 {
		t.Errorf("recovered in %d turns, %d were short", turns, r.turns)
	}
	// The counting overflows for nobody: a loop may stand still for years.
	if got := r.allow(1<<54, rate); got != replayTicks/2 {
		t.Errorf("after half a year: %d", got)
	}
}

// TestLateCommandsDoNotSinkALoop plays on a machine on which a tick takes so long that a
// fourth of the time goes to them, and has all commands come late. Were all of them run
// where they belong, that would be many times as many ticks as there is time for.
func TestLateCommandsDoNotSinkALoop(t *testing.T) {
	const (
		players = 10 // in an instance each
		cost    = int64(2.5e6)
		depth   = 20
	)
	b := newBenchOf(t, map[string]string{
		games.DefinitionFile: `{"tickRate": 10, "sendRate": 10, "timelineDepth": 20,
			"player": {"fields": {"n": "u32 shared"}}, "commands": {"go": {"fields": {}}}}`,
		"commands.js": "export function go(player) { player.n += 1; }\n",
	})
	for h := range loop.Handle(players) {
		b.join(h+1, InstanceID(h+1))
	}
	sh := b.host.games[1]
	stats := sh.sim.Stats()
	due := b.now
	seq := uint32(0)
	play := func(ns int64, late uint32) (missed, replayed uint64) {
		missed, replayed = sh.schedule.missed, stats.Replayed
		for end := b.now + ns; b.now < end; {
			b.now = max(b.now, due)
			before := stats.Ticks + stats.Replayed
			due = b.host.OnTick(b.now)
			b.deliver()
			b.now += int64(stats.Ticks+stats.Replayed-before) * cost
			if late == 0 || stats.Ticks == before {
				continue
			}
			seq++
			for h := range loop.Handle(players) {
				if s := b.host.sockets.get(h + 1); s.in.sim.Tick() > late {
					b.feed(h+1, wire.CommandHeader{Tick: s.in.sim.Tick() - late, Seq: seq}.Append(nil))
				}
			}
		}
		return sh.schedule.missed - missed, stats.Replayed - replayed
	}
	if missed, _ := play(5e9, 0); missed != 0 || sh.replays.turns != 0 {
		t.Fatalf("without late commands %d ticks were missed, %d turns were short", missed, sh.replays.turns)
	}
	play(20e9, depth-2) // finds its level
	missed, replayed := play(60e9, depth-2)
	t.Logf("of 600 ticks %d were missed; %d replayed, commands waited %d times, %d turns were short", missed, replayed, stats.Queued, sh.replays.turns)
	if missed > 30 {
		t.Errorf("%d of 600 ticks were missed", missed)
	}
	if replayed < 600 || stats.Queued == 0 || sh.replays.turns == 0 {
		t.Error("no late command had its turn, or all had")
	}
	if n := strings.Count(b.log.String(), "late commands wait"); n == 0 || n > 81 {
		t.Errorf("it was said %d times in eighty seconds", n)
	}
	for h, code := range b.closed {
		t.Errorf("socket %d was closed with %d", h, code)
	}
	play(20e9, 0)
	if sh.replays.short != 0 {
		t.Errorf("with nothing late any more, %d are kept back", sh.replays.short)
	}
}

// TestAnswersShareAFlush wants what one turn of the loop has to answer to leave together,
// as soon as all has been read.
func TestAnswersShareAFlush(t *testing.T) {
	b := newBench(t)
	for h := range loop.Handle(5) {
		b.join(h+1, 1)
	}
	b.run(1e9)
	b.flushes, b.wish = 0, loop.Never
	for h := range loop.Handle(5) {
		b.feed(h+1, wire.Ping{Nonce: 1}.Append(nil))
	}
	if b.flushes != 0 || b.wish > 0 {
		t.Fatalf("%d flushes while there is more to read; a tick is wished for at %d", b.flushes, b.wish)
	}
	b.host.OnTick(b.now)
	if b.flushes != 1 {
		t.Errorf("%d flushes for five answers", b.flushes)
	}
	b.host.OnTick(b.now)
	if b.flushes != 1 {
		t.Error("another flush for nothing")
	}
}

// TestAnEmptyShardRests wants the machine of a game to go with its last instance and to
// come back with the next player.
func TestAnEmptyShardRests(t *testing.T) {
	b := newBench(t)
	sh := b.host.games[1]
	for round := range 3 {
		for h := range loop.Handle(4) {
			b.join(h+1, InstanceID(h+1))
		}
		b.run(1e9)
		if sh.sim == nil || sh.sim.Instances() != 4 {
			t.Fatalf("round %d: the game does not run", round)
		}
		for h := range loop.Handle(4) {
			b.host.OnClose(h+1, nil)
		}
		b.run(3 * int64(emptyGrace))
		b.run(int64(sh.game.Def.ResumeSeconds * 1e9))
		if sh.sim != nil || len(sh.instances) != 0 {
			t.Fatalf("round %d: %d instances are left", round, len(sh.instances))
		}
	}
	if len(b.closed) != 0 || strings.Contains(b.log.String(), "failed") {
		t.Errorf("closed %v; %s", b.closed, b.log.String())
	}
}
