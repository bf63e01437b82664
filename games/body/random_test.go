package body_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gamehoster/games/body"
)

// generator writes random programs that are well typed and end. Half of what
// they compute are small integers, as that is what the optimiser works on.
type generator struct {
	r     *rand.Rand
	vars  []string // numbers in scope that may be assigned
	fixed []string // numbers in scope that may not
	names int
}

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

var numberFields = []string{"i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64"}

func (g *generator) field() string { return "self." + numberFields[g.r.IntN(len(numberFields))] }

func (g *generator) literal() string {
	return g.pick("0", "1", "2", "3", "7", "8", "10", "100", "255", "256", "1000", "65535", "65536", "0.5", "0.1", "1.5", "1e9", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740991", "1e-7", "1e300", "Infinity", "NaN", "-0", "-1", "-2", "-128", "-2147483648")
}

func (g *generator) number(depth int) string {
	if depth <= 0 {
		all := append(append([]string{}, g.vars...), g.fixed...)
		switch n := g.r.IntN(10); {
		case n < 4 && len(all) > 0:
			return g.pick(all...)
		case n < 7:
			return g.field()
		case n < 8:
			return "TABLE[" + g.pick("0", "1", "2", "3") + "]"
		}
		return "(" + g.literal() + ")"
	}
	d := depth - 1
	switch g.r.IntN(22) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("(%s %s %s)", g.number(d), g.pick("+", "-", "*"), g.number(d))
	case 4:
		return fmt.Sprintf("(%s %s %s)", g.number(d), g.pick("/", "%"), g.number(d))
	case 5, 6:
		return fmt.Sprintf("(%s %s %s)", g.number(d), g.pick("&", "|", "^", "<<", ">>", ">>>"), g.number(d))
	case 7:
		return fmt.Sprintf("(%s %s %s)", g.number(d), g.pick("&", "|", ">>", ">>>", "%", "*", "+"), g.pick("1", "7", "15", "3", "31", "255"))
	case 8:
		return fmt.Sprintf("(%s%s)", g.pick("-", "~", "+"), g.number(d))
	case 9, 10:
		return fmt.Sprintf("Math.%s(%s)", g.pick("floor", "ceil", "trunc", "round", "abs", "sqrt", "sign", "fround"), g.number(d))
	case 11:
		return fmt.Sprintf("Math.%s(%s, %s)", g.pick("min", "max", "imul"), g.number(d), g.number(d))
	case 12:
		return fmt.Sprintf("(%s ? %s : %s)", g.boolean(d), g.number(d), g.number(d))
	case 13:
		return fmt.Sprintf("(%s ** 2)", g.number(d))
	case 14:
		if len(g.vars) > 0 {
			return fmt.Sprintf("(%s%s)", g.pick(g.vars...), g.pick("++", "--"))
		}
	case 15:
		return fmt.Sprintf("(%s %s %s)", g.field(), g.pick("=", "+=", "-=", "*=", "|=", "%="), g.number(d))
	case 16:
		return fmt.Sprintf("(%s%s)", g.pick("++", "--"), g.field())
	case 17:
		return fmt.Sprintf("(%s %s %s)", g.number(d), g.pick("||", "&&"), g.number(d))
	case 18:
		return fmt.Sprintf("Math.%s(%s)", g.pick("sin", "cos", "atan"), g.number(d))
	case 19:
		return fmt.Sprintf("helper%d(%s, %s)", g.r.IntN(3), g.number(d), g.number(d))
	case 20:
		return "random()"
	}
	return g.number(d)
}

func (g *generator) boolean(depth int) string {
	d := depth - 1
	switch g.r.IntN(6) {
	case 0:
		return "self.b"
	case 1:
		if depth > 0 {
			return fmt.Sprintf("(!%s)", g.boolean(d))
		}
	case 2:
		if depth > 0 {
			return fmt.Sprintf("(%s %s %s)", g.boolean(d), g.pick("&&", "||", "===", "!=="), g.boolean(d))
		}
	}
	return fmt.Sprintf("(%s %s %s)", g.number(d), g.pick("<", "<=", ">", ">=", "===", "!=="), g.number(d))
}

func (g *generator) name() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

// block is statements with the names they declare out of scope behind them.
func (g *generator) block(n, depth int) string {
	vars, fixed := len(g.vars), len(g.fixed)
	var b strings.Builder
	for range n {
		b.WriteString(g.statement(depth))
	}
	g.vars, g.fixed = g.vars[:vars], g.fixed[:fixed]
	return b.String()
}

