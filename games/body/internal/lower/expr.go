package lower

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// expr is the value of an expression.
func (f *function) expr(x tree.Expr) ir.Expr {
	switch x := x.(type) {
	case *tree.NumberLit:
		return ir.Num(x.Value)
	case *tree.BoolLit:
		if x.Value {
			return ir.Int(1)
		}
		return ir.Int(0)
	case *tree.StrLit:
		return &ir.DataAddr{Data: f.text(x.Value)}
	case *tree.NullLit:
		return ir.Int(0)
	case *tree.VarRef:
		return ir.Read(f.local(x.Var))
	case *tree.Field:
		return f.field(x)
	case *tree.CommandField:
		off := ir.Offset{Place: ir.CommandField, Type: x.Cmd.Index, Field: x.Field.Index}
		return f.load(f.expr(x.Obj), off, x.Field)
	case *tree.Property:
		return f.property(x)
	case *tree.Unary:
		return f.unary(x)
	case *tree.Binary:
		return f.binary(x)
	case *tree.Logical:
		return f.logical(x)
	case *tree.Nullish:
		return f.nullish(x)
	case *tree.Optional:
		return f.seq(func() ir.Expr {
			return &ir.Cond{Test: f.base0(x), Then: f.expr(x.Rest), Else: ir.Int(0)}
		})
	case *tree.Cond:
		return &ir.Cond{Test: f.truth(x.Test), Then: f.expr(x.Then), Else: f.expr(x.Else)}
	case *tree.Assign:
		return f.seq(func() ir.Expr { return f.assign(x, true) })
	case *tree.Comma:
		return f.seq(func() ir.Expr {
			last := len(x.List) - 1
			for _, y := range x.List[:last] {
				f.effect(y)
			}
			return f.expr(x.List[last])
		})
	case *tree.Call:
		return f.call(x)
	case *tree.More:
		return f.moreOf(x)
	case *tree.Math:
		return f.mathCall(x)
	case *tree.Random:
		return &ir.Call{Fn: f.rt.Random(x.Server), Args: []ir.Expr{ir.Read(f.base)}}
	case *tree.Spawn:
		args := []ir.Expr{ir.Read(f.base)}
		if x.Owner != nil {
			args = append(args, rowID(f.expr(x.Owner)))
		}
		return &ir.Call{Fn: f.rt.Spawn(x.Of, f.server), Args: args}
	case *tree.Find:
		return f.find(x)
	case *tree.Remove:
		return &ir.Call{Fn: f.rt.Remove(x.Of), Args: []ir.Expr{ir.Read(f.base), f.expr(x.Obj)}}
	case *tree.Index:
		return f.index(x)
	case *tree.Named:
		return f.named(x)
	case *tree.Intrinsic:
		return f.intrinsic(x)
	case *tree.StrLen:
		return ir.Do(ir.FromI32, &ir.Call{Fn: f.rt.LengthStr(), Args: []ir.Expr{f.expr(x.X)}})
	case *tree.NonNull:
		return f.seq(func() ir.Expr {
			v := f.keep(f.expr(x.X))
			f.emit(&ir.If{Test: ir.Not(ir.Read(v)), Then: []ir.Stmt{&ir.Trap{Fault: f.faults.Null, At: f.Place(x.At)}}})
			return ir.Read(v)
		})
	}
	panic("no lowering for an expression")
}

// base0 sets an Optional's variable and gives it as a test.
func (f *function) base0(x *tree.Optional) ir.Expr {
	v := f.local(x.Var)
	f.emit(&ir.Set{Local: v, X: f.expr(x.Base)})
	return ir.Read(v)
}

// rowID is the id of the object at an address; at address 0 memory is zero.
func rowID(addr ir.Expr) ir.Expr {
	return &ir.Load{Addr: addr, Off: ir.At(schema.RowID), Mem: ir.MemI32}
}

