package gen

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"gamehoster/games/schema"
)

// file is a body file, or one of helpers.
type file struct {
	path    string
	imports map[string]string // by what another file calls it: what it is called here
	heads   *Node             // imports
	tops    *Node             // constants
	funcs   *Node
	consts  []constant
	server  bool
	ts      bool // TypeScript
	m       *maker
}

// constant is one at the top level of a file.
type constant struct {
	name     string
	shape    shape
	elements int // of a list
}

type shape uint8

const (
	scalar  shape = iota // a number
	table                // numbers
	words                // texts
	records              // objects { n, on, w }
	grid                 // lists of two numbers
	record               // an object { n, m } of numbers
	shapes
)

func (m *maker) shape() shape { return shape(m.r.IntN(int(shapes))) }

// helper is a function that bodies call.
type helper struct {
	name   string
	file   *file
	params []variable
	result kind
	of     *typ // of an object that it gives, or null
	server bool
	cost   int
}

func (m *maker) file(name string) *file {
	f := &file{path: name, imports: map[string]string{}, heads: list("\n"), tops: list("\n"), funcs: list("\n"), m: m}
	f.server = strings.Contains(name, ".server.")
	f.ts = m.chance(10)
	m.files = append(m.files, f)
	return f
}

func (f *file) node() *Node {
	n := node(Fixed, "@\n@\n@\n", f.heads, f.tops, f.funcs)
	n.Path = f.path
	if f.ts {
		n.Path = strings.TrimSuffix(f.path, ".js") + ".ts"
	}
	return n
}

// use is the name here of what another file exports.
func (f *file) use(from *file, name string) string {
	if from == f {
		return name
	}
	if alias, ok := f.imports[name]; ok {
		return alias
	}
	alias, text := name, name
	if f.m.chance(25) {
		alias = f.m.name("as")
		text = name + " as " + alias
	}
	f.imports[name] = alias
	to := from.path
	if dir := path.Dir(f.path); dir != "." {
		to = "../" + to
	}
	f.heads.Kids = append(f.heads.Kids, fixed("import { %s } from \"./%s\";", text, to))
	return alias
}

// someConstant is one that the file can use, and the file that it is in.
func (s *scope) someConstant(of shape) (*file, constant) {
	f := s.file
	if s.chance(30) {
		if other := s.files[s.r.IntN(len(s.files))]; other.exported() && (s.server || !other.server) {
			f = other
		}
	}
	var list []constant
	for _, c := range f.consts {
		if c.shape == of {
			list = append(list, c)
		}
	}
	if len(list) == 0 || len(list) < 2 && s.chance(30) {
		return f, f.constant(of)
	}
	return f, list[s.r.IntN(len(list))]
}

// exported tells whether others import from the file.
func (f *file) exported() bool {
	base := path.Base(f.path)
	return strings.HasPrefix(base, "help") || strings.HasPrefix(base, Mark)
}

// constant makes one.
func (f *file) constant(of shape) constant {
	m := f.m
	c := constant{name: m.name("C"), shape: of}
	if f.server && m.o.Marks {
		c.name = m.secret("C")
	}
	if of != scalar && of != record {
		c.elements = 1 << m.r.IntN(4)
	}
	value := func() string {
		if f.server && m.o.Marks && m.chance(60) {
			return strconv.FormatFloat(MarkNumber(m.r.IntN(MarkNumbers)), 'f', -1, 64)
		}
		return m.pick("1", "0", "-1", "2.5", "1 / 3", "Math.PI * 2", "255", "4096", "-1e9", "3000000000", "5e-324", "NaN", "-0", "Infinity", "0.1 + 0.2")
	}
	word := func() string {
		if f.server && m.o.Marks {
			return quote(Mark)
		}
		return quote(m.word())
	}
	element := map[shape]func() string{
		scalar: value,
		table:  value,
		words:  word,
		grid:   func() string { return "[" + value() + ", " + value() + "]" },
		record: func() string { return "{ n: " + value() + ", m: " + value() + " }" },
		records: func() string {
			return "{ n: " + value() + ", on: " + m.pick("true", "false") + ", w: " + word() + " }"
		},
	}[of]
	list := element()
	if c.elements > 0 {
		for range c.elements - 1 {
			list += ", " + element()
		}
		list = "[" + list + "]"
	}
	export := ""
	if f.exported() {
		export = "export "
	}
	f.tops.Kids = append(f.tops.Kids, fixed("%sconst %s%s = %s;", export, c.name, f.typed("any"), list))
	f.consts = append(f.consts, c)
	return c
}

