// Package eval computes what constants are made of while a game is checked: the same
// tree that is compiled is run here, with the same result to the bit.
//
//	tree.Expr --Run--> number, bool or str
//	                   or nothing: it takes state, chance, an object or too long
//
// It knows the arithmetic of doubles, helper functions and the maths library, which is
// written in the body language. Each operation is rounded on its own: the explicit
// conversions keep the machine from fusing two.
package eval

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf16"

	"gamehoster/games/body/internal/tree"
)

// Value is a number, a bool or a str.
type Value struct {
	Kind tree.Kind
	Num  float64 // a number, or a bool as 0 or 1
	Text string
}

// Most is how many expressions all Runs of an Evaluator look at before it gives up.
const Most = 1 << 21

// Evaluator computes expressions. What a function that was called gave besides its
// result is kept from one Run to the next.
type Evaluator struct {
	math  func(name string) *tree.Func
	more  map[*tree.Func][]Value
	tail  float64
	steps int
}

// New gives an Evaluator; lib gives the functions of the maths library by name.
func New(lib func(name string) *tree.Func) *Evaluator {
	return &Evaluator{math: lib, more: map[*tree.Func][]Value{}}
}

// unknown is what a run is left by where there is no constant value.
type unknown struct{}

// Run gives the value of an expression; false if it is not known before the game runs.
func (e *Evaluator) Run(x tree.Expr) (v Value, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(unknown); !is {
				panic(r)
			}
			ok = false
		}
	}()
	return (&frame{Evaluator: e}).expr(x), true
}

// frame is one function that runs.
type frame struct {
	*Evaluator
	vars map[*tree.Var]Value // nil outside of functions: what is there has no value yet
	fn   *tree.Func
	out  Value
}

func number(v float64) Value { return Value{Kind: tree.Number, Num: v} }

func truth(b bool) Value {
	if b {
		return Value{Kind: tree.Bool, Num: 1}
	}
	return Value{Kind: tree.Bool}
}

func (v Value) true() bool {
	if v.Kind == tree.Str {
		return v.Text != ""
	}
	return v.Num != 0 && v.Num == v.Num
}

func (f *frame) step() {
	if f.steps++; f.steps > Most {
		panic(unknown{})
	}
}

func (f *frame) expr(x tree.Expr) Value {
	f.step()
	switch x := x.(type) {
	case *tree.NumberLit:
		return number(x.Value)
	case *tree.BoolLit:
		return truth(x.Value)
	case *tree.StrLit:
		return Value{Kind: tree.Str, Text: x.Value}
	case *tree.VarRef:
		if v, ok := f.vars[x.Var]; ok {
			return v
		}
	case *tree.Unary:
		return f.unary(x)
	case *tree.Binary:
		a := f.expr(x.X)
		return apply(x.Op, a, f.expr(x.Y), f)
	case *tree.Logical:
		a := f.expr(x.X)
		if a.true() == (x.Op == tree.And) {
			a = f.expr(x.Y)
		}
		if x.Mixed {
			return truth(a.true())
		}
		return a
	case *tree.Cond:
		if f.expr(x.Test).true() {
			return f.expr(x.Then)
		}
		return f.expr(x.Else)
	case *tree.Comma:
		var v Value
		for _, y := range x.List {
			v = f.expr(y)
		}
		return v
	case *tree.Assign:
		return f.assign(x)
	case *tree.Call:
		return f.call(x.Fn, f.all(x.Args))
	case *tree.More:
		if more := f.more[x.Fn]; x.Index < len(more) {
			return more[x.Index]
		}
	case *tree.Math:
		args := f.all(x.Args)
		return f.function(x.Name, args)
	case *tree.Index:
		return f.index(x)
	case *tree.StrLen:
		return number(float64(len(utf16.Encode([]rune(f.expr(x.X).Text)))))
	case *tree.Intrinsic:
		return f.intrinsic(x)
	}
	panic(unknown{})
}

func (f *frame) all(list []tree.Expr) []Value {
	values := make([]Value, len(list))
	for i, x := range list {
		values[i] = f.expr(x)
	}
	return values
}

