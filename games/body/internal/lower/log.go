package lower

import (
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// LogSite is a log() in the text: what it writes, and where it stands.
type LogSite struct {
	At    file.Idx
	Parts []tree.LogPart
}

// Logs are the places that records of the log may name, by index.
func (l *Lowerer) Logs() []LogSite { return l.logs }

// log writes a record with the values of a log(); the host has its texts. Browsers
// evaluate the values, so that both sides do the same, and write nothing.
func (f *function) log(x *tree.Log) {
	site := len(f.logs)
	f.logs = append(f.logs, LogSite{x.At, x.Parts})
	var list []tree.Expr
	for _, p := range x.Parts {
		if p.X != nil {
			list = append(list, p.X)
		}
	}
	values := f.operands(list, true)
	size := ir.Int(rt.LogHeader)
	for i, v := range values {
		kept := f.keep(v)
		values[i] = ir.Read(kept)
		switch list[i].Type().Kind {
		case tree.Number:
			size = ir.Do(ir.AddI32, size, ir.Int(8))
		case tree.Str:
			size = ir.Do(ir.AddI32, size, textSize(values[i]))
		default:
			size = ir.Do(ir.AddI32, size, ir.Int(1))
		}
	}
	f.emit(&ir.If{Test: &ir.Sym{Off: ir.Offset{Place: ir.ServerSide}}, Then: f.block(func() {
		at := f.keep(&ir.Call{Fn: f.rt.Log(), Args: []ir.Expr{ir.Int(site), size}})
		f.emit(&ir.If{Test: ir.Read(at), Then: f.block(func() { f.record(at, list, values) })})
	})})
}

// textSize is the bytes that a str takes in a record.
func textSize(s ir.Expr) ir.Expr {
	return ir.Do(ir.AddI32, &ir.Load{Addr: s, Mem: ir.MemU8}, ir.Int(1))
}

// record writes the values behind the header of a record.
func (f *function) record(at *ir.Local, list []tree.Expr, values []ir.Expr) {
	off := rt.LogHeader
	for i, v := range values {
		switch list[i].Type().Kind {
		case tree.Number:
			f.emit(&ir.Store{Addr: ir.Read(at), Off: ir.At(off), Mem: rt.MemOf(schema.F64), X: v})
			off += 8
		case tree.Str:
			to := f.keep(ir.Do(ir.AddI32, ir.Read(at), ir.Int(off)))
			f.emit(&ir.Eval{X: &ir.Call{Fn: f.rt.CopyStr(), Args: []ir.Expr{ir.Read(to), v}}})
			at, off = f.keep(ir.Do(ir.AddI32, ir.Read(to), textSize(v))), 0
		default:
			f.emit(&ir.Store{Addr: ir.Read(at), Off: ir.At(off), Mem: ir.MemU8, X: v})
			off++
		}
	}
}
