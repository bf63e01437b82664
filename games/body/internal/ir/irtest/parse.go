// Package irtest reads the printed form of ir, so that tests can be texts: what
// ir.Print writes, Parse reads, but for the place of a fuel, which is not printed.
// Nothing but tests imports it.
package irtest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gamehoster/games/body/internal/ir"
)

// Print is the text of functions.
func Print(list []*ir.Func) string {
	var b strings.Builder
	for _, f := range list {
		ir.Print(&b, f)
	}
	return b.String()
}

// token matches one token behind blanks.
var token = regexp.MustCompile(`^(?:[ \t\n]|;.*sent)*(=>|0x[0-9a-f]+L|[-+]?(?:Inf|NaN|[0-9][0-9.]*(?:e[-+]?[0-9]+)?)f?|[@$]?[A-Za-z_][A-Za-z0-9_.]*|"(?:[^"\\]|\\.)*"|[][(){}?:=,+;])`)

type parser struct {
	rest    string
	line    string // of the last token, with what follows it
	funcs   map[string]*ir.Func
	globals map[string]*ir.Global
	data    map[string]*ir.Data
	locals  map[string]*ir.Local
	labels  map[string]*ir.Label
}

// syntaxError is what a parser panics with.
type syntaxError struct{ error }

// Parse reads functions, each of which may call those before it, and itself. A
// local has the type of what is first set to it.
func Parse(text string) (list []*ir.Func, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	p := &parser{rest: text, funcs: map[string]*ir.Func{}, globals: map[string]*ir.Global{}, data: map[string]*ir.Data{}}
	for p.peek() != "" {
		list = append(list, p.function())
	}
	return list, nil
}

func (p *parser) fail(format string, args ...any) {
	line, _, _ := strings.Cut(p.line, "\n")
	panic(syntaxError{fmt.Errorf("reading ir: %s at %q", fmt.Sprintf(format, args...), line)})
}

func (p *parser) peek() string {
	m := token.FindStringSubmatch(p.rest)
	if m == nil {
		if strings.TrimSpace(p.rest) != "" {
			p.line = p.rest
			p.fail("no token")
		}
		return ""
	}
	return m[1]
}

func (p *parser) next() string {
	t := p.peek()
	p.line = p.rest
	at := token.FindStringSubmatchIndex(p.rest)
	if at == nil {
		p.fail("the text ends")
	}
	p.rest = p.rest[at[3]:]
	return t
}

