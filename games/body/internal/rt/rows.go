package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// Spawn is the function (base[, owner]) that appends a row with its defaults
// and gives its address, or null where the type's rows are used up. Rows
// removed in this tick count until its end.
func (r *Runtime) Spawn(t *schema.Type, server bool) *ir.Func {
	name := typed("spawn", t)
	next, mark := ir.At(schema.HeaderNextShared), 0
	if server {
		name, next, mark = typed("spawn.server", t), ir.At(schema.HeaderNextServer), schema.MarkWritten
	}
	return r.once(name, func(f *ir.Func) {
		base, id := local("base", ir.I32), local("id", ir.I32)
		f.Params, f.Result, f.Keep, f.Fresh = []*ir.Local{base}, ir.I32, true, true
		row := local("row", ir.I32)
		f.Body = []ir.Stmt{
			when(ir.Do(ir.EqI32, load(get(base), counts(t, schema.CountRows)), ir.Int(t.Max)), ret(ir.Int(0))),
			set(id, load(get(base), next)),
			store(get(base), next, add(get(id), ir.Int(schema.IDStep))),
		}
		f.Body = append(f.Body, r.appendRow(t, base, row, get(id), mark)...)
		if t.Owned {
			owner := local("owner", ir.I32)
			f.Params = append(f.Params, owner)
			f.Body = append(f.Body, store(get(row), ir.At(schema.RowOwner), get(owner)))
		}
		f.Body = append(f.Body, ret(get(row)))
		r.SetWeight(f, ir.Size(f.Body)+r.rowWeight(t))
	})
}

// appendRow adds a row behind the others and sets row to its address. The
// caller made sure that there is room.
func (r *Runtime) appendRow(t *schema.Type, base, row *ir.Local, id ir.Expr, mark int) []ir.Stmt {
	body := []ir.Stmt{
		set(row, RowsEnd(get(base), t)),
		store(get(base), counts(t, schema.CountRows), add(load(get(base), counts(t, schema.CountRows)), ir.Int(1))),
		store(get(base), counts(t, schema.CountLive), add(load(get(base), counts(t, schema.CountLive)), ir.Int(1))),
		&ir.Fill{Dst: get(row), N: Stride(t)},
		store(get(row), ir.At(schema.RowID), id),
	}
	if mark != 0 {
		body = append(body, store(get(row), ir.At(schema.RowMark), ir.Int(mark)))
	}
	return append(body, r.defaults(t, func() ir.Expr { return get(row) }, ir.RowField)...)
}

// defaults are the stores of a type's default values into zeroed memory. The
// linker drops those of fields that a side lacks.
func (r *Runtime) defaults(t *schema.Type, addr func() ir.Expr, place ir.Place) (body []ir.Stmt) {
	for _, f := range t.Fields {
		off := ir.Offset{Place: place, Type: t.Index, Field: f.Index}
		switch {
		case f.Kind == schema.Str && f.Text != "":
			text := append([]byte{byte(len(f.Text))}, f.Text...)
			for i, b := range text {
				o := off
				o.Add = i
				body = append(body, &ir.Store{Addr: addr(), Off: o, Mem: ir.MemU8, X: ir.Int(int(b))})
			}
		case f.Kind == schema.Bool && f.Default != 0:
			body = append(body, &ir.Store{Addr: addr(), Off: off, Mem: ir.MemU8, X: ir.Int(1)})
		case f.Kind.Number() && f.Default != 0:
			x := ir.Num(f.Default)
			if f.Kind.Integer() {
				x = ir.Do(ir.ToInt32, x)
			}
			body = append(body, &ir.Store{Addr: addr(), Off: off, Mem: MemOf(f.Kind), X: x})
		}
	}
	return body
}

