package lower

import (
	"strconv"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
)

// A str is the address of its text: of a literal's bytes, or of a field's. Where it
// has to outlive what may be written to the field it is copied into memory of its
// own, which a variable has, and a place in the text that keeps one. That memory is
// at a fixed address: as there is no recursion, no place is entered again while what
// it keeps is in use.

// text is a string's bytes, as a str field holds them.
func (f *function) text(s string) *ir.Data {
	d := f.texts[s]
	if d == nil {
		d = &ir.Data{Name: strconv.Quote(s), Bytes: append([]byte{byte(len(s))}, s...)}
		f.texts[s] = d
	}
	return d
}

// fixed reports whether a str's text is constant.
func fixed(x tree.Expr) bool {
	switch x := x.(type) {
	case *tree.StrLit:
		return true
	case *tree.Index:
		return x.T.Kind == tree.Str
	case *tree.Cond:
		return fixed(x.Then) && fixed(x.Else)
	}
	return false
}

// copied copies the text at an address into a slot, whose address it gives.
func (f *function) copied(slot *ir.Data, from ir.Expr) ir.Expr {
	f.emit(&ir.Eval{X: &ir.Call{Fn: f.rt.CopyStr(), Args: []ir.Expr{&ir.DataAddr{Data: slot}, from}}})
	return &ir.DataAddr{Data: slot}
}

// assignStr gives a variable the text that an expression has now.
func (f *function) assignStr(v *tree.Var, x tree.Expr) {
	to := f.local(v)
	if fixed(x) {
		f.emit(&ir.Set{Local: to, X: f.expr(x)})
		return
	}
	slot := f.slots[v]
	if slot == nil {
		slot = rt.StrSlot()
		f.slots[v] = slot
	}
	from := f.expr(x)
	f.emit(&ir.Set{Local: to, X: f.copied(slot, from)})
}

// operands are the values of expressions that are evaluated one after the other and
// then used together: what a str's text is must not be changed by what is evaluated
// behind it. With across, it must not be changed by what the values are used for
// either, which cannot write this function's variables.
func (f *function) operands(list []tree.Expr, across bool) []ir.Expr {
	values := make([]ir.Expr, len(list))
	for i, x := range list {
		values[i] = f.expr(x)
	}
	noisy := across
	for i := len(list) - 1; i >= 0; i-- {
		x := list[i]
		if x.Type().Kind == tree.Str && noisy && !fixed(x) {
			_, variable := x.(*tree.VarRef)
			if quiet := !disturbs(values[i+1:]); !variable || !quiet {
				from := values[i]
				values[i] = f.seq(func() ir.Expr { return f.copied(rt.StrSlot(), from) })
			}
		}
		noisy = noisy || disturbs(values[i:i+1])
	}
	return values
}

// disturbs reports whether evaluating a value may write something.
func disturbs(values []ir.Expr) (found bool) {
	for _, x := range values {
		ir.EachIn(x, func(ir.Stmt) { found = true }, func(x ir.Expr) {
			if _, ok := x.(*ir.Call); ok {
				found = true
			}
		})
	}
	return found
}

// call calls a helper. A str that it gives is kept at once, as it may be in a
// variable of the helper's.
func (f *function) call(x *tree.Call) ir.Expr {
	args := append([]ir.Expr{ir.Read(f.base)}, f.operands(x.Args, true)...)
	c := &ir.Call{Fn: f.Func(x.Fn), Args: args}
	if x.Fn.Result.Kind != tree.Str {
		return c
	}
	return f.seq(func() ir.Expr { return f.copied(rt.StrSlot(), c) })
}

// compareStr applies < <= > >= to two strs.
func (f *function) compareStr(x *tree.Binary) ir.Expr {
	order := map[tree.Op]ir.Op{tree.Lt: ir.LtI32, tree.Le: ir.LeI32, tree.Gt: ir.GtI32, tree.Ge: ir.GeI32}
	return ir.Do(order[x.Op], &ir.Call{Fn: f.rt.CompareStr(), Args: f.operands([]tree.Expr{x.X, x.Y}, false)}, ir.Int(0))
}
