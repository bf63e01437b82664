package schema

import (
	"math"
	"math/rand/v2"
	"testing"
)

func field(name string, k Kind, s Sync) *Field {
	return &Field{Name: name, Kind: k, Sync: s, Len: 5, Min: math.Inf(-1), Max: math.Inf(1)}
}

func example() *Definition {
	d := &Definition{TickRate: 30, SendRate: 15, PlayersPerInstance: 4, Types: []*Type{
		{Name: "instance", Max: 1, Fields: []*Field{field("level", U8, Shared)}},
		{Name: "player", Plural: "players", Max: 4, Fields: []*Field{
			field("hidden", F64, Server), field("x", F32, Shared), field("hand", U8, Sent), field("nick", Str, Sent), field("wide", F64, Sent), field("on", Bool, Shared),
		}},
		{Name: "bullet", Plural: "bullets", Max: 3, Owned: true, Fields: []*Field{field("target", Ref, Shared)}},
	}, Commands: []*Command{
		{Name: "aim", Fields: []*Field{field("on", Bool, Server), field("x", F64, Server), field("text", Str, Server)}},
		{Name: "stop"},
	}}
	for i, t := range d.Types {
		t.Index = i
		for j, f := range t.Fields {
			f.Index = j
		}
	}
	return d
}

// Every offset is written out here once, by hand, so that no change of the layout
// goes unseen: stored states, modules and clients depend on it.
func TestLayout(t *testing.T) {
	d := example()
	l := NewLayout(d, OnServer)
	//	0 header, 32 counts of players, 48 counts of bullets, 64 instance row
	if got := l.Types[0]; got.Counts != -1 || got.Rows != 64 || got.Stride != 16 || got.Owner != -1 || got.Offsets[0] != 8 {
		t.Errorf("instance %+v", got)
	}
	//	8 hand, 9 nick (1 + 5), 16 wide | 24 x, 28 on | 32 hidden, 40
	p := l.Types[1]
	if p.Counts != 32 || p.Rows != 80 || p.Stride != 40 || p.Sent != (Span{8, 24}) || p.Shared != (Span{24, 29}) || p.Server != (Span{29, 40}) {
		t.Errorf("player %+v", p)
	}
	for i, want := range []int{32, 24, 8, 9, 16, 28} {
		if p.Offsets[i] != want {
			t.Errorf("player.%s is at %d, want %d", d.Player().Fields[i].Name, p.Offsets[i], want)
		}
	}
	if b := l.Types[2]; b.Counts != 48 || b.Rows != 240 || b.Stride != 16 || b.Owner != 8 || b.Offsets[0] != 12 || b.Sent != (Span{12, 12}) {
		t.Errorf("bullet %+v", b)
	}
	if l.Size != 320 { // 240 + 3*16 = 288
		t.Errorf("size %d", l.Size)
	}
	if c := l.Commands[0].Offsets; c[0] != 16 || c[1] != 24 || c[2] != 32 || l.CommandStride != 40 {
		t.Errorf("command %v, stride %d", c, l.CommandStride)
	}
	client := NewLayout(d, OnClient)
	if p := client.Types[1]; p.Offsets[0] != -1 || p.Offsets[1] != 24 || p.Stride != 32 || p.Server != (Span{29, 29}) {
		t.Errorf("the client's player %+v", p)
	}
}

// Rows lie one after the other, fields at their alignment and apart from each other.
func TestLayoutKeepsApart(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		d := &Definition{Types: []*Type{{Name: "instance", Max: 1}, {Name: "player", Max: 1 + random.IntN(5)}}}
		for range random.IntN(5) {
			d.Types = append(d.Types, &Type{Name: "e", Max: 1 + random.IntN(9), Owned: random.IntN(2) == 0})
		}
		for i, typ := range d.Types {
			typ.Index = i
			for j := range random.IntN(12) {
				typ.Fields = append(typ.Fields, &Field{Index: j, Kind: Kind(random.IntN(int(Ref) + 1)), Len: 1 + random.IntN(40), Sync: Sync(random.IntN(3))})
			}
		}
		for _, side := range []Side{OnServer, OnClient} {
			l := NewLayout(d, side)
			end := HeaderCounts + (len(d.Types)-1)*CountsSize
			for i, tl := range l.Types {
				if tl.Rows < end || tl.Rows%8 != 0 || tl.Stride%8 != 0 {
					t.Fatalf("type %d begins at %d, stride %d, after %d", i, tl.Rows, tl.Stride, end)
				}
				end = tl.Rows + tl.Stride*d.Types[i].Max
				used := make([]bool, tl.Stride)
				for b := range RowOwner {
					used[b] = true
				}
				for b := 0; d.Types[i].Owned && b < 4; b++ {
					used[tl.Owner+b] = true
				}
				spans := [...]Span{Server: tl.Server, Sent: tl.Sent, Shared: tl.Shared}
				for j, f := range d.Types[i].Fields {
					at := tl.Offsets[j]
					if side == OnClient && f.Sync == Server {
						if at != -1 {
							t.Fatal("a client has a server field")
						}
						continue
					}
					if s := spans[f.Sync]; at%f.Align() != 0 || at < s.From || at+f.Size() > s.To {
						t.Fatalf("a %s of %d bytes at %d, outside %v", f.Kind, f.Size(), at, s)
					}
					for b := range f.Size() {
						if used[at+b] {
							t.Fatalf("byte %d is used twice", at+b)
						}
						used[at+b] = true
					}
				}
			}
			if l.Size < end || l.Size%64 != 0 {
				t.Fatalf("a block of %d bytes for %d", l.Size, end)
			}
		}
	}
}

