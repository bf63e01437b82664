package ir

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Print writes the function as text, one statement a line, for people and for
// golden tests. Equal names of different locals and labels get numbers. Places in the
// state are numbers.
func Print(w io.Writer, f *Func) { PrintNamed(w, f, Offset.String) }

// PrintNamed is Print with places as name writes them.
func PrintNamed(w io.Writer, f *Func, name func(Offset) string) {
	p := &printer{w: w, name: name, locals: map[*Local]string{}, labels: map[*Label]string{}, used: map[string]int{}}
	params := make([]string, len(f.Params))
	for i, l := range f.Params {
		params[i] = p.local(l) + " " + l.Type.String()
	}
	result := ""
	if f.Result != Void {
		result = " " + f.Result.String()
	}
	fmt.Fprintf(w, "func %s(%s)%s {\n", f.Name, strings.Join(params, ", "), result)
	p.stmts(f.Body)
	fmt.Fprintln(w, "}")
}

// Text is Print into a string.
func Text(f *Func) string {
	var b strings.Builder
	Print(&b, f)
	return b.String()
}

type printer struct {
	w      io.Writer
	name   func(Offset) string
	depth  int
	locals map[*Local]string
	labels map[*Label]string
	used   map[string]int
}

func (p *printer) unique(name string) string {
	p.used[name]++
	if n := p.used[name]; n > 1 {
		return name + "." + strconv.Itoa(n)
	}
	return name
}

func (p *printer) local(l *Local) string {
	s, ok := p.locals[l]
	if !ok {
		s = p.unique(l.Name)
		p.locals[l] = s
	}
	return s
}

func (p *printer) label(l *Label) string {
	s, ok := p.labels[l]
	if !ok {
		s = p.unique("@" + l.Name)
		p.labels[l] = s
	}
	return s
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.w, "%s%s\n", strings.Repeat("  ", p.depth), fmt.Sprintf(format, args...))
}

func (p *printer) stmts(l []Stmt) {
	p.depth++
	for _, s := range l {
		p.stmt(s)
	}
	p.depth--
}

func (p *printer) block(head string, body []Stmt) {
	p.line("%s {", head)
	p.stmts(body)
	p.line("}")
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Set:
		p.line("%s = %s", p.local(s.Local), p.expr(s.X))
	case *SetGlobal:
		p.line("$%s = %s", s.Global.Name, p.expr(s.X))
	case *Store:
		p.line("%s[%s] = %s%s", memNames[s.Mem], p.place(s.Addr, s.Off), p.expr(s.X), sentMark(s.Sent))
	case *Copy:
		p.line("copy %s, %s, %s%s", p.expr(s.Dst), p.expr(s.Src), p.expr(s.N), sentMark(s.Sent))
	case *Fill:
		p.line("zero %s, %s", p.expr(s.Dst), p.expr(s.N))
	case *Eval:
		p.line("eval %s", p.expr(s.X))
	case *If:
		p.line("if %s {", p.expr(s.Test))
		p.stmts(s.Then)
		if len(s.Else) > 0 {
			p.line("} else {")
			p.stmts(s.Else)
		}
		p.line("}")
	case *Block:
		p.block("block "+p.label(s.Label), s.Body)
	case *Loop:
		p.block("loop "+p.label(s.Label), s.Body)
	case *Br:
		p.line("br %s", p.label(s.Label))
	case *Return:
		if s.X == nil {
			p.line("return")
		} else {
			p.line("return %s", p.expr(s.X))
		}
	case *Fuel:
		p.line("fuel %d", s.Cost)
	case *Trap:
		p.line("trap %d at %d", s.Fault, s.At)
	}
}

func sentMark(sent bool) string {
	if sent {
		return "  ; sent"
	}
	return ""
}

func (p *printer) place(addr Expr, off Offset) string {
	s := p.expr(addr)
	if o := p.name(off); o != "0" {
		s += " + " + o
	}
	return s
}

// String is the offset in printed form.
func (o Offset) String() string {
	var s string
	switch o.Place {
	case RowField:
		s = fmt.Sprintf("field(%d.%d)", o.Type, o.Field)
	case Instance:
		s = fmt.Sprintf("instance(%d)", o.Field)
	case Rows:
		s = fmt.Sprintf("rows(%d)", o.Type)
	case Counts:
		s = fmt.Sprintf("counts(%d)", o.Type)
	case Stride:
		s = fmt.Sprintf("stride(%d)", o.Type)
	case CommandField:
		s = fmt.Sprintf("command(%d.%d)", o.Type, o.Field)
	case CommandStride:
		s = "command.stride"
	case ServerSide:
		s = "server"
	default:
		return strconv.Itoa(o.Add)
	}
	if o.Add != 0 {
		s += "+" + strconv.Itoa(o.Add)
	}
	return s
}

func (p *printer) expr(e Expr) string {
	switch e := e.(type) {
	case *Const:
		switch e.T {
		case F64:
			return strconv.FormatFloat(e.Value(), 'g', -1, 64) + "f"
		case I64:
			return fmt.Sprintf("%#xL", e.Bits)
		}
		return strconv.Itoa(int(int32(uint32(e.Bits))))
	case *Sym:
		return p.name(e.Off)
	case *DataAddr:
		return "data(" + e.Data.Name + ")"
	case *Get:
		return p.local(e.Local)
	case *GetGlobal:
		return "$" + e.Global.Name
	case *Load:
		return fmt.Sprintf("%s[%s]", memNames[e.Mem], p.place(e.Addr, e.Off))
	case *Apply:
		if e.Y == nil {
			return fmt.Sprintf("%s(%s)", e.Op, p.expr(e.X))
		}
		return fmt.Sprintf("%s(%s, %s)", e.Op, p.expr(e.X), p.expr(e.Y))
	case *Cond:
		return fmt.Sprintf("(%s ? %s : %s)", p.expr(e.Test), p.expr(e.Then), p.expr(e.Else))
	case *Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = p.expr(a)
		}
		return fmt.Sprintf("%s(%s)", e.Fn.Name, strings.Join(args, ", "))
	case *Seq:
		var b strings.Builder
		inner := *p
		inner.w = &b
		inner.stmts(e.Body)
		return fmt.Sprintf("{\n%s%s=> %s }", b.String(), strings.Repeat("  ", p.depth+1), inner.expr(e.Value))
	case nil:
		return "nil"
	}
	return fmt.Sprintf("%T", e)
}
