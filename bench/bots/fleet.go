package bots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gamehoster/bench/dial"
	"gamehoster/bench/latency"
	"gamehoster/bench/proc"
	"gamehoster/engine/loop"
)

// numDialers is how many connections are made at a time.
const numDialers = 8

// fleet is a run of bots.
type fleet struct {
	Spec
	game    *game
	server  netip.AddrPort
	stripes stripes
	bots    []*bot
	wheel   *wheel
	dials   chan *bot

	commandPeriod int64 // ns; 0 for none
	sendPeriod    int64
	patience      time.Duration // for the answer to an upgrade

	from    atomic.Int64 // when the measured part began; 0 outside of it
	leaving atomic.Bool
	stop    atomic.Bool
	settled atomic.Int64 // bots that need not be waited for
	seated  atomic.Int64
	players atomic.Int64 // honest ones that are seated

	progress      func(Progress)
	command, late []latency.Window
	report        Report
	measuredFor   time.Duration // of the rounds before
	playerSeconds float64
}

func (f *fleet) measuring() bool { return f.from.Load() > 0 }

// measured tells whether something due at a time counts.
func (f *fleet) measured(due int64) bool {
	from := f.from.Load()
	return from > 0 && due >= from
}

// count counts a bot that is seated, or not any more.
func (f *fleet) count(b *bot, n int64) {
	f.seated.Add(n)
	if b.kind == honest {
		f.players.Add(n)
	}
}

func codeText(c uint16) string { return strconv.Itoa(int(c)) }

// Run plays the spec. progress may be nil. A context that ends makes it return an
// error, and no report.
func Run(ctx context.Context, s Spec, progress func(Progress)) (*Report, error) {
	s, err := s.filled()
	if err != nil {
		return nil, err
	}
	f := &fleet{Spec: s, progress: progress, patience: 30 * time.Second, stripes: newStripes()}
	if f.game, err = loadGame(s.Game, s.Command); err != nil {
		return nil, err
	}
	if f.Path == "" {
		f.Path = "/" + filepath.Base(s.Game)
	}
	f.server = netip.MustParseAddrPort(s.Addr)
	f.sendPeriod = int64(time.Second) / int64(f.game.def.SendRate)
	if s.Commands > 0 && len(f.game.commands) > 0 {
		f.commandPeriod = int64(float64(time.Second) / s.Commands)
	}
	if err := dial.RaiseFiles(s.Bots + 128); err != nil {
		return nil, err
	}
	if f.progress == nil {
		f.progress = func(Progress) {}
	}
	own, err := proc.Read(os.Getpid())
	if err != nil {
		return nil, err
	}
	for round := range s.Rounds {
		if err := f.round(ctx, round); err != nil {
			return nil, err
		}
	}
	r := &f.report
	r.Spec, r.Seconds = s, f.measuredFor.Seconds()
	f.stripes.sum(r, f.command, f.late)
	if r.Seconds > 0 {
		r.Players = f.playerSeconds / r.Seconds
	}
	now, err := proc.Read(os.Getpid())
	if err != nil {
		return nil, err
	}
	r.Bots = now.Since(own)
	return r, nil
}

// kindOf spreads those that behave badly evenly among all.
func (f *fleet) kindOf(n int) kind {
	m := f.Mix
	bad := []struct {
		k kind
		n int
	}{{slow, m.Slow}, {trickle, m.Trickle}, {silent, m.Silent}, {hostile, m.Hostile}, {restless, m.Restless}}
	sum := m.sum()
	if sum == 0 {
		return honest
	}
	// The i-th bad bot is the first one at or past i * Bots / sum.
	i := (n*sum + f.Bots - 1) / f.Bots
	if i >= sum || i*f.Bots/sum != n {
		return honest
	}
	// Of each kind some are early and some are late.
	i = i * stride(sum) % sum
	for _, b := range bad {
		if i < b.n {
			return b.k
		}
		i -= b.n
	}
	return honest
}