func (f *frame) unary(x *tree.Unary) Value {
	v := f.expr(x.X)
	switch x.Op {
	case tree.Not:
		return truth(!v.true())
	case tree.Neg:
		return number(-v.Num)
	case tree.BitNot:
		return number(float64(^toInt32(v.Num)))
	}
	return v
}

// toInt32 is the conversion of that name.
func toInt32(v float64) int32 {
	if v != v || math.IsInf(v, 0) {
		return 0
	}
	v = math.Mod(math.Trunc(v), 1<<32)
	return int32(uint32(int64(v)))
}

func apply(op tree.Op, a, b Value, f *frame) Value {
	if a.Kind == tree.Str && b.Kind == tree.Str {
		return truth(ordered(op, a.Text == b.Text, compare(a.Text, b.Text)))
	}
	x, y := a.Num, b.Num
	order := 1
	if x < y {
		order = -1
	}
	switch op {
	case tree.Lt, tree.Le, tree.Gt, tree.Ge:
		return truth(x == x && y == y && ordered(op, x == y, order))
	case tree.Eq:
		return truth(x == y)
	case tree.Ne:
		return truth(x != y)
	case tree.Pow:
		return f.function("pow", []Value{a, b})
	}
	return number(arithmetic(op, x, y))
}

func ordered(op tree.Op, equal bool, order int) bool {
	switch op {
	case tree.Eq:
		return equal
	case tree.Ne:
		return !equal
	case tree.Lt:
		return !equal && order < 0
	case tree.Le:
		return equal || order < 0
	case tree.Gt:
		return !equal && order > 0
	}
	return equal || order > 0
}

