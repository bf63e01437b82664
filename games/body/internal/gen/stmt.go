package gen

import (
	"fmt"

	"gamehoster/games/schema"
)

// block makes statements.
func (s *scope) block(n, depth int) *Node {
	l := list("\n")
	known := len(s.vars)
	for range n {
		if s.left <= 0 && len(l.Kids) > 0 {
			break
		}
		s.left--
		s.cost += s.weight
		l.Kids = append(l.Kids, s.statement(depth))
	}
	// What was computed shows in the state.
	for _, v := range s.vars[known:] {
		if p, ok := s.some(func(f *field) bool { return f.kind.Number() && s.writable(f) }); ok && v.kind == number && s.chance(60) {
			l.Kids = append(l.Kids, statement(p.text+" = "+v.name+";"))
		}
	}
	return l
}

func statement(text string, kids ...*Node) *Node { return node(Statement, text, kids...) }

// affordable tells whether what is being made may run so many times as often.
func (s *scope) affordable(times int) bool {
	return s.weight*times <= maxWeight && s.cost+4*s.weight*times <= maxCost
}

func (s *scope) statement(depth int) *Node {
	if depth > 0 {
		switch s.r.IntN(16) {
		case 0, 1, 2:
			return s.choice(depth)
		case 3:
			return s.count(depth)
		case 4:
			return s.while(depth)
		case 5, 6:
			return s.visit(depth)
		case 7:
			return s.choose(depth)
		case 8:
			return s.spawn(depth)
		case 9:
			return s.narrow(depth)
		}
	}
	switch s.r.IntN(28) {
	case 19, 20:
		return s.thing()
	case 21, 22:
		return s.lazy()
	case 23:
		return s.later()
	case 24:
		return s.swap()
	case 25:
		return s.guarded()
	case 14:
		if len(s.labels) > 0 {
			l := s.labels[s.r.IntN(len(s.labels))]
			if l.loop && s.chance(50) {
				return statement("if (@) continue "+l.name+";", s.condition(1))
			}
			return statement("if (@) break "+l.name+";", s.condition(1))
		}
	case 15:
		x := s.str(2)
		return statement("let "+s.declare(variable{kind: text, writable: true})+" = @;", x)
	case 16:
		if v, ok := s.varOf(text, true); ok {
			return statement(v.name+" = @;", s.str(2))
		}
	case 17:
		if s.cost+60*s.weight < maxCost && s.weight < 20 {
			s.cost += 60 * s.weight
			return s.log()
		}
	case 18:
		if x, ok := s.namedPlace(1); ok {
			return statement("@ "+s.pick("=", "+=", "-=", "%=", "<<=")+" @;", x, s.number(2))
		}
	case 0, 1:
		x := s.number(3)
		return statement("let "+s.declare(variable{kind: number, writable: true})+" = @;", x)
	case 2:
		x := s.number(3)
		return statement("const "+s.declare(variable{kind: number})+" = @;", x)
	case 3:
		x := s.boolean(2)
		return statement("let "+s.declare(variable{kind: boolean, writable: true})+" = @;", x)
	case 4:
		of := s.anyType()
		x := s.object(of, 2)
		if s.chance(50) {
			return statement("const "+s.declare(variable{kind: object, of: of, null: true})+" = @;", x)
		}
		return statement("let "+s.declare(variable{kind: object, of: of, null: true, writable: true})+" = @;", x)
	case 5, 6:
		if v, ok := s.varOf(number, true); ok {
			return statement(v.name+" "+s.pick("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=")+" @;", s.number(3))
		}
	case 7:
		if v, ok := s.varOf(boolean, true); ok {
			return statement(v.name+" = @;", s.boolean(2))
		}
	case 8:
		return s.leave()
	case 9:
		return s.effect()
	case 10:
		if h := s.callable(nothing, nil); h != nil {
			return statement("@;", s.call(Fixed, h, 2))
		}
	case 11:
		return s.take()
	case 12:
		if v, ok := s.someVar(s.assignable); ok {
			return statement(v.name+" = @;", s.object(v.of, 2))
		}
	case 13:
		if s.result == nothing && s.chance(25) && s.loops == 0 {
			return statement("if (@) return;", s.condition(2))
		}
	}
	return s.store()
}

