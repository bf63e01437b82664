package body_test

import (
	"strings"
	"testing"

	"gamehoster/games/body"
)

// phrases are what is said of bodies, one after the other, each with a program that is
// accepted or, with a finding, refused. That what is accepted does what it does in Node
// is for the twin's tests; that each finding is one that an author can read, for
// testdata/errors.txt.
var phrases = []struct{ phrase, text, finding string }{
	// Files and what they export.
	{"instance.js exports update()", "-- instance.js --\nexport function update() { game.round++; }", ""},
	{"and nothing else", "-- instance.js --\nexport function start() {}", "it runs on the server only, so move it to instance.server.js"},
	{"instance.server.js exports start() and update()", "-- instance.server.js --\nexport function start() { game.hidden = 1; }\nexport function update() {}", ""},
	{"player.js exports update(player)", "-- player.js --\nexport function update(player) { player.x++; }", ""},
	{"player.server.js exports join, leave and update", "-- player.server.js --\nexport function join(p) {}\nexport function leave(p) {}\nexport function update(p) {}", ""},
	{"join is no shared body", "-- player.js --\nexport function join(p) {}", "it runs on the server only, so move it to player.server.js"},
	{"ENTITY.js exports update(self)", "-- asteroid.js --\nexport function update(self) { self.x++; }", ""},
	{"ENTITY.server.js is its backend", "-- bullet.server.js --\nexport function update(self) { self.ttl = serverRandom(); }", ""},
	{"commands.js has a function for each command", "-- commands.js --\nexport function thrust(player, command) { player.x += command.power; }\nexport function fire(player) {}\n-- commands.server.js --\nexport function fire(player) {}", ""},
	{"a command without one is an error", "-- commands.server.js --\nexport function thrust() {}", `the command "fire" has no function`},
	{"view.js has a function for a type", "-- view.js --\nexport function asteroid(viewer, a) { return viewer.x < a.x; }", ""},
	{"that returns whether it may be seen", "-- view.js --\nexport function asteroid(viewer, a) { return a.x; }", "a view body returns a bool"},
	{"a body is JavaScript or TypeScript", "-- player.ts --\nexport function update(player: { x: number }): void { player.x++; }", ""},
	{"not both", "-- player.ts --\nexport function update(p: any) {}\n-- player.js --\nexport function update(p) {}", "player.js is there, too"},
	{"helpers are imported by name", "-- asteroid.js --\nimport { wrap } from \"./geometry.js\";\nexport function update(self) { wrap(self); }\n-- geometry.js --\nexport function wrap(o) { o.x %= 9; }", ""},
	{"or a file as a whole", "-- asteroid.js --\nimport * as geometry from \"./geometry.js\";\nexport function update(self) { geometry.wrap(self); }\n-- geometry.js --\nexport function wrap(o) { o.x %= 9; }", ""},
	{"those of _shared too", "-- asteroid.js --\nimport { wrap } from \"../_shared/geometry.js\";\nexport function update(self) { wrap(self); }\n-- _shared/geometry.js --\nexport function wrap(o) { o.x %= 9; }", ""},
	{"there are no packages", "-- asteroid.js --\nimport { wrap } from \"lodash\";\nexport function update(self) { wrap(self); }", "there are no packages"},
	{"shared bodies read no server fields", "-- player.js --\nexport function update(p) { p.x = p.coins; }", "browsers do not have"},
	{"server bodies do", "-- player.server.js --\nexport function update(p) { p.x = p.coins + p.hand; }", ""},
	{"server bodies have game.open, game.end() and player.remove()", "-- player.server.js --\nexport function update(p) { if (p.name === \"x\") { game.open = false; game.end(); p.remove(); } }", ""},
	{"shared ones do not", "-- player.js --\nexport function update(p) { game.end(); }", "only the server ends the game"},

	// The language.
	{"a store into a field converts", "-- asteroid.js --\nexport function update(self) { self.size = 300.7; self.big = self.x > 1; }", ""},
	{"but types do not mix", "-- asteroid.js --\nexport function update(self) { self.size = self.big; }", "write x ? 1 : 0"},
	{"collections: for-of, count, find, spawn, remove", "-- instance.js --\nexport function update() { for (const a of game.asteroids) { if (game.asteroids.count > 3) a.remove(); } const a = game.asteroids.spawn() ?? game.asteroids.find(2); if (a) a.x = 1; }", ""},
	{"an owned type takes its owner", "-- instance.js --\nexport function update() { game.bullets.spawn(); }", "spawn() takes its owner, as in game.bullets.spawn(player)"},
	{"random, tick and dt", "-- instance.js --\nexport function update() { game.round = random() * game.tick * game.dt; }", ""},
	{"serverRandom in server bodies only", "-- instance.js --\nexport function update() { game.round = serverRandom(); }", "use random()"},
	{"const, let, if, for, while, do, break, continue, labels, switch, comma", "-- instance.js --\nexport function update() { let n = 0; a: for (let i = 0, j = 3; i < j; i++, j--) { while (n < 9) { n++; if (n > 4) continue a; if (n > 7) break a; } do n--; while (n > 0); switch (n) { case 1: n = 2; default: n = 3; } } game.round = n; }", ""},
	{"var is not", "-- instance.js --\nexport function update() { var n = 0; }", "use let or const instead of var"},
	{"== is not", "-- instance.js --\nexport function update() { if (game.round == 1) game.round = 2; }", "use === instead of =="},
	{"ternary, && || !, arithmetic and bits, **", "-- instance.js --\nexport function update() { const a = game.round; game.round = !a ? (a | 3) ** 2 % 7 >>> 1 : a && ~a || -a; }", ""},
	{"??= ||= &&=", "-- asteroid.js --\nexport function update(self) { self.near ??= self; self.x ||= 1; self.big &&= false; }", ""},
	{"Math, and what Number tells of numbers", "-- instance.js --\nexport function update() { game.round = Math.hypot(Math.sin(1), Math.PI) + (Number.isNaN(game.pace) ? Number.EPSILON : 0); }", ""},
	{"Math.random is not", "-- instance.js --\nexport function update() { game.round = Math.random(); }", "use random()"},
	{"helpers, with defaults and patterns", "-- asteroid.js --\nconst far = ({ x, y }, by = 2) => x * by + y;\nexport function update(self) { self.x = far(self) + far({ x: 1, y: 2 }, 3); }", ""},
	{"given tables and collections", "-- asteroid.js --\nconst T = [1, 2];\nfunction sum(list) { let s = 0; for (const v of list) s += v; return s; }\nfunction all(list) { return list.count; }\nexport function update(self) { self.x = sum(T) + all(game.players); }", ""},
	{"recursion is not", "-- asteroid.js --\nfunction f(n) { return f(n - 1); }\nexport function update(self) { self.x = f(1); }", "recursion is not part of the body language: f calls f"},
	{"strs are compared, assigned, measured", "-- player.server.js --\nexport function update(p) { if (p.name < \"b\" && p.name.length > 2) game.title = p.name; }", ""},
	{"and not joined", "-- player.server.js --\nexport function update(p) { game.title = p.name + \"!\"; }", "strs cannot be joined in a body"},
	{"templates are for log only", "-- player.server.js --\nexport function update(p) { log(`${p.name} is at ${p.x}`); game.title = `no`; }", "templates are for log(`...`) only"},
	{"null narrows", "-- asteroid.js --\nexport function update(self) { const b = self.near; if (!b) return; self.x = b.x + (b.near?.x ?? 0); }", ""},
	{"undefined is nothing", "-- asteroid.js --\nexport function update(self) { self.near = undefined; }", "use null for no object"},
	{"constant lists and objects, computed when checked", "-- asteroid.js --\nconst K = { ROCK: 0, SHIP: 1 }, T = [[1, 2 ** 3], [Math.sin(1), K.SHIP]];\nexport function update(self) { self.x = T[1][self.size & 1]; switch (self.size) { case K.ROCK: self.y = 1; } }", ""},
	{"which are not changed", "-- asteroid.js --\nconst T = [1, 2];\nexport function update(self) { T[0] = 3; }", "its elements cannot be assigned"},
	{"objects and lists that a body makes", "-- asteroid.js --\nexport function update(self) { const v = { x: self.x, y: 1 }, [a, b] = [v.x, 2]; v.y += a * b; self.x = v.y; }", ""},
	{"that do not grow", "-- asteroid.js --\nexport function update(self) { const list = [self.x]; list.push(1); }", "what comes and goes is a collection of entities"},
	{"a computed name", "-- player.js --\nconst AXES = [\"x\", \"y\"];\nexport function update(p) { p[AXES[game.tick % 2]] = 1; }", ""},
	{"of a field that there is", "-- player.js --\nexport function update(p) { p[\"z\" ? \"z\" : \"x\"] = p[1]; }", "a field is named by a str"},
	{"no closures", "-- asteroid.js --\nexport function update(self) { const f = () => self.x; }", "functions are not values of the body language"},
	{"no state of a module", "-- asteroid.js --\nlet n = 0;\nexport function update(self) { n++; }", "nothing is kept between ticks but fields"},
	{"no classes", "-- asteroid.js --\nclass A {}\nexport function update(self) {}", "classes are not part of the body language"},
	{"no this", "-- asteroid.js --\nexport function update(self) { this.x = 1; }", "the object is the function's parameter"},
	{"no new", "-- asteroid.js --\nexport function update(self) { const v = new Vector(); }", "new is not part of the body language"},
	{"no try", "-- asteroid.js --\nexport function update(self) { try { self.x = 1; } catch {} }", "there is nothing to catch"},
	{"no throw", "-- asteroid.js --\nexport function update(self) { throw 1; }", "nothing is thrown in a body"},
	{"no async", "-- asteroid.js --\nexport async function update(self) {}", "a body cannot wait"},
	{"no eval", "-- asteroid.js --\nexport function update(self) { eval(\"1\"); }", "eval is not part of the body language"},
	{"no Date", "-- asteroid.js --\nexport function update(self) { self.x = Date.now(); }", "use game.tick and game.dt"},
}

func TestPhrases(t *testing.T) {
	def := define(t, errorTypes)
	for _, p := range phrases {
		files := bodies(p.text + "\n")
		if !strings.Contains(p.text, "-- commands.") {
			files = append(files, bodies(errorBase)...)
		}
		_, list := body.Compile(def, files, body.Options{})
		switch {
		case p.finding == "" && list.Failed():
			t.Errorf("%s: %v", p.phrase, list)
		case p.finding == "":
		case len(list) != 1:
			t.Errorf("%s: one mistake, and %d findings: %v", p.phrase, len(list), list)
		default:
			d := list[0]
			if !strings.Contains(d.Message, p.finding) {
				t.Errorf("%s: %v", p.phrase, d)
			}
			if whole := strings.HasPrefix(d.Message, "the command") || strings.HasPrefix(d.Message, "player.js"); !whole &&
				(d.Pos.Line == 0 || d.Pos.Column == 0 || !strings.Contains(d.Render(), "^")) {
				t.Errorf("%s: no place is shown:\n%s", p.phrase, d.Render())
			}
		}
	}
}
