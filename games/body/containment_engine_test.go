package body_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
	"gamehoster/games/schema"
	"gamehoster/tick"
	"gamehoster/wire"
)

// The engine's instance is one side, a bare module the other: that is told before a
// tick what the instance has left out in it, and must come to the same bytes.

// engine is a game in an instance of the engine's.
type engine struct {
	def     *schema.Definition
	layout  *schema.Layout
	shard   *tick.Shard
	in      *tick.Instance
	faults  []tick.FaultReport // of the last tick
	viewers map[uint32]*tick.Viewer
	seqs    map[uint32]uint32
	seats   map[uint32]uint32 // players by what a script calls them
}

// nobody takes messages.
type nobody struct{}

func (nobody) Message([]byte) {}

func startEngine(def *schema.Definition, p *body.Program, o worldOptions) (*engine, error) {
	e := &engine{def: def, layout: p.ServerLayout, viewers: map[uint32]*tick.Viewer{}, seqs: map[uint32]uint32{}, seats: map[uint32]uint32{}}
	var err error
	e.shard, err = tick.NewShard(def, p, 1, tick.Options{OnFault: func(_ *tick.Instance, f tick.FaultReport) { e.faults = append(e.faults, f) }})
	if err != nil {
		return nil, err
	}
	e.in, err = e.shard.Create("room", o.seed, o.serverSeed)
	if err != nil {
		return nil, errors.Join(err, e.shard.Close())
	}
	return e, nil
}

// tick has what a script says happen and runs a tick. It gives the same as a module
// takes it.
func (e *engine) tick(script input) (in input, err error) {
	for _, c := range script.commands {
		id, here := e.seats[c.player]
		if !here {
			continue
		}
		e.seqs[id]++
		c.player, c.seq = id, e.seqs[id]
		m := wire.CommandHeader{Tick: e.in.Tick() + 1, Seq: c.seq, Number: uint32(c.number)}.Append(nil)
		row := make([]byte, 512)
		for i, f := range e.def.Commands[c.number].Fields {
			clear(row)
			if f.Kind == schema.Str {
				row[0] = byte(copy(row[1:1+f.Len], c.texts[i]))
			} else {
				writeField(row, f, c.values[i])
			}
			m = wire.AppendField(m, f, row, 0)
		}
		if err := e.viewers[id].Receive(m, 0, nobody{}); err != nil {
			return in, fmt.Errorf("a command: %w", err)
		}
		in.commands = append(in.commands, c)
	}
	slices.SortStableFunc(in.commands, func(a, b command) int { return cmp.Compare(a.player, b.player) })
	for _, p := range script.leaves {
		if id, here := e.seats[p]; here {
			e.in.Leave(id)
			delete(e.seats, p)
			in.leaves = append(in.leaves, id)
			// What it sent is not run any more.
			in.commands = slices.DeleteFunc(in.commands, func(c command) bool { return c.player == id })
		}
	}
	slices.Sort(in.leaves)
	for _, j := range script.joins {
		if len(e.seats)+len(in.leaves) == e.def.Player().Max {
			continue // the rows of those who leave are there until the tick
		}
		id, err := e.in.Join(j.name)
		if err != nil {
			return in, err
		}
		e.seats[j.id], e.viewers[id] = id, e.in.Attach(id, tick.ViewerOptions{})
		in.joins = append(in.joins, join{id, j.name})
	}
	e.faults = e.faults[:0]
	e.in.Step()
	if e.in.Ended() {
		return in, errors.New("the instance has ended")
	}
	if e.in.SendDue() {
		e.in.Commit()
		for _, id := range e.seats {
			e.viewers[id].Send(nobody{})
		}
	}
	return in, nil
}

// block is the instance's memory, which is nobody's business but a test's.
func (e *engine) block() []byte { return reflect.ValueOf(e.in).Elem().FieldByName("block").Bytes() }

// skips is what the instance has left out in the last tick.
func (e *engine) skips() (list []skip) {
	for _, f := range e.faults {
		k := skip{uint32(f.Body), f.Actor}
		if f.All {
			k.actor = schema.AllActors
		}
		list = append(list, k)
	}
	return list
}

