package wire

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
)

// The encoder against the twin on definitions and worlds made at random. A failure
// names the seed to run again.

type dice struct{ *rand.Rand }

func (r dice) one(in int) bool { return r.IntN(in) == 0 }

func (r dice) field(i int, sync schema.Sync, types int) *schema.Field {
	f := field(fmt.Sprintf("f%d", i), schema.Kind(r.IntN(int(schema.Ref)+1)), sync)
	switch {
	case f.Kind == schema.Str:
		f.Len = 1 + r.IntN(255)
	case f.Kind == schema.Ref:
		f.Ref = 1 + r.IntN(types-1)
	case f.Kind.Number() && sync == schema.Sent && r.one(3):
		q := &schema.Quant{Step: []float64{1, 2, 5}[r.IntN(3)]}
		if !f.Kind.Integer() {
			q.Step = []float64{0.5, 0.01, 3}[r.IntN(3)]
		}
		top := []float64{100, 200, 40000}[r.IntN(3)]
		lo, hi := kindRange(f.Kind)
		q.Min = max(lo, math.Trunc(-q.Step*float64(r.IntN(50))))
		q.Max = min(hi, q.Min+top*q.Step)
		q.Bytes = 4
		if n := q.Encode(q.Max); n < 1<<8 {
			q.Bytes = 1
		} else if n < 1<<16 {
			q.Bytes = 2
		}
		f.Quant, f.Min, f.Max = q, q.Min, q.Max
	}
	return f
}

func kindRange(k schema.Kind) (lo, hi float64) {
	switch k {
	case schema.I8:
		return math.MinInt8, math.MaxInt8
	case schema.U8:
		return 0, math.MaxUint8
	case schema.I16:
		return math.MinInt16, math.MaxInt16
	case schema.U16:
		return 0, math.MaxUint16
	case schema.I32:
		return math.MinInt32, math.MaxInt32
	case schema.U32:
		return 0, math.MaxUint32
	}
	return -1e6, 1e6
}

func (r dice) definition() *schema.Definition {
	d := &schema.Definition{Name: "random", TickRate: 30, SendRate: 30}
	types := 2 + r.IntN(4)
	for i := range types {
		t := &schema.Type{Name: fmt.Sprintf("t%d", i), Max: 64, Owned: i > schema.PlayerType && r.one(2)}
		if i == schema.InstanceType {
			t.Max = 1
		}
		n := r.IntN(5)
		if r.one(2) {
			n = r.IntN(20)
		}
		for k := range n {
			f := r.field(k, schema.Sync(r.IntN(3)), types)
			if f.Sync == schema.Sent && (t.Owned || i == schema.PlayerType) && r.one(3) {
				f.Audience = schema.Owner
			}
			t.Fields = append(t.Fields, f)
		}
		d.Types = append(d.Types, t)
	}
	for i := range r.IntN(4) {
		c := &schema.Command{Name: fmt.Sprintf("c%d", i)}
		for k := range r.IntN(6) {
			c.Fields = append(c.Fields, r.field(k, schema.Shared, types))
		}
		d.Commands = append(d.Commands, c)
	}
	enumerate(d)
	return d
}

func (r dice) value(f *schema.Field, finite bool) any {
	switch f.Kind {
	case schema.Bool:
		return r.one(2)
	case schema.Ref:
		return r.Uint32() >> r.IntN(32)
	case schema.Str:
		text := []byte{}
		for len(text)+4 <= f.Len && !r.one(12) {
			text = append(text, string([]rune("aé☃𝄞")[r.IntN(4)])...)
		}
		return string(text)
	}
	if !f.Kind.Integer() && !finite && r.one(8) {
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[r.IntN(4)]
	}
	lo, hi := kindRange(f.Kind)
	if f.Quant != nil && !r.one(4) {
		lo, hi = f.Quant.Min, f.Quant.Max
	}
	x := lo + r.Float64()*(hi-lo)
	switch f.Kind {
	case schema.F64:
		return x
	case schema.F32:
		return float64(float32(x))
	}
	return math.Trunc(x)
}