func TestQuant(t *testing.T) {
	q := &Quant{Step: 0.1, Min: -5, Max: 5, Bytes: 1}
	for _, c := range []struct {
		v    float64
		want uint32
	}{
		{-5, 0}, {5, 100}, {0, 50}, {0.04, 50}, {0.06, 51}, {-9, 0}, {9, 100}, {math.Inf(-1), 0}, {math.Inf(1), 100}, {math.NaN(), 0}, {math.Copysign(0, -1), 50},
	} {
		if got := q.Encode(c.v); got != c.want {
			t.Errorf("Encode(%v) = %d, want %d", c.v, got, c.want)
		}
	}
	wide := &Quant{Step: 1, Min: 0, Max: math.MaxUint32, Bytes: 4}
	for _, q := range []*Quant{q, wide, {Step: 0.25, Min: -100, Max: 200, Bytes: 2}} {
		last := q.Encode(q.Max)
		for _, u := range []uint32{0, 1, last / 3, last / 2, last - 1, last} {
			if got := q.Encode(q.Decode(u)); got != u {
				t.Errorf("%+v: %d reads back as %v and that as %d", q, u, q.Decode(u), got)
			}
		}
	}
}

func TestDefinition(t *testing.T) {
	d := example()
	d.InstancesPerShard = 7
	if d.ShardInstances() != 7 {
		t.Error("the capacity in instances is not used")
	}
	d.InstancesPerShard, d.PlayersPerShard = 0, 9
	if got := d.ShardInstances(); got != 3 {
		t.Errorf("9 players are %d instances of 4", got)
	}
	if d.TicksPerSend() != 2 || len(d.Entities()) != 1 || d.Player().Field("x").Index != 1 || d.Player().Field("nothing") != nil {
		t.Error("the definition's shortcuts are wrong")
	}
	owner := &Field{Sync: Sent, Audience: Owner}
	for _, c := range []struct {
		f     *Field
		owner bool
		want  bool
	}{{owner, true, true}, {owner, false, false}, {&Field{Sync: Shared}, false, true}, {&Field{Sync: Server}, true, false}} {
		if c.f.Visible(c.owner) != c.want {
			t.Errorf("%+v visible to its owner %t: not %t", c.f, c.owner, c.want)
		}
	}
	for k := Bool; k <= Ref; k++ {
		f := &Field{Kind: k, Len: 9}
		if k.String() == "" || f.Size() < 1 || f.Align() < 1 || k.Number() && f.Size() != k.Size() || k.Integer() && !k.Number() {
			t.Errorf("kind %d: size %d, alignment %d", k, f.Size(), f.Align())
		}
	}
}

func TestNumbersAreStoredAsTypedArraysStoreThem(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		x, want float64
	}{
		{I8, -1, -1}, {I8, 200, -56}, {U8, -1, 255}, {U8, 2.9, 2}, {I16, 40000, -25536}, {U16, 65537, 1},
		{I32, -1 << 31, -1 << 31}, {I32, 1 << 31, -1 << 31}, {U32, -1, 1<<32 - 1}, {F32, 0.1, float64(float32(0.1))}, {F64, 0.1, 0.1},
	} {
		v := make([]byte, 8)
		StoreNumber(c.kind, v, c.x)
		if got := LoadNumber(c.kind, v); got != c.want {
			t.Errorf("%v as %s is %v, want %v", c.x, c.kind, got, c.want)
		}
		for i := c.kind.Size(); i < len(v); i++ {
			if v[i] != 0 {
				t.Errorf("%s takes more than its %d bytes: % x", c.kind, c.kind.Size(), v)
			}
		}
	}
}
