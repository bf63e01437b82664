// Package bench measures gamehoster: each Scenario does some work, beside what it is to
// be compared with where that is there, and gives a section of a report. README.md in
// this folder says what each of them does and what its figures are worth.
//
//	cmd/gamehoster bench
//	   | names
//	   v
//	bench      the scenarios
//	   |- pairs     contestants in turns, spreads, ratios
//	   |- report    report.json, report.html, the summary
//	   |- machine   facts, processor time
//	   |- direct    instances without sockets
//	   |- bots      players; beat the driver of echo; rooms players of other servers
//	   |- lone      a loop behind a door: the servers of beat and bare
//	   |- proc      processes on cores of their own, and what they took
//	   |- limit     servers in C; bare a server of ours without a game
//	   |- peer      programs of bench/peers
//
// Servers, bots and drivers are processes of their own: this program again, told by Part
// what to be.
//
// It needs the project's folder: the games that it plays are in it, and the peers.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
	"gamehoster/bench/report"
)

// Scenario is one benchmark.
type Scenario struct {
	Name  string
	About string        // one line for lists
	Takes time.Duration // about, on two cores
	Run   func(ctx context.Context, e *Env) (*report.Section, error)
}

// Env is what a scenario runs in.
type Env struct {
	Source   string             // the project's folder
	Part     float64            // of the usual rounds: less than 1 for a quick look
	Progress func(part float64) // of this scenario
}

// plan is a part of the usual rounds, three at least. progress is of the whole scenario
// from one part of it to another.
func (e *Env) plan(rounds, warmUps int, from, to float64) pairs.Plan {
	return pairs.Plan{Rounds: max(3, int(float64(rounds)*e.Part+.5)), WarmUps: warmUps,
		Progress: func(part float64) { e.Progress(from + part*(to-from)) }}
}

// Scenarios are all there are, in the order in which they run.
func Scenarios() []Scenario {
	return []Scenario{
		{"movers", "60 moving entities, and 50 in each of 100 views: bytes and time of their encoding", 9 * time.Second, movers},
		{"cubes", "901 rigid bodies at 60 Hz: bandwidth and time", time.Second, cubes},
		{"rewind", "late commands: the cost of a rewind, and of a quarter of all commands being late", 10 * time.Second, rewind},
		{"echo", "2,000 and 8,000 sockets: what a transport costs, to a server in C", 145 * time.Second, echo},
		{"asteroids", "the sample game with bots, beside other servers of it, up to what a core can do", 140 * time.Second, asteroids},
		{"scale", "the sample game from 100 to 5,000 instances: what of a player's cost changes, and what memory a seat takes", 60 * time.Second, scale},
		{"match10", "matches of ten at 10 Hz", 18 * time.Second, match10},
		{"storm", "10,000 joins in a second, ten times", 60 * time.Second, storm},
		{"slow", "100 of 1,000 players stop reading, or lie", 80 * time.Second, slow},
		{"kill", "a worker is killed, stopped, its game replaced, while another game is played", 22 * time.Second, killing},
	}
}

// ErrUnknown is wrapped where there is no scenario of a name.
var ErrUnknown = errors.New("no such scenario")

// Find gives the named scenarios, or all where none is named.
func Find(names []string) ([]Scenario, error) {
	all := Scenarios()
	if len(names) == 0 {
		return all, nil
	}
	var list []Scenario
	for _, n := range names {
		i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == n })
		if i < 0 {
			var known []string
			for _, s := range all {
				known = append(known, s.Name)
			}
			return nil, fmt.Errorf("%q: %w; there are %s", n, ErrUnknown, strings.Join(known, ", "))
		}
		list = append(list, all[i])
	}
	return list, nil
}

// Options are how a run goes.
type Options struct {
	Source string
	Part   float64 // see Env; 0 means 1
	// Progress is told what runs and what part of all is done; it may be nil.
	Progress func(scenario string, part float64)
	// Done is called with each section as it is ready; it may be nil.
	Done func(*report.Section)
}

// Run runs the scenarios one after the other. One that fails is reported in its section
// and does not keep the others from running. The error is the context's, or wraps
// machine.ErrBusy where another run is going on.
func Run(ctx context.Context, list []Scenario, o Options) (*report.Report, error) {
	unlock, err := machine.Lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	start := time.Now()
	r := &report.Report{}
	if r.Machine, err = machine.Look(ctx, o.Source); err != nil {
		return nil, err
	}
	if o.Part <= 0 {
		o.Part = 1
	}
	var all, done time.Duration
	for _, s := range list {
		all += s.Takes
	}
	for _, s := range list {
		e := &Env{Source: o.Source, Part: o.Part, Progress: func(part float64) {
			if o.Progress != nil {
				o.Progress(s.Name, (float64(done)+part*float64(s.Takes))/float64(all))
			}
		}}
		e.Progress(0)
		section, err := s.Run(ctx, e)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if section == nil {
			section = &report.Section{Title: s.About}
		}
		section.Name = s.Name
		if err != nil {
			section.Failed = err.Error()
		}
		done += s.Takes
		e.Progress(0)
		r.Sections = append(r.Sections, section)
		if o.Done != nil {
			o.Done(section)
		}
	}
	r.Took = time.Since(start).Round(time.Second).String()
	return r, nil
}
