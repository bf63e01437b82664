package ir_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/ir/irtest"
)

// everything has each kind of statement and expression.
const everything = `func pair(a i32, b f64) f64 {
  return f64.add(f64.convert_i32_s(a), b)
}
func f(base i32, row i32) i32 {
  x = -1.5f
  x.2 = 0x7ffL
  $seed = i64.mul(x.2, 0x9e3779b97f4a7c15L)
  f32[row + field(2.1)] = x
  u8[row + 4] = 300  ; sent
  i32[base + counts(2)+4] = i32.sub(i32[base + counts(2)+4], 1)
  u16[base + instance(3)] = i16[row + command(1.2)]
  copy row, i32.add(base, rows(2)), stride(2)  ; sent
  zero row, command.stride
  eval pair(1, NaNf)
  if i32.and(i32[row], 1) {
    trap 3 at 7
  } else {
    if server {
      fuel 12
    }
  }
  block @out {
    loop @again {
      x = (f64.lt(x, +Inff) ? {
        y = f64.mul(x, -0f)
        => f64.neg(y) } : f64[data(TABLE) + 8])
      br @again
    }
    br @out
  }
  block @out.2 {
    if $fault {
      br @out.2
    }
  }
  return toint32(pair(field(1.2), x))
}
`

func parse(t *testing.T, text string) []*ir.Func {
	t.Helper()
	list, err := irtest.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return list
}

// What is printed is read as what it was, so that goldens say all that there is.
func TestPrint(t *testing.T) {
	list := parse(t, everything)
	if got := irtest.Print(list); got != everything {
		t.Errorf("got\n%s\nwant\n%s", got, everything)
	}
}

