package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"gamehoster/games/schema"
)

// Options are what games are to have.
type Options struct {
	Faults bool // bodies that fail now and then, in every way there is
	Shared bool // shared fields only
	Calm   bool // no body closes or ends the game, or removes players
	Marks  bool // whatever is the server's only has Mark or one of MarkNumbers in it
	Edges  bool // more fields of f32 and f64, and numbers whose arithmetic is special in them
	Size   int  // about so many statements; 0 for 8
	Ticks  int  // that the script is for; 0 for a few
}

// Mark is in all names and texts of server bodies of a game with marks.
const Mark = "zqSecret"

// MarkNumber is the i-th of the numbers that server bodies of a game with marks
// are full of.
func MarkNumber(i int) float64 { return 730211.5091373 + 1013.0000713*float64(i) }

// MarkNumbers is how many there are.
const MarkNumbers = 8

// field is one of a type's or of a command's.
type field struct {
	name    string
	kind    schema.Kind
	len     int
	ref     int
	sync    schema.Sync
	owner   bool // for the owner only
	initial string
}

type typ struct {
	index        int
	name, plural string
	max          int
	owned        bool
	fields       []*field
}

type command struct {
	name           string
	fields         []*field
	shared, server bool
}

// maker makes one game.
type maker struct {
	r        *rand.Rand
	o        Options
	types    []*typ
	commands []*command
	risky    bool // objects that may be null are used as they are
	names    int
	files    []*file
	helpers  []*helper
}

func (m *maker) chance(percent int) bool { return m.r.IntN(100) < percent }

func (m *maker) pick(list ...string) string { return list[m.r.IntN(len(list))] }

func (m *maker) name(stem string) string {
	m.names++
	return fmt.Sprintf("%s%d", stem, m.names)
}

// secret is a name of the server's.
func (m *maker) secret(stem string) string {
	if m.o.Marks {
		return m.name(Mark + stem)
	}
	return m.name(stem)
}

// New makes the game of a seed. The same seed and options always give the same.
func New(seed uint64, o Options) *Game {
	if o.Size == 0 {
		o.Size = 8
	}
	m := &maker{r: rand.New(rand.NewPCG(seed, 20)), o: o}
	m.risky = m.chance(10)
	g := &Game{Seed: seed, Ticks: 12 + m.r.IntN(20), Faults: o.Faults}
	if o.Ticks > 0 {
		g.Ticks = o.Ticks
	}
	m.world()
	m.bodies()
	g.def = m.definition()
	g.files = list("\n")
	for _, f := range m.files {
		g.files.Kids = append(g.files.Kids, f.node())
	}
	g.script = m.script(g.Ticks)
	return g
}

// world decides on the types and commands.
func (m *maker) world() {
	m.types = []*typ{
		{name: "instance", max: 1},
		{index: 1, name: "player", plural: "players", max: 1 + m.r.IntN(4)},
	}
	words := [...]string{"rock", "shot", "crate", "unit", "drone", "gem"}
	first := m.r.IntN(len(words))
	for i := range 1 + m.r.IntN(3) {
		name := words[(first+i)%len(words)]
		m.types = append(m.types, &typ{index: 2 + i, name: name, plural: name + "s", max: 1 + m.r.IntN(9), owned: m.chance(35)})
	}
	for _, t := range m.types {
		for range 2 + m.r.IntN(5) {
			t.fields = append(t.fields, m.field(t))
		}
	}
	for range m.r.IntN(3) {
		c := &command{name: m.name("act"), shared: m.chance(70)}
		c.server = !c.shared || m.chance(40)
		for range m.r.IntN(4) {
			f := m.field(nil)
			f.sync, f.initial = schema.Shared, ""
			c.fields = append(c.fields, f)
		}
		m.commands = append(m.commands, c)
	}
}

var integers = []schema.Kind{schema.I8, schema.U8, schema.I16, schema.U16, schema.I32, schema.U32}

// field makes a field of a type, or of a command.
func (m *maker) field(of *typ) *field {
	f := &field{sync: schema.Shared}
	switch n := m.r.IntN(20); {
	case n < 8:
		f.kind = integers[m.r.IntN(len(integers))]
	case n < 11:
		f.kind = schema.F32
	case n < 15:
		f.kind = schema.F64
	case n < 17:
		f.kind = schema.Bool
	case n < 18:
		f.kind, f.len = schema.Str, 1+m.r.IntN(12)
	default:
		f.kind, f.ref = schema.Ref, 1+m.r.IntN(len(m.types)-1)
	}
	if m.o.Edges && f.kind.Integer() && m.chance(60) {
		f.kind = schema.F32
		if m.chance(50) {
			f.kind = schema.F64
		}
	}
	if !m.o.Shared {
		switch n := m.r.IntN(10); {
		case n < 2:
			f.sync = schema.Sent
			f.owner = of != nil && (of.index == schema.PlayerType || of.owned) && m.chance(30)
		case n < 4 && of != nil:
			f.sync = schema.Server
		}
	}
	f.name = m.name("f")
	if f.sync == schema.Server {
		f.name = m.secret("f")
	}
	if m.chance(25) {
		switch {
		case f.kind == schema.Bool:
			f.initial = "true"
		case f.kind == schema.Str:
			f.initial = fmt.Sprintf("%q", cut(m.word(), f.len))
		case f.kind.Integer():
			f.initial = m.pick("1", "7", "100")
		case f.kind.Number():
			f.initial = m.pick("1", "0.1", "-2.5", "1e9")
		}
	}
	return f
}

