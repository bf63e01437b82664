package eval

import (
	"math"
	"testing"

	"gamehoster/games/body/internal/tree"
)

func lit(v float64) tree.Expr {
	return &tree.NumberLit{Node: tree.Node{T: tree.Type{Kind: tree.Number}}, Value: v}
}

func binary(op tree.Op, a, b float64) tree.Expr { return &tree.Binary{Op: op, X: lit(a), Y: lit(b)} }

func none(string) *tree.Func { return nil }

// What JavaScript gives, worked out by hand where Go's own operators differ.
func TestOperators(t *testing.T) {
	negZero := math.Copysign(0, -1)
	for _, c := range []struct {
		x    tree.Expr
		want float64
	}{
		{binary(tree.Rem, -4, 2), negZero}, {binary(tree.Rem, 5.5, math.Inf(1)), 5.5}, {binary(tree.Rem, 5, 0), math.NaN()},
		{binary(tree.Shl, 1, 33), 2}, {binary(tree.Shr, -1, 1), -1}, {binary(tree.ShrU, -1, 0), 4294967295}, {binary(tree.BitOr, 1<<32+7, 0), 7},
		{binary(tree.BitOr, -1e21, 0), 559939584}, {binary(tree.BitAnd, math.NaN(), -1), 0}, {binary(tree.BitXor, 3.9, -1.9), -4},
		{binary(tree.Div, 1, negZero), math.Inf(-1)},
		{&tree.Math{Name: "round", Args: []tree.Expr{lit(-2.5)}}, -2}, {&tree.Math{Name: "round", Args: []tree.Expr{lit(0.49999999999999994)}}, 0},
		{&tree.Math{Name: "round", Args: []tree.Expr{lit(-0.2)}}, negZero}, {&tree.Math{Name: "min", Args: []tree.Expr{lit(0), lit(negZero)}}, negZero},
		{&tree.Math{Name: "max", Args: []tree.Expr{lit(0), lit(math.NaN())}}, math.NaN()}, {&tree.Math{Name: "clz32", Args: []tree.Expr{lit(0)}}, 32},
		{&tree.Math{Name: "imul", Args: []tree.Expr{lit(4294967295), lit(5)}}, -5}, {&tree.Math{Name: "sign", Args: []tree.Expr{lit(negZero)}}, negZero},
		{&tree.Math{Name: "pow", Args: []tree.Expr{lit(3), lit(2)}}, 9}, {&tree.Math{Name: "hypot", Args: []tree.Expr{lit(-3)}}, 3},
	} {
		v, ok := New(none).Run(c.x)
		if !ok || math.Float64bits(v.Num) != math.Float64bits(c.want) && (v.Num == v.Num || c.want == c.want) {
			t.Errorf("%#v: %v (%v), want %v", c.x, v.Num, ok, c.want)
		}
	}
}

// What is not known before the game runs, or never comes to an end, has no value.
func TestUnknown(t *testing.T) {
	v := &tree.Var{Name: "v"}
	forever := &tree.Func{Body: []tree.Stmt{&tree.Loop{Body: []tree.Stmt{&tree.Eval{X: lit(1)}}}}}
	void := &tree.Func{}
	for name, x := range map[string]tree.Expr{
		"variable": &tree.VarRef{Var: v}, "assignment": &tree.Assign{Target: &tree.VarRef{Var: v}, X: lit(1)}, "chance": &tree.Random{},
		"field": &tree.Field{}, "null": &tree.NullLit{}, "endless": &tree.Call{Fn: forever}, "nothing": &tree.Call{Fn: void},
		"outside":     &tree.Index{Table: &tree.Table{Kind: tree.Number, Levels: []tree.Level{{Lens: []int{1}}}, Values: []float64{1}}, Path: []tree.Expr{lit(1)}},
		"no function": &tree.Math{Name: "sin", Args: []tree.Expr{lit(1)}},
	} {
		if got, ok := New(none).Run(x); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	e := New(none)
	e.Run(&tree.Call{Fn: forever})
	if _, ok := e.Run(lit(1)); ok {
		t.Error("it goes on when it has used up its steps")
	}
}