// checkContained runs a script of ticks and checks that each tick is what it would
// have been without the body runs that failed, and that each of those does fail.
// It gives the number of faults of the busiest tick, and of all.
func checkContained(def *schema.Definition, p *body.Program, ticks int, script func(tick int) input) (most, all int, err error) {
	o := worldOptions{seed: 0x1234567890abcdef, serverSeed: 99}
	e, err := startEngine(def, p, o)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, e.shard.Close()) }()
	w, err := openWorld(def, p, o)
	if err != nil {
		return 0, 0, err
	}
	defer w.close()
	if (len(e.faults) > 0) != (w.startFault != nil) {
		return 0, 0, fmt.Errorf("the start has failed: %v, and %v", e.faults, w.startFault)
	}
	for t := 1; t <= ticks; t++ {
		in, err := e.tick(script(t))
		if err != nil {
			return most, all, fmt.Errorf("tick %d: %w", t, err)
		}
		before := bytes.Clone(w.block())
		skips := e.skips()
		for i, k := range skips {
			// Without those before it, it is this one that fails.
			in.skips = skips[:i]
			var f *faultErr
			if err := w.tick(in); !errors.As(err, &f) || f.number != k.body || k.actor != schema.AllActors && f.actor != k.actor {
				return most, all, fmt.Errorf("tick %d: not %+v has failed, but: %w", t, k, err)
			}
			if at := e.faults[i].Pos.String(); at != f.at {
				return most, all, fmt.Errorf("tick %d: a fault at %s was reported at %s", t, f.at, at)
			}
			copy(w.block(), before)
		}
		if err := reruns(skips); err != nil {
			return most, all, fmt.Errorf("tick %d: %w", t, err)
		}
		in.skips = skips
		if err := w.tick(in); err != nil {
			return most, all, fmt.Errorf("tick %d without %v: %w", t, skips, err)
		}
		if a, b := stateOf(def, e.layout, e.block()), w.state(); !bytes.Equal(a, b) {
			own := w.line(true)
			copy(w.block(), e.block())
			return most, all, fmt.Errorf("tick %d without %v: the states differ\nmodule %s\nengine %s", t, skips, own, w.line(true))
		}
		most, all = max(most, len(skips)), all+len(skips)
	}
	return most, all, nil
}

// reruns checks that a body was left out for all its actors when it had failed for
// eight, and not before.
func reruns(skips []skip) error {
	times := map[uint32]int{}
	for _, k := range skips {
		if (k.actor == schema.AllActors) != (times[k.body] == 8) || times[k.body] > 8 {
			return fmt.Errorf("fault %d of body %d was answered by leaving out %d", times[k.body]+1, k.body, k.actor)
		}
		times[k.body]++
	}
	return nil
}

// crowd is a game with more actors than a tick is run again for.
const crowd = `
instance n:u32 m:f64
player 4 x:f32 mate:ref.rock score:u32:sent secret:f64:server
rock rocks 30 x:f32 n:u32 next:ref.rock hidden:f64:server
chip chips 3 owned x:f64
command act what:u8
`

const crowdText = `
-- instance.server.js --
export function start() { for (let i = 0; i < 30; i++) { const r = game.rocks.spawn(); if (r) { r.x = i; r.hidden = serverRandom(); } } }
export function update() { game.m += serverRandom(); for (const r of game.rocks) r.hidden += r.x; }
-- player.js --
export function update(p) { p.x += random(); p.mate = game.rocks.find(2 + 4 * (p.id % 7)); }
-- player.server.js --
export function join(p) { p.secret = serverRandom(); }
export function update(p) { p.score++; p.secret *= 1.25; }
-- rock.server.js --
export function update(r) { r.hidden = r.hidden * 0.5 + r.n; }
-- commands.js --
export function act(p, c) { p.x += c.what; const k = game.chips.spawn(p); if (k) k.x = random(); }
-- chip.js --
export function update(k) { k.x += random(); if (k.x > 3) k.remove(); }
-- rock.js --
const T = [1, 2, 3];
export function update(r) {
  r.x += random();
  r.n++;
  const odd = game.tick % 3;
  BAD
}
-- instance.js --
export function update() { game.n += game.rocks.count; if (game.rocks.count < 30) game.rocks.spawn(); }
`

