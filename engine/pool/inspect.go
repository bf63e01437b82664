package pool

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gamehoster/engine/control"
	"gamehoster/engine/loop"
)

// maxReport is the most bytes that a worker's report may have.
const maxReport = 64 << 20

// question is a report that is waited for.
type question struct {
	ticket uint32
	text   []byte
	done   chan struct{} // closed when it is here, or will not come
	ok     bool
}

// Inspect asks all workers what they run. One that dies meanwhile runs nothing. It fails
// where one has not answered by the timeout.
func (p *Pool) Inspect(timeout time.Duration) (all []control.Report, err error) {
	late := time.After(timeout)
	var asked []*question
	workers := p.of(nil)
	for _, w := range workers {
		asked = append(asked, w.ask())
	}
	defer func() { // a worker that is stopped is asked often, and keeps nobody's question
		for i, q := range asked {
			workers[i].drop(q, false)
		}
	}()
	for i, q := range asked {
		select {
		case <-q.done:
		case <-late:
			return nil, fmt.Errorf("worker %d does not answer", workers[i].shard)
		}
		if !q.ok {
			continue
		}
		var r control.Report
		if err := json.Unmarshal(q.text, &r); err != nil {
			return nil, fmt.Errorf("the report of worker %d: %w", workers[i].shard, err)
		}
		for j := range r.Instances {
			r.Instances[j].Game = workers[i].game.live.Number
		}
		for j := range r.Faults {
			r.Faults[j].Game = workers[i].game.live.Number
		}
		all = append(all, r)
	}
	return all, nil
}

// ask sends a worker a question.
func (w *process) ask() *question {
	q := &question{done: make(chan struct{})}
	w.mu.Lock()
	if w.questions == nil { // it is gone
		w.mu.Unlock()
		close(q.done)
		return q
	}
	w.tickets++
	q.ticket = w.tickets
	w.questions[q.ticket] = q
	w.mu.Unlock()
	if err := w.conn.Send(&control.Inspect{Ticket: q.ticket}, -1); errors.Is(err, control.ErrClosed) {
		w.drop(q, false)
	}
	return q
}

// answered takes a part of a report.
func (w *process) answered(m *control.Inspected) {
	w.mu.Lock()
	q := w.questions[m.Ticket]
	w.mu.Unlock()
	if q == nil {
		return
	}
	q.text = append(q.text, m.Part...)
	switch {
	case len(q.text) > maxReport:
		w.drop(q, false)
	case !m.More:
		w.drop(q, true)
	}
}

// drop ends a question, once.
func (w *process) drop(q *question, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.questions[q.ticket] == q {
		delete(w.questions, q.ticket)
		q.ok = ok
		close(q.done)
	}
}

// unanswered ends all questions: the worker is gone.
func (w *process) unanswered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range w.questions {
		close(q.done)
	}
	w.questions = nil
}

// Worker is the state of one worker process.
type Worker struct {
	Shard   uint32
	Game    string // domain/game
	Hash    uint64 // of the definition
	PID     int
	CPU     int
	Since   time.Duration // that it was started
	Ready   bool          // its loop runs
	Suspect bool          // it does not answer
	Ending  bool
	Load    control.Load // its last
}

// Workers lists the worker processes.
func (p *Pool) Workers() (all []Worker) {
	now := loop.Now()
	for _, w := range p.of(nil) {
		w.mu.Lock()
		state := Worker{
			Shard: w.shard, Game: w.game.live.Name, Hash: w.game.live.Hash, CPU: w.cpu, Since: time.Duration(now - w.started),
			Ready: w.hello, Suspect: w.suspect, Ending: w.ending, Load: w.load, PID: w.cmd.Process.Pid,
		}
		w.mu.Unlock()
		all = append(all, state)
	}
	return all
}

// Backoffs tells for how long no worker is started of the games whose workers die young,
// by domain/game.
func (p *Pool) Backoffs() map[string]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, now := map[string]time.Duration{}, loop.Now()
	for _, g := range p.games {
		if wait := g.backoff.wait(now); wait > 0 {
			all[g.live.Name] = wait
		}
	}
	return all
}

// Loops are the counters of the workers' event loops, as their last Loads have them.
func (p *Pool) Loops() (all []loop.Stats) {
	for _, w := range p.of(nil) {
		w.mu.Lock()
		l := w.load
		w.mu.Unlock()
		all = append(all, loop.Stats{
			Open: int64(l.Sockets), Adopted: int64(l.Adopted), Lost: int64(l.Gone), Overflows: int64(l.Overflows),
			Expired: int64(l.Expired), BytesIn: int64(l.BytesIn), BytesOut: int64(l.BytesOut),
			Late: times(l.Late), Took: times(l.Took),
		})
	}
	return all
}

func times(t control.Times) loop.TickTimes {
	return loop.TickTimes{Ticks: int64(t.Count), P50: int64(t.P50), P99: int64(t.P99), P999: int64(t.P999), Max: int64(t.Max)}
}