// effect evaluates without keeping the value.
func (f *function) effect(x tree.Expr) {
	switch x := x.(type) {
	case *tree.Assign:
		f.assign(x, false)
	case *tree.Optional:
		test := f.base0(x)
		f.emit(&ir.If{Test: test, Then: f.block(func() { f.effect(x.Rest) })})
	case *tree.Comma:
		for _, y := range x.List {
			f.effect(y)
		}
	case *tree.Logical:
		test := f.truth(x.X)
		if x.Op == tree.Or {
			test = ir.Not(test)
		}
		f.emit(&ir.If{Test: test, Then: f.block(func() { f.effect(x.Y) })})
	case *tree.Cond:
		test := f.truth(x.Test)
		then := f.block(func() { f.effect(x.Then) })
		f.emit(&ir.If{Test: test, Then: then, Else: f.block(func() { f.effect(x.Else) })})
	case *tree.Intrinsic:
		if x.What == tree.SetTail {
			f.emit(&ir.SetGlobal{Global: f.rt.Tail, X: f.expr(x.Args[0])})
			return
		}
		if x.What == tree.Apart {
			f.fn.Keep = true
			return
		}
		f.emit(&ir.Eval{X: f.intrinsic(x)})
	case *tree.Log:
		f.log(x)
	case *tree.End:
		f.flag(schema.FlagEnded, ir.Int(1))
	default:
		f.emit(&ir.Eval{X: f.expr(x)})
	}
}

// flag sets a bit of the instance's header to a truth.
func (f *function) flag(bit int, on ir.Expr) {
	at := ir.At(schema.HeaderFlags)
	old := &ir.Load{Addr: ir.Read(f.base), Off: at, Mem: ir.MemI32}
	rest := ir.Do(ir.AndI32, old, ir.Int(^bit))
	f.emit(&ir.Store{Addr: ir.Read(f.base), Off: at, Mem: ir.MemI32, X: ir.Do(ir.OrI32, rest, ir.Do(ir.MulI32, on, ir.Int(bit)))})
}

// truth is 1 or another I32 that is not zero where JavaScript takes x for true.
func (f *function) truth(x tree.Expr) ir.Expr {
	switch y := x.(type) {
	case *tree.Logical:
		a, b := f.truth(y.X), f.truth(y.Y)
		if y.Op == tree.And {
			return ir.Both(a, b)
		}
		return ir.Either(a, b)
	case *tree.Optional:
		return f.seq(func() ir.Expr {
			return ir.Both(f.base0(y), f.truth(y.Rest))
		})
	}
	return f.truthOf(x.Type(), f.expr(x))
}

func (f *function) truthOf(t tree.Type, v ir.Expr) ir.Expr {
	switch t.Kind {
	case tree.Number:
		return ir.Do(ir.GtF64, ir.Do(ir.AbsF64, v), ir.Num(0))
	case tree.Str:
		return &ir.Load{Addr: v, Mem: ir.MemU8}
	}
	return v
}

func (f *function) logical(x *tree.Logical) ir.Expr {
	if x.T.Kind == tree.Bool {
		return f.truth(x)
	}
	return f.seq(func() ir.Expr {
		v := f.keep(f.expr(x.X))
		test := f.truthOf(x.X.Type(), ir.Read(v))
		if x.Op == tree.And {
			return &ir.Cond{Test: test, Then: f.expr(x.Y), Else: ir.Read(v)}
		}
		return &ir.Cond{Test: test, Then: ir.Read(v), Else: f.expr(x.Y)}
	})
}

func (f *function) nullish(x *tree.Nullish) ir.Expr {
	return f.seq(func() ir.Expr {
		if o, ok := x.X.(*tree.Optional); ok && o.T.Kind != tree.Object {
			return &ir.Cond{Test: f.base0(o), Then: f.expr(o.Rest), Else: f.expr(x.Y)}
		}
		v := f.keep(f.expr(x.X))
		return &ir.Cond{Test: ir.Read(v), Then: ir.Read(v), Else: f.expr(x.Y)}
	})
}

