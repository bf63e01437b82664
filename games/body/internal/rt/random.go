package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// golden is the increment of SplitMix64.
const golden = 0x9E3779B97F4A7C15

// mix is the function that SplitMix64 ends with.
func (r *Runtime) mix() *ir.Func {
	return r.once("mix", func(f *ir.Func) {
		x := local("x", ir.I64)
		f.Params, f.Result, f.Inline = []*ir.Local{x}, ir.I64, true
		step := func(shift int, factor uint64) ir.Stmt {
			return set(x, ir.Do(ir.MulI64, ir.Do(ir.XorI64, get(x), ir.Do(ir.ShrU64, get(x), ir.Long(uint64(shift)))), ir.Long(factor)))
		}
		f.Body = []ir.Stmt{
			step(30, 0xBF58476D1CE4E5B9),
			step(27, 0x94D049BB133111EB),
			ret(ir.Do(ir.XorI64, get(x), ir.Do(ir.ShrU64, get(x), ir.Long(31)))),
		}
	})
}

// Random is the function (base) that gives the next number of the running
// body's sequence. The sequence is a SplitMix64 whose seed is made of the
// instance's seed, the tick, the body, the actor and the command, so that it
// depends on nothing that other bodies did. It is computed at the first call.
func (r *Runtime) Random(server bool) *ir.Func {
	name, seed, seeded, at := "random", r.Seed, r.Seeded, schema.HeaderSeed
	if server {
		name, seed, seeded, at = "random.server", r.Secret, r.Secreted, schema.HeaderServerSeed
	}
	mix := r.mix()
	call := func(x ir.Expr) ir.Expr { return &ir.Call{Fn: mix, Args: []ir.Expr{x}} }
	start := r.once(name+".seed", func(f *ir.Func) {
		base, x := local("base", ir.I32), local("x", ir.I64)
		f.Params = []*ir.Local{base}
		tick := ir.Do(ir.ExtendU32, load(get(base), ir.At(schema.HeaderTick)))
		run := ir.Do(ir.OrI64,
			ir.Do(ir.ShlI64, ir.Do(ir.ExtendU32, &ir.GetGlobal{Global: r.FaultActor}), ir.Long(32)),
			ir.Do(ir.ExtendU32, &ir.GetGlobal{Global: r.FaultBody}))
		seq := &ir.GetGlobal{Global: r.Seq}
		f.Body = []ir.Stmt{
			set(x, call(ir.Do(ir.AddI64,
				&ir.Load{Addr: get(base), Off: ir.At(at), Mem: ir.MemI64},
				ir.Do(ir.MulI64, ir.Long(golden), ir.Do(ir.AddI64, tick, ir.Long(1)))))),
			set(x, call(ir.Do(ir.XorI64, get(x), run))),
			when(seq, set(x, call(ir.Do(ir.AddI64, get(x), ir.Do(ir.MulI64, ir.Long(golden), ir.Do(ir.ExtendU32, seq)))))),
			&ir.SetGlobal{Global: seed, X: get(x)},
			&ir.SetGlobal{Global: seeded, X: ir.Int(1)},
		}
	})
	return r.once(name, func(f *ir.Func) {
		base := local("base", ir.I32)
		f.Params, f.Result = []*ir.Local{base}, ir.F64
		f.Body = []ir.Stmt{
			when(ir.Not(&ir.GetGlobal{Global: seeded}), &ir.Eval{X: &ir.Call{Fn: start, Args: []ir.Expr{get(base)}}}),
			&ir.SetGlobal{Global: seed, X: ir.Do(ir.AddI64, &ir.GetGlobal{Global: seed}, ir.Long(golden))},
			ret(ir.Do(ir.MulF64,
				ir.Do(ir.FromI64, ir.Do(ir.ShrU64, call(&ir.GetGlobal{Global: seed}), ir.Long(11))),
				ir.Num(1.0/(1<<53)))),
		}
	})
}
