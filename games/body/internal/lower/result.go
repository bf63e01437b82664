package lower

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// A function of wasm gives one value here. What a helper gives besides is left at a
// fixed address, of which every such value has one of its own; the caller reads it
// right behind the call. As there is no recursion nothing else is written there in
// between.

// moreOfFunc is where a function leaves what it gives besides its result.
func (l *Lowerer) moreOfFunc(t *tree.Func) []*ir.Data {
	list := l.more[t]
	if list == nil {
		for _, m := range t.More {
			if m.Kind == tree.Str {
				list = append(list, rt.StrSlot())
			} else {
				list = append(list, &ir.Data{Name: "more", Bytes: make([]byte, 8)})
			}
		}
		l.more[t] = list
	}
	return list
}

// giveBack writes a return.
func (f *function) giveBack(s *tree.Return) {
	if len(s.More) == 0 {
		r := &ir.Return{}
		if s.X != nil {
			r.X = f.expr(s.X)
		}
		f.emit(r)
		return
	}
	values := f.operands(append([]tree.Expr{s.X}, s.More...), true)
	for i, v := range values {
		values[i] = ir.Read(f.keep(v))
	}
	for i, to := range f.moreOfFunc(f.of) {
		v := values[i+1]
		if f.of.More[i].Kind == tree.Str {
			f.copied(to, v)
			continue
		}
		f.emit(&ir.Store{Addr: &ir.DataAddr{Data: to}, Off: ir.At(0), Mem: memOf(f.of.More[i]), X: v})
	}
	f.emit(&ir.Return{X: values[0]})
}

// moreOf reads what the last call gave besides its result.
func (f *function) moreOf(x *tree.More) ir.Expr {
	at := f.moreOfFunc(x.Fn)[x.Index]
	if x.T.Kind == tree.Str {
		return &ir.DataAddr{Data: at}
	}
	return &ir.Load{Addr: &ir.DataAddr{Data: at}, Off: ir.At(0), Mem: memOf(x.T)}
}

func memOf(t tree.Type) ir.Mem {
	if t.Kind == tree.Number {
		return rt.MemOf(schema.F64)
	}
	return ir.MemI32
}
