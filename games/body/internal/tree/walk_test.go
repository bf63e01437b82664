package tree

import (
	"reflect"
	"slices"
	"testing"
)

// fill makes a node whose expressions are all literals, numbered from *next on.
func fill(v reflect.Value, next *float64) {
	expr := reflect.TypeFor[Expr]()
	literal := func() reflect.Value {
		*next++
		return reflect.ValueOf(&NumberLit{Value: *next})
	}
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Type() == expr:
			f.Set(literal())
		case f.Kind() == reflect.Slice && f.Type().Elem() == expr:
			f.Set(reflect.Append(f, literal(), literal()))
		case f.Kind() == reflect.Slice && f.Type().Elem() == reflect.TypeFor[Stmt]():
			f.Set(reflect.Append(f, reflect.ValueOf(&Eval{X: literal().Interface().(Expr)})))
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			part := reflect.New(f.Type().Elem()).Elem()
			fill(part, next)
			f.Set(reflect.Append(f, part))
		}
	}
}

// Whatever a statement or an expression is made of is visited, once and in order. What
// is found by reflection here is written out there.
func TestEachExprVisitsAll(t *testing.T) {
	exprs := []Expr{&NumberLit{}, &BoolLit{}, &StrLit{}, &NullLit{}, &VarRef{}, &Field{}, &CommandField{}, &Property{}, &Unary{}, &Binary{},
		&Logical{}, &Nullish{}, &Optional{}, &Cond{}, &Assign{}, &Comma{}, &Call{}, &More{}, &Math{}, &Random{}, &Spawn{}, &Find{}, &Remove{},
		&End{}, &Index{}, &Named{}, &StrLen{}, &Log{}, &NonNull{}, &Intrinsic{}}
	stmts := []Stmt{&Decl{}, &Eval{}, &Block{}, &If{}, &Loop{}, &ForOf{}, &Switch{}, &Break{}, &Continue{}, &Return{}}
	for _, x := range exprs {
		next := 0.0
		fill(reflect.ValueOf(x).Elem(), &next)
		check(t, x, []Stmt{&Eval{X: x}}, next)
	}
	for _, s := range stmts {
		next := 0.0
		fill(reflect.ValueOf(s).Elem(), &next)
		check(t, s, []Stmt{s}, next)
	}
}

func check(t *testing.T, what any, body []Stmt, last float64) {
	t.Helper()
	var got, want []float64
	for i := 1.0; i <= last; i++ {
		want = append(want, i)
	}
	EachExpr(body, func(x Expr) {
		if n, ok := x.(*NumberLit); ok && what != any(x) {
			got = append(got, n.Value)
		}
	})
	slices.Sort(got) // the step of a loop comes behind its body
	if !slices.Equal(got, want) {
		t.Errorf("%T: visited %v of %v", what, got, want)
	}
}

func TestTypeNames(t *testing.T) {
	for want, of := range map[string]Type{"a number": {Kind: Number}, "null": {Kind: Null}, "nothing": {Kind: Void}, "a table": {Kind: Constants}} {
		if got := of.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for op, lazy := range map[Op]bool{NoOp: false, Add: false, BitNot: false, And: true, Or: true, Coalesce: true} {
		if op.Lazy() != lazy {
			t.Errorf("%d: %v", op, op.Lazy())
		}
	}
}
