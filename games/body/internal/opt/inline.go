package opt

import "gamehoster/games/body/internal/ir"

// Sizes in nodes.
const (
	smallSize = 100  // worth inlining anywhere
	onceSize  = 600  // worth inlining into the only caller
	mostSize  = 6000 // of a function that still takes others in
)

// inline replaces calls in f by the bodies of what is called. Those were
// inlined into already.
func inline(f *ir.Func, calls map[*ir.Func]int) {
	budget := mostSize - ir.Size(f.Body)
	r := &ir.Rewriter{}
	r.Expr = func(x ir.Expr) ir.Expr {
		c, ok := x.(*ir.Call)
		if !ok || c.Fn.Keep {
			return x
		}
		n := ir.Size(c.Fn.Body)
		if !c.Fn.Inline && n > smallSize && (calls[c.Fn] > 1 || n > onceSize) || n > budget {
			return x
		}
		budget -= n
		return expand(c)
	}
	r.Stmt = func(s ir.Stmt) []ir.Stmt {
		if e, ok := s.(*ir.Eval); ok {
			if q, ok := e.X.(*ir.Seq); ok && q.Value == nil {
				return q.Body // the call of a function without result
			}
		}
		return r.One(s)
	}
	f.Body = r.Body(f.Body)
}

// expand gives the called function's body with the arguments in its
// parameters. The Seq has no Value where the function has no result; that one
// can only stand in an Eval.
func expand(c *ir.Call) ir.Expr {
	fn := c.Fn
	out := &ir.Label{Name: "end"}
	r := &ir.Rewriter{Locals: map[*ir.Local]*ir.Local{}, Labels: map[*ir.Label]*ir.Label{}}
	fresh := func(l *ir.Local) {
		if r.Locals[l] == nil {
			r.Locals[l] = &ir.Local{Name: l.Name, Type: l.Type, Lo: l.Lo, Hi: l.Hi}
		}
	}
	for _, p := range fn.Params {
		fresh(p)
	}
	returns := 0
	ir.Each(fn.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Set:
			fresh(s.Local)
		case *ir.Block:
			r.Labels[s.Label] = &ir.Label{Name: s.Label.Name}
		case *ir.Loop:
			r.Labels[s.Label] = &ir.Label{Name: s.Label.Name}
		case *ir.Return:
			returns++
		}
	}, nil)
	q := &ir.Seq{}
	for i, a := range c.Args {
		q.Body = append(q.Body, &ir.Set{Local: r.Locals[fn.Params[i]], X: a})
	}
	// A single return at the end needs no jump.
	body := fn.Body
	if n := len(body); returns == 1 && n > 0 {
		if last, ok := body[n-1].(*ir.Return); ok {
			q.Body = append(q.Body, r.Body(body[:n-1])...)
			q.Value = r.Value(last.X)
			return q
		}
	}
	if returns == 0 {
		q.Body = append(q.Body, r.Body(body)...)
		return q
	}
	var result *ir.Local
	if fn.Result != ir.Void {
		result = &ir.Local{Name: "result", Type: fn.Result}
		q.Value = ir.Read(result)
	}
	r.Stmt = func(s ir.Stmt) []ir.Stmt {
		ret, ok := s.(*ir.Return)
		if !ok {
			return r.One(s)
		}
		leave := &ir.Br{Label: out}
		if ret.X == nil {
			return r.One(leave)
		}
		return []ir.Stmt{&ir.Set{Local: result, X: ret.X}, leave}
	}
	q.Body = append(q.Body, &ir.Block{Label: out, Body: r.Body(body)})
	return q
}
