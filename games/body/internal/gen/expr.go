package gen

import (
	"fmt"
	"strconv"

	"gamehoster/games/schema"
)

// numbers are literals: small ones, the ends of ranges and what is close to them,
// and those whose arithmetic is special.
var numbers = []string{
	"0", "1", "2", "3", "5", "7", "8", "10", "16", "31", "32", "63", "100", "255", "256", "1000",
	"127", "128", "32767", "32768", "65535", "65536", "16777216", "16777217", "1e9",
	"2147483647", "2147483648", "4294967295", "4294967296", "9007199254740991", "9007199254740993",
	"0.5", "0.1", "1.5", "0.25", "2.5", "1e-7", "1e21", "1e300", "3.4028235677973366e38", "1e39",
	"5e-324", "1e-310", "2.2250738585072014e-308", "1e-45", "1.1754943508222875e-38",
	"Infinity", "NaN", "-0", "-1", "-2", "-3", "-0.5", "-128", "-129", "-2147483648", "-2147483649", "-1e9", "-Infinity",
}

// small are literals that make denormals of what they are multiplied with, or end in them.
var small = []string{"5e-324", "1e-310", "3e-308", "1e-40", "1e-45", "2e-38", "1e-160", "1e-20", "NaN", "Infinity", "-0", "0"}

func (s *scope) literal() *Node {
	text := s.pick(numbers...)
	if s.o.Edges && s.chance(40) {
		text = s.pick(small...)
	} else if s.chance(50) {
		text = strconv.Itoa(s.r.IntN(12))
	}
	if s.server && s.o.Marks && s.chance(60) {
		text = strconv.FormatFloat(MarkNumber(s.r.IntN(MarkNumbers)), 'f', -1, 64)
	}
	if text[0] == '-' {
		text = "(" + text + ")"
	}
	return node(Number, text)
}

// leaf is a number without parts.
func (s *scope) leaf() *Node {
	switch n := s.r.IntN(20); {
	case n < 7:
		if v, ok := s.varOf(number, false); ok {
			return node(Number, v.name)
		}
	case n < 13:
		if p, ok := s.read(numeric); ok {
			return node(Number, p.text)
		}
	case n < 14 && len(s.inputs) > 0:
		if f := s.inputs[s.r.IntN(len(s.inputs))]; f.kind.Number() {
			return node(Number, f.name)
		}
	case n < 15 && s.cmd != nil:
		for _, f := range s.cmd.fields {
			if f.kind.Number() && s.chance(50) {
				return node(Number, "cmd."+f.name)
			}
		}
	case n < 16:
		if v, ok := s.here(nil); ok {
			return node(Number, v.name+".id")
		}
	case n < 17:
		return node(Number, s.pick("game.tick", "game.dt", "game."+s.anyType().plural+".count"))
	case n < 18:
		f, c := s.someConstant(scalar)
		return node(Number, s.file.use(f, c.name))
	}
	return s.literal()
}

