// Package libm has the functions of JavaScript's Math that are no WebAssembly
// instruction. They are written in the body language (math.js) and become part
// of a game's modules like its helpers: the same code on both sides, and only
// what is called.
package libm

import (
	_ "embed"
	"sync"

	"gamehoster/games/body/internal/front"
	"gamehoster/games/body/internal/tree"
)

//go:embed math.js
var source string

// Source is the library's text.
func Source() string { return source }

var functions = sync.OnceValues(func() (map[string]*tree.Func, error) {
	return front.Library("math.js", source)
})

// Func gives a function of Math by its name, nil if it is none of the library's.
// The tree is shared and must not be changed.
func Func(name string) *tree.Func {
	all, err := functions()
	if err != nil {
		panic(err) // the text is part of the program, and tested
	}
	return all[name]
}
