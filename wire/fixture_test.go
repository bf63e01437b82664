package wire

import (
	"math"

	"gamehoster/games/schema"
)

// The game that the vectors in testdata are of. It has a field of every kind, sync
// class and audience, a type whose owner sees more than eight fields (a mask of two
// bytes), one with owners and one without any visible field.

func field(name string, k schema.Kind, s schema.Sync, more ...func(*schema.Field)) *schema.Field {
	f := &schema.Field{Name: name, Kind: k, Sync: s, Min: math.Inf(-1), Max: math.Inf(1)}
	for _, m := range more {
		m(f)
	}
	return f
}

func length(n int) func(*schema.Field)           { return func(f *schema.Field) { f.Len = n } }
func refTo(t int) func(*schema.Field)            { return func(f *schema.Field) { f.Ref = t } }
func smooth(s schema.Smooth) func(*schema.Field) { return func(f *schema.Field) { f.Smooth = s } }
func snap(d float64) func(*schema.Field)         { return func(f *schema.Field) { f.Snap = d } }
func preset(v float64) func(*schema.Field)       { return func(f *schema.Field) { f.Default = v } }
func between(min, max float64) func(*schema.Field) {
	return func(f *schema.Field) { f.Min, f.Max = min, max }
}
func private(f *schema.Field) { f.Audience = schema.Owner }

func step(q, min, max float64, bytes int) func(*schema.Field) {
	return func(f *schema.Field) {
		f.Min, f.Max = min, max
		f.Quant = &schema.Quant{Step: q, Min: min, Max: max, Bytes: bytes}
	}
}

const (
	typePlayer = schema.PlayerType
	typeRock   = 2
	typeBullet = 3
	typeBeacon = 4

	cmdThrust = 0
	cmdFire   = 1
	cmdSay    = 2
	cmdProbe  = 3
	cmdStop   = 4
)

func fixture() *schema.Definition {
	d := &schema.Definition{
		Name: "fixture", TickRate: 30, SendRate: 15, TimelineDepth: 32,
		PlayersPerInstance: 4, InstancesPerShard: 500,
		ResumeSeconds: 10, KeyframeSeconds: 1, BytesPerSend: 1200,
		Types: []*schema.Type{
			{Name: "instance", Max: 1, Fields: []*schema.Field{
				field("round", schema.U16, schema.Sent),
				field("phase", schema.U8, schema.Shared),
				field("title", schema.Str, schema.Sent, length(12)),
				field("leader", schema.Ref, schema.Shared, refTo(typePlayer)),
				field("secret", schema.U32, schema.Server),
				field("fuel", schema.F32, schema.Sent, step(0.5, 0, 100, 1), preset(100)),
			}},
			{Name: "player", Plural: "players", Max: 4, Fields: []*schema.Field{
				field("x", schema.F32, schema.Shared, smooth(schema.Linear), snap(200)),
				field("y", schema.F32, schema.Shared, smooth(schema.Linear), snap(200)),
				field("angle", schema.F32, schema.Shared, smooth(schema.Angle)),
				field("score", schema.I32, schema.Sent),
				field("ammo", schema.U16, schema.Sent, private, preset(20)),
				field("note", schema.Str, schema.Sent, length(8), private),
				field("ready", schema.Bool, schema.Sent),
				field("target", schema.Ref, schema.Sent, refTo(typeRock)),
				field("zoom", schema.F32, schema.Sent, step(0.01, -10, 10, 2), smooth(schema.Linear)),
				field("salt", schema.F64, schema.Server),
				field("lives", schema.I8, schema.Sent, preset(3)),
				field("mana", schema.F64, schema.Sent),
				field("level", schema.I16, schema.Sent),
				field("bonus", schema.U32, schema.Sent),
			}},
			{Name: "rock", Plural: "rocks", Max: 16, Fields: []*schema.Field{
				field("x", schema.F32, schema.Shared, smooth(schema.Linear)),
				field("y", schema.F32, schema.Shared, smooth(schema.Linear)),
				field("size", schema.U8, schema.Shared),
				field("spin", schema.F64, schema.Shared),
				field("name", schema.Str, schema.Shared, length(4)),
				field("solid", schema.Bool, schema.Shared),
				field("hits", schema.U32, schema.Sent, step(1, 0, 100000, 4)),
			}},
			{Name: "bullet", Plural: "bullets", Max: 32, Owned: true, Fields: []*schema.Field{
				field("x", schema.F32, schema.Shared),
				field("y", schema.F32, schema.Shared),
				field("heat", schema.U8, schema.Sent),
				field("charge", schema.I16, schema.Sent, private),
				field("by", schema.Ref, schema.Shared, refTo(typeRock)),
			}},
			{Name: "beacon", Plural: "beacons", Max: 2, Fields: []*schema.Field{
				field("code", schema.U32, schema.Server),
			}},
		},
		Commands: []*schema.Command{
			{Name: "thrust", Fields: []*schema.Field{field("on", schema.Bool, schema.Shared)}},
			{Name: "fire", MaxPerSecond: 10, Fields: []*schema.Field{
				field("angle", schema.F32, schema.Shared, between(-3.2, 3.2)),
				field("power", schema.U8, schema.Shared, between(1, 10)),
				field("at", schema.Ref, schema.Shared, refTo(typeRock)),
			}},
			{Name: "say", Fields: []*schema.Field{field("text", schema.Str, schema.Shared, length(16))}},
			{Name: "probe", Fields: []*schema.Field{
				field("a", schema.I8, schema.Shared),
				field("b", schema.I16, schema.Shared),
				field("c", schema.U16, schema.Shared),
				field("d", schema.I32, schema.Shared),
				field("e", schema.U32, schema.Shared),
				field("f", schema.F64, schema.Shared),
			}},
			{Name: "stop"},
		},
	}
	enumerate(d)
	return d
}

