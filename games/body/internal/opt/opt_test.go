package opt

import (
	"math"
	"strings"
	"testing"

	"gamehoster/games/body/internal/ir"
)

func local(name string, t ir.Type) *ir.Local { return &ir.Local{Name: name, Type: t} }

func text(body ...ir.Stmt) string {
	s := ir.Text(&ir.Func{Name: "f", Body: body})
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines[1:len(lines)-1], "\n")
}

// TestFold checks single expressions: what they become, or that they stay.
func TestFold(t *testing.T) {
	a := local("a", ir.I32)
	x := local("x", ir.F64)
	byteOf := &ir.Load{Addr: ir.Read(a), Mem: ir.MemU8}
	word := &ir.Load{Addr: ir.Read(a), Mem: ir.MemI32}
	from := func(e ir.Expr) ir.Expr { return ir.Do(ir.FromI32, e) }
	zero := ir.Num(math.Copysign(0, -1))
	for _, c := range []struct {
		in   ir.Expr
		want string
	}{
		{ir.Do(ir.AddF64, ir.Num(1), ir.Num(2)), "3f"},
		{ir.Do(ir.MinF64, ir.Num(0), zero), "-0f"},
		{ir.Do(ir.DivF64, ir.Read(x), ir.Num(8)), "f64.mul(x, 0.125f)"},
		{ir.Do(ir.DivF64, ir.Read(x), ir.Num(10)), "f64.div(x, 10f)"},
		{ir.Do(ir.ToInt32, from(word)), "i32[a]"},
		{ir.Do(ir.ToInt32, ir.Do(ir.AddF64, from(word), ir.Num(1))), "i32.add(i32[a], 1)"},
		{ir.Do(ir.AddF64, from(word), ir.Num(1)), "f64.add(f64.convert_i32_s(i32[a]), 1f)"}, // may leave i32
		{ir.Do(ir.AddF64, from(byteOf), ir.Num(1)), "f64.convert_i32_s(i32.add(u8[a], 1))"},
		{ir.Do(ir.MulF64, from(byteOf), ir.Num(3)), "f64.convert_i32_s(i32.mul(u8[a], 3))"},
		{ir.Do(ir.MulF64, from(byteOf), ir.Num(-3)), "f64.mul(f64.convert_i32_s(u8[a]), -3f)"}, // 0 * -3 is -0
		{ir.Do(ir.ToInt32, ir.Do(ir.MulF64, from(byteOf), ir.Num(-3))), "i32.mul(u8[a], -3)"},
		{ir.Do(ir.ToInt32, ir.Do(ir.MulF64, ir.Do(ir.FromU32, word), ir.Do(ir.FromU32, word))), "toint32(f64.mul(f64.convert_i32_u(i32[a]), f64.convert_i32_u(i32[a])))"},
		{ir.Do(ir.NegF64, from(byteOf)), "f64.neg(f64.convert_i32_s(u8[a]))"},
		{ir.Do(ir.LtF64, from(word), ir.Num(7)), "i32.lt_s(i32[a], 7)"},
		{ir.Do(ir.LtF64, from(word), ir.Num(7.5)), "f64.lt(f64.convert_i32_s(i32[a]), 7.5f)"},
		{ir.Do(ir.LtF64, ir.Do(ir.FromU32, word), ir.Num(7)), "i32.lt_u(i32[a], 7)"},
		{ir.Do(ir.EqF64, from(word), zero), "f64.eq(f64.convert_i32_s(i32[a]), -0f)"},
		{ir.Not(ir.Not(ir.Do(ir.EqF64, ir.Read(x), ir.Num(1)))), "f64.eq(x, 1f)"},
		{ir.Not(ir.Do(ir.LtF64, ir.Read(x), ir.Num(1))), "i32.eqz(f64.lt(x, 1f))"}, // a NaN is neither
		{ir.Do(ir.GtF64, ir.Do(ir.AbsF64, from(word)), ir.Num(0)), "i32.ne(i32[a], 0)"},
		{ir.Do(ir.FloorF64, from(word)), "f64.convert_i32_s(i32[a])"},
		{&ir.Cond{Test: ir.Int(1), Then: ir.Read(x), Else: ir.Num(2)}, "x"},
	} {
		got := text(fold(Options{}, []ir.Stmt{&ir.SetGlobal{Global: &ir.Global{Name: "g"}, X: c.in}})...)
		if got != "$g = "+c.want {
			t.Errorf("%s\n got %s\nwant $g = %s", text(&ir.Eval{X: c.in}), got, c.want)
		}
	}
}

func loop(test ir.Expr, body ...ir.Stmt) ir.Stmt {
	out, again := &ir.Label{Name: "out"}, &ir.Label{Name: "again"}
	body = append([]ir.Stmt{&ir.If{Test: ir.Not(test), Then: []ir.Stmt{&ir.Br{Label: out}}}}, body...)
	body = append(body, &ir.Fuel{Cost: 1}, &ir.Br{Label: again})
	return &ir.Block{Label: out, Body: []ir.Stmt{&ir.Loop{Label: again, Body: body}}}
}

