package rt

import "gamehoster/games/body/internal/ir"

// The log is an area that the host empties: the records that bodies wrote since the
// last tick or start began, one behind the other, so many bytes of it as log_used says. Those
// that did not fit are counted in log_lost.
//
//	u32 size of the record, u32 number of the log(), u32 body, u32 actor, values
const (
	LogSize   = 4096
	LogHeader = 16
)

// Log is the function (site, size) that begins a record of that size and gives its
// address, or 0 where it does not fit.
func (r *Runtime) Log() *ir.Func {
	if r.LogArea == nil {
		r.LogArea = &ir.Data{Name: "log", Bytes: make([]byte, LogSize)}
	}
	return r.once("log", func(f *ir.Func) {
		site, size, at := local("site", ir.I32), local("size", ir.I32), local("at", ir.I32)
		f.Params, f.Result, f.Keep = []*ir.Local{site, size}, ir.I32, true
		used := &ir.GetGlobal{Global: r.LogUsed}
		f.Body = []ir.Stmt{
			when(ir.Do(ir.GtU32, add(used, get(size)), ir.Int(LogSize)),
				&ir.SetGlobal{Global: r.LogLost, X: add(&ir.GetGlobal{Global: r.LogLost}, ir.Int(1))},
				ret(ir.Int(0))),
			set(at, add(&ir.DataAddr{Data: r.LogArea}, used)),
			&ir.SetGlobal{Global: r.LogUsed, X: add(used, get(size))},
			store(get(at), ir.At(0), get(size)),
			store(get(at), ir.At(4), get(site)),
			store(get(at), ir.At(8), &ir.GetGlobal{Global: r.FaultBody}),
			store(get(at), ir.At(12), &ir.GetGlobal{Global: r.FaultActor}),
			ret(get(at)),
		}
	})
}