func (s *scope) number(depth int) *Node {
	if depth <= 0 {
		return s.leaf()
	}
	d := depth - 1
	two := func(text string) *Node { return node(Number, text, s.number(d), s.number(d)) }
	one := func(text string) *Node { return node(Number, text, s.number(d)) }
	switch s.r.IntN(38) {
	case 36:
		return node(Number, s.pick("Number(@)", "(+@)"), s.boolean(d))
	case 37:
		if p, ok := s.written(numeric); ok {
			return one("(" + p.text + s.pick(" ||= ", " &&= ") + "@)")
		}
	case 0, 1, 2, 3:
		return two("(@ " + s.pick("+", "-", "*") + " @)")
	case 4:
		return two("(@ " + s.pick("/", "%") + " @)")
	case 5, 6:
		return two("(@ " + s.pick("&", "|", "^", "<<", ">>", ">>>") + " @)")
	case 7, 8:
		return one("(@ " + s.pick("& ", "| ", ">> ", ">>> ", "% ", "* ", "+ ", "- ") + s.pick("1", "2", "7", "15", "3", "31", "255", "0") + ")")
	case 9:
		return one("(" + s.pick("-", "~", "+", "- -") + "@)")
	case 10, 11:
		return one("Math." + s.pick("floor", "ceil", "trunc", "round", "abs", "sqrt", "sign", "fround", "clz32") + "(@)")
	case 12:
		return two("Math." + s.pick("min", "max", "imul") + "(@, @)")
	case 13:
		return node(Number, "Math."+s.pick("min", "max", "hypot")+"(@, @, @)", s.number(d), s.number(d), s.number(d))
	case 14, 15:
		return node(Number, "(@ ? @ : @)", s.condition(d), s.number(d), s.number(d))
	case 16:
		n := one("(@ ** " + s.pick("2", "3", "0.5", "-1", "(-0.5)") + ")")
		if s.chance(40) {
			n = two("(@ ** @)")
		}
		n.Twin = "Math.pow" + replacePower(n.Text)
		return n
	case 17:
		if v, ok := s.varOf(number, true); ok {
			return node(Number, s.pick("("+v.name+"++)", "("+v.name+"--)", "(++"+v.name+")", "(--"+v.name+")"))
		}
	case 18:
		if v, ok := s.varOf(number, true); ok {
			return one("(" + v.name + " " + s.pick("=", "+=", "-=", "*=", "|=") + " @)")
		}
	case 19, 20:
		if p, ok := s.written(numeric); ok {
			return one("(" + p.text + " " + s.pick("=", "+=", "-=", "*=", "|=", "%=", ">>=") + " @)")
		}
	case 21:
		if p, ok := s.written(numeric); ok {
			return node(Number, s.pick("("+p.text+"++)", "(--"+p.text+")"))
		}
	case 22:
		return two("(@ " + s.pick("||", "&&") + " @)")
	case 23:
		return one("Math." + s.pick("sin", "cos", "tan", "asin", "acos", "atan", "exp", "expm1", "log", "log1p", "log2", "log10",
			"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt") + "(@)")
	case 24:
		return two("Math." + s.pick("atan2", "pow", "hypot") + "(@, @)")
	case 25, 26:
		if h := s.callable(number, nil); h != nil {
			return s.call(Number, h, d)
		}
	case 27:
		if s.server && s.chance(50) {
			return node(Number, "serverRandom()")
		}
		return node(Number, "random()")
	case 28, 29:
		return s.element(d)
	case 30, 31:
		return s.fieldOfMaybe(d)
	case 32:
		return two("(@, @)").effectFirst(s)
	case 33:
		return node(Number, "@.length", s.str(d))
	case 34:
		return s.named(d)
	}
	return s.number(d)
}

// replacePower is "(a ** b)" as the arguments of a call.
func replacePower(text string) string {
	for i := 0; i+4 <= len(text); i++ {
		if text[i:i+4] == " ** " {
			return text[:i] + ", " + text[i+4:]
		}
	}
	return text
}

// effectFirst makes the first part of a comma one that does something.
func (n *Node) effectFirst(s *scope) *Node {
	if p, ok := s.written(numeric); ok {
		n.Kids[0] = node(Fixed, p.text+" = @", n.Kids[0])
		return n
	}
	return n.Kids[1]
}

// fieldOfMaybe is a number of an object that may not be there.
func (s *scope) fieldOfMaybe(d int) *Node {
	of := s.anyType()
	member := ".id"
	if f, ok := s.fieldOf(of, numeric); ok && s.chance(80) {
		member = "." + f.name
	}
	if s.risky && s.chance(15) {
		if s.file.ts && s.chance(50) {
			member = "!" + member
		}
		return node(Number, "@"+member, s.reference(of, d))
	}
	if f, ok := s.fieldOf(of, is(schema.Ref)); ok && s.chance(40) {
		if inner, ok := s.fieldOf(s.types[f.ref], numeric); ok {
			return node(Number, "(@?."+f.name+"?."+inner.name+" ?? @)", s.reference(of, d), s.number(d))
		}
	}
	return node(Number, "(@?"+member+" ?? @)", s.reference(of, d), s.number(d))
}

// fieldOf is a field of a type that can be read here.
func (s *scope) fieldOf(of *typ, kinds func(schema.Kind) bool) (*field, bool) {
	var list []*field
	for _, f := range of.fields {
		if kinds(f.kind) && s.readable(f) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil, false
	}
	return list[s.r.IntN(len(list))], true
}

