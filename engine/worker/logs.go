package worker

import (
	"gamehoster/tick"
)

// bodyLinesPerSecond is how many lines of log() a game may write on one loop: enough
// to follow one instance, and no more than a log file bears when all of them write.
const bodyLinesPerSecond = 100

// bodyLog is what is left of a game's lines in the running second.
type bodyLog struct {
	since int64
	lines int
	lost  int // lines that were not logged since the last that was told
}

// logged writes what the bodies of one tick have said with log().
func (sh *shard) logged(in *tick.Instance, l tick.LogReport) {
	log := sh.host.opts.Log
	now := sh.host.opts.Now()
	b := &sh.bodyLog
	if now-b.since >= 1e9 {
		if b.lost > 0 {
			log.Warn("lines of log() were left out", "game", sh.game.Name, "lines", b.lost)
		}
		*b = bodyLog{since: now}
	}
	b.lost += l.Lost
	for _, line := range l.Lines {
		if b.lines == bodyLinesPerSecond {
			b.lost++
			continue
		}
		b.lines++
		log.Info(line.Text, "game", sh.game.Name, "instance", in.Name(), "tick", l.Tick, "actor", line.Actor, "at", sh.game.at(line.At).String())
	}
}
