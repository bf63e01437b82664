package games

import (
	"fmt"
	"path"
	"strings"

	"gamehoster/games/body"
	"gamehoster/games/diag"
)

// bodyFile reports whether a file can hold bodies or helpers of bodies: JavaScript
// or TypeScript that is not the front end's.
func bodyFile(p string) bool {
	ext := path.Ext(p)
	return (ext == ".js" || ext == ".ts" && !strings.HasSuffix(p, ".d.ts")) && strings.TrimSuffix(p, ext) != "client"
}

// compile turns the body files into the two modules. The compiler looks at the
// files that are bodies, or that one imports, and at no others: front-end code
// and pages may be whatever a browser takes.
func (g *Game) compile() (list diag.List) {
	// Authors' files come from outside, and a server compiles them while it serves
	// other games: a fault of the compiler must not be more than a rejected game.
	defer func() {
		if fault := recover(); fault != nil {
			list = diag.List{{Pos: diag.Position{File: DefinitionFile}, Message: fmt.Sprintf("the compiler failed on this game's bodies: %v", fault)}}
		}
	}()
	g.Program, list = body.Compile(g.Def, g.bodies(), body.Options{})
	return list
}

// bodies are the files that the compiler may look at.
func (g *Game) bodies() (sources []body.Source) {
	for _, files := range [][]File{g.Files, g.Shared} {
		for _, f := range files {
			if bodyFile(f.Path) {
				sources = append(sources, body.Source{Path: f.Path, Text: g.texts[f.Path]})
			}
		}
	}
	return sources
}

// Named is the game's rules compiled once more, with the names of variables in the
// modules: for people who look into them, not to be served.
func (g *Game) Named() (*body.Program, error) {
	p, list := body.Compile(g.Def, g.bodies(), body.Options{Names: true})
	return p, list.Err()
}

// IR is the compiler's own picture of the game's bodies, optimised, before it becomes
// code: text for people who look into the compiler.
func (g *Game) IR() (string, error) {
	text, list := body.Text(g.Def, g.bodies(), body.Options{})
	return text, list.Err()
}
