package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"gamehoster/games/schema"
)

// The dumb twin: the protocol written down once more, from plain values and without
// a plan, a row or a shortcut, with a note on every run of bytes.

type line struct {
	b    []byte
	note string
}

type dump []line

func (d dump) bytes() []byte {
	var b []byte
	for _, l := range d {
		b = append(b, l.b...)
	}
	return b
}

func (d *dump) add(b []byte, format string, args ...any) {
	*d = append(*d, line{b, fmt.Sprintf(format, args...)})
}

func (d *dump) u8(v uint8, format string, args ...any) { d.add([]byte{v}, format, args...) }
func (d *dump) u16(v uint16, format string, args ...any) {
	d.add(binary.LittleEndian.AppendUint16(nil, v), format, args...)
}
func (d *dump) u32(v uint32, format string, args ...any) {
	d.add(binary.LittleEndian.AppendUint32(nil, v), format, args...)
}
func (d *dump) u64(v uint64, format string, args ...any) {
	d.add(binary.LittleEndian.AppendUint64(nil, v), format, args...)
}
func (d *dump) uv(v uint32, format string, args ...any) {
	d.add(binary.AppendUvarint(nil, uint64(v)), format, args...)
}
func (d *dump) tag(t Tag) { d.u8(uint8(t), "%s", t) }

// naiveStore puts a value into a row's bytes at v.
func naiveStore(f *schema.Field, v []byte, x any) {
	switch f.Kind {
	case schema.Bool:
		if x.(bool) {
			v[0] = 1
		}
	case schema.Str:
		v[0] = byte(len(x.(string)))
		copy(v[1:], x.(string))
	case schema.Ref:
		binary.LittleEndian.PutUint32(v, x.(uint32))
	default:
		copy(v, naiveExact(f.Kind, x.(float64)))
	}
}

func naiveExact(k schema.Kind, x float64) []byte {
	var v any
	switch k {
	case schema.I8:
		v = int8(x)
	case schema.U8:
		v = uint8(x)
	case schema.I16:
		v = int16(x)
	case schema.U16:
		v = uint16(x)
	case schema.I32:
		v = int32(x)
	case schema.U32:
		v = uint32(x)
	case schema.F32:
		v = float32(x)
		if x != x {
			v = math.Float32frombits(0x7fc00000)
		}
	case schema.F64:
		v = x
		if x != x {
			v = math.Float64frombits(0x7ff8000000000000)
		}
	}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, v)
	return b.Bytes()
}

// naiveQ is the step that a number travels as.
func naiveQ(q *schema.Quant, x float64) uint32 {
	if math.IsNaN(x) {
		x = q.Min
	}
	x = math.Min(math.Max(x, q.Min), q.Max)
	return uint32(math.Floor((x-q.Min)/q.Step + 0.5))
}

// naiveValue is a value as it travels.
func naiveValue(f *schema.Field, x any) []byte {
	switch f.Kind {
	case schema.Bool:
		if x.(bool) {
			return []byte{1}
		}
		return []byte{0}
	case schema.Str:
		return append(binary.AppendUvarint(nil, uint64(len(x.(string)))), x.(string)...)
	case schema.Ref:
		return binary.AppendUvarint(nil, uint64(x.(uint32)))
	}
	if f.Quant != nil {
		return binary.LittleEndian.AppendUint32(nil, naiveQ(f.Quant, x.(float64)))[:f.Quant.Bytes]
	}
	return naiveExact(f.Kind, x.(float64))
}

// naiveArrived is the value that the other side has after it read x.
func naiveArrived(f *schema.Field, x any) any {
	if f.Quant == nil {
		return x
	}
	v := f.Quant.Min + float64(naiveQ(f.Quant, x.(float64)))*f.Quant.Step
	if f.Kind == schema.F32 {
		return float64(float32(v))
	}
	if f.Kind != schema.F64 {
		return math.Trunc(v)
	}
	return v
}

func (d *dump) value(f *schema.Field, x any) {
	note := fmt.Sprint(x)
	if n, ok := x.(float64); ok && f.Kind.Integer() {
		note = fmt.Sprintf("%.0f", n)
	}
	if f.Kind == schema.Str {
		note = fmt.Sprintf("%q", x)
	}
	if f.Quant != nil {
		note = fmt.Sprintf("step %d, %v", naiveQ(f.Quant, x.(float64)), naiveArrived(f, x))
	}
	d.add(naiveValue(f, x), "  %s %s = %s", f.Name, f.Kind, note)
}

// naiveFields lists what viewer sees of o.
func (w *world) naiveFields(o *object, sub Subset, viewer uint32) []*schema.Field {
	owner := o.owner
	if o.typ == schema.PlayerType {
		owner = o.id
	}
	var list []*schema.Field
	for _, f := range w.def.Types[o.typ].Fields {
		switch {
		case f.Sync == schema.Server,
			sub == Sent && f.Sync != schema.Sent,
			sub == Shared && f.Sync != schema.Shared,
			f.Audience == schema.Owner && (viewer == 0 || viewer != owner):
		default:
			list = append(list, f)
		}
	}
	return list
}

func (w *world) typeName(o *object) string { return w.def.Types[o.typ].Name }