func (r dice) values(fields []*schema.Field, finite bool) values {
	v := values{}
	for _, f := range fields {
		v[f.Name] = r.value(f, finite)
	}
	return v
}

func (r dice) world(d *schema.Definition) *world {
	w := newWorld(d, &object{0, 0, 0, r.values(d.Types[0].Fields, false)})
	id := uint32(0)
	for range r.IntN(12) {
		id += 1 + r.Uint32N(1<<r.IntN(20))
		typ := schema.PlayerType
		if id&1 == 0 {
			if len(d.Types) == 2 {
				id++
			} else {
				typ = 2 + r.IntN(len(d.Types)-2)
			}
		}
		o := &object{id: id, typ: typ, v: r.values(d.Types[typ].Fields, false)}
		if d.Types[typ].Owned && !r.one(4) {
			o.owner = uint32(1 + 2*r.IntN(3))
		}
		w.objects = append(w.objects, o)
	}
	return w
}

// changed is w with some values drawn again: the base of a delta.
func (r dice) changed(w *world) *world {
	edits := map[uint32]values{}
	for _, o := range w.objects {
		v := values{}
		for _, f := range w.def.Types[o.typ].Fields {
			if r.one(3) {
				v[f.Name] = r.value(f, false)
			}
		}
		edits[o.id] = v
	}
	return w.edited(edits)
}

