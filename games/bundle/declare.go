package bundle

import (
	"gamehoster/games"
)

func declarations(g *games.Game, exports []string) []byte { return nil }