func (d *dump) id(last *uint32, o uint32, note string) {
	d.uv(o-*last, "id %d%s", o, note)
	*last = o
}

func (d *dump) whole(w *world, last *uint32, o *object, viewer uint32) {
	d.id(last, o.id, " = "+fmt.Sprint(*last)+" + "+fmt.Sprint(o.id-*last))
	d.uv(uint32(o.typ), "  type %s", w.typeName(o))
	if w.def.Types[o.typ].Owned {
		d.uv(o.owner, "  owner %d", o.owner)
	}
	for _, f := range w.naiveFields(o, Whole, viewer) {
		d.value(f, o.v[f.Name])
	}
}

// entry is an object of a delta or keyframe: with base nil the mask is full.
func (d *dump) entry(w *world, last *uint32, o, base *object, sub Subset, viewer uint32) {
	d.id(last, o.id, ", "+w.typeName(o))
	list := w.naiveFields(o, sub, viewer)
	mask := make([]byte, (len(list)+7)/8)
	var changed []*schema.Field
	for k, f := range list {
		if base == nil || !bytes.Equal(naiveValue(f, o.v[f.Name]), naiveValue(f, base.v[f.Name])) {
			mask[k/8] |= 1 << (k % 8)
			changed = append(changed, f)
		}
	}
	d.add(mask, "  mask, %d of %d fields", len(changed), len(list))
	for _, f := range changed {
		d.value(f, o.v[f.Name])
	}
}

func naiveSnapshot(w *world, m Snapshot, viewer uint32) (d dump) {
	d.tag(TagSnapshot)
	d.u32(m.Tick, "tick %d", m.Tick)
	d.u64(m.Seed, "seed %#x", m.Seed)
	d.uv(m.Next, "next id of a shared body %d", m.Next)
	d.uv(m.Processed, "processed %d", m.Processed)
	for _, f := range w.naiveFields(w.objects[0], Whole, viewer) {
		d.value(f, w.objects[0].v[f.Name])
	}
	last := uint32(0)
	for _, o := range w.objects[1:] {
		d.whole(w, &last, o, viewer)
	}
	return d
}

func naiveEnter(w *world, m Enter, viewer uint32, objects ...*object) (d dump) {
	d.tag(TagEnter)
	d.u32(m.Tick, "tick %d", m.Tick)
	last := uint32(0)
	for _, o := range objects {
		d.whole(w, &last, o, viewer)
	}
	return d
}

func naiveLeave(m Leave, ids ...uint32) (d dump) {
	d.tag(TagLeave)
	d.u32(m.Tick, "tick %d", m.Tick)
	last := uint32(0)
	for _, id := range ids {
		d.id(&last, id, fmt.Sprintf(" = %d + %d", last, id-last))
	}
	return d
}

// naiveDelta lists every object of w that base has too and, with a full mask, those
// it has not.
func naiveDelta(w, base *world, m Delta, sub Subset, viewer uint32, ids ...uint32) (d dump) {
	d.tag(TagDelta)
	d.u32(m.Tick, "tick %d", m.Tick)
	d.u32(m.Base, "base %d", m.Base)
	d.uv(m.Processed, "processed %d", m.Processed)
	last := uint32(0)
	for _, id := range ids {
		d.entry(w, &last, w.find(id), base.find(id), sub, viewer)
	}
	return d
}

func naiveKeyframe(w *world, m Keyframe, ids ...uint32) (d dump) {
	d.tag(TagKeyframe)
	d.u32(m.Tick, "tick %d", m.Tick)
	last := uint32(0)
	for _, id := range ids {
		d.entry(w, &last, w.find(id), nil, Shared, 0)
	}
	return d
}

func naiveCommand(w *world, h CommandHeader, v values) (d dump) {
	c := w.def.Commands[h.Number]
	d.tag(TagCommand)
	d.u32(h.Tick, "tick %d", h.Tick)
	d.uv(h.Seq, "seq %d", h.Seq)
	d.uv(h.Number, "command %s", c.Name)
	for _, f := range c.Fields {
		d.value(f, v[f.Name])
	}
	return d
}

type relayedValues struct {
	Relayed
	v values
}

func naiveCommands(w *world, m Commands, list ...relayedValues) (d dump) {
	d.tag(TagCommands)
	d.u32(m.Tick, "tick %d", m.Tick)
	for _, r := range list {
		c := w.def.Commands[r.Number]
		d.uv(m.Tick-r.Tick, "%d ticks before: tick %d", m.Tick-r.Tick, r.Tick)
		d.uv(r.Player, "  player %d", r.Player)
		d.uv(r.Seq, "  seq %d", r.Seq)
		d.uv(r.Number, "  command %s", c.Name)
		for _, f := range c.Fields {
			d.value(f, r.v[f.Name])
		}
	}
	return d
}

// naiveHashed is what the state hash is taken over.
func naiveHashed(w *world) (d dump) {
	for _, o := range w.objects {
		if o.id != 0 {
			d.u32(o.id, "id %d", o.id)
			d.u32(uint32(o.typ), "  type %s", w.typeName(o))
			d.u32(o.owner, "  owner %d", o.owner)
		}
		for _, f := range w.naiveFields(o, Shared, 0) {
			d.value(f, o.v[f.Name])
		}
	}
	return d
}
