package tick

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// sighted is what a view body decides by: the fields of the viewer and of the object,
// and whether it is held.
type sighted struct {
	game, viewer, object func(name string) float64
	held                 bool
}

// term is a random expression, as JavaScript and as Go.
type term struct {
	text string
	of   func(s *sighted) float64 // of a condition: 1 or 0
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// numeric makes a random number's expression over the fields.
func numeric(rng *rand.Rand, fields []string, depth int) term {
	if depth == 0 || rng.IntN(4) == 0 {
		f := fields[rng.IntN(len(fields))]
		switch rng.IntN(5) {
		case 0:
			n := rng.IntN(50)
			return term{fmt.Sprint(n), func(*sighted) float64 { return float64(n) }}
		case 1:
			return term{"game.round", func(s *sighted) float64 { return s.game("round") }}
		case 2:
			return term{"viewer.x", func(s *sighted) float64 { return s.viewer("x") }}
		}
		return term{"o." + f, func(s *sighted) float64 { return s.object(f) }}
	}
	a, b := numeric(rng, fields, depth-1), numeric(rng, fields, depth-1)
	switch rng.IntN(6) {
	case 0:
		return term{"(" + a.text + " + " + b.text + ")", func(s *sighted) float64 { return a.of(s) + b.of(s) }}
	case 1:
		return term{"(" + a.text + " - " + b.text + ")", func(s *sighted) float64 { return a.of(s) - b.of(s) }}
	case 2:
		return term{"(" + a.text + " * " + b.text + ")", func(s *sighted) float64 { return float64(a.of(s) * b.of(s)) }}
	case 3:
		return term{"Math.max(" + a.text + ", " + b.text + ")", func(s *sighted) float64 { return max(a.of(s), b.of(s)) }}
	case 4:
		return term{"Math.abs(" + a.text + ")", func(s *sighted) float64 { return math.Abs(a.of(s)) }}
	}
	c := condition(rng, fields, depth-1)
	return term{"(" + c.text + " ? " + a.text + " : " + b.text + ")", func(s *sighted) float64 {
		if c.of(s) == 1 {
			return a.of(s)
		}
		return b.of(s)
	}}
}

func condition(rng *rand.Rand, fields []string, depth int) term {
	if depth > 0 {
		a, b := condition(rng, fields, depth-1), condition(rng, fields, depth-1)
		switch rng.IntN(6) {
		case 0:
			return term{"(" + a.text + " && " + b.text + ")", func(s *sighted) float64 { return a.of(s) * b.of(s) }}
		case 1:
			return term{"(" + a.text + " || " + b.text + ")", func(s *sighted) float64 { return max(a.of(s), b.of(s)) }}
		case 2:
			return term{"!" + a.text, func(s *sighted) float64 { return 1 - a.of(s) }}
		}
	}
	if rng.IntN(5) == 0 {
		return term{"held", func(s *sighted) float64 { return truth(s.held) }}
	}
	a, b := numeric(rng, fields, depth), numeric(rng, fields, depth)
	if rng.IntN(3) == 0 {
		return term{"(" + a.text + " === " + b.text + ")", func(s *sighted) float64 { return truth(a.of(s) == b.of(s)) }}
	}
	return term{"(" + a.text + " < " + b.text + ")", func(s *sighted) float64 { return truth(a.of(s) < b.of(s)) }}
}

// seenDef is a game in which server bodies throw everything about.
func seenDef(rng *rand.Rand) *schema.Definition {
	d := &schema.Definition{
		Name: "seen", TickRate: 20, SendRate: 10, TimelineDepth: 4, InstancesPerShard: 1, PlayersPerInstance: 5,
		KeyframeSeconds: 1, BytesPerSend: 1 << 20,
	}
	xy := func() []*schema.Field {
		return []*schema.Field{
			field("x", schema.F32, schema.Shared), field("y", schema.I16, schema.Shared),
			field("team", schema.U8, schema.Sent), field("secret", schema.F64, schema.Server),
		}
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1, field("round", schema.U32, schema.Shared)),
		typeOf(player, "player", 5, xy()...),
		typeOf(2, "rock", 40, xy()...),
		typeOf(3, "ghost", 20, xy()...),
	}
	for _, t := range d.Types[1:] {
		if rng.IntN(2) == 0 {
			t.View = &schema.ViewHint{Radius: float64(10 + rng.IntN(60)), X: "x", Y: "y"}
		}
	}
	for _, t := range d.Types[2:] {
		t.Plural = t.Name + "s"
	}
	d.Types[player].Plural = "players"
	return d
}

const seenBodies = `
-- instance.server.js --
export function start() { for (let i = 0; i < 30; i++) { game.rocks.spawn(); game.ghosts.spawn(); } }
export function update() {
  game.round = serverRandom() * 30;
  if (serverRandom() < 0.5) game.rocks.spawn();
}
-- instance.js --
export function update() { if (random() < 0.3) game.ghosts.spawn(); }
-- player.server.js --
export function join(o) { o.x = serverRandom() * 80; o.y = serverRandom() * 80; o.team = serverRandom() * 4; }
export function update(o) { if (serverRandom() < 0.2) { o.x = serverRandom() * 80; o.secret = serverRandom() * 9; } }
-- rock.js --
export function update(o) { o.x += 1; if (o.x > 90) o.x = 0; }
-- rock.server.js --
export function update(o) {
  if (serverRandom() < 0.1) { o.x = serverRandom() * 90; o.y = serverRandom() * 90 - 5; }
  if (serverRandom() < 0.1) { o.team = serverRandom() * 4; o.secret = serverRandom() * 9; }
  if (serverRandom() < 0.02) o.remove();
}
-- ghost.server.js --
export function update(o) {
  if (serverRandom() < 0.2) { o.x = serverRandom() * 90; o.y = o.x; o.team = serverRandom() * 5; }
  if (serverRandom() < 0.05) o.remove();
}
`