// TestContained runs bodies that fail in every way there is, for no actor, for some
// and for more than a tick is run again for, in the engine.
func TestContained(t *testing.T) {
	for name, bad := range map[string]string{
		"nothing":         ``,
		"endless loop":    `if (r.id % 16 === 4 && odd > 0) while (true) game.n++;`,
		"endless for all": `if (odd) for (;;) r.x++;`,
		"null":            `if (r.id % 20 === 8) { r.remove(); r.next.x = 3; }`,
		"null for all":    `r.next.n = 3;`,
		"index":           `if (r.id % 12 === 4) r.x = T[r.n + 3];`,
		"full pool":       `for (let i = 0; i < 2 && r.id % 32 === 4; i++) { const made = game.rocks.spawn(); made.x = 1; }`,
		"name":            `const name = r.id % 24 === 4 ? "y" : "x"; r[name] = 2;`,
		"deep nesting":    `if (r.id % 14 === 2) f0();`,
		"many ways":       `if (r.id < 20 + odd * 8) r.next.n = 3; if (r.id === 30) for (;;) {} if (r.id === 34) r.x = T[odd - 9]; if (odd === 1 && r.id > 80) f0();`,
		"nine":            `if (r.id < 38) { game.rocks.spawn(); r.x = T[3 + odd]; }`,
		"eight":           `if (r.id < 34) { game.rocks.spawn(); r.x = T[3 + odd]; }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := define(t, crowd)
			def.SendRate = def.TickRate // players come in the next tick
			text := strings.Replace(crowdText, "BAD", bad, 1)
			if strings.Contains(bad, "f0") {
				text = strings.Replace(text, "const T", strings.ReplaceAll(tower(40), "game.n++", "game.m += random()")+"const T", 1)
			}
			if strings.Contains(name, "many") {
				text = strings.NewReplacer("p.score++;", "p.score++; if (p.id > 1) p.mate.next.x = 1;", "p.x += c.what;", "p.x += c.what; if (c.what === 2) while (p.x !== 0) p.x += 1e-3;").Replace(text)
			}
			p, list := body.Compile(def, bodies(text), body.Options{BodyFuel: 5000})
			if p == nil {
				t.Fatal(list)
			}
			most, all, err := checkContained(def, p, 120, func(tick int) (in input) {
				if tick%40 == 1 {
					in.joins = []join{{uint32(tick), "Ada"}, {uint32(tick + 1), "Bob"}}
				}
				if tick%70 == 69 {
					in.leaves = []uint32{uint32(tick - 68), 41}
				}
				for player := range uint32(100) {
					in.commands = append(in.commands, command{player: player, values: []float64{float64(tick % 5)}})
				}
				return in
			})
			if err != nil {
				t.Error(err)
			}
			t.Logf("%d faults, %d in one tick", all, most)
			switch want := map[string]int{"nothing": 0, "eight": 8, "nine": 9, "null for all": 9, "many ways": 16}[name]; {
			case (all > 0) != (bad != ""), most < want:
				t.Errorf("%d faults, %d in one tick; want %d", all, most, want)
			}
		})
	}
}

// TestContainedRandomGames does so with random games whose bodies are made to fail.
func TestContainedRandomGames(t *testing.T) {
	t.Parallel()
	list, faults, busiest := seeds(scaled(1500)), 0, 0
	for _, seed := range list {
		g := gen.New(seed, gen.Options{Faults: true, Calm: true, Ticks: 25})
		check := func(g *gen.Game) error {
			r, err := compileRandom(g, body.Options{BodyFuel: randomFuel})
			if err != nil {
				return err
			}
			most, all, err := checkContained(r.def, r.prog, g.Ticks, func(tick int) input { return r.inputs[tick] })
			faults, busiest = faults+all, max(busiest, most)
			if err != nil {
				return failed("contained", "%w", err)
			}
			return nil
		}
		if check(g) != nil {
			reportRandom(t, g, check)
		}
	}
	t.Logf("%d games, %d faults, at most %d in one tick", len(list), faults, busiest)
	if len(list) > 50 && (faults < 2*len(list) || busiest < 5) {
		t.Error("too little has failed")
	}
}