// assignable passes variables of objects that are not taken to be there now.
func (s *scope) assignable(v variable) bool {
	for _, other := range s.vars {
		if other.name == v.name && !other.null {
			return false
		}
	}
	return v.kind == object && v.writable
}

// store writes a field.
func (s *scope) store() *Node {
	p, ok := s.some(s.writable)
	if !ok {
		return statement(";")
	}
	switch f := p.field; {
	case f.kind == schema.Bool:
		return statement(p.text+" = @;", s.boolean(2))
	case f.kind == schema.Ref:
		return statement(p.text+" = @;", s.object(s.types[f.ref], 2))
	case f.kind == schema.Str:
		if s.chance(70) {
			// Not a literal, which must fit: what does not is cut.
			return statement(p.text+" = @;", node(Fixed, "(@ ? @ : @)", s.condition(1), s.str(2), s.str(1)))
		}
		return statement(p.text + " = " + quote(s.textLiteral(f.len)) + ";")
	case s.o.Edges && !f.kind.Integer() && s.readable(f) && s.chance(60):
		return s.edge(p)
	case s.readable(f) && s.chance(20):
		return statement(p.text + s.pick("++", "--") + ";")
	case s.readable(f):
		return statement(p.text+" "+s.pick("=", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>>=")+" @;", s.number(3))
	}
	return statement(p.text+" = @;", s.number(3))
}

// edge has a field of f32 or f64 be a denormal, or no number, now and then.
func (s *scope) edge(p place) *Node {
	least, tiny := "5e-324", s.pick("1e-310", "3e-308", "4e-322")
	if p.field.kind == schema.F32 {
		least, tiny = "1e-45", s.pick("1e-40", "2e-38", "1e-43")
	}
	x := p.text
	switch s.r.IntN(4) {
	case 0: // down to nothing, and again
		return statement(fmt.Sprintf("%s = %s * %s || random() * %s;", x, x, s.pick("0.5", "0.3", "-0.75"), tiny))
	case 1: // a number, none, a number
		return statement(fmt.Sprintf("%s = %s !== %s ? @ : @ / (%s - %s);", x, x, x, x, x), s.number(2), s.number(2))
	case 2:
		return statement(fmt.Sprintf("%s = @ * %s + %s;", x, tiny, least), s.number(2))
	}
	return statement(fmt.Sprintf("%s = Math.min(%s, @ %s) * @ %s %s;", x, x, s.pick("/ "+tiny, "* "+tiny), s.pick("+", "-"), least), s.number(2), s.number(1))
}

// choice is if, with or without else.
func (s *scope) choice(depth int) *Node {
	test := s.condition(2)
	then := s.inner(1+s.r.IntN(3), depth-1)
	switch s.r.IntN(4) {
	case 0:
		return statement("if (@) {\n@\n} else {\n@\n}", test, then, s.inner(1+s.r.IntN(2), depth-1))
	case 1:
		other := s.condition(1)
		return statement("if (@) {\n@\n} else if (@) {\n@\n} else {\n@\n}", test, then, other, s.inner(1, depth-1), s.inner(1, depth-1))
	case 3:
		if s.chance(30) {
			l := s.name("L")
			s.labels = append(s.labels, label{name: l})
			inner := s.inner(2+s.r.IntN(2), depth-1)
			s.labels = s.labels[:len(s.labels)-1]
			return statement(l+": {\nif (@) break "+l+";\n@\n}", test, inner)
		}
	case 2:
		// A name of the block's own hides one outside.
		if v, ok := s.varOf(number, true); ok && v.plain() {
			s.vars = append(s.vars, variable{name: v.name, kind: number, writable: true})
			hiding := s.inner(1+s.r.IntN(2), depth-1)
			s.vars = s.vars[:len(s.vars)-1]
			return statement("if (@) {\nlet "+v.name+" = @;\n@\n}", test, s.literal(), hiding)
		}
	}
	return statement("if (@) {\n@\n}", test, then)
}

// Where counting begins: also where what follows is no more an i32 or a u32.
var beginnings = [...]float64{0, 0, 0, 0, 1, 2, -3, 0.5, 2147483645, -2147483650, 4294967293, 250, 65533}

// count is a for loop over numbers.
func (s *scope) count(depth int) *Node {
	times := 2 + s.r.IntN(6)
	if !s.affordable(times) {
		return s.store()
	}
	v := variable{name: s.name("i"), kind: number}
	from := beginnings[s.r.IntN(len(beginnings))]
	begin, end := s.label(true)
	body := s.repeated(times, func() *Node { return s.with(v, 1+s.r.IntN(3), depth-1) })
	leave := s.jump(v)
	end()
	var head string
	switch s.r.IntN(6) {
	case 0:
		head = fmt.Sprintf("for (let %s = %.1f; %s > %.1f; %s--) {\n@\n@\n}", v.name, from+float64(times), v.name, from, v.name)
	case 1:
		head = fmt.Sprintf("for (let %s = %.0f; %s !== %.0f; ++%s) {\n@\n@\n}", v.name, from, v.name, from+float64(times), v.name)
		if from != float64(int64(from)) {
			head = fmt.Sprintf("for (let %s = 0; %s <= %d; %s += 2) {\n@\n@\n}", v.name, v.name, times, v.name)
		}
	case 2:
		w := s.name("j")
		head = fmt.Sprintf("for (let %s = %.1f, %s = %d; %s > 0; %s++, %s--) {\n@\n@\n}", v.name, from, w, times, w, v.name, w)
	default:
		head = fmt.Sprintf("for (let %s = %.1f; %s < %.1f; %s%s) {\n@\n@\n}", v.name, from, v.name, from+float64(times), v.name, s.pick("++", " += 1.5", " += 2"))
	}
	return statement(begin+head, body, leave)
}

// label may give the statement to be made a label. What comes back is what to write
// in front of it, and what to do behind it.
func (s *scope) label(loop bool) (string, func()) {
	if !s.chance(20) {
		return "", func() {}
	}
	l := label{s.name("L"), loop}
	s.labels = append(s.labels, l)
	return l.name + ": ", func() { s.labels = s.labels[:len(s.labels)-1] }
}

// log writes a line.
func (s *scope) log() *Node {
	value := func() *Node {
		switch s.r.IntN(5) {
		case 0:
			return s.boolean(1)
		case 1, 2:
			return s.str(1)
		}
		return s.number(2)
	}
	if s.chance(40) {
		return statement("log(`${@} and ${@}`, @);", value(), value(), value())
	}
	return statement("log(@, \"text\", @);", value(), value())
}

// jump is what may leave a loop, or nothing. v is the loop's counter, if it has one.
func (s *scope) jump(v variable) *Node {
	l := list("\n")
	switch s.r.IntN(6) {
	case 0, 1:
		l.Kids = append(l.Kids, statement("if (@) "+s.pick("break", "continue")+";", s.condition(1)))
	case 2:
		if v.name != "" {
			s.vars = append(s.vars, v)
			l.Kids = append(l.Kids, statement("if (@) break;", s.boolean(2)))
			s.vars = s.vars[:len(s.vars)-1]
		}
	}
	return l
}

// while is a loop with the test in front or behind.
func (s *scope) while(depth int) *Node {
	times := 1 + s.r.IntN(6)
	if !s.affordable(times) {
		return s.store()
	}
	v := variable{name: s.name("n"), kind: number}
	body := s.repeated(times, func() *Node { return s.with(v, 1+s.r.IntN(2), depth-1) })
	leave := s.jump(variable{})
	switch s.r.IntN(4) {
	case 0:
		return statement(fmt.Sprintf("let %s = %d;\ndo {\n@\n@\n} while (%s-- > 1);", v.name, times, v.name), body, leave)
	case 1:
		return statement(fmt.Sprintf("let %s = %d;\nwhile (%s) {\n%s--;\n@\n@\n}", v.name, times, v.name, v.name), body, leave)
	case 2:
		return statement(fmt.Sprintf("let %s = %d.5;\nfor (;;) {\nif (%s < 1) break;\n%s /= 2;\n@\n@\n}", v.name, 1<<times, v.name, v.name), body, leave)
	}
	return statement(fmt.Sprintf("let %s = %d;\nwhile (%s-- > 0) {\n@\n@\n}", v.name, times, v.name), body, leave)
}

// visit goes over a collection, maybe looking for one of it.
func (s *scope) visit(depth int) *Node {
	of := s.anyType()
	if !s.affordable(of.max) {
		return s.store()
	}
	v := variable{name: s.name("o"), kind: object, of: of}
	if s.chance(20) {
		return s.overConstant(depth)
	}
	if s.chance(25) {
		best, least := s.name("best"), s.name("least")
		s.vars = append(s.vars, v)
		key := s.number(1)
		s.vars = s.vars[:len(s.vars)-1]
		n := statement(fmt.Sprintf("let %s = null;\nlet %s = Infinity;\nfor (const %s of game.%s) {\nconst k = @;\nif (k < %s) { %s = %s; %s = k; }\n}",
			best, least, v.name, of.plural, least, best, v.name, least), key)
		s.vars = append(s.vars, variable{name: best, kind: object, of: of, null: true}, variable{name: least, kind: number, writable: true})
		return n
	}
	begin, end := s.label(true)
	body := s.repeated(of.max, func() *Node { return s.with(v, 1+s.r.IntN(3), depth-1) })
	leave := s.jump(variable{})
	end()
	return statement(begin+fmt.Sprintf("for (%s %s of game.%s) {\n@\n@\n}", s.pick("const", "const", "let"), v.name, of.plural), body, leave)
}

// overConstant goes over a table.
func (s *scope) overConstant(depth int) *Node {
	f, c := s.someConstant([]shape{table, words, records}[s.r.IntN(3)])
	if !s.affordable(c.elements) {
		return s.store()
	}
	name := s.name("e")
	known := len(s.vars)
	switch c.shape {
	case table:
		s.vars = append(s.vars, variable{name: name, kind: number})
	case words:
		s.vars = append(s.vars, variable{name: name, kind: text})
	case records:
		s.vars = append(s.vars, variable{name: name + ".n", kind: number}, variable{name: name + ".on", kind: boolean}, variable{name: name + ".w", kind: text})
	}
	body := s.repeated(c.elements, func() *Node { return s.inner(1+s.r.IntN(2), depth-1) })
	s.vars = s.vars[:known]
	return statement("for (const "+name+" of "+s.file.use(f, c.name)+") {\n@\n@\n}", body, s.jump(variable{}))
}

// choose is a switch.
func (s *scope) choose(depth int) *Node {
	d := depth - 1
	end := func() string { return s.pick("break;", "break;", "") }
	switch s.r.IntN(4) {
	case 0:
		return statement("switch (@) {\ncase true: {\n@\n"+end()+" }\ncase false: {\n@\n}\n}", s.boolean(2), s.inner(1, d), s.inner(1, d))
	case 1:
		if x := s.str(2); s.chance(70) {
			a, b := s.textLiteral(255), s.textLiteral(255)
			if a != b {
				return statement("switch (@) {\ncase "+quote(a)+": {\n@\n"+end()+" }\ncase "+quote(b)+": {\n@\n"+end()+" }\ndefault: {\n@\n}\n}", x, s.inner(1, d), s.inner(1, d), s.inner(1, d))
			}
		}
	case 2:
		return statement("switch (@) {\ncase @: {\n@\n"+end()+" }\ndefault: {\n@\n"+end()+" }\ncase @: {\n@\n}\n}",
			s.number(2), s.number(1), s.inner(1, d), s.inner(1, d), s.number(1), s.inner(1, d))
	}
	return statement("switch (@ & 3) {\ncase 0: {\n@\n"+end()+" }\ncase 1: "+end()+"\ncase 2: {\n@\n"+end()+" }\ndefault: {\n@\n}\n}",
		s.number(2), s.inner(1, d), s.inner(1, d), s.inner(1, d))
}

// spawn makes an object and does something with it.
func (s *scope) spawn(depth int) *Node {
	of := s.entity()
	made, ok := "game."+of.plural+".spawn()", true
	kids := []*Node{}
	if of.owned {
		if _, ok = s.here(s.types[schema.PlayerType]); ok {
			made = "game." + of.plural + ".spawn(@)"
			kids = append(kids, s.present(s.types[schema.PlayerType], 1))
		}
	}
	if !ok {
		return s.store()
	}
	if s.chance(15) {
		return statement(made+";", kids...)
	}
	v := variable{name: s.name("made"), kind: object, of: of}
	if s.risky && s.chance(30) {
		s.vars = append(s.vars, v)
		return statement("const "+v.name+" = "+made+";\n@", append(kids, s.store())...)
	}
	body := s.with(v, 1+s.r.IntN(3), depth-1)
	return statement("const "+v.name+" = "+made+";\n"+s.pick("if ("+v.name+")", "if ("+v.name+" !== null)")+" {\n@\n}", append(kids, body)...)
}

// narrow uses an object that may be null where it is not.
func (s *scope) narrow(depth int) *Node {
	v, ok := s.maybe(nil)
	if !ok || s.chance(40) {
		of := s.anyType()
		x := s.object(of, 2)
		v = variable{name: s.name("got"), kind: object, of: of}
		return statement("const "+v.name+" = @;\nif ("+v.name+") {\n@\n}", x, s.with(v, 1+s.r.IntN(3), depth-1))
	}
	v.null = false
	switch s.r.IntN(3) {
	case 0:
		return statement("if ("+v.name+" === null) {\n@\n} else {\n@\n}", s.inner(1, depth-1), s.with(v, 1+s.r.IntN(2), depth-1))
	case 1:
		test := s.condition(1)
		return statement("if ("+v.name+" && @) {\n@\n}", test, s.with(v, 1+s.r.IntN(2), depth-1))
	}
	return statement("if ("+v.name+s.pick("", " !== null")+") {\n@\n}", s.with(v, 1+s.r.IntN(2), depth-1))
}

// leave removes an object.
func (s *scope) leave() *Node {
	v, ok := s.someVar(func(v variable) bool {
		return v.kind == object && !v.null && (v.of.index != schema.PlayerType || s.server && !s.o.Calm && s.chance(30))
	})
	if !ok {
		return s.store()
	}
	return statement("if (@) "+v.name+".remove();", s.boolean(1))
}

// effect is what only server bodies can do, or a loop over what is removed.
func (s *scope) effect() *Node {
	switch {
	case s.o.Calm:
	case s.server && s.chance(30):
		return statement("game.open = @;", s.boolean(2))
	case s.server && s.chance(10):
		return statement("if (@ === @) game.end();", s.number(1), s.number(1))
	}
	of := s.entity()
	return statement("@?.remove();", s.reference(of, 1))
}

// take gives fields of an object names of their own.
func (s *scope) take() *Node {
	v, ok := s.here(nil)
	if !ok {
		return s.store()
	}
	list, sep := s.pick("const {", "let {"), " "
	var taken []variable
	for _, f := range v.of.fields {
		if !s.readable(f) || !f.kind.Number() && f.kind != schema.Str || s.chance(50) {
			continue
		}
		name, kind := s.name("t"), number
		if f.kind == schema.Str {
			kind = text
		}
		list += sep + f.name + ": " + name
		sep = ", "
		taken = append(taken, variable{name: name, kind: kind, writable: list[0] == 'l'})
	}
	if len(taken) == 0 {
		return s.store()
	}
	s.vars = append(s.vars, taken...)
	return statement(list + " } = " + v.name + ";")
}