// The bodies that the compiler's goldens have go through the same.
func TestPrintBodies(t *testing.T) {
	text, err := os.ReadFile("../../testdata/ir.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range strings.Split(string(text), "### ")[1:] {
		_, printed, ok := strings.Cut(c, "-- ir --\n")
		if !ok {
			t.Fatalf("no ir in\n%s", c)
		}
		want := callees(numbered(printed))
		if got := irtest.Print(parse(t, want)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		n++
	}
	if n == 0 {
		t.Error("no goldens")
	}
}

var (
	namedField = regexp.MustCompile(`\b(\w+)\.([A-Za-z_]\w*)([^\w(.])`)
	namedPlace = regexp.MustCompile(`\b(first|rows|live|sorted|size)\((\w+)\)`)
)

// numbered gives places numbers in the place of their names.
func numbered(text string) string {
	numbers := map[string]int{}
	number := func(name string) int {
		if _, ok := numbers[name]; !ok {
			numbers[name] = len(numbers)
		}
		return numbers[name]
	}
	text = namedField.ReplaceAllStringFunc(text, func(s string) string {
		m := namedField.FindStringSubmatch(s)
		if m[1] == "game" {
			return fmt.Sprintf("instance(%d)%s", number(m[2]), m[3])
		}
		return fmt.Sprintf("field(%d.%d)%s", number(m[1]), number(m[2]), m[3])
	})
	forms := map[string]string{"first": "rows(%d)", "size": "stride(%d)", "rows": "counts(%d)", "live": "counts(%d)+4", "sorted": "counts(%d)+8"}
	return namedPlace.ReplaceAllStringFunc(text, func(s string) string {
		m := namedPlace.FindStringSubmatch(s)
		return fmt.Sprintf(forms[m[1]], number(m[2]))
	})
}

// callees brings printed functions into the order that they can be read in.
func callees(text string) string {
	funcs := strings.SplitAfter(strings.ReplaceAll(text, "}\n\nfunc", "}\nfunc"), "\n}\n")
	var b strings.Builder
	for i := len(funcs) - 1; i >= 0; i-- {
		b.WriteString(funcs[i])
	}
	return b.String()
}

func TestWalk(t *testing.T) {
	list := parse(t, everything)
	pair, f := list[0], list[1]
	stmts, exprs := map[string]int{}, map[string]int{}
	count := func(m map[string]int, x any) { m[strings.TrimPrefix(reflect.TypeOf(x).String(), "*ir.")]++ }
	ir.Each(f.Body, func(s ir.Stmt) { count(stmts, s) }, func(x ir.Expr) { count(exprs, x) })
	if want := map[string]int{
		"Set": 4, "SetGlobal": 1, "Store": 4, "Copy": 1, "Fill": 1, "Eval": 1, "If": 3, "Block": 2, "Loop": 1, "Br": 3, "Return": 1, "Fuel": 1, "Trap": 1,
	}; !reflect.DeepEqual(stmts, want) {
		t.Errorf("statements %v, want %v", stmts, want)
	}
	if want := map[string]int{
		"Const": 10, "Sym": 5, "DataAddr": 1, "Get": 16, "GetGlobal": 1, "Load": 4, "Apply": 8, "Cond": 1, "Call": 2, "Seq": 1,
	}; !reflect.DeepEqual(exprs, want) {
		t.Errorf("expressions %v, want %v", exprs, want)
	}
	if got := ir.Callees(f.Body); len(got) != 1 || got[0] != pair {
		t.Errorf("it calls %v", got)
	}
	if got := ir.Reach(f, pair, f); len(got) != 2 || got[0] != f || got[1] != pair {
		t.Errorf("reached %v", got)
	}
}

// A rewriter that changes nothing gives back the same lists; one that does leaves
// the original as it was and shares what it did not touch.
func TestRewriter(t *testing.T) {
	f := parse(t, everything)[1]
	if got := (&ir.Rewriter{}).Body(f.Body); !ir.Same(got, f.Body) {
		t.Error("a rewriter without functions gave another list")
	}
	r := &ir.Rewriter{}
	r.Stmt = func(s ir.Stmt) []ir.Stmt { return r.One(s) }
	r.Expr = func(x ir.Expr) ir.Expr { return x }
	if got := r.Body(f.Body); !ir.Same(got, f.Body) {
		t.Error("a rewriter that keeps everything gave another list")
	}
	r.Expr = func(x ir.Expr) ir.Expr {
		if c, ok := x.(*ir.Const); ok && c.T == ir.F64 {
			return ir.Num(2)
		}
		return x
	}
	r.Stmt = func(s ir.Stmt) []ir.Stmt {
		switch s := s.(type) {
		case *ir.Trap:
			return nil
		case *ir.Fuel:
			return []ir.Stmt{s, s}
		}
		return r.One(s)
	}
	body := r.Body(f.Body)
	if got := ir.Text(f); got != everything[strings.Index(everything, "func f"):] {
		t.Errorf("the original is\n%s", got)
	}
	want := strings.NewReplacer("-1.5f", "2f", "NaNf", "2f", "+Inff", "2f", "-0f", "2f", "    trap 3 at 7\n", "", "      fuel 12\n", "      fuel 12\n      fuel 12\n").
		Replace(everything[strings.Index(everything, "func f"):])
	if got := ir.Text(&ir.Func{Name: "f", Params: f.Params, Result: f.Result, Body: body}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i := range body {
		_, fill := body[i].(*ir.Fill)
		_, store := body[i].(*ir.Store)
		if (fill || store) && body[i] != f.Body[i] {
			t.Errorf("statement %d was copied for nothing", i)
		}
	}
}

// Copies get locals and labels of their own, the others stay.
func TestRewriterNames(t *testing.T) {
	f := parse(t, "func f(a i32) {\n  block @out {\n    b = a\n    if b {\n      br @out\n    }\n  }\n}\n")[0]
	block := f.Body[0].(*ir.Block)
	b := block.Body[0].(*ir.Set).Local
	r := &ir.Rewriter{
		Locals: map[*ir.Local]*ir.Local{b: {Name: "c", Type: ir.I32}},
		Labels: map[*ir.Label]*ir.Label{block.Label: {Name: "end"}},
	}
	got := ir.Text(&ir.Func{Name: "f", Params: f.Params, Body: r.Body(f.Body)})
	if want := "func f(a i32) {\n  block @end {\n    c = a\n    if c {\n      br @end\n    }\n  }\n}\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Each operator prints under a name of its own and says what it takes and gives.
func TestOperators(t *testing.T) {
	seen := map[string]bool{}
	for o := ir.EqzI32; o <= ir.ToI64; o++ {
		if o.String() == "" || seen[o.String()] {
			t.Errorf("operator %d is called %q", o, o)
		}
		seen[o.String()] = true
		if o.In() == ir.Void || o.Out() == ir.Void {
			t.Errorf("%s has no type", o)
		}
		if (o.Code() == nil) != (o == ir.ToInt32) {
			t.Errorf("%s has the code %x", o, o.Code())
		}
	}
}
