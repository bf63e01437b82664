// Package libm has the functions of JavaScript's Math that are no WebAssembly
// instruction. They are written in the body language (js/*.js, a family of
// functions a file) and become part of a game's modules like its helpers: the
// same code on both sides, and only what is called.
//
//	trig.js        sin cos tan               <- reduce.js (modulo pi / 2)
//	arc.js         asin acos atan atan2
//	exp.js         exp expm1
//	hyperbolic.js  sinh cosh tanh asinh acosh atanh   <- exp.js, log.js
//	log.js         log log1p log2 log10
//	pow.js         pow, which ** is too      <- exp.js, log.js
//	root.js        cbrt hypot
//
// Being in the body language they can be run by any JavaScript engine and be
// compared. All they use is the arithmetic of doubles, which is the same
// everywhere, and the bits of a double: nothing is fused, and there are no loops.
// Each result is less than one unit in the last place from the exact one.
//
// Beyond the body language there are
//
//	highWord(x), lowWord(x)   the halves of a double's bits, signed and unsigned
//	fromWords(high, low)      the double of two halves
//	head(x)                   x without its lowest 27 bits: the product of two
//	                          heads is exact
//	scale(x, n)               x * 2^k for n = 1.5 * 2^52 + k, in whose lowest bits k
//	                          stands; x and the result are normal numbers
//	apart()                   first in a function, keeps it from being copied into its
//	                          callers
//	setTail(x), tail()        one number that a function can give besides its result
//
// A value and its tail are a number of twice the precision.
package libm

import (
	"embed"
	"path"
	"strings"
	"sync"

	"gamehoster/games/body/internal/front"
	"gamehoster/games/body/internal/tree"
)

//go:embed js/*.js
var files embed.FS

var sources = sync.OnceValue(func() map[string][]byte {
	list, _ := files.ReadDir("js")
	texts := map[string][]byte{}
	for _, f := range list {
		texts[f.Name()], _ = files.ReadFile(path.Join("js", f.Name()))
	}
	return texts
})

var functions = sync.OnceValues(func() (map[string]*tree.Func, error) {
	return front.Library(sources())
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

// names are the functions of Math among what the files export.
const names = "sin, cos, tan, asin, acos, atan, atan2, exp, expm1, sinh, cosh, tanh, asinh, acosh, atanh, log, log1p, log2, log10, pow, cbrt"

// intrinsics are what the files use beyond the body language, in JavaScript. After
// them hypot takes any number of arguments, as calls of it in bodies do.
const intrinsics = `
const f = new Float64Array(1), u = new Uint32Array(f.buffer), s = new Int32Array(f.buffer);
let kept = 0;
const highWord = (x) => { f[0] = x; return s[1]; };
const lowWord = (x) => { f[0] = x; return u[0]; };
const fromWords = (high, low) => { s[1] = high; u[0] = low; return f[0]; };
const head = (x) => { f[0] = x; u[0] &= 0xf8000000; return f[0]; };
const scale = (x, n) => { f[0] = n; const k = s[0]; f[0] = x; s[1] += k << 20; return f[0]; };
const setTail = (x) => { kept = x; };
const tail = () => kept;
const apart = () => {};
const many = (...list) => {
  if (list.length < 3) return list.length < 2 ? Math.abs(list[0]) : hypot(...list);
  const m = list.slice(1).reduce(larger, Math.abs(list[0]));
  if (!(m < Infinity)) return m;
  const scale = scaleOf(m);
  setTail(0);
  return rootOf(list.reduce((sum, x) => plusSquare(sum, x * scale), 0), scale);
};
`

// Script is the library as the body of a JavaScript function that gives an object
// of its functions, for tests that run bodies as the JavaScript they are.
func Script() string {
	var b strings.Builder
	b.WriteString(intrinsics)
	for _, text := range sources() {
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "import ") {
				b.WriteString(strings.TrimPrefix(line, "export "))
			}
		}
	}
	b.WriteString("\nreturn { " + names + ", hypot: many };\n")
	return b.String()
}