// place is where a field is: its object's address and the offset. With keep,
// the object is a local, nil for the instance.
func (f *function) place(x *tree.Field, keep bool) (addr func() ir.Expr, obj *ir.Local, off ir.Offset) {
	if x.Obj == nil {
		return func() ir.Expr { return ir.Read(f.base) }, nil, ir.Offset{Place: ir.Instance, Type: x.Of.Index, Field: x.Field.Index}
	}
	off = ir.Offset{Place: ir.RowField, Type: x.Of.Index, Field: x.Field.Index}
	value := f.expr(x.Obj)
	if keep {
		if v, ok := x.Obj.(*tree.VarRef); ok && !v.Var.Assigned {
			obj = f.local(v.Var)
		} else {
			obj = f.keep(value)
		}
		return func() ir.Expr { return ir.Read(obj) }, obj, off
	}
	return func() ir.Expr { return value }, nil, off
}

func (f *function) field(x *tree.Field) ir.Expr {
	addr, _, off := f.place(x, false)
	return f.load(addr(), off, x.Field)
}

// load reads a field as JavaScript sees it.
func (f *function) load(addr ir.Expr, off ir.Offset, field *schema.Field) ir.Expr {
	if field.Kind == schema.Str {
		return ir.Do(ir.AddI32, addr, &ir.Sym{Off: off})
	}
	x := &ir.Load{Addr: addr, Off: off, Mem: rt.MemOf(field.Kind)}
	switch {
	case field.Kind == schema.U32:
		return ir.Do(ir.FromU32, x)
	case field.Kind.Integer():
		return ir.Do(ir.FromI32, x)
	case field.Kind == schema.Ref:
		return f.lookup(field.Ref, x)
	}
	return x
}

// lookup is the object of a type with an id, or null.
func (f *function) lookup(ref int, id ir.Expr) ir.Expr {
	return &ir.Call{Fn: f.rt.Find(f.rt.Type(ref)), Args: []ir.Expr{ir.Read(f.base), id}}
}

func (f *function) property(x *tree.Property) ir.Expr {
	switch x.What {
	case tree.ID:
		return ir.Do(ir.FromU32, rowID(f.expr(x.Obj)))
	case tree.Owner:
		return f.lookup(schema.PlayerType, &ir.Load{Addr: f.expr(x.Obj), Off: ir.At(schema.RowOwner), Mem: ir.MemI32})
	case tree.Tick:
		return ir.Do(ir.FromU32, &ir.Load{Addr: ir.Read(f.base), Off: ir.At(schema.HeaderTick), Mem: ir.MemI32})
	case tree.Open:
		flags := &ir.Load{Addr: ir.Read(f.base), Off: ir.At(schema.HeaderFlags), Mem: ir.MemI32}
		return ir.Not(ir.Do(ir.AndI32, flags, ir.Int(schema.FlagClosed)))
	}
	return ir.Do(ir.FromI32, rt.Live(ir.Read(f.base), x.Of))
}

// assign writes and, if its value is used, gives it.
func (f *function) assign(x *tree.Assign, used bool) ir.Expr {
	if x.Op.Lazy() {
		return f.assignLazily(x, used)
	}
	switch t := x.Target.(type) {
	case *tree.VarRef:
		v := f.local(t.Var)
		if t.T.Kind == tree.Str {
			f.assignStr(t.Var, x.X)
			return ir.Read(v)
		}
		if x.Old && used {
			old := f.keep(ir.Read(v))
			f.emit(&ir.Set{Local: v, X: f.updated(x, ir.Read(v))})
			return ir.Read(old)
		}
		f.emit(&ir.Set{Local: v, X: f.updated(x, ir.Read(v))})
		if !used {
			return nil
		}
		return ir.Read(v)
	case *tree.Property:
		on := f.keep(f.expr(x.X))
		f.flag(schema.FlagClosed, ir.Not(ir.Read(on)))
		return ir.Read(on)
	case *tree.Field:
		return f.assignField(x, t, used)
	case *tree.Named:
		return f.assignNamed(x, t, used)
	}
	panic("no lowering for an assignment")
}

