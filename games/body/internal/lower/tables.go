package lower

import (
	"encoding/binary"
	"math"

	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// tableData is where a table's values are, the size of one, and for each level whose
// parts are not all of one length where each part's begin.
type tableData struct {
	values *ir.Data
	size   int
	starts []*ir.Data
}

func (f *function) table(t *tree.Table) *tableData {
	d := f.tables[t]
	if d != nil {
		return d
	}
	d = &tableData{values: &ir.Data{Name: t.Name}, starts: make([]*ir.Data, len(t.Levels))}
	f.tables[t] = d
	b := &d.values.Bytes
	switch t.Kind {
	case tree.Bool:
		d.size = 1
		for _, v := range t.Values {
			*b = append(*b, byte(v))
		}
	case tree.Str:
		for _, s := range t.Texts {
			d.size = max(d.size, 1+len(s))
		}
		for _, s := range t.Texts {
			*b = append(append(*b, byte(len(s))), s...)
			*b = append(*b, make([]byte, d.size-1-len(s))...)
		}
	default:
		d.size = 8
		for _, v := range t.Values {
			*b = binary.LittleEndian.AppendUint64(*b, math.Float64bits(v))
		}
	}
	for i, l := range t.Levels {
		if !even(l) {
			d.starts[i] = &ir.Data{Name: t.Name + ".starts"}
			at := uint32(0)
			for _, n := range append(l.Lens, 0) {
				d.starts[i].Bytes = binary.LittleEndian.AppendUint32(d.starts[i].Bytes, at)
				at += uint32(n)
			}
		}
	}
	return d
}

// even reports whether all parts of a level are of one length.
func even(l tree.Level) bool {
	for _, n := range l.Lens {
		if n != l.Lens[0] {
			return false
		}
	}
	return true
}

// index reads a table, with a fault for what is not one of its indices.
func (f *function) index(x *tree.Index) ir.Expr {
	d := f.table(x.Table)
	if f.trusted {
		at := ir.Do(ir.ShlI32, ir.Do(ir.ToInt32Near, f.expr(x.Path[0])), ir.Int(3))
		return &ir.Load{Addr: ir.Do(ir.AddI32, &ir.DataAddr{Data: d.values}, at), Mem: ir.MemF64}
	}
	return f.seq(func() ir.Expr {
		values := f.operands(x.Path, false)
		if len(values) > 1 {
			for i, v := range values {
				values[i] = ir.Read(f.keep(v))
			}
		}
		var at ir.Expr
		for i, level := range x.Table.Levels {
			var from ir.Expr
			count := ir.Int(level.Lens[0])
			switch {
			case i == 0:
			case d.starts[i] == nil:
				from = ir.Do(ir.MulI32, at, count)
			default:
				entry := f.keep(ir.Do(ir.AddI32, &ir.DataAddr{Data: d.starts[i]}, ir.Do(ir.ShlI32, at, ir.Int(2))))
				from = ir.Read(f.keep(&ir.Load{Addr: ir.Read(entry), Mem: ir.MemI32}))
				count = ir.Do(ir.SubI32, &ir.Load{Addr: ir.Read(entry), Off: ir.At(4), Mem: ir.MemI32}, from)
			}
			if level.Keys != nil {
				at = ir.Read(f.nameIndex(values[i], level.Keys, x.At))
			} else {
				at = ir.Read(f.within(values[i], count, x.At))
			}
			if from != nil {
				at = ir.Read(f.keep(ir.Do(ir.AddI32, from, at)))
			}
		}
		to := func(scaled ir.Expr) ir.Expr { return ir.Do(ir.AddI32, &ir.DataAddr{Data: d.values}, scaled) }
		switch x.Table.Kind {
		case tree.Bool:
			return &ir.Load{Addr: to(at), Mem: ir.MemU8}
		case tree.Str:
			return to(ir.Do(ir.MulI32, at, ir.Int(d.size)))
		}
		return &ir.Load{Addr: to(ir.Do(ir.ShlI32, at, ir.Int(3))), Mem: ir.MemF64}
	})
}

// within is a number that must be a whole one from 0 up to, not including, count.
func (f *function) within(x, count ir.Expr, at file.Idx) *ir.Local {
	v := f.keep(x)
	i := f.keep(ir.Do(ir.ToInt32, ir.Read(v)))
	whole := ir.Do(ir.EqF64, ir.Do(ir.FromI32, ir.Read(i)), ir.Read(v))
	inside := ir.Do(ir.LtU32, ir.Read(i), count)
	f.emit(&ir.If{Test: ir.Not(ir.Do(ir.AndI32, whole, inside)), Then: []ir.Stmt{&ir.Trap{Fault: f.faults.Index, At: f.Place(at)}}})
	return i
}

// byName runs what do emits for the one among names that a str is equal to, with a
// fault where it is none.
func (f *function) byName(name ir.Expr, names []string, at file.Idx, do func(i int)) {
	v := f.keep(name)
	out := &ir.Label{Name: "named"}
	f.emit(&ir.Block{Label: out, Body: f.block(func() {
		for i, n := range names {
			equal := &ir.Call{Fn: f.rt.EqualStr(), Args: []ir.Expr{ir.Read(v), &ir.DataAddr{Data: f.text(n)}}}
			f.emit(&ir.If{Test: equal, Then: f.block(func() {
				do(i)
				f.emit(&ir.Br{Label: out})
			})})
		}
		f.emit(&ir.Trap{Fault: f.faults.Name, At: f.Place(at)})
	})})
}

// nameIndex is the index of a str among names.
func (f *function) nameIndex(name ir.Expr, names []string, at file.Idx) *ir.Local {
	k := f.temp(ir.I32)
	f.byName(name, names, at, func(i int) { f.emit(&ir.Set{Local: k, X: ir.Int(i)}) })
	return k
}

func fieldNames(fields []*schema.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// namedPlace is the address of what a Named is in, kept, and the offsets of its
// fields. The object is nil for the instance and for a command.
func (f *function) namedPlace(x *tree.Named) (addr ir.Expr, obj *ir.Local, off func(field *schema.Field) ir.Offset) {
	switch {
	case x.Cmd != nil:
		addr = ir.Read(f.keep(f.expr(x.Obj)))
		return addr, nil, func(field *schema.Field) ir.Offset {
			return ir.Offset{Place: ir.CommandField, Type: x.Cmd.Index, Field: field.Index}
		}
	case x.Obj == nil:
		return ir.Read(f.base), nil, func(field *schema.Field) ir.Offset {
			return ir.Offset{Place: ir.Instance, Type: x.Of.Index, Field: field.Index}
		}
	}
	obj = f.keep(f.expr(x.Obj))
	return ir.Read(obj), obj, func(field *schema.Field) ir.Offset {
		return ir.Offset{Place: ir.RowField, Type: x.Of.Index, Field: field.Index}
	}
}

// named reads a field by a computed name.
func (f *function) named(x *tree.Named) ir.Expr {
	return f.seq(func() ir.Expr {
		addr, _, off := f.namedPlace(x)
		v := f.temp(ir.F64)
		f.byName(f.expr(x.Name), fieldNames(x.Fields), x.At, func(i int) {
			f.emit(&ir.Set{Local: v, X: f.load(addr, off(x.Fields[i]), x.Fields[i])})
		})
		return ir.Read(v)
	})
}

// assignNamed writes a field by a computed name.
func (f *function) assignNamed(x *tree.Assign, t *tree.Named, used bool) ir.Expr {
	addr, obj, off := f.namedPlace(t)
	var old ir.Expr
	was := f.temp(ir.F64)
	k := f.temp(ir.I32)
	f.byName(f.expr(t.Name), fieldNames(t.Fields), t.At, func(i int) {
		f.emit(&ir.Set{Local: k, X: ir.Int(i)})
		if x.Op != tree.NoOp {
			f.emit(&ir.Set{Local: was, X: f.load(addr, off(t.Fields[i]), t.Fields[i])})
		}
	})
	if x.Op != tree.NoOp {
		old = ir.Read(was)
	}
	value := f.keep(f.updated(x, old))
	for i, field := range t.Fields {
		f.emit(&ir.If{Test: ir.Do(ir.EqI32, ir.Read(k), ir.Int(i)), Then: f.block(func() {
			f.emit(&ir.Store{Addr: addr, Off: off(field), Mem: rt.MemOf(field.Kind), X: f.stored(field, ir.Read(value)), Sent: field.Sync == schema.Sent})
			f.written(obj, t.Of, field)
		})})
	}
	switch {
	case !used:
		return nil
	case x.Old:
		return old
	}
	return ir.Read(value)
}
