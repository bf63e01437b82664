package tick

import (
	"fmt"
	"math"
	"strings"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// describe writes a message as text. Which type an id is of is looked up in the
// instance's history, as a delta does not say.
func (s *scenario) describe(v *Viewer, m []byte) string {
	d := describer{def: s.def, wire: s.shard.wire, layout: s.shard.layout, in: s.in, viewer: v.player, thin: v.thin}
	if err := d.message(m); err != nil {
		return fmt.Sprintf("%v: %v: % x", wire.TagOf(m), err, m)
	}
	return d.out.String()
}

type describer struct {
	def    *schema.Definition
	wire   *wire.Schema
	layout *schema.Layout
	in     *Instance
	viewer uint32
	thin   bool
	out    strings.Builder
}

func (d *describer) f(format string, a ...any) { fmt.Fprintf(&d.out, format, a...) }

func (d *describer) message(p []byte) error {
	t := wire.TagOf(p)
	switch t {
	case wire.TagWelcome:
		m, err := wire.ParseWelcome(p)
		d.f("welcome tick %d hash %x player %d received %d name %q token %d rates %d %d depth %d", m.Tick, m.Hash, m.Player,
			m.Received, m.Name, m.Token[0], m.TickRate, m.SendRate, m.TimelineDepth)
		return err
	case wire.TagPong:
		m, err := wire.ParsePong(p)
		d.f("pong %d tick %d elapsed %d", m.Nonce, m.Tick, m.Elapsed)
		return err
	case wire.TagSnapshot:
		m, rest, err := wire.ParseSnapshot(p)
		if err != nil {
			return err
		}
		d.f("snapshot tick %d seed %d next %d processed %d", m.Tick, m.Seed, m.Next, m.Processed)
		row := make([]byte, d.wire.MaxStride())
		fields := d.wire.Fields(schema.InstanceType, wire.Whole, false)
		if rest, err = fields.ReadAll(rest, row); err != nil {
			return err
		}
		d.object(0, schema.InstanceType, row, false, wire.Whole, nil)
		return d.wholes(rest)
	case wire.TagEnter:
		m, rest, err := wire.ParseEnter(p)
		d.f("enter tick %d", m.Tick)
		if err != nil {
			return err
		}
		return d.wholes(rest)
	case wire.TagLeave:
		m, rest, err := wire.ParseLeave(p)
		d.f("leave tick %d:", m.Tick)
		r := wire.NewIDReader(rest)
		for r.Next() {
			d.f(" %d", r.ID())
		}
		if err == nil {
			err = r.Err()
		}
		return err
	case wire.TagCommands:
		m, rest, err := wire.ParseCommands(p)
		d.f("commands tick %d:", m.Tick)
		record := make([]byte, d.layout.CommandStride)
		r := wire.NewCommandReader(d.wire, m.Tick, rest)
		for r.Next(record) {
			c := r.Command()
			d.f(" (tick %d player %d seq %d %s", c.Tick, c.Player, c.Seq, d.def.Commands[c.Number].Name)
			for i, f := range d.def.Commands[c.Number].Fields {
				d.f(" %s %s", f.Name, value(f, record[d.layout.Commands[c.Number].Offsets[i]:]))
			}
			d.f(")")
		}
		if err == nil {
			err = r.Err()
		}
		return err
	case wire.TagKeyframe:
		m, rest, err := wire.ParseKeyframe(p)
		d.f("keyframe tick %d", m.Tick)
		if err != nil {
			return err
		}
		return d.changes(rest, wire.Shared)
	case wire.TagDelta:
		m, rest, err := wire.ParseDelta(p)
		d.f("delta tick %d base %d processed %d", m.Tick, m.Base, m.Processed)
		if err != nil {
			return err
		}
		if d.thin {
			return d.changes(rest, wire.Whole)
		}
		return d.changes(rest, wire.Sent)
	}
	return fmt.Errorf("unknown tag")
}

func (d *describer) wholes(rest []byte) error {
	r := wire.NewWholeReader(d.wire, d.viewer, rest)
	for r.Next() {
		o := r.Object()
		row := make([]byte, d.wire.MaxStride())
		if err := r.Read(row); err != nil {
			return err
		}
		owner := d.viewer != 0 && (o.ID == d.viewer || o.Owner == d.viewer)
		d.object(o.ID, o.Type, row, owner, wire.Whole, nil)
		if d.def.Types[o.Type].Owned {
			d.f(" of %d", o.Owner)
		}
	}
	return r.Err()
}

// changes reads the objects over two rows of different bytes, so that the fields
// that are there are those in which the rows agree after.
func (d *describer) changes(rest []byte, subset wire.Subset) error {
	r := wire.NewChangesReader(rest)
	twin := wire.NewChangesReader(rest)
	for r.Next() && twin.Next() {
		typ := -1
		owner := false
		for i := range d.in.history.objects {
			if o := &d.in.history.objects[i]; o.id == r.ID() {
				typ = int(o.typ)
				row := d.in.row(typ, int(o.row))
				owner = d.viewer != 0 && (o.id == d.viewer || d.in.owner(typ, row) == d.viewer)
			}
		}
		if typ < 0 {
			return fmt.Errorf("unknown id %d", r.ID())
		}
		a, b := make([]byte, d.wire.MaxStride()), make([]byte, d.wire.MaxStride())
		for i := range b {
			b[i] = 1
		}
		fields := d.wire.Fields(typ, subset, owner)
		if err := r.Read(fields, a); err != nil {
			return err
		}
		if err := twin.Read(fields, b); err != nil {
			return err
		}
		d.object(r.ID(), typ, a, owner, subset, b)
	}
	return r.Err()
}

// object writes a row; with a twin, only those fields in which both agree.
func (d *describer) object(id uint32, typ int, row []byte, owner bool, subset wire.Subset, twin []byte) {
	d.f("\n    %s %d {", d.def.Types[typ].Name, id)
	sep := ""
	for i, f := range d.def.Types[typ].Fields {
		at := d.layout.Types[typ].Offsets[i]
		if !f.Visible(owner) || subset == wire.Sent && f.Sync != schema.Sent || subset == wire.Shared && f.Sync != schema.Shared {
			continue
		}
		v := row[at : at+f.Size()]
		if twin != nil && string(v) != string(twin[at:at+f.Size()]) {
			continue
		}
		d.f("%s%s %s", sep, f.Name, value(f, v))
		sep = ", "
	}
	d.f("}")
}

func value(f *schema.Field, v []byte) string {
	switch f.Kind {
	case schema.Str:
		return fmt.Sprintf("%q", v[1:1+v[0]])
	case schema.F32:
		return fmt.Sprint(math.Float32frombits(le.Uint32(v)))
	case schema.F64:
		return fmt.Sprint(math.Float64frombits(le.Uint64(v)))
	}
	switch f.Size() {
	case 1:
		return fmt.Sprint(v[0])
	case 2:
		if f.Kind == schema.I16 {
			return fmt.Sprint(int16(le.Uint16(v)))
		}
		return fmt.Sprint(le.Uint16(v))
	}
	if x := le.Uint32(v); x > 1<<20 {
		return fmt.Sprintf("%#x", x)
	}
	return fmt.Sprint(le.Uint32(v))
}