// TestNarrow checks which locals become integers.
func TestNarrow(t *testing.T) {
	i, j, k, m := local("i", ir.F64), local("j", ir.F64), local("k", ir.F64), local("m", ir.F64)
	f := &ir.Func{Body: []ir.Stmt{
		&ir.Set{Local: i, X: ir.Num(0)},
		&ir.Set{Local: j, X: ir.Num(1)},
		&ir.Set{Local: k, X: ir.Num(0)},
		&ir.Set{Local: m, X: ir.Num(0)},
		loop(ir.Do(ir.LtF64, ir.Read(i), ir.Num(10)),
			&ir.Set{Local: j, X: ir.Do(ir.MulF64, ir.Read(j), ir.Num(2))},  // grows without bound
			&ir.Set{Local: k, X: ir.Do(ir.SubF64, ir.Read(k), ir.Num(3))},  // falls by steps
			&ir.Set{Local: m, X: ir.Do(ir.NegF64, ir.Read(i))},             // may be -0
			&ir.Set{Local: i, X: ir.Do(ir.AddF64, ir.Read(i), ir.Num(1))}), // counts
	}}
	o := Options{BodyFuel: 1 << 20}
	narrow(o, f)
	types := map[string]ir.Type{}
	ir.Each(f.Body, func(s ir.Stmt) {
		if s, ok := s.(*ir.Set); ok {
			types[s.Local.Name] = s.Local.Type
		}
	}, nil)
	for name, want := range map[string]ir.Type{"i": ir.I32, "j": ir.F64, "k": ir.I32, "m": ir.F64} {
		if types[name] != want {
			t.Errorf("%s is %v, want %v", name, types[name], want)
		}
	}
	// With much more fuel the same counter could leave an i32.
	f.Body = []ir.Stmt{&ir.Set{Local: i, X: ir.Num(0)}, &ir.Set{Local: i, X: ir.Do(ir.AddF64, ir.Read(i), ir.Num(1<<12))}}
	if narrow(o, f); f.Body[0].(*ir.Set).Local.Type != ir.F64 {
		t.Error("a counter that can pass 2^31 is an i32")
	}
}

// TestLoads checks what a second load of a place may be replaced by.
func TestLoads(t *testing.T) {
	a, b := local("a", ir.I32), local("b", ir.I32)
	x := ir.Offset{Place: ir.RowField, Type: 2, Field: 0}
	y := ir.Offset{Place: ir.RowField, Type: 2, Field: 1}
	load := func(l *ir.Local, o ir.Offset) ir.Expr { return &ir.Load{Addr: ir.Read(l), Off: o, Mem: ir.MemF64} }
	store := func(l *ir.Local, o ir.Offset, v ir.Expr) ir.Stmt {
		return &ir.Store{Addr: ir.Read(l), Off: o, Mem: ir.MemF64, X: v}
	}
	use := func(v ir.Expr) ir.Stmt { return &ir.SetGlobal{Global: &ir.Global{Name: "g"}, X: v} }
	writer := &ir.Func{Name: "writer", Params: []*ir.Local{a}, Body: []ir.Stmt{store(a, x, ir.Num(1))}}
	reader := &ir.Func{Name: "reader", Params: []*ir.Local{a}, Body: []ir.Stmt{use(load(a, x))}}
	call := func(f *ir.Func) ir.Stmt { return &ir.Eval{X: &ir.Call{Fn: f, Args: []ir.Expr{ir.Read(b)}}} }
	for _, c := range []struct {
		name  string
		body  []ir.Stmt
		reads int // of memory that remain
	}{
		{"twice", []ir.Stmt{use(load(a, x)), use(load(a, x))}, 1},
		{"after a store", []ir.Stmt{store(a, x, ir.Num(4)), use(load(a, x))}, 0},
		{"another field was written", []ir.Stmt{use(load(a, x)), store(b, y, ir.Num(1)), use(load(a, x))}, 1},
		{"the field of another object was", []ir.Stmt{use(load(a, x)), store(b, x, ir.Num(1)), use(load(a, x))}, 2},
		{"a sent store, which clients leave out", []ir.Stmt{&ir.Store{Addr: ir.Read(a), Off: x, Mem: ir.MemF64, X: ir.Num(1), Sent: true}, use(load(a, x))}, 1},
		{"a call that writes it", []ir.Stmt{use(load(a, x)), call(writer), use(load(a, x))}, 2},
		{"a call that reads it", []ir.Stmt{use(load(a, x)), call(reader), use(load(a, x))}, 1},
		{"the object is another now", []ir.Stmt{use(load(a, x)), &ir.Set{Local: a, X: ir.Read(b)}, use(load(a, x))}, 2},
		{"in one branch", []ir.Stmt{&ir.If{Test: ir.Read(b), Then: []ir.Stmt{use(load(a, x))}}, use(load(a, x))}, 2},
		{"before branches", []ir.Stmt{use(load(a, x)), &ir.If{Test: ir.Read(b), Then: []ir.Stmt{use(load(a, x))}, Else: []ir.Stmt{use(load(a, x))}}, use(load(a, x))}, 1},
		{"a branch that writes it leaves", []ir.Stmt{use(load(a, x)), &ir.If{Test: ir.Read(b), Then: []ir.Stmt{store(a, x, ir.Num(1)), &ir.Return{}}}, use(load(a, x))}, 1},
		{"before a loop", []ir.Stmt{use(load(a, x)), loop(ir.Read(b), use(load(a, x)))}, 1},
		{"before a loop that writes it", []ir.Stmt{use(load(a, x)), loop(ir.Read(b), use(load(a, x)), store(b, x, ir.Num(2)))}, 2},
	} {
		f := &ir.Func{Body: c.body}
		loads(f, &effects{map[*ir.Func]effect{}})
		n := 0
		ir.Each(f.Body, nil, func(e ir.Expr) {
			if _, ok := e.(*ir.Load); ok {
				n++
			}
		})
		if n != c.reads {
			t.Errorf("%s: %d reads remain, want %d\n%s", c.name, n, c.reads, text(f.Body...))
		}
	}
}