func TestRandomWorldsAgainstTheTwin(t *testing.T) {
	runs := 400
	if testing.Short() {
		runs = 40
	}
	for seed := range uint64(runs) {
		r := dice{rand.New(rand.NewPCG(seed, 2))}
		d := r.definition()
		w := r.world(d)
		base := r.changed(w)
		viewers := []uint32{0, 1, 3, w.objects[len(w.objects)-1].id | 1}
		viewer := viewers[r.IntN(len(viewers))]
		var ids []uint32
		for _, o := range w.objects {
			if !r.one(4) {
				ids = append(ids, o.id)
			}
		}
		check := func(what string, got []byte, want dump, thin bool) {
			t.Helper()
			if !bytes.Equal(got, want.bytes()) {
				t.Fatalf("seed %d, %s: the encoder made\n%x\nthe twin\n%x", seed, what, got, want.bytes())
			}
			back, err := echo(w, viewer, thin, got)
			if err != nil || !bytes.Equal(back, got) {
				t.Fatalf("seed %d, %s: read and written again it is\n%x, was\n%x; %v", seed, what, back, got, err)
			}
		}
		s := Snapshot{Tick: r.Uint32(), Seed: r.Uint64(), Next: r.Uint32(), Processed: r.Uint32()}
		check("snapshot", appendSnapshot(nil, w, s, viewer), naiveSnapshot(w, s, viewer), false)
		check("enter", appendEnter(nil, w, Enter{s.Tick}, viewer, w.objects[1:]...), naiveEnter(w, Enter{s.Tick}, viewer, w.objects[1:]...), false)
		check("keyframe", appendKeyframe(nil, w, Keyframe{s.Tick}, ids...), naiveKeyframe(w, Keyframe{s.Tick}, ids...), false)
		m := Delta{s.Tick, s.Tick - 2, s.Processed}
		check("delta", appendDelta(nil, w, base, m, Sent, viewer, ids...), naiveDelta(w, base, m, Sent, viewer, ids...), false)
		check("thin delta", appendDelta(nil, w, base, m, Whole, viewer, ids...), naiveDelta(w, base, m, Whole, viewer, ids...), true)
		if hashed(w) != naiveHash(w) {
			t.Fatalf("seed %d: hash", seed)
		}
		readWhole(t, w, viewer, appendEnter(nil, w, Enter{}, viewer, w.objects[1:]...)[5:], w.objects[1:])
		r.deltaReaches(t, seed, w, base, viewer)
		var list []relayedValues
		for n := range d.Commands {
			v := r.values(d.Commands[n].Fields, true)
			h := CommandHeader{r.Uint32(), 1 + r.Uint32N(1000), uint32(n)}
			check("command", appendCommand(nil, w, h, v), naiveCommand(w, h, v), false)
			list = append(list, relayedValues{Relayed{s.Tick - uint32(5-n), 1 + 2*r.Uint32N(9), h.Seq, h.Number}, v})
		}
		check("commands", appendCommands(nil, w, Commands{s.Tick}, list...), naiveCommands(w, Commands{s.Tick}, list...), false)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// deltaReaches checks the delta's purpose: what a receiver held after base becomes
// what it would hold after a full listing, and Differ tells whether it was needed.
func (r dice) deltaReaches(t *testing.T, seed uint64, w, base *world, viewer uint32) {
	t.Helper()
	for i, o := range w.objects {
		row, old := w.row(o), base.row(base.objects[i])
		f := w.s.Seen(o.typ, Sent, row, viewer)
		held, want := make([]byte, len(row)), make([]byte, len(row))
		mustRead(t, f, f.AppendAll(nil, old), held)
		mustRead(t, f, f.AppendAll(nil, row), want)
		p := f.AppendChanges(nil, row, old)
		if rest, err := f.ReadMasked(p, held); err != nil || len(rest) > 0 {
			t.Fatalf("seed %d: rest % x, %v", seed, rest, err)
		}
		if !bytes.Equal(held, want) {
			t.Fatalf("seed %d: object %d has % x, want % x", seed, o.id, held, want)
		}
		if need := len(p) > f.MaskLen(); f.Differ(row, old) != need {
			t.Fatalf("seed %d: object %d: Differ %t, delta % x", seed, o.id, !need, p)
		}
		if n := len(f.AppendAll(nil, row)); n > f.MaxSize() || f.End() > len(row) {
			t.Fatalf("seed %d: %d bytes over MaxSize %d, or End %d over the row", seed, n, f.MaxSize(), f.End())
		}
	}
}

func mustRead(t *testing.T, f *Fields, p, row []byte) {
	t.Helper()
	if rest, err := f.ReadAll(p, row); err != nil || len(rest) > 0 {
		t.Fatalf("rest % x, %v", rest, err)
	}
}

// TestBothLayoutsEncodeAlike holds a client's rows to a server's.
func TestBothLayoutsEncodeAlike(t *testing.T) {
	w := fixtureWorld()
	client := &world{w.def, schema.NewLayout(w.def, schema.OnClient), nil, w.objects}
	client.s = NewSchema(w.def, client.server)
	for typ := range w.def.Types {
		for _, sub := range []Subset{Whole, Sent, Shared} {
			a, b := w.s.Fields(typ, sub, true), client.s.Fields(typ, sub, true)
			if a.Len() != b.Len() || a.End() != b.End() {
				t.Errorf("type %d: %d fields to %d, %d to %d", typ, a.Len(), a.End(), b.Len(), b.End())
			}
		}
	}
}

// TestOwnersOnlyWhereTheyDiffer lets encodings be shared between viewers.
func TestOwnersOnlyWhereTheyDiffer(t *testing.T) {
	s := fixtureWorld().s
	for _, c := range []struct {
		typ  int
		sub  Subset
		same bool
	}{{typePlayer, Sent, false}, {typePlayer, Whole, false}, {typePlayer, Shared, true}, {typeRock, Sent, true}, {typeBullet, Sent, false}} {
		if (s.Fields(c.typ, c.sub, true) == s.Fields(c.typ, c.sub, false)) != c.same {
			t.Errorf("type %d, subset %d", c.typ, c.sub)
		}
	}
	w := fixtureWorld()
	if n := w.s.Seen(typeBullet, Sent, w.row(w.find(14)), 0).Len(); n != 1 {
		t.Errorf("a spectator sees %d sent fields of nobody's bullet", n)
	}
}
