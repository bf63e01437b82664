package gen

import (
	"fmt"

	"gamehoster/games/schema"
)

// kind is the type of a variable or a helper's parameter.
type kind uint8

const (
	number kind = iota
	boolean
	text
	object
	nothing // a helper's result
	pair    // likewise, an object of an x and a y
)

type variable struct {
	name     string
	kind     kind
	of       *typ // of an object
	null     bool // an object that may be null
	writable bool
	initial  string // what a parameter is if it is not given
}

// scope is where statements are being made.
type scope struct {
	*maker
	file    *file
	server  bool
	vars    []variable
	cmd     *command // the handler's, as cmd
	inputs  []*field // fields of the command that are variables of their own
	helpers int      // so many of the first helpers can be called
	loops   int      // around what is being made
	labels  []label  // of the statements around it
	weight  int      // how often it runs at most
	cost    int      // statements that run at most, so far
	result  kind     // of the function
	of      *typ     // of its result
	left    int      // statements to be made
}

// label is a statement's; loops can be continued by it.
type label struct {
	name string
	loop bool
}

const (
	maxWeight = 400
	maxCost   = 4000
)

func (s *scope) readable(f *field) bool {
	return s.server || f.sync != schema.Server && !f.owner
}

func (s *scope) writable(f *field) bool { return s.server || f.sync != schema.Server }

// place is a field that can be named where the scope is.
type place struct {
	text  string
	field *field
}

// places are the fields of what is there that pass.
func (s *scope) places(pass func(f *field) bool) (list []place) {
	add := func(obj string, fields []*field) {
		for _, f := range fields {
			if pass(f) {
				list = append(list, place{obj + "." + f.name, f})
			}
		}
	}
	add("game", s.types[0].fields)
	for _, v := range s.vars {
		if v.kind == object && !v.null {
			add(v.name, v.of.fields)
			add(v.name, v.of.fields) // they are what a body is about
		}
	}
	return list
}

// some is one of the places that pass; false where there is none.
func (s *scope) some(pass func(f *field) bool) (place, bool) {
	list := s.places(pass)
	if len(list) == 0 {
		return place{}, false
	}
	return list[s.r.IntN(len(list))], true
}

func (s *scope) read(kinds func(k schema.Kind) bool) (place, bool) {
	return s.some(func(f *field) bool { return kinds(f.kind) && s.readable(f) })
}

// written is a place that can be read and written.
func (s *scope) written(kinds func(k schema.Kind) bool) (place, bool) {
	return s.some(func(f *field) bool { return kinds(f.kind) && s.readable(f) && s.writable(f) })
}

func is(want schema.Kind) func(schema.Kind) bool {
	return func(k schema.Kind) bool { return k == want }
}

// someVar is one of the variables that pass.
func (s *scope) someVar(pass func(v variable) bool) (variable, bool) {
	var list []variable
	for _, v := range s.vars {
		if pass(v) {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return variable{}, false
	}
	return list[s.r.IntN(len(list))], true
}

func (s *scope) varOf(k kind, writable bool) (variable, bool) {
	return s.someVar(func(v variable) bool { return v.kind == k && (v.writable || !writable) })
}

// here are the variables that hold an object of a type, or of any.
func (s *scope) here(of *typ) (variable, bool) {
	return s.someVar(func(v variable) bool { return v.kind == object && !v.null && (of == nil || v.of == of) })
}

// maybe are those that may hold null.
func (s *scope) maybe(of *typ) (variable, bool) {
	return s.someVar(func(v variable) bool { return v.kind == object && v.null && (of == nil || v.of == of) })
}

// anyType is one with a collection.
func (s *scope) anyType() *typ { return s.types[1+s.r.IntN(len(s.types)-1)] }

func (s *scope) entity() *typ { return s.types[2+s.r.IntN(len(s.types)-2)] }

// callable is a helper with a result that can be called here.
func (s *scope) callable(result kind, of *typ) *helper {
	var list []*helper
	for _, h := range s.maker.helpers[:s.helpers] {
		if h.result == result && (result != object || h.of == of) && (s.server || !h.server) && s.cost+s.weight*h.cost < maxCost && s.hasAll(h.params) {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[s.r.IntN(len(list))]
}

// hasAll tells whether there are objects for all parameters that need one.
func (s *scope) hasAll(params []variable) bool {
	for _, p := range params {
		if _, ok := s.here(p.of); p.kind == object && !p.null && !ok {
			return false
		}
	}
	return true
}

// call is a call of a helper.
func (s *scope) call(result Sort, h *helper, depth int) *Node {
	s.cost += s.weight * h.cost
	n := node(result, s.file.use(h.file, h.name)+"(")
	params := h.params
	for len(params) > 0 && params[len(params)-1].initial != "" && s.chance(50) {
		params = params[:len(params)-1]
	}
	for i, p := range params {
		if i > 0 {
			n.Text += ", "
		}
		n.Text += "@"
		n.Kids = append(n.Kids, s.argument(p, depth))
	}
	n.Text += ")"
	return n
}

func (s *scope) argument(p variable, depth int) *Node {
	switch {
	case p.kind == number:
		return s.number(depth)
	case p.kind == boolean:
		return s.boolean(depth)
	case p.kind == text:
		return s.str(depth)
	case p.null:
		return s.object(p.of, depth)
	}
	return s.present(p.of, depth)
}

// declare makes a name known.
func (s *scope) declare(v variable) string {
	v.name = s.name("v")
	s.vars = append(s.vars, v)
	return v.name
}

// inner makes statements whose names are known in them only.
func (s *scope) inner(n, depth int) *Node {
	known := len(s.vars)
	l := s.block(n, depth)
	s.vars = s.vars[:known]
	return l
}

// with is inner with a variable.
func (s *scope) with(v variable, n, depth int) *Node {
	s.vars = append(s.vars, v)
	l := s.inner(n, depth)
	s.vars = s.vars[:len(s.vars)-1]
	return l
}

// repeated is what a loop repeats.
func (s *scope) repeated(times int, make func() *Node) *Node {
	weight := s.weight
	s.loops++
	s.weight *= times
	l := make()
	s.loops--
	s.weight = weight
	return l
}

func numeric(k schema.Kind) bool { return k.Number() }

func quote(text string) string { return fmt.Sprintf("%q", text) }