// Random view bodies, compiled and run as in earnest, decide what a twin in Go decides
// by the same rules, and clients, thin or not, hold exactly that, at each send.
func TestCompiledViews(t *testing.T) {
	for _, seed := range seeds(15) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compiledViews(t, seed) })
	}
}

func compiledViews(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	d := seenDef(rng)
	views := map[int]term{}
	text := "-- view.js --\n"
	for _, ty := range d.Types[1:] {
		if ty.Index == 2 || rng.IntN(2) == 0 {
			c := condition(rng, []string{"x", "y", "team", "secret"}, 1+rng.IntN(3))
			views[ty.Index] = c
			text += fmt.Sprintf("export function %s(viewer, o, held) { return %s; }\n", ty.Name, c.text)
		}
	}
	prog := compiledText(t, d, seenBodies+text)
	s, err := NewShard(d, prog, 0, Options{OnFault: func(_ *Instance, f FaultReport) { t.Error(f) }})
	if err != nil {
		t.Fatal(err)
	}
	m, err := ticktest.NewModule(d, prog)
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Create("seen", seed, seed)
	if err != nil {
		t.Fatal(err)
	}
	w := &seers{t: t, in: in, views: views}
	for i := range 4 {
		w.join(m, i%2 == 1)
	}
	for range 150 {
		for in.Step(); !in.SendDue(); in.Step() {
		}
		in.Commit()
		w.send()
	}
	t.Logf("%s%d times seen, %d times not", text, w.seen, w.not)
	for _, e := range w.ends {
		if err := e.c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func compiledText(t *testing.T, d *schema.Definition, text string) *body.Program {
	t.Helper()
	var sources []body.Source
	for _, part := range strings.Split(text, "-- ")[1:] {
		name, rest, _ := strings.Cut(part, " --\n")
		sources = append(sources, body.Source{Path: name, Text: []byte(rest)})
	}
	prog, list := body.Compile(d, sources, body.Options{})
	if prog == nil {
		t.Fatalf("%v\n%s", list, text)
	}
	return prog
}

// seers are the viewers of a game of compiled views.
type seers struct {
	t         *testing.T
	in        *Instance
	views     map[int]term // by type
	ends      []*seer
	seen, not int
}

type seer struct {
	v    *Viewer
	c    *ticktest.Client
	held map[uint32]bool // after the last send
}

func (w *seers) join(m *ticktest.Module, thin bool) {
	p, err := w.in.Join("p")
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := m.NewClient(thin)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ends = append(w.ends, &seer{v: w.in.Attach(p, ViewerOptions{Thin: thin}), c: c, held: map[uint32]bool{}})
}

// reader reads an object's fields by name.
func (w *seers) reader(o *object) func(name string) float64 {
	ty, l := w.in.shard.def.Types[o.typ], &w.in.shard.layout.Types[o.typ]
	row := w.in.row(int(o.typ), int(o.row))
	return func(name string) float64 {
		f := ty.Field(name)
		return schema.LoadNumber(f.Kind, row[l.Offsets[f.Index]:])
	}
}

// sees is the twin of all that decides what a viewer sees.
func (w *seers) sees(e *seer, o *object) bool {
	c, judged := w.views[int(o.typ)]
	if !judged || o.id == e.v.player {
		return true
	}
	i, _ := w.in.history.find(e.v.player)
	s := &sighted{game: w.reader(&w.in.history.objects[0]), viewer: w.reader(&w.in.history.objects[i]), object: w.reader(o), held: e.held[o.id]}
	if hint := w.in.shard.def.Types[o.typ].View; hint != nil {
		r := hint.Radius
		if s.held {
			r *= hysteresis
		}
		dx, dy := s.object("x")-s.viewer("x"), s.object("y")-s.viewer("y")
		if float64(dx*dx)+float64(dy*dy) > float64(r*r) {
			return false
		}
	}
	return c.of(s) == 1
}

func (w *seers) send() {
	for _, e := range w.ends {
		e.v.Send(e.c)
		if e.c.Err != nil || e.c.Resyncs > 0 {
			w.t.Fatal(e.c.Err, e.c.Lost)
		}
		now := map[uint32]bool{}
		for i := range w.in.history.objects {
			o := &w.in.history.objects[i]
			if o.id > 0 && w.sees(e, o) {
				now[o.id] = true
				w.seen++
			} else {
				w.not++
			}
		}
		if e.held = now; !e.c.Ready {
			continue
		}
		if err := e.c.Compare(w.in.shard.layout, w.in.block, nil, func(id uint32) bool { return now[id] }); err != nil {
			w.t.Fatalf("player %d: %v", e.v.player, err)
		}
		for _, a := range e.c.Acks {
			receive(w.t, e.v, wire.Ack{Tick: a}.Append(nil))
		}
		e.c.Acks = e.c.Acks[:0]
	}
}