func (g *generator) statement(depth int) string {
	switch n := g.r.IntN(12); {
	case n < 3:
		x := g.number(3)
		v := g.name()
		g.vars = append(g.vars, v)
		return fmt.Sprintf("let %s = %s;\n", v, x)
	case n < 5 && len(g.vars) > 0:
		return fmt.Sprintf("%s %s %s;\n", g.pick(g.vars...), g.pick("=", "+=", "-=", "*=", "&=", "|=", "<<=", ">>>=", "%=", "/="), g.number(2))
	case n < 7:
		return fmt.Sprintf("%s %s %s;\n", g.field(), g.pick("=", "=", "+=", "-=", "*="), g.number(3))
	case n < 8:
		return fmt.Sprintf("self.b = %s;\n", g.boolean(2))
	case depth <= 0:
		return fmt.Sprintf("%s = %s;\n", g.field(), g.number(2))
	case n < 9:
		return fmt.Sprintf("if (%s) {\n%s} else {\n%s}\n", g.boolean(2), g.block(2, depth-1), g.block(1, depth-1))
	case n < 10:
		v := g.name()
		g.fixed = append(g.fixed, v)
		body := g.block(2, depth-1)
		g.fixed = g.fixed[:len(g.fixed)-1]
		leave := ""
		if g.r.IntN(3) == 0 {
			leave = fmt.Sprintf("if (%s) %s;\n", g.boolean(1), g.pick("break", "continue"))
		}
		return fmt.Sprintf("for (let %s = %s; %s < %d; %s%s) {\n%s%s}\n", v, g.pick("0", "1", "-3", "2"), v, 3+g.r.IntN(6), v, g.pick("++", " += 2"), body, leave)
	case n < 11:
		v := g.name()
		g.fixed = append(g.fixed, v)
		body := g.block(1, depth-1)
		g.fixed = g.fixed[:len(g.fixed)-1]
		return fmt.Sprintf("let %s = %d;\nwhile (%s-- > 0) {\n%s}\n", v, g.r.IntN(5), v, body)
	}
	return fmt.Sprintf("switch (%s & 3) {\ncase 0: %scase 1: {\n%sbreak; }\ndefault: %s}\n", g.field(), g.pick("", "break;\n"), g.block(1, depth-1), fmt.Sprintf("%s = %s;\n", g.field(), g.number(1)))
}

// program is a game whose cells each run a function of their own.
func program(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	fmt.Fprintf(&b, "-- instance.server.js --\nexport function start() {\n  for (let i = 0; i < %d; i++) {\n    const c = game.cells.spawn();\n    if (c) { c.n = i; c.f64 = serverRandom() * 100 - 50; c.i32 = serverRandom() * 1000; c.u8 = i * 3; }\n  }\n}\n", n)
	b.WriteString("-- cell.js --\nconst TABLE = [1.5, -3, 1000000, 0];\n")
	for i := range 3 {
		g := &generator{r: r, fixed: []string{"a", "b"}}
		fmt.Fprintf(&b, "function helper%d(a, b) { if (a > b) return a; const c = a * 2 - b; return %s; }\n", i, g.pick("c % 7", "(c | 0) + 1", "Math.max(a, b, c)", "c > 100 ? 100 : c"))
	}
	for i := range n {
		g := &generator{r: r}
		fmt.Fprintf(&b, "function f%d(self) {\n%s}\n", i, g.block(5, 3))
	}
	b.WriteString("export function update(self) {\n  switch (self.n) {\n")
	for i := range n {
		fmt.Fprintf(&b, "    case %d: f%d(self); break;\n", i, i)
	}
	b.WriteString("  }\n}\n")
	return b.String()
}

const randomTypes = "instance unused:u8\nplayer 1 unused:u8\ncell cells 64 n:u8 i8:i8 u8:u8 i16:i16 u16:u16 i32:i32 u32:u32 f32:f32 f64:f64 b:bool\n"

// TestRandomPrograms runs random programs as wasm and in Node. A new seed every
// hour keeps looking for what the first ones did not find.
func TestRandomPrograms(t *testing.T) {
	seeds := []uint64{1, 2, 3, uint64(time.Now().Unix() / 3600)}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			def := define(t, randomTypes)
			text := program(seed, 48)
			files := bodies(text)
			compareTwin(t, def, files, 60, idle)
			plain, list := body.Compile(def, files, body.Options{Plain: true})
			if plain == nil {
				t.Fatal(list)
			}
			a, b := newWorld(t, def, compile(t, def, text), worldOptions{}), newWorld(t, def, plain, worldOptions{})
			for range 60 {
				a.must(input{})
				b.must(input{})
				if string(a.state()) != string(b.state()) {
					t.Fatal("the optimiser changes what the program does")
				}
			}
		})
	}
}
