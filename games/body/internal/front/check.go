package front

import (
	"fmt"
	"path"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// checkSync finds what a function that runs in browsers too must not do: read
// what some client does not have, write what only the server has, or use what
// only the server can. Functions of server bodies may do anything.
func checkSync(f *tree.Func, body Body, r *report) {
	if f.Server {
		return
	}
	c := &syncCheck{report: r, body: body}
	c.stmts(f.Body)
}

type syncCheck struct {
	report *report
	body   Body
}

// serverFile is where the author can do it instead.
func (c *syncCheck) serverFile() string {
	ext := path.Ext(c.body.File)
	if c.body.Moment == OnCommand {
		return "commands.server" + ext
	}
	return c.body.Of.Name + ".server" + ext
}

func (c *syncCheck) stmts(list []tree.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *syncCheck) stmt(s tree.Stmt) {
	switch s := s.(type) {
	case *tree.Decl:
		c.expr(s.X)
	case *tree.Eval:
		c.expr(s.X)
	case *tree.Block:
		c.stmts(s.Body)
	case *tree.If:
		c.expr(s.Test)
		c.stmts(s.Then)
		c.stmts(s.Else)
	case *tree.Loop:
		c.expr(s.Test)
		c.stmts(s.Body)
		c.expr(s.Step)
	case *tree.ForOf:
		c.stmts(s.Body)
	case *tree.Switch:
		c.expr(s.X)
		for _, k := range s.Cases {
			c.expr(k.Test)
			c.stmts(k.Body)
		}
	case *tree.Return:
		c.expr(s.X)
	}
}

func (c *syncCheck) exprs(list ...tree.Expr) {
	for _, x := range list {
		c.expr(x)
	}
}

func (c *syncCheck) expr(x tree.Expr) {
	switch x := x.(type) {
	case *tree.Field:
		c.expr(x.Obj)
		c.read(x)
	case *tree.CommandField:
		c.expr(x.Obj)
	case *tree.Property:
		c.expr(x.Obj)
		if x.What == tree.Open {
			c.report.errorf(x.At, "game.open is the server's: a shared body runs in browsers too, so move this to %s", c.serverFile())
		}
	case *tree.Unary:
		c.expr(x.X)
	case *tree.Binary:
		c.exprs(x.X, x.Y)
	case *tree.Logical:
		c.exprs(x.X, x.Y)
	case *tree.Nullish:
		c.exprs(x.X, x.Y)
	case *tree.Optional:
		c.exprs(x.Base, x.Rest)
	case *tree.Cond:
		c.exprs(x.Test, x.Then, x.Else)
	case *tree.Assign:
		c.assign(x)
	case *tree.Comma:
		c.exprs(x.List...)
	case *tree.Call:
		c.exprs(x.Args...)
	case *tree.Math:
		c.exprs(x.Args...)
	case *tree.Random:
		if x.Server {
			c.report.errorf(x.At, "serverRandom() is the server's secret: a shared body runs in browsers too, so use random(), or move this to %s", c.serverFile())
		}
	case *tree.Spawn:
		c.expr(x.Owner)
	case *tree.Find:
		c.expr(x.ID)
	case *tree.Remove:
		c.expr(x.Obj)
		if x.Of.Index == schema.PlayerType {
			c.report.errorf(x.At, "only the server removes players: a shared body runs in browsers too, so move this to %s", c.serverFile())
		}
	case *tree.End:
		c.report.errorf(x.At, "only the server ends the game: a shared body runs in browsers too, so move this to %s", c.serverFile())
	case *tree.Index:
		c.exprs(x.Path...)
	case *tree.Named:
		c.exprs(x.Obj, x.Name)
	case *tree.NonNull:
		c.expr(x.X)
	case *tree.Log:
		for _, p := range x.Parts {
			c.expr(p.X)
		}
	case *tree.StrLen:
		c.expr(x.X)
	}
}

func (c *syncCheck) assign(x *tree.Assign) {
	switch t := x.Target.(type) {
	case *tree.Field:
		c.expr(t.Obj)
		if t.Field.Sync == schema.Server {
			c.report.errorf(t.At, "a shared body cannot write %s: it is a server field, which browsers do not have, so make it sent or shared, or move this to %s", fieldName(t), c.serverFile())
		} else if x.Op != tree.NoOp {
			c.read(t)
		}
	default:
		c.expr(x.Target)
	}
	c.expr(x.X)
}

func (c *syncCheck) read(x *tree.Field) {
	switch {
	case x.Field.Sync == schema.Server:
		c.report.errorf(x.At, "a shared body cannot read %s: it is a server field, which browsers do not have, so make it sent or shared, or move this to %s", fieldName(x), c.serverFile())
	case x.Field.Audience == schema.Owner:
		c.report.errorf(x.At, "a shared body cannot read %s: only its owner receives it, and every browser must compute the same, so give it the audience all, or move this to %s", fieldName(x), c.serverFile())
	}
}

func fieldName(x *tree.Field) string {
	if x.Of.Index == schema.InstanceType {
		return fmt.Sprintf("game.%s", x.Field.Name)
	}
	return fmt.Sprintf("%s of type %s", x.Field.Name, x.Of.Name)
}