// compare orders texts by their units of UTF-16.
func compare(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func arithmetic(op tree.Op, x, y float64) float64 {
	switch op {
	case tree.Add:
		return float64(x + y)
	case tree.Sub:
		return float64(x - y)
	case tree.Mul:
		return float64(x * y)
	case tree.Div:
		return float64(x / y)
	case tree.Rem:
		return math.Mod(x, y)
	case tree.BitAnd:
		return float64(toInt32(x) & toInt32(y))
	case tree.BitOr:
		return float64(toInt32(x) | toInt32(y))
	case tree.BitXor:
		return float64(toInt32(x) ^ toInt32(y))
	case tree.Shl:
		return float64(toInt32(x) << (uint32(toInt32(y)) & 31))
	case tree.Shr:
		return float64(toInt32(x) >> (uint32(toInt32(y)) & 31))
	case tree.ShrU:
		return float64(uint32(toInt32(x)) >> (uint32(toInt32(y)) & 31))
	}
	panic(unknown{})
}

func (f *frame) assign(x *tree.Assign) Value {
	t, ok := x.Target.(*tree.VarRef)
	if !ok || f.vars == nil {
		panic(unknown{})
	}
	old := f.vars[t.Var]
	v := old
	switch {
	case x.Op == tree.NoOp:
		v = f.expr(x.X)
	case x.Op.Lazy():
		if old.true() == (x.Op == tree.And) {
			v = f.expr(x.X)
		}
	default:
		v = apply(x.Op, old, f.expr(x.X), f)
	}
	f.vars[t.Var] = v
	if x.Old {
		return old
	}
	return v
}

// call runs a function.
func (f *frame) call(fn *tree.Func, args []Value) Value {
	in := &frame{Evaluator: f.Evaluator, fn: fn, vars: map[*tree.Var]Value{}}
	for i, p := range fn.Params {
		in.vars[p] = args[i]
	}
	if in.stmts(fn.Body); in.out.Kind == tree.Bad {
		panic(unknown{})
	}
	return in.out
}

func (f *frame) index(x *tree.Index) Value {
	from, at := 0, 0
	for i, level := range x.Table.Levels {
		count := level.Lens[0]
		if i > 0 {
			from = 0
			f.steps += at / 16 // as it goes over so many
			for _, n := range level.Lens[:at] {
				from += n
			}
			count = level.Lens[at]
		}
		k := f.expr(x.Path[i])
		n := int(k.Num)
		if level.Keys != nil {
			f.steps += len(level.Keys) / 16
			n = slices.Index(level.Keys, k.Text)
		} else if float64(n) != k.Num {
			panic(unknown{})
		}
		if n < 0 || n >= count {
			panic(unknown{})
		}
		at = from + n
	}
	if x.Table.Kind == tree.Str {
		return Value{Kind: tree.Str, Text: x.Table.Texts[at]}
	}
	return Value{Kind: x.Table.Kind, Num: x.Table.Values[at]}
}

func (f *frame) intrinsic(x *tree.Intrinsic) Value {
	args := f.all(x.Args)
	word := func(i int) uint64 { return math.Float64bits(args[i].Num) }
	switch x.What {
	case tree.HighWord:
		return number(float64(int32(word(0) >> 32)))
	case tree.LowWord:
		return number(float64(uint32(word(0))))
	case tree.FromWords:
		return number(math.Float64frombits(uint64(uint32(toInt32(args[0].Num)))<<32 | uint64(uint32(toInt32(args[1].Num)))))
	case tree.Scale:
		return number(math.Float64frombits(word(0) + word(1)<<52))
	case tree.Head:
		return number(math.Float64frombits(word(0) &^ (1<<27 - 1)))
	case tree.SetTail:
		f.tail = args[0].Num
	case tree.Tail:
		return number(f.tail)
	}
	return Value{}
}

// function is one of Math's, or of Number's.
func (f *frame) function(name string, args []Value) Value {
	list := make([]float64, len(args))
	for i, a := range args {
		list[i] = a.Num
	}
	x := list[0]
	switch name {
	case "isNaN":
		return truth(x != x)
	case "isFinite":
		return truth(math.Abs(x) < math.Inf(1))
	case "isInteger":
		return truth(math.Trunc(x) == x && math.Abs(x) < math.Inf(1))
	case "isSafeInteger":
		return truth(math.Trunc(x) == x && math.Abs(x) <= 1<<53-1)
	case "abs":
		return number(math.Abs(x))
	case "ceil":
		return number(math.Ceil(x))
	case "floor":
		return number(math.Floor(x))
	case "trunc":
		return number(math.Trunc(x))
	case "sqrt":
		return number(math.Sqrt(x))
	case "fround":
		return number(float64(float32(x)))
	case "round":
		return number(round(x))
	case "sign":
		if x > 0 {
			x = 1
		} else if x < 0 {
			x = -1
		}
		return number(x)
	case "min":
		return number(slices.Min(list))
	case "max":
		return number(slices.Max(list))
	case "imul":
		return number(float64(toInt32(x) * toInt32(list[1])))
	case "clz32":
		return number(float64(bits.LeadingZeros32(uint32(toInt32(x)))))
	case "pow":
		if list[1] == 2 {
			return number(float64(x * x))
		}
	case "hypot":
		if len(args) != 2 {
			return number(f.hypot(list))
		}
	}
	if fn := f.math(name); fn != nil {
		return f.call(fn, args)
	}
	panic(unknown{})
}

func round(x float64) float64 {
	r := math.Floor(x)
	if x-r >= 0.5 {
		r++
	}
	return math.Copysign(r, x)
}

// hypot is that of one number or of more than two, as it is lowered.
func (f *frame) hypot(list []float64) float64 {
	if len(list) == 1 {
		return math.Abs(list[0])
	}
	library := func(name string, args ...float64) float64 {
		values := make([]Value, len(args))
		for i, a := range args {
			values[i] = number(a)
		}
		return f.call(f.math(name), values).Num
	}
	most := math.Abs(list[0])
	for _, v := range list[1:] {
		most = library("larger", most, v)
	}
	if !(most < math.Inf(1)) {
		return most
	}
	scale := library("scaleOf", most)
	f.tail = 0
	sum := 0.0
	for _, v := range list {
		sum = library("plusSquare", sum, float64(v*scale))
	}
	return library("rootOf", sum, scale)
}
