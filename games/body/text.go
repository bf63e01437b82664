package body

import (
	"fmt"
	"strconv"
	"strings"

	"gamehoster/games/body/internal/front"
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/libm"
	"gamehoster/games/body/internal/wasm"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// Disassemble writes one of a Program's modules in WebAssembly's text format. Its
// variables have names if it was compiled with Options.Names.
func Disassemble(module []byte) (string, error) { return wasm.Text(module) }

// Text compiles the bodies as far as the intermediate representation and prints
// that, bodies first, each function as it is before places become numbers.
//
//	f32[r + rock.x]        a field; game.x is one of the instance
//	i32[base + live(rock)] how many objects there are: live, rows and sorted
//	first(rock)            where its objects begin
//	size(rock)             bytes of one
func Text(def *schema.Definition, files []Source, o Options) (string, diag.List) {
	sources := make(map[string][]byte, len(files))
	for _, f := range files {
		sources[f.Path] = f.Text
	}
	read := front.Read(def, sources, libm.Func)
	if read.List.Failed() {
		return "", read.List
	}
	c := newCompilation(def, read, o)
	roots := make([]*ir.Func, len(c.bodies))
	for i, b := range c.bodies {
		roots[i] = b.Fn
	}
	var b strings.Builder
	for i, f := range ir.Reach(roots...) {
		if i > 0 {
			b.WriteByte('\n')
		}
		ir.PrintNamed(&b, f, places{def}.name)
	}
	return b.String(), read.List
}

// places names the places in a game's state.
type places struct{ def *schema.Definition }

var countNames = map[int]string{schema.CountRows: "rows", schema.CountLive: "live", schema.CountSorted: "sorted"}

func (p places) name(o ir.Offset) string {
	var s string
	switch o.Place {
	case ir.RowField:
		t := p.def.Types[o.Type]
		s = t.Name + "." + t.Fields[o.Field].Name
	case ir.Instance:
		s = "game." + p.def.Instance().Fields[o.Field].Name
	case ir.Rows:
		s = fmt.Sprintf("first(%s)", p.def.Types[o.Type].Name)
	case ir.Counts:
		return fmt.Sprintf("%s(%s)", countNames[o.Add], p.def.Types[o.Type].Name)
	case ir.Stride:
		s = fmt.Sprintf("size(%s)", p.def.Types[o.Type].Name)
	case ir.CommandField:
		c := p.def.Commands[o.Type]
		s = c.Name + "." + c.Fields[o.Field].Name
	default:
		return o.String()
	}
	if o.Add != 0 {
		s += "+" + strconv.Itoa(o.Add)
	}
	return s
}
