// Package front reads a game's body files: it parses them, resolves names and
// imports, gives every expression a type and checks that no body sees or writes
// what it must not. What it hands on (package tree) is correct as far as can be
// known before the game runs; what is not correct it reports, all of it in one
// run, each with its place and, where there is one, the way out.
//
//	files --parse--> modules --walk--> function instances --check--> bodies
//	module.go        typer.go, stmt.go, expr.go, ...       check.go
//	enum.go
//
// Files are parsed when a body or an import needs them (loader). A function is walked
// for the types of the arguments it is called with, so that a helper may serve
// several types of object (typer, walker). A walk is repeated until the types of its
// variables stay the same; its findings are those of the last one.
//
// # Values and things
//
// What a body computes with are values: numbers, bools, strs and objects of the game,
// each of a type that tree knows. Beside them there are things, which have a name and
// members but are nothing when the game runs: a table of constants, a collection of
// game, an object or a list that a body writes. The walk knows at every place which thing
// is meant, and takes it apart there; only its parts are values (things.go, views.go,
// patterns.go). So { x: 1, y: p.y } costs what two variables do, and a helper that is
// given a table is a helper for that table. This is JavaScript as long as nobody can tell
// that there is no object: what could (comparing two, changing one that someone else
// has, leaving one out) is refused.
//
// Constants are computed, by running their tree (package eval); what takes state or chance
// is none.
//
// # What is known where
//
// flow follows which variables are not null, which have no value yet, and what is never
// reached, through branches, loops and jumps. Using what may be null is a warning, and a
// check where it is lowered; so is nothing else but what an author is told. TypeScript's !
// is the author's word that it is there: the check stays, at the !, and the warning goes.
//
// # Findings
//
// One mistake is told once: what is refused becomes an expression of the type Bad, which
// fits everywhere, and names that were refused are declared nevertheless. A name that is
// not there comes with the one that is nearest to it (names.go); what JavaScript has and
// bodies have not comes with what to write instead (refused.go).
package front

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/grafana/sobek/ast"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// Moment is when a body runs.
type Moment uint8

const (
	Start Moment = iota
	Leave
	Join
	OnCommand
	Update
	View // not in ticks
)

// Body is one function that the driver calls.
type Body struct {
	Name   string // as in "asteroid.update", "commands.server.thrust"
	File   string
	Moment Moment
	Server bool
	Of     *schema.Type    // whose row it is called with; the instance for none
	Cmd    *schema.Command // OnCommand
	Fn     *tree.Func
}

// Result is what Read found.
type Result struct {
	Bodies []Body // in the order of body numbers
	Files  *Files
	List   diag.List
}

// Read checks the bodies of a game. Files that are no bodies and that no body
// imports are left alone. math gives the functions of the maths library, by which
// constants are computed.
func Read(def *schema.Definition, sources map[string][]byte, math func(name string) *tree.Func) *Result {
	files := &Files{}
	r := &report{files: files}
	l := &loader{sources: sources, modules: map[string]*module{}, files: files, report: r}
	b := &bodies{typer: newTyper(def, l, math), report: r}
	b.discover()
	b.reportInstances()
	b.unknownExports()
	r.list.Sort()
	return &Result{Bodies: b.list, Files: files, List: r.list}
}

// bodies finds the functions that the definition gives a meaning to.
type bodies struct {
	typer  *typer
	report *report
	list   []Body
	known  map[string][]string // by file: names that are bodies
	walked []*instance
}

// discover goes through the bodies in the order of their numbers.
func (b *bodies) discover() {
	b.known = map[string][]string{}
	def := b.typer.def
	instance, player := def.Instance(), def.Player()
	b.body(Body{Name: "instance.server.start", Moment: Start, Of: instance, Server: true})
	b.body(Body{Name: "player.server.leave", Moment: Leave, Of: player, Server: true})
	b.body(Body{Name: "player.server.join", Moment: Join, Of: player, Server: true})
	for _, c := range def.Commands {
		shared := b.body(Body{Name: "commands." + c.Name, Moment: OnCommand, Of: player, Cmd: c})
		server := b.body(Body{Name: "commands.server." + c.Name, Moment: OnCommand, Of: player, Cmd: c, Server: true})
		if !shared && !server {
			there, hidden := b.file("commands"), b.file("commands.server")
			b.report.place(diag.Error, diag.Position{File: there}, "", "the command \"%s\" has no function: write export function %s(player, command) in %s or %s", c.Name, c.Name, there, hidden)
		}
	}
	for _, t := range append(slices.Clone(def.Types[1:]), instance) {
		b.body(Body{Name: t.Name + ".update", Moment: Update, Of: t})
		b.body(Body{Name: t.Name + ".server.update", Moment: Update, Of: t, Server: true})
	}
	for _, t := range def.Types[1:] {
		b.body(Body{Name: "view." + t.Name, Moment: View, Of: t, Server: true})
	}
}