func (s *scope) boolean(depth int) *Node {
	d := depth - 1
	if depth > 0 {
		switch s.r.IntN(14) {
		case 12:
			return node(Bool, s.pick("isNaN", "isFinite", "Number.isNaN", "Number.isFinite", "Number.isInteger", "Number.isSafeInteger")+"(@)", s.number(d))
		case 13:
			of := s.anyType()
			if f, ok := s.fieldOf(of, numeric); ok {
				return node(Bool, "(@?."+f.name+" "+s.pick("<", "<=", ">", ">=", "===", "!==")+" @)", s.reference(of, d), s.number(d))
			}
		case 0:
			return node(Bool, "(!@)", s.condition(d))
		case 1, 2:
			return node(Bool, "(@ "+s.pick("&&", "||", "===", "!==")+" @)", s.boolean(d), s.boolean(d))
		case 3:
			return s.sameObject(d)
		case 4:
			return node(Bool, "(@ "+s.pick("===", "!==", "<", ">=")+" @)", s.str(d), s.str(d))
		case 5:
			return node(Bool, "(@ ? @ : @)", s.condition(d), s.boolean(d), s.boolean(d))
		case 6:
			if h := s.callable(boolean, nil); h != nil {
				return s.call(Bool, h, d)
			}
		case 7:
			if p, ok := s.written(is(schema.Bool)); ok {
				return node(Bool, "("+p.text+" = @)", s.boolean(d))
			}
		}
	}
	switch s.r.IntN(8) {
	case 7:
		f, c := s.someConstant(records)
		return node(Bool, "@.on", s.at(f, c, depth-1))
	case 0:
		if p, ok := s.read(is(schema.Bool)); ok {
			return node(Bool, p.text)
		}
	case 1:
		if v, ok := s.varOf(boolean, false); ok {
			return node(Bool, v.name)
		}
	}
	return node(Bool, "(@ "+s.pick("<", "<=", ">", ">=", "===", "!==")+" @)", s.number(d), s.number(d))
}

// sameObject compares objects.
func (s *scope) sameObject(d int) *Node {
	of := s.anyType()
	op := s.pick("===", "!==")
	if s.chance(40) {
		return node(Bool, "(@ "+op+" null)", s.object(of, d))
	}
	return node(Bool, "(@ "+op+" @)", s.object(of, d), s.object(of, d))
}

// condition is anything that is true or not.
func (s *scope) condition(d int) *Node {
	switch s.r.IntN(12) {
	case 0:
		return s.number(d)
	case 1:
		return s.object(s.anyType(), d)
	case 2:
		return s.str(d)
	case 3:
		if d > 0 {
			return node(Bool, "(@ "+s.pick("&&", "||")+" @)", s.condition(d-1), s.condition(d-1))
		}
	}
	return s.boolean(d)
}

// str is a text.
func (s *scope) str(d int) *Node {
	if d > 0 {
		switch s.r.IntN(8) {
		case 0:
			return node(Str, "(@ ? @ : @)", s.condition(d-1), s.str(d-1), s.str(d-1))
		case 1:
			return node(Str, "(@ "+s.pick("||", "&&")+" @)", s.str(d-1), s.str(d-1))
		case 2:
			of := s.anyType()
			if f, ok := s.fieldOf(of, is(schema.Str)); ok {
				return node(Str, "(@?."+f.name+" ?? @)", s.reference(of, d-1), s.str(d-1))
			}
		case 3:
			f, c := s.someConstant(words)
			return node(Str, "@", s.at(f, c, d-1))
		case 4:
			f, c := s.someConstant(records)
			return node(Str, "@.w", s.at(f, c, d-1))
		case 5, 6:
			if h := s.callable(text, nil); h != nil {
				return s.call(Str, h, d-1)
			}
		}
	}
	if v, ok := s.varOf(text, false); ok && s.chance(50) {
		return node(Str, v.name)
	}
	if len(s.inputs) > 0 {
		if f := s.inputs[s.r.IntN(len(s.inputs))]; f.kind == schema.Str {
			return node(Str, f.name)
		}
	}
	if s.cmd != nil {
		for _, f := range s.cmd.fields {
			if f.kind == schema.Str && s.chance(50) {
				return node(Str, "cmd."+f.name)
			}
		}
	}
	if p, ok := s.read(is(schema.Str)); ok && s.chance(70) {
		return node(Str, p.text)
	}
	return node(Str, quote(s.textLiteral(255)))
}

// at is an element of a constant, in its bounds whatever the number is.
func (s *scope) at(f *file, c constant, d int) *Node {
	name := s.file.use(f, c.name)
	switch {
	case s.chance(30) || d < 0:
		return fixed("%s[%d]", name, s.r.IntN(c.elements))
	case s.chance(50):
		return node(Fixed, fmt.Sprintf("%s[(@ >>> 0) %% %d]", name, c.elements), s.number(d))
	}
	return node(Fixed, fmt.Sprintf("%s[@ & %d]", name, c.elements-1), s.number(d))
}

