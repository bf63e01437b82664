// Command bodies measures what a tick of a game costs as we run it, against the
// same game written in Go by hand and against its bodies run as JavaScript:
//
//	compiled   the bodies, compiled to WebAssembly, on tick/vm
//	native     Go by hand, over the same bytes, bit for bit the same game
//	node       the bodies in Node over plain objects
//	node-exact the same with the stores and numbers of the body language: the same bits
//	goja       the bodies over plain objects on an interpreter in Go
//	colyseus   the bodies in Node over change-tracked @colyseus/schema objects,
//	           changes discarded at every second tick; and with them encoded
//
// Everything happens in one run. All contestants begin with the same states, made
// by the game by hand; in every round each runs in turn, one at a time, and what
// counts is the ratio within a round, in processor time. The peers are programs
// that are told what to do line by line; those of Node need node, the tracked one
// also what bench/peers/package-lock.json names, which is installed into a
// temporary folder. A peer that cannot be had is left out and named.
//
// Run it as go run ./bench/bodies; the report goes to the terminal and to
// bench/results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"gamehoster/bench/bodies/native"
	"gamehoster/games"
)

type options struct {
	root      string
	instances int
	rounds    int
	ticks     int // of one instance in a round
	grow      int // ticks before the start
	save      bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the project's folder")
	flag.IntVar(&o.instances, "instances", 5000, "how many instances the crowd is")
	flag.IntVar(&o.rounds, "rounds", 15, "rounds of each series")
	flag.IntVar(&o.ticks, "ticks", 8000, "ticks of one instance in a round")
	flag.IntVar(&o.grow, "grow", 900, "ticks that instances are played before they are measured")
	flag.BoolVar(&o.save, "save", true, "write the report to bench/results")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bodies:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	start := time.Now()
	g, list := games.Load(filepath.Join(o.root, "games/localhost/asteroids"))
	if g == nil {
		return fmt.Errorf("loading the sample: %w", list)
	}
	r := &report{Peers: map[string]string{}, Labels: map[string]string{}, Block: g.Program.ServerLayout.Size}
	if err := r.look(context.Background(), o.root); err != nil {
		return err
	}
	for _, name := range []string{"asteroids", "pong"} {
		c, err := compileCosts(filepath.Join(o.root, "games/localhost", name), o.rounds)
		if err != nil {
			return fmt.Errorf("compiling %s: %w", name, err)
		}
		r.Compile = append(r.Compile, c)
	}
	if r.Call, err = callCost(o.rounds); err != nil {
		return fmt.Errorf("calling an empty game: %w", err)
	}
	dir, err := os.MkdirTemp("", "bodies")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	entries, err := r.contestants(o, g, dir)
	defer func() {
		for _, e := range entries {
			err = errors.Join(err, e.game.Close())
		}
	}()
	if err != nil {
		return err
	}
	states := grown(o.instances, o.grow)
	r.describe(states, o.grow)
	if r.Alone, err = alone(entries, states, o.rounds, o.ticks); err != nil {
		return err
	}
	if r.Crowd, err = crowd(entries, states, o.rounds, 4); err != nil {
		return err
	}
	if err := r.compare(entries, g); err != nil {
		return err
	}
	if r.Mallocs, err = allocations(entries[0].game, o.instances, 2); err != nil {
		return err
	}
	r.Took = time.Since(start).Round(time.Second).String()
	fmt.Print(r.text())
	if o.save {
		return r.save(filepath.Join(o.root, "bench/results"))
	}
	return nil
}

// contestants starts all that can be had, the compiled game first.
func (r *report) contestants(o options, g *games.Game, dir string) (entries []entry, err error) {
	add := func(e entry) {
		e.share, e.every = max(1, e.share), max(1, e.every)
		entries = append(entries, e)
		r.Order = append(r.Order, e.Key)
		r.Labels[e.Key] = e.Label
	}
	c, err := newCompiledGame(g)
	if err != nil {
		return nil, err
	}
	add(entry{Key: ours, Label: "compiled, on tick/vm", game: c})
	add(entry{Key: byHand, Label: "Go by hand, same bytes", game: &nativeGame{}})

	j, err := newJob(o.root, g)
	file := filepath.Join(dir, "job.json")
	if err == nil {
		err = j.write(file)
	}
	if err != nil {
		return entries, err
	}
	peers, err := filepath.Abs(filepath.Join(o.root, "bench/peers"))
	if err != nil {
		return entries, err
	}
	start := func(e entry, name string, args ...string) {
		p, err := startProcess(dir, j.Size, name, args...)
		if err != nil {
			r.Missing = append(r.Missing, fmt.Sprintf("%s: %v", e.Label, err))
			return
		}
		e.game = p
		r.Peers[filepath.Base(name)] = p.about
		add(e)
	}
	node := func(script, flavour string) []string {
		return []string{"--expose-gc", "--no-flush-bytecode", "--max-old-space-size=8192", script, flavour, file}
	}
	start(entry{Key: "node", Label: "Node, plain objects"}, "node", node(filepath.Join(peers, "node.mjs"), "plain")...)
	start(entry{Key: "node-exact", Label: "Node, plain objects, same bits"}, "node", node(filepath.Join(peers, "node.mjs"), "exact")...)

	goja := filepath.Join(dir, "goja")
	build := exec.Command("go", "build", "-o", goja, "./goja")
	build.Dir = peers
	if out, err := build.CombinedOutput(); err != nil {
		r.Missing = append(r.Missing, fmt.Sprintf("goja: %v: %s", err, out))
	} else {
		start(entry{Key: "goja", Label: "goja, plain objects", share: 20, every: 5}, goja, filepath.Join(peers, "objects.js"), file)
	}

	tracked, err := install(peers, dir)
	if err != nil {
		r.Missing = append(r.Missing, fmt.Sprintf("@colyseus/schema: %v", err))
		return entries, nil
	}
	start(entry{Key: "colyseus", Label: "Node, @colyseus/schema, tracked", share: 4, every: 3}, "node", node(tracked, "tracked")...)
	if last := entries[len(entries)-1]; last.Key == "colyseus" {
		r.Peers["@colyseus/schema"] = version(dir)
		add(entry{Key: "encoded", Label: "Node, @colyseus/schema, tracked and encoded", game: encoded{last.game.(*process)}, share: 4, every: 3})
	}
	return entries, nil
}

// describe notes how much there is to do.
func (r *report) describe(states [][]byte, ticks int) {
	r.Load.Ticks = ticks
	n := float64(len(states))
	for _, s := range states {
		g := native.At(s)
		r.Load.Rocks += float64(g.NRocks.Rows) / n
		r.Load.Bullets += float64(g.NBullets.Rows) / n
		for _, p := range g.Players[:g.NPlayers.Rows] {
			if p.Wait == 0 {
				r.Load.Flying += 1 / n
			}
		}
	}
}

// compare makes sure that the contestants which should have the same bits do.
func (r *report) compare(entries []entry, g *games.Game) error {
	want, err := entries[0].game.Dump()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains([]string{byHand, "node-exact"}, e.Key) {
			continue
		}
		got, err := e.game.Dump()
		if err != nil {
			return err
		}
		for i := range want {
			if err := difference(g.Program.ServerLayout, want[i], got[i]); err != nil {
				return fmt.Errorf("%s plays another game: instance %d: %w", e.Label, i, err)
			}
		}
		r.Equal = append(r.Equal, e.Label)
	}
	return nil
}