// file is the file of the bodies with a name: JavaScript, or TypeScript where that
// is there.
func (b *bodies) file(stem string) string {
	_, typed := b.typer.loader.sources[stem+".ts"]
	if !typed {
		return stem + ".js"
	}
	if _, plain := b.typer.loader.sources[stem+".js"]; plain {
		b.report.place(diag.Error, diag.Position{File: stem + ".ts"}, "", "%s.js is there, too: a body is written in JavaScript or in TypeScript", stem)
		return stem + ".js"
	}
	return stem + ".ts"
}

// body adds a body if its file exports it.
func (b *bodies) body(body Body) bool {
	dot := strings.LastIndexByte(body.Name, '.')
	body.File = b.file(body.Name[:dot])
	name := body.Name[dot+1:]
	b.known[body.File] = append(b.known[body.File], name)
	m := b.typer.loader.load(body.File)
	if m == nil {
		return b.typer.loader.sources[body.File] != nil // it is in error already
	}
	s := m.exports[name]
	if s == nil {
		if d := m.names[name]; d != nil && d.kind == symFunc {
			b.report.errorf(d.at, "\"%s\" is not exported, so it would never run: write export in front of it", name)
			return true
		}
		return false
	}
	if s.kind != symFunc {
		b.report.errorf(s.at, "\"%s\" must be a function", name)
		return true
	}
	args := b.arguments(body)
	if n := len(s.params.List); n > len(args) {
		hint := ""
		extra, _ := s.params.List[len(args)].Target.(*ast.Identifier)
		switch {
		case extra != nil && (extra.Name == "dt" || extra.Name == "delta" || extra.Name == "deltaTime"):
			hint = ": the time that a tick takes is game.dt"
		case len(args) == 0:
			hint = ": the instance is game"
		}
		b.report.errorf(s.params.List[len(args)].Idx0(), "%s is called with %s%s", name, arguments(len(args)), hint)
		return true
	}
	in, problem := b.typer.request(s, values(args[:len(s.params.List)]...), body.Server)
	switch {
	case problem != "":
		b.report.errorf(s.at, "%s", problem)
		return true
	case in.gives != nil:
		b.report.errorf(s.at, "%s returns %s: what a body returns is not kept, so write it to fields", name, in.gives.called())
		return true
	}
	if body.Fn = in.fn; body.Moment == View && in.fn.Result.Kind != tree.Bool && in.fn.Result.Kind != tree.Bad {
		b.report.errorf(s.at, "%s returns %s: a view body returns a bool, whether the viewer may see the object", name, in.fn.Result)
	}
	b.walked = append(b.walked, in)
	b.list = append(b.list, body)
	return true
}

// arguments are the types of what a body is called with.
func (b *bodies) arguments(body Body) (args []tree.Type) {
	if body.Moment == View { // the viewer, the object, and whether it is seen already
		return []tree.Type{{Kind: tree.Object, Of: b.typer.def.Player()}, {Kind: tree.Object, Of: body.Of}, boolean}
	}
	if body.Of.Index != schema.InstanceType {
		args = append(args, tree.Type{Kind: tree.Object, Of: body.Of})
	}
	if body.Cmd != nil {
		args = append(args, tree.Type{Kind: tree.Command, Cmd: body.Cmd})
	}
	return args
}