// element is a number of a constant.
func (s *scope) element(d int) *Node {
	switch s.r.IntN(8) {
	case 0:
		f, c := s.someConstant(records)
		return node(Number, "@.n", s.at(f, c, d))
	case 1:
		f, c := s.someConstant(grid)
		return node(Number, "@[@ & 1]", s.at(f, c, d), s.number(d))
	case 2:
		f, c := s.someConstant(record)
		name := s.file.use(f, c.name)
		if s.chance(40) {
			return node(Number, name+s.pick(".n", ".m"))
		}
		return node(Number, name+"[@ ? \"n\" : \"m\"]", s.condition(d))
	case 3:
		f, c := s.someConstant(s.shape())
		if c.shape != scalar && c.shape != record {
			return node(Number, s.file.use(f, c.name)+".length")
		}
	}
	f, c := s.someConstant(table)
	return node(Number, "@", s.at(f, c, d))
}

// named is a field whose name is computed, read or written.
func (s *scope) named(d int) *Node {
	x, ok := s.namedPlace(d)
	if !ok {
		return s.number(d)
	}
	switch s.r.IntN(3) {
	case 0:
		return node(Number, "(@ "+s.pick("=", "+=", "*=", "|=")+" @)", x, s.number(d))
	case 1:
		return node(Number, "(@++)", x)
	}
	return node(Number, "@", x)
}

// namedPlace is such a field, which can be read and written here.
func (s *scope) namedPlace(d int) (*Node, bool) {
	obj, fields := "game", s.types[0].fields
	if v, ok := s.here(nil); ok && s.chance(80) {
		obj, fields = v.name, v.of.fields
	}
	var names []string
	for _, f := range fields {
		if f.kind.Number() && s.readable(f) && s.writable(f) {
			names = append(names, quote(f.name))
		}
	}
	if len(names) < 2 {
		return nil, false
	}
	return node(Fixed, obj+"[@ ? @ : @]", s.condition(d), fixed("%s", s.pick(names...)), fixed("%s", s.pick(names...))), true
}

func (s *scope) textLiteral(room int) string {
	if s.server && s.o.Marks && room >= len(Mark) {
		return Mark
	}
	if s.chance(15) {
		return ""
	}
	return cut(s.word(), room)
}

// reference is an expression for an object that the compiler takes to be null as
// well, whatever is known about it.
func (s *scope) reference(of *typ, d int) *Node {
	switch s.r.IntN(5) {
	case 0, 1:
		if p, ok := s.some(func(f *field) bool { return f.kind == schema.Ref && s.types[f.ref] == of && s.readable(f) }); ok {
			return node(Fixed, p.text)
		}
	case 2:
		if v, ok := s.someVar(func(v variable) bool { return v.kind == object && !v.null && v.of.owned }); ok && of.index == schema.PlayerType {
			return node(Fixed, v.name+".owner")
		}
	case 3:
		if h := s.callable(object, of); h != nil {
			return s.call(Fixed, h, d)
		}
	}
	return node(Fixed, "game."+of.plural+".find(@)", s.id(d))
}

// id is a number that is often an object's.
func (s *scope) id(d int) *Node {
	if v, ok := s.here(nil); ok && s.chance(40) {
		return node(Number, v.name+".id"+s.pick("", " - 4", " + 4", " - 2"))
	}
	if s.chance(50) {
		return node(Number, strconv.Itoa(s.r.IntN(30)))
	}
	return s.number(d)
}

// object is an expression for an object or null.
func (s *scope) object(of *typ, d int) *Node {
	switch s.r.IntN(6) {
	case 0, 1:
		if v, ok := s.maybe(of); ok {
			return node(Object, v.name)
		}
	case 2:
		if v, ok := s.here(of); ok {
			return node(Object, v.name)
		}
	case 3:
		if d > 0 {
			return node(Object, "(@ ? @ : null)", s.condition(d-1), s.typedObject(of, d-1))
		}
	}
	return node(Object, "@", s.reference(of, d))
}

// typedObject is an object or null whose type the compiler knows: a null as it is has none.
func (s *scope) typedObject(of *typ, d int) *Node {
	if v, ok := s.here(of); ok && s.chance(50) {
		return node(Fixed, v.name)
	}
	return s.reference(of, d)
}

// present is an expression for an object that is there; there must be a variable
// that holds one of the type.
func (s *scope) present(of *typ, d int) *Node {
	v, ok := s.here(of)
	if !ok {
		panic("gen: nothing of the type is there")
	}
	if d > 0 && s.chance(20) {
		return node(Fixed, "(@ ?? "+v.name+")", s.reference(of, d-1))
	}
	if other, ok := s.here(of); ok && d > 0 && s.chance(20) {
		return node(Fixed, "(@ ? "+v.name+" : "+other.name+")", s.condition(d-1))
	}
	return node(Fixed, v.name)
}
