package games

import (
	"gamehoster/games/body"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// compile turns the body files into the two modules.
func (g *Game) compile() diag.List {
	g.Program = &body.Program{
		ServerLayout: schema.NewLayout(g.Def, schema.OnServer),
		ClientLayout: schema.NewLayout(g.Def, schema.OnClient),
	}
	return nil
}
