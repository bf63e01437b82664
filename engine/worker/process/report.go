package process

import (
	"encoding/json"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/transport"
	counters "gamehoster/engine/metrics"
	"gamehoster/engine/worker"
)

// report sends a Load with each beat. One that is held up is sent late, and no other
// meanwhile.
func (p *process) report(over <-chan struct{}) {
	every := time.NewTicker(beat)
	defer every.Stop()
	var sockets counters.LoopMeter
	var pauses counters.PauseMeter
	left := false // most of a crowd has
	players, instances := worker.Crowd{Worth: worker.ManySockets}, worker.Crowd{Worth: worker.ManyInstances}
	for {
		sent := make(chan struct{})
		counts := counters.Snapshot{Pauses: pauses.Since()}
		ok := p.loop.Post(&worker.Measure{Reply: func(games []counters.Game) { counts.Games = games }}) &&
			p.loop.Post(&worker.Inspect{Reply: func(all []worker.InstanceInfo) {
				stats := p.loop.Stats()
				m := load(all, stats)
				counts.Loop = sockets.Since(stats)
				m.Counts = counts.Append(nil)
				p.boss.send(m)
				left = players.Left(stats.Open)
				left = instances.Left(int64(len(all))) || left
				close(sent)
			}})
		if !ok {
			return
		}
		select {
		case <-sent:
		case <-over:
			return
		}
		if left { // which stops no loop
			debug.FreeOSMemory()
		}
		select {
		case <-every.C:
		case <-over:
			return
		}
	}
}

// load sums up what a worker has.
func load(all []worker.InstanceInfo, s loop.Stats) *control.Load {
	m := &control.Load{
		Instances: uint32(len(all)), Sockets: uint32(s.Open),
		Adopted: uint64(s.Adopted), Gone: uint64(s.Lost), Overflows: uint64(s.Overflows), Expired: uint64(s.Expired),
		BytesIn: uint64(s.BytesIn), BytesOut: uint64(s.BytesOut),
		Late: times(s.Late), Took: times(s.Took), Memory: memory(),
	}
	for _, in := range all {
		m.Players += uint32(in.Players)
		m.Dropped += in.Missed
	}
	return m
}

func times(t loop.TickTimes) control.Times {
	return control.Times{Count: uint64(t.Ticks), P50: uint64(t.P50), P99: uint64(t.P99), P999: uint64(t.P999), Max: uint64(t.Max)}
}

// memory is what the runtime has of the system, in bytes.
func memory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// inspect answers with all that runs.
func (p *process) inspect(ticket uint32, on transport.Name) {
	report := control.Report{Transport: on}
	p.loop.Post(&worker.Inspect{
		Faults: func(all []worker.FaultInfo) { report.Faults = all },
		Reply: func(all []worker.InstanceInfo) {
			report.Instances = all
			go p.answer(ticket, report) // it may be long
		},
	})
}

func (p *process) answer(ticket uint32, report control.Report) {
	text, err := json.Marshal(report)
	if err != nil {
		p.log.Error("a report cannot be written", "game", p.game.Name, "error", err)
		return
	}
	for more := true; more; {
		part := text[:min(len(text), control.MaxReport)]
		text = text[len(part):]
		more = len(text) > 0
		p.boss.send(&control.Inspected{Ticket: ticket, More: more, Part: part})
	}
}