// typed is a type where the file has them.
func (f *file) typed(name string) string {
	if f.ts {
		return ": " + name
	}
	return ""
}

// bodies makes all files.
func (m *maker) bodies() {
	places := []*file{m.file("help.js")}
	if m.chance(40) {
		places = append(places, m.file("parts/help2.js"))
	}
	if m.chance(20) {
		places = append(places, m.file("_shared/help3.js"))
	}
	vault := m.file(m.secret("help") + ".js")
	vault.server = true
	places = append(places, vault)
	for range 2 + m.r.IntN(4) {
		m.helper(places[m.r.IntN(len(places))])
	}
	size := func(share int) int { return 1 + m.o.Size*share/100 + m.r.IntN(3) }
	in := m.types[schema.InstanceType]
	f := m.file("instance.server.js")
	m.body(f, "start", in, nil, size(8))
	if m.chance(60) {
		m.body(f, "update", in, nil, size(8))
	}
	if m.chance(80) {
		m.body(m.file("instance.js"), "update", in, nil, size(12))
	}
	for _, t := range m.types[1:] {
		if m.chance(85) {
			m.body(m.file(t.name+".js"), "update", t, nil, size(20))
		}
		names := []string{"update"}
		if t.index == schema.PlayerType {
			names = []string{"join", "leave", "update"}
		}
		var f *file
		for _, name := range names {
			if m.chance(40) {
				if f == nil {
					f = m.file(t.name + ".server.js")
				}
				m.body(f, name, t, nil, size(6))
			}
		}
	}
	m.handlers("commands.js", func(c *command) bool { return c.shared }, size(6))
	m.handlers("commands.server.js", func(c *command) bool { return c.server }, size(6))
}

func (m *maker) handlers(name string, has func(c *command) bool, size int) {
	var f *file
	for _, c := range m.commands {
		if has(c) {
			if f == nil {
				f = m.file(name)
			}
			m.body(f, c.name, m.types[schema.PlayerType], c, size)
		}
	}
}

// body makes a function that the engine calls.
func (m *maker) body(f *file, name string, of *typ, cmd *command, size int) {
	s := &scope{maker: m, file: f, server: f.server, cmd: cmd, helpers: len(m.helpers), weight: 1, result: nothing, left: size}
	var params []string
	if of.index != schema.InstanceType {
		v := variable{name: m.pick("self", "me", of.name), kind: object, of: of}
		s.vars = append(s.vars, v)
		params = append(params, v.name+f.typed("any"))
	}
	if cmd != nil {
		params = append(params, s.commandParam()+f.typed("any"))
	}
	given := len(s.vars)
	l := list("\n")
	if of.index == schema.InstanceType && (name == "start" || m.chance(40)) {
		l = s.populate(name == "start")
	}
	l.Kids = append(l.Kids, s.block(2+m.r.IntN(4), 3).Kids...)
	if m.o.Faults && (name != "start") && m.chance(50) {
		s.vars = s.vars[:given]
		at := m.r.IntN(len(l.Kids) + 1)
		l.Kids = append(l.Kids[:at:at], append([]*Node{s.fault(of, name)}, l.Kids[at:]...)...)
	}
	f.funcs.Kids = append(f.funcs.Kids, node(Fixed, "export function "+name+"("+strings.Join(params, ", ")+") {\n@\n}", l))
}

