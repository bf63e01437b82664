package gen

import (
	"fmt"

	"gamehoster/games/schema"
)

// fault is a statement that fails in some ticks, for some actors. Where Node has
// no such fault it throws instead.
func (s *scope) fault(of *typ, body string) *Node {
	period := 2 + s.r.IntN(5)
	test := fmt.Sprintf("game.tick %% %d === %d", period, s.r.IntN(period))
	if of.index != schema.InstanceType && s.chance(70) {
		test += fmt.Sprintf(" && %s.id %% %d < %d", s.vars[0].name, 3+s.r.IntN(8), 1+s.r.IntN(4))
	}
	how := s.failing(body)
	how.Text = "if (" + test + ") {\n" + how.Text + "\n}"
	how.Twin = "if (" + test + ") {\n" + how.Twin + "\n}"
	return how
}

// failing is what fails.
func (s *scope) failing(body string) *Node {
	p, ok := s.written(func(k schema.Kind) bool { return k == schema.F64 || k.Integer() })
	effect := ";"
	if ok {
		effect = p.text + "++;"
	}
	of := s.entity()
	thrown := effect + " throw fault;"
	switch s.r.IntN(7) {
	case 0:
		return &Node{Sort: Statement, Text: "while (true) { " + effect + " }", Twin: thrown}
	case 1:
		return &Node{Sort: Statement, Text: "for (;;) for (let i = 0; i < 10; i++) { " + effect + " }", Twin: thrown}
	case 2:
		f, c := s.someConstant(table)
		index := s.pick(fmt.Sprint(c.elements), "-1", "0.5", "1e10", "NaN")
		n := s.name("at")
		use := s.pick("", "\nif ("+n+" > 0) game.players.find(1);")
		return &Node{Sort: Statement, Twin: thrown, Text: effect + "\nconst " + n + " = " + s.file.use(f, c.name) + "[game.tick * 0 + " + index + "];" + use}
	case 3:
		if !of.owned {
			text := fmt.Sprintf("for (let i = 0; i < %d; i++) {\nconst full = game.%s.spawn();\nif (full.id < 0) full.remove();\n}", of.max+1, of.plural)
			return &Node{Sort: Statement, Text: text, Twin: text}
		}
	case 4:
		// A tower of calls, each of two.
		f := s.file
		tower := s.name("tower")
		text := ""
		for i := range 28 {
			text += fmt.Sprintf("function %s_%d() { %s_%d(); %s_%d(); }\n", tower, i, tower, i+1, tower, i+1)
		}
		f.funcs.Kids = append(f.funcs.Kids, fixed("%sfunction %s_28() { if (random() > 2) game.players.find(1); }", text, tower))
		return &Node{Sort: Statement, Text: effect + "\n" + tower + "_0();", Twin: thrown}
	case 5:
		return &Node{Sort: Statement, Text: "let n = 1;\ndo { n += 1; " + effect + " } while (n > 0);", Twin: thrown}
	}
	text := effect + "\ngame." + of.plural + ".find(-1).remove();"
	return &Node{Sort: Statement, Text: text, Twin: text}
}