// take takes a token if it comes next.
func (p *parser) take(t string) bool {
	if p.peek() != t {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(t string) {
	if got := p.next(); got != t {
		p.fail("%q where %q should be", got, t)
	}
}

func (p *parser) int() int {
	n, err := strconv.Atoi(p.next())
	if err != nil {
		p.fail("no number")
	}
	return n
}

var types = map[string]ir.Type{"i32": ir.I32, "i64": ir.I64, "f64": ir.F64}

func (p *parser) function() *ir.Func {
	p.locals, p.labels = map[string]*ir.Local{}, map[string]*ir.Label{}
	p.want("func")
	f := &ir.Func{Name: p.next()}
	p.want("(")
	for !p.take(")") {
		name := p.next()
		l := p.local(name, types[p.next()])
		f.Params = append(f.Params, l)
		p.take(",")
	}
	if t, ok := types[p.peek()]; ok {
		p.next()
		f.Result = t
	}
	p.funcs[f.Name] = f
	f.Body = p.block()
	return f
}

// local gives the local of a name. Those of one name that print as x and x.2 are
// called x both.
func (p *parser) local(name string, t ir.Type) *ir.Local {
	l := p.locals[name]
	if l == nil {
		if t == ir.Void {
			p.fail("%s was not set", name)
		}
		l = &ir.Local{Name: plain(name), Type: t}
		p.locals[name] = l
	}
	return l
}

func plain(name string) string {
	if base, number, ok := strings.Cut(name, "."); ok {
		if n, err := strconv.Atoi(number); err == nil && n > 1 {
			return base
		}
	}
	return name
}

func (p *parser) label(name string) *ir.Label {
	l := p.labels[name]
	if l == nil {
		l = &ir.Label{Name: plain(name[1:])}
		p.labels[name] = l
	}
	return l
}

func (p *parser) block() (list []ir.Stmt) {
	p.want("{")
	for !p.take("}") {
		list = append(list, p.stmt())
	}
	return list
}

var memories = map[string]ir.Mem{
	"i8": ir.MemI8, "u8": ir.MemU8, "i16": ir.MemI16, "u16": ir.MemU16, "i32": ir.MemI32, "i64": ir.MemI64, "f32": ir.MemF32, "f64": ir.MemF64,
}

// sent reports whether the line of the last token ends in the mark of a sent store.
func (p *parser) sent() bool {
	line, _, _ := strings.Cut(p.rest, "\n")
	return strings.TrimSpace(line) == "; sent"
}

func (p *parser) stmt() ir.Stmt {
	t := p.next()
	switch t {
	case "if":
		s := &ir.If{Test: p.expr(), Then: p.block()}
		if p.take("else") {
			s.Else = p.block()
		}
		return s
	case "block":
		return &ir.Block{Label: p.label(p.next()), Body: p.block()}
	case "loop":
		return &ir.Loop{Label: p.label(p.next()), Body: p.block()}
	case "br":
		return &ir.Br{Label: p.label(p.next())}
	case "eval":
		return &ir.Eval{X: p.expr()}
	case "copy", "zero":
		a := []ir.Expr{p.expr()}
		for p.take(",") {
			a = append(a, p.expr())
		}
		if t == "zero" {
			return &ir.Fill{Dst: a[0], N: a[1]}
		}
		return &ir.Copy{Dst: a[0], Src: a[1], N: a[2], Sent: p.sent()}
	case "return":
		if line, _, _ := strings.Cut(p.rest, "\n"); strings.TrimSpace(line) == "" {
			return &ir.Return{}
		}
		return &ir.Return{X: p.expr()}
	case "fuel":
		return &ir.Fuel{Cost: p.int()}
	case "trap":
		s := &ir.Trap{Fault: uint32(p.int())}
		p.want("at")
		s.At = p.int()
		return s
	}
	if m, ok := memories[t]; ok {
		addr, off := p.place()
		p.want("=")
		return &ir.Store{Addr: addr, Off: off, Mem: m, X: p.expr(), Sent: p.sent()}
	}
	p.want("=")
	x := p.expr()
	if t[0] == '$' {
		return &ir.SetGlobal{Global: p.global(t, x.Type()), X: x}
	}
	return &ir.Set{Local: p.local(t, x.Type()), X: x}
}

func (p *parser) global(name string, t ir.Type) *ir.Global {
	g := p.globals[name]
	if g == nil {
		g = &ir.Global{Name: name[1:], Type: t}
		p.globals[name] = g
	}
	return g
}

// place reads [address + offset].
func (p *parser) place() (addr ir.Expr, off ir.Offset) {
	p.want("[")
	addr = p.expr()
	if p.take("+") {
		if off, _ = p.offset(p.next()); p.peek() == "+" {
			p.fail("more than one offset")
		}
	}
	p.want("]")
	return addr, off
}

var places = map[string]ir.Place{
	"field": ir.RowField, "instance": ir.Instance, "rows": ir.Rows, "counts": ir.Counts, "stride": ir.Stride, "command": ir.CommandField,
}

// offset reads an offset that begins with a token.
func (p *parser) offset(t string) (o ir.Offset, ok bool) {
	if n, err := strconv.Atoi(t); err == nil {
		return ir.At(n), true
	}
	switch t {
	case "server":
		return ir.Offset{Place: ir.ServerSide}, true
	case "command.stride":
		return ir.Offset{Place: ir.CommandStride}, true
	}
	if o.Place, ok = places[t]; !ok {
		return o, false
	}
	p.want("(")
	numbers := strings.Split(p.next(), ".")
	o.Type, _ = strconv.Atoi(numbers[0])
	if o.Place == ir.Instance {
		o.Type, o.Field = 0, o.Type
	} else if len(numbers) > 1 {
		o.Field, _ = strconv.Atoi(numbers[1])
	}
	p.want(")")
	if next := p.peek(); strings.HasPrefix(p.rest, "+") && next != "+" {
		o.Add = p.int()
	}
	return o, true
}

var operators = func() map[string]ir.Op {
	m := map[string]ir.Op{}
	for o := ir.EqzI32; o <= ir.ToI64; o++ {
		m[o.String()] = o
	}
	return m
}()

func (p *parser) expr() ir.Expr {
	t := p.next()
	switch t {
	case "(":
		c := &ir.Cond{Test: p.expr()}
		p.want("?")
		c.Then = p.expr()
		p.want(":")
		c.Else = p.expr()
		p.want(")")
		return c
	case "{":
		q := &ir.Seq{}
		for !p.take("=>") {
			q.Body = append(q.Body, p.stmt())
		}
		q.Value = p.expr()
		p.want("}")
		return q
	case "data":
		p.want("(")
		name := p.next()
		p.want(")")
		d := p.data[name]
		if d == nil {
			d = &ir.Data{Name: name, Bytes: make([]byte, 8)}
			p.data[name] = d
		}
		return &ir.DataAddr{Data: d}
	}
	if x := p.number(t); x != nil {
		return x
	}
	if m, ok := memories[t]; ok && p.peek() == "[" {
		addr, off := p.place()
		return &ir.Load{Addr: addr, Off: off, Mem: m}
	}
	if t[0] == '$' {
		return &ir.GetGlobal{Global: p.global(t, ir.I32)}
	}
	if op, ok := operators[t]; ok {
		return ir.Do(op, p.arguments()...)
	}
	if f := p.funcs[t]; f != nil {
		return &ir.Call{Fn: f, Args: p.arguments()}
	}
	if off, ok := p.offset(t); ok {
		return &ir.Sym{Off: off}
	}
	return ir.Read(p.local(t, ir.Void))
}

func (p *parser) arguments() (list []ir.Expr) {
	p.want("(")
	for !p.take(")") {
		list = append(list, p.expr())
		p.take(",")
	}
	return list
}

// number reads a constant; nil if the token is none.
func (p *parser) number(t string) ir.Expr {
	if digits, ok := strings.CutSuffix(t, "L"); ok && strings.HasPrefix(t, "0x") {
		n, err := strconv.ParseUint(digits[2:], 16, 64)
		if err != nil {
			p.fail("no number")
		}
		return ir.Long(n)
	}
	if digits, ok := strings.CutSuffix(t, "f"); ok {
		switch v, err := strconv.ParseFloat(digits, 64); {
		case digits == "NaN":
			return ir.Num(math.NaN())
		case err == nil:
			return ir.Num(v)
		}
	}
	if n, err := strconv.Atoi(t); err == nil {
		return ir.Int(n)
	}
	return nil
}
