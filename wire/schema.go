package wire

import (
	"math"
	"slices"

	"gamehoster/games/schema"
)

// Subset is which of the fields that a viewer sees.
type Subset uint8

const (
	Whole  Subset = iota // sent and shared: snapshot, enter, and a thin viewer's deltas
	Sent                 // deltas
	Shared               // keyframes, the state hash

	subsets = 3
)

// typePlan is what there is to know of a type for encoding its objects.
type typePlan struct {
	fields [2][subsets]*Fields // [0] for the public, [1] for the owner
	owner  int                 // offset in a row; -1 for none
}

// Schema is a definition and a layout, compiled for encoding and decoding. It is
// immutable and safe for concurrent use. Sent and shared fields have the same
// places in the layouts of both sides; rows handed in are of the layout given.
type Schema struct {
	types     []typePlan
	commands  []commandPlan
	maxStride int
	record    int
}

// NewSchema compiles the definition for rows and command records of the layout.
func NewSchema(d *schema.Definition, l *schema.Layout) *Schema {
	s := &Schema{record: l.CommandStride}
	for i, t := range d.Types {
		tl := &l.Types[i]
		p := typePlan{owner: tl.Owner}
		s.maxStride = max(s.maxStride, tl.Stride)
		for sub := Whole; sub < subsets; sub++ {
			public := plan(t, tl, sub, false)
			owned := plan(t, tl, sub, true)
			if public.Len() == owned.Len() {
				owned = public
			}
			p.fields[0][sub], p.fields[1][sub] = public, owned
		}
		s.types = append(s.types, p)
	}
	for i, c := range d.Commands {
		s.commands = append(s.commands, newCommandPlan(c, &l.Commands[i]))
	}
	return s
}

func plan(t *schema.Type, tl *schema.TypeLayout, sub Subset, owner bool) *Fields {
	var ops []op
	for i, f := range t.Fields {
		if !f.Visible(owner) || sub == Sent && f.Sync != schema.Sent || sub == Shared && f.Sync != schema.Shared {
			continue
		}
		ops = append(ops, newOp(f, tl.Offsets[i]))
	}
	f := newFields(ops)
	f.images = newImages(ops)
	return f
}

// Types is the number of types, the instance and the player included.
func (s *Schema) Types() int { return len(s.types) }

// MaxStride is the size of the greatest row, for scratch rows.
func (s *Schema) MaxStride() int { return s.maxStride }

// Fields is a subset of type typ's fields, as seen by the owner or by the public.
// The two are the same pointer where both see the same fields.
func (s *Schema) Fields(typ int, sub Subset, owner bool) *Fields {
	if owner {
		return s.types[typ].fields[1][sub]
	}
	return s.types[typ].fields[0][sub]
}

// Any reports whether any type has fields of the subset that its owner sees.
func (s *Schema) Any(sub Subset) bool {
	return slices.ContainsFunc(s.types, func(p typePlan) bool { return p.fields[1][sub].Len() > 0 })
}

// Owner is the owner of an object of type typ: of a player itself, of an object of
// an owned type the player in its row, of any other 0.
func (s *Schema) Owner(typ int, row []byte) uint32 {
	if typ == schema.PlayerType {
		return le.Uint32(row[schema.RowID:])
	}
	if at := s.types[typ].owner; at >= 0 {
		return le.Uint32(row[at:])
	}
	return 0
}

// Seen is the subset of fields that viewer, a player's id or 0 for a spectator, sees
// of the object of type typ in row.
func (s *Schema) Seen(typ int, sub Subset, row []byte, viewer uint32) *Fields {
	return s.Fields(typ, sub, viewer != 0 && s.Owner(typ, row) == viewer)
}

// MaxSnapshot is the most bytes that a snapshot of the definition's instance takes.
func (s *Schema) MaxSnapshot(d *schema.Definition) int {
	n := maxSnapshotHeader
	for i := range s.types {
		one := s.Fields(i, Whole, true).MaxSize()
		if i != schema.InstanceType {
			one += 3 * MaxUvarint // id, type, owner
		}
		n += one * d.Types[i].Max
	}
	return n
}

// bound is what a command's number must lie between.
type bound struct {
	op       op
	min, max float64
}

// commandPlan is a command's fields and those of them that have to be looked at
// again after they were read.
type commandPlan struct {
	fields *Fields
	floats []op
	bounds []bound
}

func newCommandPlan(c *schema.Command, cl *schema.CommandLayout) commandPlan {
	var p commandPlan
	var ops []op
	for i, f := range c.Fields {
		o := newOp(f, cl.Offsets[i])
		ops = append(ops, o)
		if f.Kind == schema.F32 || f.Kind == schema.F64 {
			p.floats = append(p.floats, o)
		}
		if f.Kind.Number() && (!math.IsInf(f.Min, -1) || !math.IsInf(f.Max, 1)) {
			b := bound{o, f.Min, f.Max}
			if f.Kind == schema.F32 {
				// The bound itself, stored in the field, has to be allowed.
				b.min, b.max = float64(float32(f.Min)), float64(float32(f.Max))
			}
			p.bounds = append(p.bounds, b)
		}
	}
	p.fields = newFields(ops)
	return p
}

// read reads the fields into rec and checks that numbers are finite. refused tells
// that one is out of its bounds.
func (p *commandPlan) read(b, rec []byte) (rest []byte, refused bool, err error) {
	if rest, err = p.fields.ReadAll(b, rec); err != nil {
		return nil, false, err
	}
	for i := range p.floats {
		o := &p.floats[i]
		if x := schema.LoadNumber(o.kind, rec[o.off:]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, false, errFinite
		}
	}
	for i := range p.bounds {
		d := &p.bounds[i]
		x := schema.LoadNumber(d.op.kind, rec[d.op.off:])
		if x < d.min || x > d.max {
			refused = true
		}
	}
	return rest, refused, nil
}