// enumerate sets the indices that a loader would.
func enumerate(d *schema.Definition) {
	for i, t := range d.Types {
		t.Index = i
		for k, f := range t.Fields {
			f.Index = k
		}
	}
	for i, c := range d.Commands {
		c.Index = i
		for k, f := range c.Fields {
			f.Index = k
		}
	}
}

// world is a game's objects as plain values: what the twin encodes.
type world struct {
	def     *schema.Definition
	server  *schema.Layout
	s       *Schema
	objects []*object // instance first, ids ascending
}

type object struct {
	id    uint32
	typ   int
	owner uint32
	v     values
}

// values are a row's: bool, float64 for every number, string, uint32 for a ref.
type values map[string]any

func newWorld(d *schema.Definition, objects ...*object) *world {
	l := schema.NewLayout(d, schema.OnServer)
	return &world{d, l, NewSchema(d, l), objects}
}

func (w *world) find(id uint32) *object {
	for _, o := range w.objects {
		if o.id == id {
			return o
		}
	}
	return nil
}

// row is the object as a canonical row.
func (w *world) row(o *object) []byte {
	tl := &w.server.Types[o.typ]
	row := make([]byte, tl.Stride)
	le.PutUint32(row[schema.RowID:], o.id)
	if tl.Owner >= 0 {
		le.PutUint32(row[tl.Owner:], o.owner)
	}
	for i, f := range w.def.Types[o.typ].Fields {
		naiveStore(f, row[tl.Offsets[i]:], o.v[f.Name])
	}
	return row
}

// record is a command's values as a command record.
func (w *world) record(number int, v values) []byte {
	rec := make([]byte, w.server.CommandStride)
	for i, f := range w.def.Commands[number].Fields {
		naiveStore(f, rec[w.server.Commands[number].Offsets[i]:], v[f.Name])
	}
	return rec
}

// fixtureWorld is the world of the vectors; viewer 3 is who most of them are for.
func fixtureWorld() *world {
	return newWorld(fixture(),
		&object{0, 0, 0, values{"round": 7.0, "phase": 2.0, "title": "Größe 3", "leader": uint32(3), "secret": 99.0, "fuel": 62.5}},
		&object{1, typePlayer, 0, values{"x": 10.5, "y": -2.25, "angle": 1.5, "score": -70000.0, "ammo": 20.0, "note": "mine",
			"ready": true, "target": uint32(2), "zoom": 0.25, "salt": 1.0, "lives": 3.0, "mana": 0.1, "level": -5.0, "bonus": 4000000000.0}},
		&object{2, typeRock, 0, values{"x": 100.0, "y": math.Copysign(0, -1), "size": 3.0, "spin": -0.125, "name": "ok", "solid": true, "hits": 70000.0}},
		&object{3, typePlayer, 0, values{"x": 0.0, "y": 1.0, "angle": -3.140625, "score": 12.0, "ammo": 65535.0, "note": "",
			"ready": false, "target": uint32(0), "zoom": -10.0, "salt": 2.0, "lives": -1.0, "mana": 1e300, "level": 300.0, "bonus": 1.0}},
		&object{4, typeBeacon, 0, values{"code": 1234.0}},
		&object{6, typeBullet, 3, values{"x": 1.0, "y": 2.0, "heat": 200.0, "charge": -300.0, "by": uint32(0)}},
		&object{10, typeBullet, 1, values{"x": 3.0, "y": 4.0, "heat": 0.0, "charge": 5.0, "by": uint32(300)}},
		&object{300, typeRock, 0, values{"x": float64(float32(0.1)), "y": 5e7, "size": 255.0, "spin": math.NaN(), "name": "", "solid": false, "hits": 0.0}},
		&object{14, typeBullet, 0, values{"x": -1.0, "y": -2.0, "heat": 7.0, "charge": 9.0, "by": uint32(2)}},
	).sorted()
}

func (w *world) sorted() *world {
	for i := range w.objects {
		for k := i; k > 0 && w.objects[k].id < w.objects[k-1].id; k-- {
			w.objects[k], w.objects[k-1] = w.objects[k-1], w.objects[k]
		}
	}
	return w
}

// edited is the world with values changed: the base that deltas start from.
func (w *world) edited(changes map[uint32]values) *world {
	c := newWorld(w.def)
	for _, o := range w.objects {
		n := &object{o.id, o.typ, o.owner, values{}}
		for k, v := range o.v {
			n.v[k] = v
		}
		for k, v := range changes[o.id] {
			n.v[k] = v
		}
		c.objects = append(c.objects, n)
	}
	return c
}