// reportInstances gathers the findings of everything that a body reaches, and
// checks that for what it may see.
func (b *bodies) reportInstances() {
	type reached struct { // views have rules of their own
		in   *instance
		view bool
	}
	done := map[reached]bool{}
	var visit func(in *instance, from Body)
	visit = func(in *instance, from Body) {
		key := reached{in, from.Moment == View}
		if done[key] {
			return
		}
		done[key] = true
		for _, d := range in.report.list {
			b.report.place(d.Severity, d.Pos, d.Source, "%s", d.Message)
		}
		check(in.fn, from, b.report)
		for c := range in.callee {
			visit(c, from)
		}
	}
	for i, in := range b.walked {
		visit(in, b.list[i])
	}
}

// unknownExports reports exports of body files that nothing would call, imports
// that lead nowhere, and functions that were not checked because nothing calls
// them.
func (b *bodies) unknownExports() {
	names := keys(b.typer.loader.modules)
	slices.Sort(names)
	for _, name := range names {
		m := b.typer.loader.modules[name]
		if m == nil {
			continue
		}
		for _, s := range m.order {
			if s.kind == symImport {
				if _, problem := b.typer.loader.lookup(m, s.name); problem != "" {
					b.report.errorf(s.at, "%s", problem)
				}
			}
		}
	}
	for _, name := range names {
		m, bodies := b.typer.loader.modules[name], b.known[name]
		if m == nil || bodies == nil || path.Dir(name) != "." {
			continue
		}
		for _, s := range m.order {
			if s.kind == symFunc && m.exports[s.name] == s && !s.used && !slices.Contains(bodies, s.name) {
				b.report.errorf(s.at, "nothing calls \"%s\" of %s: %s", s.name, name, b.wayOut(s.name, name))
			} else if s.kind == symFunc && !b.report.list.Failed() && !s.called && !s.used && m.exports[s.name] != s && !slices.Contains(bodies, s.name) {
				b.report.warnf(s.at, "nothing calls \"%s\", so it is not checked", s.name)
			}
		}
	}
}

// wayOut is what to do about an export that is none of a file's bodies.
func (b *bodies) wayOut(name, file string) string {
	var homes []string
	for f, names := range b.known {
		if slices.Contains(names, name) {
			homes = append(homes, f)
		}
	}
	slices.Sort(homes)
	server := strings.TrimSuffix(file, path.Ext(file)) + ".server" + path.Ext(file)
	switch {
	case slices.Contains(homes, server):
		return fmt.Sprintf("it runs on the server only, so move it to %s", server)
	case len(homes) > 0:
		return fmt.Sprintf("it is a body of %s, so move it there", homes[0])
	}
	bodies := b.known[file]
	list := "its bodies are " + strings.Join(bodies, "(), ") + "()"
	if len(bodies) == 1 {
		list = "its body is " + bodies[0] + "()"
	}
	return list + suggest(name, slices.Clone(bodies))
}

// Library reads files of functions of numbers and gives those that they export.
// Besides the body language they may use the intrinsics of package tree.
func Library(sources map[string][]byte) (map[string]*tree.Func, error) {
	files := &Files{}
	r := &report{files: files}
	l := &loader{sources: sources, modules: map[string]*module{}, files: files, report: r}
	def := &schema.Definition{TickRate: 1, Types: []*schema.Type{{Name: "instance"}, {Index: 1, Name: "player", Plural: "players"}}}
	t := newTyper(def, l, func(string) *tree.Func { return nil })
	t.library = true
	funcs := map[string]*tree.Func{}
	var list []*instance
	names := keys(sources)
	slices.Sort(names)
	for _, name := range names {
		m := l.load(name)
		if m == nil {
			continue
		}
		for _, s := range m.order {
			if s.kind == symImport {
				if _, problem := l.lookup(m, s.name); problem != "" {
					r.errorf(s.at, "%s", problem)
				}
			}
			if m.exports[s.name] != s || s.kind != symFunc {
				continue
			}
			args := make([]tree.Type, len(s.params.List))
			for i := range args {
				args[i] = number
			}
			in, problem := t.request(s, values(args...), false)
			if problem != "" {
				r.errorf(s.at, "%s", problem)
				continue
			}
			funcs[s.name] = in.fn
			list = append(list, in)
		}
	}
	for i := 0; i < len(list); i++ {
		r.list = append(r.list, list[i].report.list...)
		for c := range list[i].callee {
			list = append(list, c)
		}
	}
	return funcs, r.list.Err()
}
