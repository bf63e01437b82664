package link

import (
	"strings"
	"testing"

	"gamehoster/games/body/internal/ir"
)

func text(body []ir.Stmt) string {
	return strings.TrimSpace(ir.Text(&ir.Func{Name: "f", Body: body}))
}

// An object is read at its end before its fields are used, again in every round of
// a loop, and written with what it has where ways come together.
func TestTouched(t *testing.T) {
	row, other := &ir.Local{Name: "row", Type: ir.I32}, &ir.Local{Name: "other", Type: ir.I32}
	field := func(l *ir.Local, n int) ir.Expr {
		return &ir.Load{Addr: ir.Read(l), Off: ir.Offset{Place: ir.RowField, Type: 2, Field: n}, Mem: ir.MemI32}
	}
	use := func(x ir.Expr) ir.Stmt { return &ir.SetGlobal{Global: &ir.Global{Name: "g"}, X: x} }
	again := &ir.Label{Name: "again"}
	f := &ir.Func{Name: "f", Params: []*ir.Local{row, other}, Body: []ir.Stmt{
		&ir.If{Test: field(row, 0), Then: []ir.Stmt{use(field(row, 1))}},
		use(field(row, 2)),
		use(field(other, 0)), // two places are too few
		use(field(other, 1)),
		&ir.Loop{Label: again, Body: []ir.Stmt{use(field(row, 0)), use(field(row, 1)), &ir.Br{Label: again}}},
	}}
	before := ir.Text(f)
	last := ir.Offset{Place: ir.Stride, Type: 2, Add: -1}
	read := &ir.Eval{X: &ir.Load{Addr: ir.Read(row), Off: last, Mem: ir.MemU8}}
	want := []ir.Stmt{
		read,
		f.Body[0],
		&ir.Set{Local: row, X: ir.Read(row)},
		f.Body[1], f.Body[2], f.Body[3],
		&ir.Loop{Label: again, Body: []ir.Stmt{read, use(field(row, 0)), use(field(row, 1)), &ir.Br{Label: again}}},
	}
	if got := text(touched(f.Body)); got != text(want) {
		t.Errorf("got\n%s\nwant\n%s", got, text(want))
	}
	if ir.Text(f) != before {
		t.Error("the function itself was changed")
	}
}

// A local that may have objects of two types is left alone.
func TestTouchedTypes(t *testing.T) {
	row := &ir.Local{Name: "row", Type: ir.I32}
	f := &ir.Func{Name: "f", Params: []*ir.Local{row}}
	for i := range 4 {
		off := ir.Offset{Place: ir.RowField, Type: 1 + i%2, Field: i}
		f.Body = append(f.Body, &ir.Eval{X: &ir.Load{Addr: ir.Read(row), Off: off, Mem: ir.MemI32}})
	}
	if got := text(touched(f.Body)); got != text(f.Body) {
		t.Errorf("got\n%s", got)
	}
}

// Locals that are set to one another only end the search all the same.
func TestTouchedCircles(t *testing.T) {
	a, b, c := &ir.Local{Name: "a", Type: ir.I32}, &ir.Local{Name: "b", Type: ir.I32}, &ir.Local{Name: "c", Type: ir.I32}
	body := []ir.Stmt{&ir.Set{Local: a, X: ir.Read(a)}, &ir.Set{Local: b, X: ir.Read(c)}, &ir.Set{Local: c, X: ir.Read(b)}}
	if got := text(touched(body)); got != text(body) {
		t.Errorf("got\n%s", got)
	}
}