// cut is as much of a text as has room in so many bytes.
func cut(text string, room int) string {
	for len(text) > room {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

func (m *maker) word() string {
	return m.pick("ab", "abc", "zz", "north", "no", "héllo", "日本", "x€")
}

// script has players come, go and send.
func (m *maker) script(ticks int) *Node {
	s := list("\n")
	add := func(e *Event) { s.Kids = append(s.Kids, &Node{Event: e}) }
	next, seq := uint32(1), uint32(0)
	var here []uint32
	for t := 1; t <= ticks; t++ {
		for i := 0; i < len(here); i++ {
			if m.chance(2) {
				add(&Event{Tick: t, What: Leave, Player: here[i]})
				here = append(here[:i], here[i+1:]...)
			}
		}
		for _, p := range here {
			if len(m.commands) > 0 && m.chance(40) {
				seq++
				add(m.send(t, p, seq))
			}
		}
		for len(here) < m.types[1].max && m.chance(40) {
			add(&Event{Tick: t, What: Join, Player: next, Name: m.pick("", "Ada", "名前", "Rear Admiral Grace Murray Hopper")})
			here = append(here, next)
			next += 2
		}
	}
	return s
}

func (m *maker) send(tick int, player, seq uint32) *Event {
	c := m.commands[m.r.IntN(len(m.commands))]
	e := &Event{Tick: tick, What: Send, Player: player, Command: c.name, Seq: seq, Values: map[string]float64{}, Texts: map[string]string{}}
	for _, f := range c.fields {
		switch {
		case f.kind == schema.Bool:
			e.Values[f.name] = float64(m.r.IntN(2))
		case f.kind == schema.Str:
			e.Texts[f.name] = cut(m.word(), f.len)
		case f.kind == schema.Ref:
			e.Values[f.name] = float64(m.r.IntN(24))
		case m.o.Edges && !f.kind.Integer() && m.chance(60):
			e.Values[f.name] = edges[m.r.IntN(len(edges))]
		case f.kind.Integer() || m.chance(50):
			e.Values[f.name] = float64(m.r.IntN(300) - 100)
		default:
			e.Values[f.name] = m.r.NormFloat64() * 1000
		}
	}
	return e
}

// edges are what players send in games with edges: denormals of both kinds of fields,
// ends of ranges, and numbers that are none, of a kind that JavaScript has no word for.
var edges = [...]float64{
	5e-324, -1e-310, 2.2250738585072009e-308, 1e-40, -1.401298464324817e-45, 1.1754942106924411e-38, 1e-160, math.Copysign(0, -1),
	math.MaxFloat64, -math.MaxFloat32, math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff4_0000_dead_beef), math.Float64frombits(0x7ff8_1234_5678_9abc),
}

// definition is gamehoster-game.json.
func (m *maker) definition() *Node {
	fields := func(all []*field, of bool) *Node {
		l := list(",\n")
		for _, f := range all {
			l.Kids = append(l.Kids, m.fieldNode(f, of))
		}
		return l
	}
	entities := list(",\n")
	for _, t := range m.types[2:] {
		owned := ""
		if t.owned {
			owned = `"owned": true, `
		}
		entities.Kids = append(entities.Kids, node(Fixed, fmt.Sprintf("%q: {%q: %d, %s\"fields\": {\n@}}", t.name, "max", t.max, owned), fields(t.fields, true)))
	}
	commands := list(",\n")
	for _, c := range m.commands {
		commands.Kids = append(commands.Kids, node(Fixed, fmt.Sprintf("%q: {\"fields\": {@}}", c.name), fields(c.fields, false)))
	}
	rate := m.pick("30", "20", "7", "60")
	text := fmt.Sprintf(`{
"tickRate": %s, "sendRate": %s, "timelineDepth": 0, "playersPerInstance": %d,
"instance": {"fields": {
@}},
"player": {"fields": {
@}},
"entities": {
@},
"commands": {@}
}`, rate, rate, m.types[1].max)
	return node(Fixed, text, fields(m.types[0].fields, true), fields(m.types[1].fields, true), entities, commands)
}

// fieldNode is a field in the definition; of tells that it is one of a type's.
func (m *maker) fieldNode(f *field, of bool) *Node {
	kind := f.kind.String()
	switch f.kind {
	case schema.Str:
		kind = fmt.Sprintf("str(%d)", f.len)
	case schema.Ref:
		kind = fmt.Sprintf("ref(%s)", m.types[f.ref].name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %q: {\"type\": %q", f.name, kind)
	if of {
		fmt.Fprintf(&b, ", \"sync\": %q", f.sync)
	}
	if f.owner {
		b.WriteString(`, "audience": "owner"`)
	}
	if f.initial != "" && of {
		b.WriteString(`, "default": ` + f.initial)
	}
	return fixed("%s}", b.String())
}
