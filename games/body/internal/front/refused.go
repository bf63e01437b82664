package front

import (
	"github.com/grafana/sobek/ast"
)

const refusedFunction = "functions are not values of the body language: declare them at the top level and call them by name"

const refusedClass = "classes are not part of the body language: a type's fields stand in gamehoster-game.json, its behaviour in its own file"

// foreign are names that JavaScript has elsewhere and bodies do not, with what
// to do instead.
var foreign = map[string]string{
	"Date":                  "there is no clock in a body: use game.tick and game.dt",
	"performance":           "there is no clock in a body: use game.tick and game.dt",
	"setTimeout":            "there are no timers in a body: count game.tick in a field",
	"setInterval":           "there are no timers in a body: count game.tick in a field",
	"console":               "there is no console in a body: write log(...), which goes to the server's log",
	"eval":                  "eval is not part of the body language",
	"Function":              "functions are not values of the body language",
	"fetch":                 "a body cannot reach the network",
	"require":               `imports go by name: import { wrap } from "./geometry.js"`,
	"window":                "a body has no page: front-end code stands in client.js",
	"document":              "a body has no page: front-end code stands in client.js",
	"globalThis":            "a body has no globals but game: keep state in fields",
	"process":               "a body has no process: keep state in fields",
	"Object":                "of Object there are Object.assign(p, { x: 1 }), as a statement, and Object.freeze({ x: 1 })",
	"Array":                 "lists are not part of the body language: use a collection of entities, or a table of constants at the top level",
	"Map":                   "maps are not part of the body language: use a collection of entities and find(id)",
	"Set":                   "sets are not part of the body language: use a collection of entities",
	"JSON":                  "JSON is not part of the body language",
	"String":                "texts are built in client.js",
	"parseInt":              "numbers are always numbers here: use Math.trunc()",
	"parseFloat":            "numbers are always numbers here",
	"Symbol":                "symbols are not part of the body language",
	"BigInt":                "numbers are doubles in the body language",
	"Promise":               "a body cannot wait",
	"arguments":             "name the parameters",
	"Error":                 "nothing is thrown in a body: return instead",
	"command":               "what a player sends comes to the functions of commands.js: keep it in a field of the player",
	"input":                 "what a player does comes as commands: keep it in a field of the player",
	"keys":                  "what a player does comes as commands: keep it in a field of the player",
	"Intl":                  "texts are built in client.js",
	"RegExp":                refusedRegexp,
	"Float32Array":          "arrays are not part of the body language: use fields",
	"Float64Array":          "arrays are not part of the body language: use fields",
	"Uint8Array":            "arrays are not part of the body language: use fields",
	"localStorage":          "nothing is kept but fields",
	"requestAnimationFrame": "a body has no page: front-end code stands in client.js",
}

// elsewhere are names that a page's game has, or another thing, and that of bodies
// does not.
var elsewhere = map[string]string{
	"me":           "game.me is the page's: bodies run for every player, which is their parameter",
	"send":         "commands come from pages: a body calls functions and writes fields",
	"on":           "events are the page's: a body runs in every tick and looks at fields",
	"frame":        "game.frame() is the page's: a body reads the fields themselves",
	"stats":        "game.stats is the page's",
	"close":        "pages close their connection: write game.end() to end the instance, or player.remove()",
	"entities":     "collections have names of their own: game.COLLECTION and the like",
	"instance":     "game is the instance: write game and the field",
	"random":       "random() is written without game",
	"serverRandom": "serverRandom() is written without game",
	"log":          "log() is written without game",
	"time":         "there is no clock in a body: use game.tick and game.dt",
	"now":          "there is no clock in a body: use game.tick and game.dt",
	"spawn":        "objects are made by their collection, as in game.COLLECTION.spawn()",
}

func refusedStatement(s ast.Statement) string {
	switch s.(type) {
	case *ast.FunctionDeclaration:
		return "functions stand at the top level of a file, not inside others"
	case *ast.ClassDeclaration:
		return refusedClass
	case *ast.ThrowStatement:
		return "nothing is thrown in a body: return instead"
	case *ast.TryStatement:
		return "there is nothing to catch: a body that fails is left out for that tick"
	case *ast.ForInStatement:
		return "for-in is not part of the body language: name the fields, or go over a collection with for-of"
	case *ast.WithStatement:
		return "with is not part of the body language"
	case *ast.DebuggerStatement:
		return "debugger is not part of the body language"
	case *ast.ImportDeclaration, *ast.ExportDeclaration:
		return "import and export stand at the top level of a file"
	}
	return "this statement is not part of the body language"
}

func refusedExpression(e ast.Expression) string {
	switch e := e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return refusedFunction
	case *ast.ArrayLiteral:
		return "lists are not part of the body language: use a collection of entities, or a table of constants at the top level"
	case *ast.ObjectLiteral:
		return "objects are made by spawn() only: keep the values in fields or in variables of their own"
	case *ast.ClassLiteral:
		return refusedClass
	case *ast.ThisExpression:
		return "this is not part of the body language: the object is the function's parameter"
	case *ast.NewExpression:
		if id, ok := e.Callee.(*ast.Identifier); ok && foreign[id.Name.String()] != "" {
			return foreign[id.Name.String()]
		}
		return "objects are made by spawn() only: new is not part of the body language"
	case *ast.RegExpLiteral:
		return refusedRegexp
	case *ast.TemplateLiteral:
		return "templates are for log(`...`) only: texts are built in client.js"
	case *ast.AwaitExpression:
		return refusedAwait
	case *ast.YieldExpression:
		return "generators are not part of the body language"
	case *ast.DynamicImportExpression, *ast.MetaProperty:
		return "imports stand at the top level of a file"
	case *ast.SpreadElement:
		return "lists are not part of the body language: name each value"
	case *ast.SuperExpression, *ast.PrivateDotExpression:
		return refusedClass
	}
	return "this expression is not part of the body language"
}
