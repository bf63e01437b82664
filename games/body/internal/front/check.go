package front

import (
	"fmt"
	"path"

	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// check finds what a function must not do in the body that leads to it. Functions
// that run in browsers too must not read what some client does not have, write what
// only the server has, or use what only the server can. Views must not change
// anything. Other server bodies may do all there is.
func check(f *tree.Func, body Body, r *report) {
	c := &checker{report: r, body: body, targets: map[tree.Expr]bool{}, told: map[*schema.Field]bool{}}
	switch {
	case body.Moment == View:
		tree.EachExpr(f.Body, c.view)
	case !f.Server:
		tree.EachExpr(f.Body, c.shared)
	}
}

type checker struct {
	report  *report
	body    Body
	targets map[tree.Expr]bool     // what is written: whether it is read too is told by how
	told    map[*schema.Field]bool // sent fields that are read
}

// serverFile is where the author can do it instead.
func (c *checker) serverFile() string {
	ext := path.Ext(c.body.File)
	if c.body.Moment == OnCommand {
		return "commands.server" + ext
	}
	return c.body.Of.Name + ".server" + ext
}

// move tells what the author can do elsewhere instead, once, even if bodies of several
// files lead there: the first of them says where that is.
func (c *checker) move(s diag.Severity, at file.Idx, format string, args ...any) {
	c.report.once(s, at, fmt.Sprintf(format, args...), " move this to "+c.serverFile())
}

// shared looks at an expression of a function that browsers run.
func (c *checker) shared(x tree.Expr) {
	switch x := x.(type) {
	case *tree.Field:
		if !c.targets[x] {
			c.read(x.At, x.Of, x.Field)
		}
	case *tree.Named:
		if !c.targets[x] && x.Of != nil { // of those that it may be it sees all, or it has no others
			for _, f := range x.Fields {
				c.read(x.At, x.Of, f)
			}
		}
	case *tree.Assign:
		switch t := x.Target.(type) {
		case *tree.Field:
			c.targets[t] = true
			c.write(t.At, x.Op, t.Of, t.Field)
		case *tree.Named:
			c.targets[t] = true
			for _, f := range t.Fields {
				c.write(t.At, x.Op, t.Of, f)
			}
		}
	case *tree.Property:
		if x.What == tree.Open {
			c.move(diag.Error, x.At, "game.open is the server's: a shared body runs in browsers too, so")
		}
	case *tree.Random:
		if x.Server {
			c.move(diag.Error, x.At, "serverRandom() is the server's secret: a shared body runs in browsers too, so use random(), or")
		}
	case *tree.Remove:
		if x.Of.Index == schema.PlayerType {
			c.move(diag.Error, x.At, "only the server removes players: a shared body runs in browsers too, so")
		}
	case *tree.End:
		c.move(diag.Error, x.At, "only the server ends the game: a shared body runs in browsers too, so")
	}
}

func (c *checker) write(at file.Idx, op tree.Op, of *schema.Type, f *schema.Field) {
	if f.Sync == schema.Server {
		c.move(diag.Error, at, "a shared body cannot write %s: it is a server field, which browsers do not have, so make it sent or shared, or", fieldName(of, f))
		return
	}
	// Browsers leave a sum of a sent field with itself out. What is only written where
	// the old value asks for it may do more.
	if op != tree.NoOp && (f.Sync != schema.Sent || f.Audience == schema.Owner || op.Lazy()) {
		c.read(at, of, f)
	}
}

func (c *checker) read(at file.Idx, of *schema.Type, f *schema.Field) {
	switch {
	case f.Sync == schema.Server:
		c.move(diag.Error, at, "a shared body cannot read %s: it is a server field, which browsers do not have, so make it sent or shared, or", fieldName(of, f))
	case f.Audience == schema.Owner:
		c.move(diag.Error, at, "a shared body cannot read %s: only its owner receives it, and every browser must compute the same, so leave \"owner\" out of its declaration, or", fieldName(of, f))
	case f.Sync == schema.Sent && !c.told[f]:
		c.told[f] = true
		c.move(diag.Warning, at, "%s is sent: browsers have its value of the last send, so what they compute from it here can be off until the next keyframe; make it shared, or", fieldName(of, f))
	}
}

// view looks at an expression of a function that view bodies run.
func (c *checker) view(x tree.Expr) {
	refuse := func(n tree.Node, what string) {
		c.report.errorf(n.At, "a view body only tells what may be seen: it %s, so move this to a body that runs in ticks", what)
	}
	switch x := x.(type) {
	case *tree.Assign:
		if _, variable := x.Target.(*tree.VarRef); !variable {
			refuse(x.Node, "changes no field")
		}
	case *tree.Spawn:
		refuse(x.Node, "makes no objects")
	case *tree.Remove:
		refuse(x.Node, "removes nothing")
	case *tree.End:
		refuse(x.Node, "does not end the game")
	case *tree.Log:
		refuse(x.Node, "writes no log")
	case *tree.Random:
		c.report.errorf(x.At, "there is no chance in a view: it is asked at each send what may be seen, so decide in a tick and keep that in a field")
	}
}

func fieldName(of *schema.Type, f *schema.Field) string {
	if of.Index == schema.InstanceType {
		return fmt.Sprintf("game.%s", f.Name)
	}
	return fmt.Sprintf("%s of type %s", f.Name, of.Name)
}