// populate makes objects of all types that need no owner.
func (s *scope) populate(all bool) *Node {
	l := list("\n")
	for _, of := range s.types[2:] {
		if of.owned {
			continue
		}
		v := variable{name: s.name("o"), kind: object, of: of}
		stores := list("\n")
		s.vars = append(s.vars, v)
		for _, f := range of.fields {
			switch x := v.name + "." + f.name; {
			case !s.writable(f):
			case f.kind.Number() && s.server:
				stores.Kids = append(stores.Kids, statement(x+" = serverRandom() * @;", s.literal()))
			case f.kind.Number():
				stores.Kids = append(stores.Kids, statement(x+" = random() * @;", s.literal()))
			case f.kind == schema.Bool:
				stores.Kids = append(stores.Kids, statement(x+" = random() < 0.5;"))
			case f.kind == schema.Ref:
				stores.Kids = append(stores.Kids, statement(x+" = @;", s.object(s.types[f.ref], 1)))
			}
		}
		s.vars = s.vars[:len(s.vars)-1]
		text := "for (let i = 0; i < " + strconv.Itoa(1+s.r.IntN(of.max)) + "; i++) {\n"
		if !all {
			text = "if (random() < 0.4) {\n"
		}
		l.Kids = append(l.Kids, statement(text+"const "+v.name+" = game."+of.plural+".spawn();\nif ("+v.name+") {\n@\n}\n}", stores))
	}
	return l
}

// commandParam is the handler's second parameter, whole or taken apart.
func (s *scope) commandParam() string {
	if s.chance(50) {
		return "cmd"
	}
	text, sep := "{", " "
	for _, f := range s.cmd.fields {
		if s.chance(70) {
			text += sep + f.name
			sep = ", "
			s.inputs = append(s.inputs, f)
		}
	}
	s.cmd = nil
	return text + " }"
}

// helper makes a function that bodies and later helpers may call.
func (m *maker) helper(f *file) {
	h := &helper{name: m.name("helper"), file: f, result: kind(m.r.IntN(int(pair) + 1)), server: f.server && (m.o.Marks || m.chance(70))}
	if h.server && m.o.Marks {
		h.name = m.secret("helper")
	}
	s := &scope{maker: m, file: f, server: h.server, helpers: len(m.helpers), weight: 1, result: h.result, left: 2 + m.o.Size/6}
	if h.result == object {
		h.of = m.types[1+m.r.IntN(len(m.types)-1)]
		s.of = h.of
	}
	var params []string
	for range m.r.IntN(4) {
		v := variable{name: m.name("p"), kind: kind(m.r.IntN(4)), writable: true}
		if v.kind == object {
			v.of, v.null, v.writable = m.types[1+m.r.IntN(len(m.types)-1)], m.chance(40), false
		}
		h.params = append(h.params, v)
		s.vars = append(s.vars, v)
		params = append(params, v.name+f.typed([]string{"number", "boolean", "string", "any"}[v.kind]))
	}
	for i := len(h.params) - 1; i >= 0 && h.params[i].kind == number && m.chance(40); i-- {
		h.params[i].initial = m.pick("1", "0.5", "game.tick", "random()", "game.tick * 3")
		params[i] += " = " + h.params[i].initial
	}
	head := strings.Join(params, ", ")
	export := "export "
	if h.result == number && m.chance(30) {
		f.funcs.Kids = append(f.funcs.Kids, node(Fixed, fmt.Sprintf("%sconst %s = (%s) => @;", export, h.name, head), s.number(3)))
	} else {
		l := s.block(1+m.r.IntN(3), 2)
		if h.result != nothing {
			if m.chance(40) || h.result == object {
				l.Kids = append(l.Kids, statement("if (@) return @;", s.condition(1), s.value()))
			}
			last := s.value()
			if h.result == object {
				last = fixed("null")
			}
			l.Kids = append(l.Kids, node(Statement, "return @;", last))
		}
		shape := m.pick("%sfunction %s(%s) {\n@\n}", "%sfunction %s(%s) {\n@\n}", "%sconst %s = function (%s) {\n@\n};", "%sconst %s = (%s) => {\n@\n};")
		f.funcs.Kids = append(f.funcs.Kids, node(Fixed, fmt.Sprintf(shape, export, h.name, head), l))
	}
	h.cost = s.cost + 1
	m.helpers = append(m.helpers, h)
}

// value is what a helper gives.
func (s *scope) value() *Node {
	switch s.result {
	case number:
		return s.number(2)
	case boolean:
		return s.boolean(2)
	case text:
		return s.str(2)
	case pair:
		if whole, ok := s.whole(); ok && s.chance(40) {
			return fixed("%s", whole)
		}
		return node(Fixed, "{ x: @, y: @ }", s.number(2), s.number(2))
	}
	return s.typedObject(s.of, 1)
}