// stride is a step that visits all of n places, far from one to the next.
func stride(n int) int {
	s := n*618/1000 + 1
	for gcd(s, n) != 1 {
		s++
	}
	return s
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// round has all bots come, play and leave.
func (f *fleet) round(ctx context.Context, n int) error {
	var round Round
	var err error
	if round.Watch, err = f.watch(); err != nil {
		return err
	}
	begin := loop.Now()
	f.wheel, f.dials = newWheel(begin), make(chan *bot, f.Bots)
	f.leaving.Store(false)
	f.stop.Store(false)
	f.settled.Store(0)
	f.bots = f.bots[:0]
	villains := 0
	for i := range f.Bots {
		b := newBot(f, i+n*f.Bots, f.kindOf(i))
		if b.kind == hostile {
			b.tried = villains
			villains++
		}
		b.again = begin + int64(f.Connect)*int64(i)/int64(f.Bots)
		f.bots = append(f.bots, b)
		f.wheel.put(b, b.again)
	}
	var running sync.WaitGroup
	for range numDialers {
		running.Go(func() {
			for b := range f.dials {
				b.connect()
			}
		})
	}
	running.Go(func() {
		defer close(f.dials)
		for !f.stop.Load() {
			f.wheel.run(loop.Now())
			f.wheel.wait()
		}
	})
	defer func() {
		f.stop.Store(true)
		running.Wait()
	}()

	err = f.until(ctx, n, Connecting, begin, f.Connect+f.patience+time.Second, func() bool { return int(f.settled.Load()) == f.Bots })
	round.Seconds, round.Seated = time.Duration(loop.Now()-begin).Seconds(), int(f.seated.Load())
	if err == nil {
		err = f.until(ctx, n, Settling, loop.Now(), f.Settle, nil)
	}
	if err == nil && f.Measure > 0 {
		err = f.measure(ctx, n)
	}
	if err == nil && f.Calls > 0 && n == f.Spec.Rounds-1 {
		err = f.countCalls(ctx, n)
	}
	f.leaving.Store(true)
	gone := func() bool {
		for _, b := range f.bots {
			if !b.gone() {
				return false
			}
		}
		return true
	}
	// Leaving is not given up with the context: the descriptors have to be closed.
	if left := f.until(context.WithoutCancel(ctx), n, Leaving, loop.Now(), f.patience+2*goodbye, gone); err == nil {
		err = left
	}
	if err == nil {
		round.After, err = f.watch()
	}
	f.report.Rounds = append(f.report.Rounds, round)
	return err
}

// countCalls counts the system calls of those that are watched, while the bots play on.
func (f *fleet) countCalls(ctx context.Context, n int) error {
	begin := loop.Now()
	calls, err := proc.CountAll(f.Watch, func() error { return f.until(ctx, n, Counting, loop.Now(), f.Calls, nil) })
	if errors.Is(err, proc.ErrNoCalls) {
		return nil
	}
	for _, c := range calls {
		f.report.Calls = append(f.report.Calls, float64(c)/time.Duration(loop.Now()-begin).Seconds())
	}
	return err
}

// gone reports whether the bot has no connection. It takes mu.
func (b *bot) gone() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stage == idle && b.link.fd < 0
}

func (f *fleet) measure(ctx context.Context, n int) error {
	before, err := f.watch()
	if err != nil {
		return err
	}
	f.stripes.windows(0)
	from := loop.Now()
	f.from.Store(from)
	err = f.until(ctx, n, Measuring, from, f.Measure, nil)
	if err == nil {
		for _, b := range f.bots {
			b.unconfirmed(loop.Now())
		}
	}
	after, werr := f.watch()
	f.from.Store(0)
	f.measuredFor += time.Duration(loop.Now() - from)
	if err == nil {
		err = werr
	}
	for i := range after {
		u := after[i].Since(before[i])
		if len(f.report.Watch) <= i {
			f.report.Watch = append(f.report.Watch, u)
			continue
		}
		w := &f.report.Watch[i]
		w.At += u.At
		w.CPU += u.CPU
		w.User += u.User
		w.System += u.System
		w.Switches += u.Switches
		w.Preemptions += u.Preemptions
		w.Resident, w.Peak, w.Threads = u.Resident, u.Peak, u.Threads
	}
	return err
}

func (f *fleet) watch() ([]proc.Usage, error) {
	all, err := proc.ReadAll(f.Watch)
	if err != nil {
		return nil, fmt.Errorf("watching: %w", err)
	}
	return all, nil
}

// until waits until something is so, or for a time, and tells the progress meanwhile.
func (f *fleet) until(ctx context.Context, round int, p Phase, begin int64, most time.Duration, cond func() bool) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	told := int64(-1)
	last := begin
	for {
		now := loop.Now()
		passed := time.Duration(now - begin)
		over := passed >= most || cond != nil && cond()
		if step := int64(passed / f.Every); step != told || over {
			told = step
			f.tell(round, p, passed)
		}
		f.playerSeconds += f.measuringSeconds(now - last)
		last = now
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
}

// measuringSeconds is what ns nanoseconds add to the players' seconds.
func (f *fleet) measuringSeconds(ns int64) float64 {
	if !f.measuring() {
		return 0
	}
	return float64(f.players.Load()) * time.Duration(ns).Seconds()
}

// tell makes a progress line.
func (f *fleet) tell(round int, p Phase, passed time.Duration) {
	pr := Progress{Phase: p, Round: round, Seated: int(f.seated.Load()), Bots: f.Bots}
	pr.Text = fmt.Sprintf("%s: %d of %d bots seated", p, pr.Seated, pr.Bots)
	if p == Measuring && passed > 0 {
		at := f.measuredFor + passed
		c, l := f.stripes.windows(at)
		f.command, f.late = append(f.command, c), append(f.late, l)
		pr.Command = c.P99
		pr.Text += fmt.Sprintf(", command to send p99 %.1f ms", c.P99)
	}
	whole := f.Connect + f.Settle + f.Measure
	var done time.Duration
	switch p {
	case Connecting:
		done = min(passed, f.Connect)
	case Settling:
		done = f.Connect + min(passed, f.Settle)
	case Measuring:
		done = f.Connect + f.Settle + min(passed, f.Measure)
	case Counting, Leaving:
		done = whole
	}
	if whole > 0 {
		pr.Part = (float64(round) + float64(done)/float64(whole)) / float64(f.Rounds)
	}
	f.progress(pr)
}

// Main is a fleet as a process: it plays the spec, given as JSON, and writes the progress and
// the report, one JSON object a line.
func Main(ctx context.Context, spec string, out io.Writer) error {
	s, err := ParseSpec(spec)
	if err != nil {
		return err
	}
	w := json.NewEncoder(out)
	r, err := Run(ctx, s, func(p Progress) {
		_ = w.Encode(outputLine{Progress: &p}) // who does not read the progress may read the report
	})
	if err != nil {
		return err
	}
	if err := w.Encode(outputLine{Report: r}); err != nil {
		return fmt.Errorf("writing the bots' report: %w", err)
	}
	return nil
}
