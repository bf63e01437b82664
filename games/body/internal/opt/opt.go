// Package opt improves ir without changing what it does, to the last bit. A function
// goes through its passes once, after all that it calls:
//
//	inline   small helpers, and those with one caller, become part of their callers
//	fold     constants are computed, tests turned around, conversions cancelled
//	copies   names that stand for other names or constants go
//	narrow   numbers that are certainly small integers are kept as i32
//	fold
//	loads    memory is read once where that is enough
//	copies
//	fold
//	shifts   numbers that are moved back into a range are moved without a jump
//
// All of it works on symbolic places, so both sides get the same code, and none
// of it depends on the side: a body that runs out of fuel on one does so on the
// other, at the same place.
//
// # What must not change
//
// Doubles are what JavaScript says: -0 is not 0, sums and products have no other
// order than their own, a comparison with a NaN is false and so is its opposite. Whole
// numbers are computed in i32 only where no result can leave it, be -0 or have been
// rounded. What may trap or run out of fuel stays where it is, and so does every write
// in relation to it. Only the bits of a NaN are free, as no body can see them: a store
// writes the one NaN that there is.
//
// Loads may go, and be done in vain: addresses are those of rows, of tables whose index was
// checked, and of the instance, so that reading has no effect. Whoever writes ir that steps
// past the end of something puts a jump between that and the next load, not an ir.Both.
package opt

import "gamehoster/games/body/internal/ir"

// Options are what the passes may rely on.
type Options struct {
	// BodyFuel bounds how often any statement of a body run is executed.
	BodyFuel int
	// Rem is the function for the % of two doubles.
	Rem *ir.Func
	// Charge is called with each function when its calls were inlined.
	Charge func(f *ir.Func)
}

// Optimiser improves the functions of one game, each once.
type Optimiser struct {
	Options
	done    map[*ir.Func]bool
	effects *effects
}

// New gives an Optimiser.
func New(o Options) *Optimiser {
	return &Optimiser{Options: o, done: map[*ir.Func]bool{}, effects: &effects{map[*ir.Func]effect{}}}
}

// Run improves everything that the roots lead to and that was not improved yet.
func (o *Optimiser) Run(roots ...*ir.Func) {
	order := ir.CalleesFirst(roots...)
	calls := countCalls(order)
	for _, f := range order {
		if o.done[f] {
			continue
		}
		o.done[f] = true
		inline(f, calls)
		o.Charge(f)
		f.Body = fold(o.Options, f.Body)
		o.again(f, func() {
			copies(f)
			narrow(o.Options, f)
		})
		o.again(f, func() {
			loads(f, o.effects)
			copies(f)
		})
		f.Body = shifts(f.Body)
	}
}

// again runs passes, and folds what they changed.
func (o *Optimiser) again(f *ir.Func, passes func()) {
	before := f.Body
	if passes(); !ir.Same(before, f.Body) {
		f.Body = fold(o.Options, f.Body)
	}
}

// countCalls counts the places that each function is called at.
func countCalls(funcs []*ir.Func) map[*ir.Func]int {
	n := map[*ir.Func]int{}
	for _, f := range funcs {
		ir.Each(f.Body, nil, func(x ir.Expr) {
			if c, ok := x.(*ir.Call); ok {
				n[c.Fn]++
			}
		})
	}
	return n
}