// MemOf is how a field's value lies in a row; a Str has none.
func MemOf(k schema.Kind) ir.Mem {
	return [...]ir.Mem{
		schema.Bool: ir.MemU8, schema.I8: ir.MemI8, schema.U8: ir.MemU8, schema.I16: ir.MemI16, schema.U16: ir.MemU16,
		schema.I32: ir.MemI32, schema.U32: ir.MemI32, schema.F32: ir.MemF32, schema.F64: ir.MemF64, schema.Ref: ir.MemI32,
	}[k]
}

// A type with more rows than this is large: to go over those that a tick made takes more
// than a few operations.
const largeType = 1024

// tailRows is how many rows Find goes over for a unit of fuel.
const tailRows = 32

// Find is the function (base, id) that gives the row of an id, or null where
// there is none or it was removed. The rows that the tick made it goes over one by one.
// It counts for half as many nodes as there may be, and those of a large type take fuel
// as they are.
func (r *Runtime) Find(t *schema.Type) *ir.Func {
	return r.once(typed("find", t), func(f *ir.Func) {
		base, id := local("base", ir.I32), local("id", ir.I32)
		f.Params, f.Result, f.Keep = []*ir.Local{base, id}, ir.I32, true
		r.SetWeight(f, min(t.Max, largeType)/2)
		from, to, mid, row, end := local("from", ir.I32), local("to", ir.I32), local("mid", ir.I32), local("row", ir.I32), local("end", ir.I32)
		at := func(i *ir.Local) ir.Expr {
			return add(FirstRow(get(base), t), ir.Do(ir.MulI32, get(i), Stride(t)))
		}
		found := when(ir.Do(ir.EqI32, load(get(row), ir.At(schema.RowID)), get(id)),
			ret(&ir.Cond{Test: Removed(get(row)), Then: ir.Int(0), Else: get(row)}))
		f.Body = []ir.Stmt{
			when(ir.Not(get(id)), ret(ir.Int(0))),
			set(from, ir.Int(0)),
			set(to, load(get(base), counts(t, schema.CountSorted))),
			while(ir.Do(ir.LtU32, get(from), get(to)),
				set(mid, ir.Do(ir.ShrU32, add(get(from), get(to)), ir.Int(1))),
				&ir.If{
					Test: ir.Do(ir.LtU32, load(at(mid), ir.At(schema.RowID)), get(id)),
					Then: []ir.Stmt{set(from, add(get(mid), ir.Int(1)))},
					Else: []ir.Stmt{set(to, get(mid))},
				}),
			set(row, at(from)),
			set(end, RowsEnd(get(base), t)),
			// from is now the place in the sorted part, or the first row behind it
			when(ir.Do(ir.LtU32, get(row), get(end)), found),
			set(from, load(get(base), counts(t, schema.CountSorted))),
			set(row, at(from)),
		}
		if t.Max > largeType {
			made := ir.Do(ir.SubI32, load(get(base), counts(t, schema.CountRows)), get(from))
			f.Body = append(f.Body, r.take(ir.Do(ir.DivU32, made, ir.Int(tailRows))))
		}
		f.Body = append(f.Body,
			while(ir.Do(ir.LtU32, get(row), get(end)),
				found,
				set(row, add(get(row), Stride(t)))),
			ret(ir.Int(0)))
	})
}

// Remove is the function (base, row) that marks a row removed.
func (r *Runtime) Remove(t *schema.Type) *ir.Func {
	return r.once(typed("remove", t), func(f *ir.Func) {
		base, row := local("base", ir.I32), local("row", ir.I32)
		f.Params = []*ir.Local{base, row}
		f.Body = []ir.Stmt{when(ir.Not(Removed(get(row))),
			store(get(row), ir.At(schema.RowMark), ir.Do(ir.OrI32, load(get(row), ir.At(schema.RowMark)), ir.Int(schema.MarkRemoved))),
			store(get(base), counts(t, schema.CountLive), ir.Do(ir.SubI32, Live(get(base), t), ir.Int(1))))}
	})
}
