package gen

import (
	"strings"

	"gamehoster/games/schema"
)

// Objects and lists that a body makes. Their parts are variables by the names that
// they are read by, such as o3.x and l4[1].

// part is the variable that a part of a thing is.
func part(of, name string) variable { return variable{name: of + name, kind: number, writable: true} }

// plain tells whether a variable is one of its own and no part of a thing.
func (v variable) plain() bool { return !strings.ContainsAny(v.name, ".[") }

// thing makes an object, a list or another name of one.
func (s *scope) thing() *Node {
	name := s.name("z")
	switch s.r.IntN(6) {
	case 0:
		// A list of constants only would be a table, which is not written.
		n := statement("const "+name+" = [@, @, @ + game.tick];", s.number(2), s.number(1), s.number(1))
		s.vars = append(s.vars, part(name, "[0]"), part(name, "[1]"), part(name, "[2]"))
		return n
	case 1:
		n := statement("const "+name+" = { x: @, in: { x: @, y: @ }, on: @ };", s.number(2), s.number(1), s.number(1), s.boolean(1))
		s.vars = append(s.vars, part(name, ".x"), part(name, ".in.x"), part(name, ".in.y"), variable{name: name + ".on", kind: boolean, writable: true})
		return n
	case 2:
		if h := s.callable(pair, nil); h != nil {
			x := s.call(Fixed, h, 1)
			if s.chance(50) {
				a, b := s.name("v"), s.name("v")
				s.vars = append(s.vars, variable{name: a, kind: number, writable: true}, variable{name: b, kind: number, writable: true})
				return statement("let { x: "+a+", y: "+b+" } = @;", x)
			}
			s.vars = append(s.vars, part(name, ".x"), part(name, ".y"))
			return statement("const "+name+" = @;", x)
		}
	case 3, 4:
		if whole, ok := s.whole(); ok {
			n := statement("const " + name + " = " + whole + ";")
			if s.chance(60) {
				n = statement("const "+name+" = { ...@, "+s.pick("x", "y")+": @ };", fixed("%s", whole), s.number(2))
			}
			s.vars = append(s.vars, part(name, ".x"), part(name, ".y"))
			return n
		}
	}
	n := statement("const "+name+" = { x: @, y: @ };", s.number(2), s.number(2))
	s.vars = append(s.vars, part(name, ".x"), part(name, ".y"))
	return n
}

// whole is an object of an x and a y.
func (s *scope) whole() (string, bool) {
	v, ok := s.someVar(func(v variable) bool { return strings.HasSuffix(v.name, ".y") && v.writable && v.kind == number })
	return strings.TrimSuffix(v.name, ".y"), ok
}

// lazy assigns where that is asked for.
func (s *scope) lazy() *Node {
	op := s.pick(" ||= ", " &&= ")
	switch s.r.IntN(7) {
	case 0:
		if v, ok := s.varOf(number, true); ok {
			return statement(v.name+op+"@;", s.number(2))
		}
	case 1:
		if v, ok := s.varOf(text, true); ok {
			return statement(v.name+op+"@;", s.str(2))
		}
	case 2:
		if v, ok := s.someVar(s.assignable); ok {
			return statement(v.name+s.pick(op, " ??= ")+"@;", s.typedObject(v.of, 2))
		}
	case 3:
		if p, ok := s.written(is(schema.Bool)); ok {
			return statement(p.text+op+"@;", s.boolean(2))
		}
	case 4:
		if p, ok := s.written(is(schema.Ref)); ok {
			return statement(p.text+s.pick(op, " ??= ")+"@;", s.typedObject(s.types[p.field.ref], 2))
		}
	case 5:
		if x, ok := s.namedPlace(1); ok {
			return statement("@"+op+"@;", x, s.number(2))
		}
	}
	if p, ok := s.written(numeric); ok {
		return statement(p.text+op+"@;", s.number(2))
	}
	return s.store()
}

// later makes a variable that gets its value behind its declaration.
func (s *scope) later() *Node {
	name := s.name("v")
	n := statement("let "+name+";\nif (@) "+name+" = @;\nelse "+name+" = @;", s.condition(1), s.number(2), s.number(2))
	if s.chance(30) {
		n = statement("let "+name+";\nswitch (@ & 3) {\ncase 0: "+name+" = @; break;\ncase 2: "+name+" = @;\ndefault: "+name+" = @;\n}", s.number(1), s.number(1), s.number(1), s.number(1))
	}
	s.vars = append(s.vars, variable{name: name, kind: number, writable: true})
	return n
}

// swap assigns two at once.
func (s *scope) swap() *Node {
	one := func() (string, bool) {
		if p, ok := s.written(numeric); ok && s.chance(50) {
			return p.text, true
		}
		v, ok := s.varOf(number, true)
		return v.name, ok
	}
	a, ok1 := one()
	b, ok2 := one()
	switch {
	case !ok1 || !ok2:
		return s.store()
	case s.chance(50):
		return statement("[" + a + ", " + b + "] = [" + b + ", " + a + "];")
	}
	return statement("["+a+", "+b+"] = [@, @];", s.number(2), s.number(2))
}

// guarded is an effect behind a test, without an if.
func (s *scope) guarded() *Node {
	p, ok := s.written(numeric)
	if !ok || s.file.ts { // what strips types leaves out what comes behind a test that is always true
		return s.store()
	}
	effect := func() *Node {
		if h := s.callable(nothing, nil); h != nil && s.chance(40) {
			return s.call(Fixed, h, 1)
		}
		return node(Fixed, "("+p.text+s.pick(" = ", " += ", " ||= ")+"@)", s.number(2))
	}
	test := s.boolean(2)
	switch s.r.IntN(3) {
	case 0:
		return statement("@ ? @ : @;", test, effect(), effect())
	case 1:
		return statement("@ && @;", test, effect())
	}
	return statement("@ || @;", test, effect())
}
