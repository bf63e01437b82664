package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// Code is weighed in nodes of ir. What can go on for long takes fuel while it runs, a
// unit for about so many nodes as Unit; on a server a node takes half a nanosecond.
//
//	loops        each round, for the weight of its body
//	functions    those that are heavy, when they are entered; others count for their
//	             callers as if they stood there
//	bodies       for all objects of a type at once, in the driver
//	the runtime  for what it finds out: rows that are gone over, steps of a division
const (
	Unit  = 1 << unitShift
	Heavy = 2048

	unitShift = 6
)

// Weight is what it costs to run a list of statements once: the nodes that it has, and
// for each call what its function counts for. Whatever may be left out is counted, too,
// and so is one round of each loop; what became a part of it and pays for itself is not.
func (r *Runtime) Weight(body []ir.Stmt) int {
	n := ir.Size(body)
	ir.Each(body, func(s ir.Stmt) {
		if fuel, ok := s.(*ir.Fuel); ok {
			n -= r.paid[fuel]
		}
	}, func(x ir.Expr) {
		if c, ok := x.(*ir.Call); ok {
			n += r.weights[c.Fn]
		}
	})
	return max(n, 0)
}

// Pay makes a function that weighs n take fuel for that when it is entered; at is the
// position to report. Its calls count for nothing then.
func (r *Runtime) Pay(f *ir.Func, n, at int) {
	fuel := &ir.Fuel{Cost: n / Unit, At: at}
	r.paid[fuel] = n
	f.Body = append([]ir.Stmt{fuel}, f.Body...)
	r.weights[f] = 0
}

// rowWeight is what it costs to write a row from one end to the other: a node for four bytes.
func (r *Runtime) rowWeight(t *schema.Type) int { return r.strides[t.Index] / 4 }

// SetWeight says what a call of a function counts for from now on.
func (r *Runtime) SetWeight(f *ir.Func, n int) { r.weights[f] = n }

// take is the statement that takes what is computed from a body's fuel. That it is spent
// is found where the body takes some next.
func (r *Runtime) take(n ir.Expr) ir.Stmt {
	return &ir.SetGlobal{Global: r.Fuel, X: ir.Do(ir.SubI32, &ir.GetGlobal{Global: r.Fuel}, n)}
}
