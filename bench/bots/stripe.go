package bots

import (
	"sync"
	"time"

	"gamehoster/bench/latency"
	"gamehoster/wire"
)

// stripe is what some of the bots have measured. Bots share it under its mutex; there
// are a few, so that pollers seldom meet.
type stripe struct {
	mu sync.Mutex

	command, late, trip, seat, reseat, lag *latency.Histogram
	commandWindow, lateWindow              *latency.Histogram // since the last progress

	received, sent    [256]Traffic // by tag
	bytesIn, bytesOut int64
	opened, resumed   int
	unacked, backlogs int64

	refused map[string]int
	closes  map[string]int
	ends    map[string]map[string]int // by kind
	tricks  map[string]map[string]int
	missed  map[string]int
	thin    Thin
}

func newStripe() *stripe {
	return &stripe{
		command: latency.New(), late: latency.New(), trip: latency.New(), seat: latency.New(), reseat: latency.New(), lag: latency.New(),
		commandWindow: latency.New(), lateWindow: latency.New(),
		refused: map[string]int{}, closes: map[string]int{}, missed: map[string]int{},
		ends: map[string]map[string]int{}, tricks: map[string]map[string]int{},
	}
}

// maxExamples is how many faults are told with words.
const maxExamples = 10

// fault notes what a thin bot found wrong.
func (s *stripe) fault(what string) {
	s.thin.Faults++
	if len(s.thin.Examples) < maxExamples {
		s.thin.Examples = append(s.thin.Examples, what)
	}
}

// inc counts in a map of maps.
func inc(m map[string]map[string]int, a, b string) {
	if m[a] == nil {
		m[a] = map[string]int{}
	}
	m[a][b]++
}

// stripes are all of them.
type stripes []*stripe

const numStripes = 4

func newStripes() stripes {
	var all stripes
	for range numStripes {
		all = append(all, newStripe())
	}
	return all
}

// windows ends a stretch: it sums up what came since the last call, and forgets it.
func (all stripes) windows(at time.Duration) (command, late latency.Window) {
	c, l := latency.New(), latency.New()
	for _, s := range all {
		s.mu.Lock()
		c.Add(s.commandWindow)
		l.Add(s.lateWindow)
		s.commandWindow.Reset()
		s.lateWindow.Reset()
		s.mu.Unlock()
	}
	return c.Window(at), l.Window(at)
}

// sum puts all into the report.
func (all stripes) sum(r *Report, command, late []latency.Window) {
	t := newStripe()
	for _, s := range all {
		s.mu.Lock()
		t.add(s)
		s.mu.Unlock()
	}
	r.Command, r.Late = t.command.Summary(command), t.late.Summary(late)
	r.RoundTrip, r.Seat, r.Reseat, r.Lag = t.trip.Summary(nil), t.seat.Summary(nil), t.reseat.Summary(nil), t.lag.Summary(nil)
	r.Received, r.Sent = byName(&t.received), byName(&t.sent)
	r.BytesIn, r.BytesOut = t.bytesIn, t.bytesOut
	r.Connection = Connection{Opened: t.opened, Resumed: t.resumed, Refused: t.refused}
	r.Unacked, r.Backlogs = t.unacked, t.backlogs
	r.Closes, r.Ends, r.Hostile, r.Missed = t.closes, t.ends, t.tricks, t.missed
	r.Thin = t.thin
}

func (s *stripe) add(o *stripe) {
	s.command.Add(o.command)
	s.late.Add(o.late)
	s.trip.Add(o.trip)
	s.seat.Add(o.seat)
	s.reseat.Add(o.reseat)
	s.lag.Add(o.lag)
	for i := range s.received {
		s.received[i].add(o.received[i])
		s.sent[i].add(o.sent[i])
	}
	s.bytesIn += o.bytesIn
	s.bytesOut += o.bytesOut
	s.opened += o.opened
	s.resumed += o.resumed
	s.unacked += o.unacked
	s.backlogs += o.backlogs
	addTo(s.refused, o.refused)
	addTo(s.closes, o.closes)
	addTo(s.missed, o.missed)
	for k, m := range o.ends {
		s.ends[k] = addTo(s.ends[k], m)
	}
	for k, m := range o.tricks {
		s.tricks[k] = addTo(s.tricks[k], m)
	}
	s.thin.Bots += o.thin.Bots
	s.thin.Snapshots += o.thin.Snapshots
	s.thin.Sends += o.thin.Sends
	s.thin.Objects += o.thin.Objects
	s.thin.Faults += o.thin.Faults
	s.thin.Examples = append(s.thin.Examples, o.thin.Examples...)
}

func (t *Traffic) add(o Traffic) {
	t.Messages += o.Messages
	t.Bytes += o.Bytes
}

func addTo(m, o map[string]int) map[string]int {
	if m == nil {
		m = map[string]int{}
	}
	for k, v := range o {
		m[k] += v
	}
	return m
}

func byName(all *[256]Traffic) map[string]Traffic {
	m := map[string]Traffic{}
	for tag, t := range all {
		if t.Messages > 0 {
			m[wire.Tag(tag).String()] = t
		}
	}
	return m
}