// assignLazily is a ||= b and its like: what it writes to is found once, and written
// only where the old value asks for that.
func (f *function) assignLazily(x *tree.Assign, used bool) ir.Expr {
	target := f.steady(x.Target)
	t := target.Type()
	old := f.keep(f.expr(target))
	test := ir.Read(old)
	if x.Op != tree.Coalesce {
		test = f.truthOf(t, test)
	}
	if x.Op != tree.And {
		test = ir.Not(test)
	}
	if !used {
		f.emit(&ir.If{Test: test, Then: f.block(func() { f.assign(&tree.Assign{Node: x.Node, Target: target, X: x.X}, false) })})
		return nil
	}
	f.emit(&ir.If{Test: test, Then: f.block(func() {
		f.emit(&ir.Set{Local: old, X: f.assign(&tree.Assign{Node: x.Node, Target: target, X: x.X}, true)})
	})})
	return ir.Read(old)
}

// steady is a target whose object and name have been evaluated, so that it can be
// read and written.
func (f *function) steady(target tree.Expr) tree.Expr {
	kept := func(x tree.Expr) tree.Expr {
		if x == nil {
			return nil
		}
		if v, ok := x.(*tree.VarRef); ok && !v.Var.Assigned {
			return x
		}
		v := &tree.Var{Name: "of", Type: x.Type(), Const: true}
		f.stmt(&tree.Decl{Var: v, X: x})
		return &tree.VarRef{Node: tree.Node{At: x.Pos(), T: v.Type}, Var: v}
	}
	switch t := target.(type) {
	case *tree.Field:
		c := *t
		c.Obj = kept(t.Obj)
		return &c
	case *tree.Named:
		c := *t
		c.Obj, c.Name = kept(t.Obj), kept(t.Name)
		return &c
	}
	return target
}

// updated is the value to write, given the old one.
func (f *function) updated(x *tree.Assign, old ir.Expr) ir.Expr {
	if x.Op == tree.NoOp {
		return f.expr(x.X)
	}
	return f.arithmetic(x.Op, old, x.X)
}

func (f *function) assignField(x *tree.Assign, t *tree.Field, used bool) ir.Expr {
	field := t.Field
	marks := f.server && field.Sync == schema.Shared
	addr, obj, off := f.place(t, used || marks || x.Op != tree.NoOp || field.Kind == schema.Str)
	if field.Kind == schema.Str {
		to := ir.Do(ir.AddI32, addr(), &ir.Sym{Off: off})
		from := f.keep(f.expr(x.X))
		set := &ir.Eval{X: &ir.Call{Fn: f.rt.SetStr(), Args: []ir.Expr{to, ir.Int(field.Len), ir.Read(from)}}}
		if field.Sync == schema.Sent {
			f.emit(&ir.If{Test: &ir.Sym{Off: ir.Offset{Place: ir.ServerSide}}, Then: []ir.Stmt{set}})
		} else {
			f.emit(set)
		}
		f.written(obj, t.Of, field)
		return nil
	}
	var old, value ir.Expr
	if x.Op != tree.NoOp {
		old = f.load(addr(), off, field)
		if x.Old && used {
			old = ir.Read(f.keep(old))
		}
	}
	value = f.updated(x, old)
	var result ir.Expr
	if used {
		kept := f.keep(value)
		value, result = ir.Read(kept), ir.Read(kept)
		if x.Old {
			result = old
		}
	}
	f.emit(&ir.Store{Addr: addr(), Off: off, Mem: rt.MemOf(field.Kind), X: f.stored(field, value), Sent: field.Sync == schema.Sent})
	f.written(obj, t.Of, field)
	return result
}

// stored is a value as a field of its kind takes it.
func (f *function) stored(field *schema.Field, v ir.Expr) ir.Expr {
	switch {
	case field.Kind.Integer():
		return ir.Do(ir.ToInt32, v)
	case field.Kind == schema.Ref:
		return rowID(v)
	}
	return v
}

// find looks up what is asked for as a number: only whole ones can be ids.
func (f *function) find(x *tree.Find) ir.Expr {
	return f.seq(func() ir.Expr {
		v := f.keep(f.expr(x.ID))
		id := f.keep(ir.Do(ir.ToInt32, ir.Read(v)))
		whole := ir.Do(ir.EqF64, ir.Do(ir.FromU32, ir.Read(id)), ir.Read(v))
		return f.lookup(x.Of.Index, &ir.Cond{Test: whole, Then: ir.Read(id), Else: ir.Int(0)})
	})
}
