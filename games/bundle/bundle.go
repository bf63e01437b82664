// Package bundle builds what a page loads to play a game: gamehoster.js, its
// source map and its TypeScript declarations, and declarations for the body files.
//
//	games/_client/src (TypeScript, in the binary) --+
//	schema, as JSON --------------------------------+--> esbuild --> gamehoster.js
//	the client's wasm module, as base64 ------------+            --> gamehoster.js.map
//	the game's client.js or client.ts --------------+
//	schema --> declarations ------------------------------------->  gamehoster.d.ts, bodies.d.ts
//
// Everything is read from memory: neither Node nor npm nor a file of the machine
// is involved, so that a server can build what an author has just sent it. The
// script is one classic script that sets globalThis.gamehoster; importing it as a
// module does the same. The same game always gives the same bytes.
package bundle

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"gamehoster/games"
	"gamehoster/games/diag"
	"gamehoster/games/internal/tokens"
)

// Library is what a page loads.
type Library struct {
	Script []byte // gamehoster.js
	Map    []byte // gamehoster.js.map
	Types  []byte // gamehoster.d.ts
	Rules  []byte // bodies.d.ts, for editors; no page loads it
}

// Where esbuild finds files: the library's own, the game's, and what is made here.
const (
	clientSpace = "gamehoster"
	gameSpace   = "game"
	buildSpace  = "build"
)

// Build makes a game's library. It is nil when the findings hold an error; they
// are about client.js and what it imports.
func Build(g *games.Game) (*Library, diag.List) { return build(g, games.Client()) }

func build(g *games.Game, client fs.FS) (*Library, diag.List) {
	b := &builder{game: g, client: client}
	conf, err := Config(g.Def, g.Program, g.Hash)
	if err != nil {
		return nil, own(fmt.Errorf("writing the configuration: %w", err))
	}
	b.config = string(conf)
	result := api.Build(b.options(b.entry(), api.FormatIIFE))
	list := b.findings(result)
	if list.Failed() {
		return nil, list
	}
	exports, err := b.exports()
	if err != nil {
		return nil, append(list, own(err)...)
	}
	lib := &Library{Types: declarations(g, exports), Rules: rules(g)}
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			lib.Map = f.Contents
		} else {
			lib.Script = f.Contents
		}
	}
	return lib, list
}

// Check gives the findings that Build would, in a fraction of its time: the library
// around the game's front-end code is not built.
func Check(g *games.Game) diag.List {
	if g.Client() == "" {
		return nil
	}
	b := &builder{game: g}
	return b.findings(b.frontEnd())
}

type builder struct {
	game   *games.Game
	client fs.FS
	config string
}

// entry is the module that everything else hangs on.
func (b *builder) entry() string {
	game := "const game = {};"
	if b.game.Client() != "" {
		game = `import * as game from "game";`
	}
	return `import { create } from "gamehoster";
import config from "config";
import wasm from "wasm";
` + game + `
globalThis.gamehoster = create(config, wasm, game);
`
}

// tsconfig is what TypeScript itself takes for the target: fields of classes are assigned,
// which is shorter than defining them one by one.
const tsconfig = `{"compilerOptions": {"useDefineForClassFields": false}}`

func (b *builder) options(entry string, format api.Format) api.BuildOptions {
	return api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: entry, Sourcefile: "entry.js", Loader: api.LoaderJS},
		Outfile:           games.ScriptFile,
		Bundle:            true,
		Format:            format,
		Platform:          api.PlatformBrowser,
		Target:            api.ES2020,
		Charset:           api.CharsetUTF8,
		Sourcemap:         api.SourceMapLinked,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Banner:            map[string]string{"js": `"use strict";`}, // as in the modules that it is made of
		LegalComments:     api.LegalCommentsInline,
		LogLevel:          api.LogLevelSilent,
		LogLimit:          100,
		TsconfigRaw:       tsconfig,
		Plugins:           []api.Plugin{{Name: "memory", Setup: b.setup}},
	}
}

// exports are the names that the game's front-end code exports, sorted.
func (b *builder) exports() ([]string, error) {
	if b.game.Client() == "" {
		return nil, nil
	}
	result := b.frontEnd()
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("listing what %s exports: %s", b.game.Client(), result.Errors[0].Text)
	}
	return exported(result.Metafile)
}

// frontEnd bundles the game's front-end code alone.
func (b *builder) frontEnd() api.BuildResult {
	o := b.options(`export * from "game";`, api.FormatESModule)
	o.Metafile = true
	return api.Build(o)
}

func (b *builder) setup(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, b.resolve)
	for _, space := range []string{clientSpace, gameSpace, buildSpace} {
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: space}, b.load)
	}
}

func (b *builder) resolve(args api.OnResolveArgs) (api.OnResolveResult, error) {
	var space, file string
	switch args.Namespace {
	case clientSpace:
		space, file = clientSpace, b.find(path.Join(path.Dir(args.Importer), args.Path))
	case gameSpace:
		var ok bool
		space = gameSpace
		if file, ok = b.game.Resolve(args.Importer, args.Path); !ok && strings.HasPrefix(args.Path, ".") {
			return failed("there is no file %q in the game's folder", path.Join(path.Dir(args.Importer), args.Path))
		} else if !ok {
			return failed("only the game's own files can be imported, by a path such as \"./%s\"; there are no packages", path.Base(args.Path))
		}
	default: // the entry
		switch args.Path {
		case "gamehoster":
			space, file = clientSpace, "index.ts"
		case "game":
			space, file = gameSpace, b.game.Client()
		default:
			space, file = buildSpace, args.Path
		}
	}
	if file == "" {
		return failed("the library has no file %q", args.Path)
	}
	return api.OnResolveResult{Path: file, Namespace: space}, nil
}

func failed(format string, args ...any) (api.OnResolveResult, error) {
	return api.OnResolveResult{Errors: []api.Message{{Text: fmt.Sprintf(format, args...)}}}, nil
}

// find completes the path of one of the library's own modules.
func (b *builder) find(file string) string {
	for _, try := range []string{file, file + ".ts", strings.TrimSuffix(file, ".js") + ".ts", file + "/index.ts"} {
		if info, err := fs.Stat(b.client, try); err == nil && !info.IsDir() {
			return try
		}
	}
	return ""
}

var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".ts": api.LoaderTS, ".json": api.LoaderJSON,
	".txt": api.LoaderText, ".css": api.LoaderText, ".svg": api.LoaderText, ".html": api.LoaderText, ".glsl": api.LoaderText,
}

func (b *builder) load(args api.OnLoadArgs) (api.OnLoadResult, error) {
	var contents string
	loader, ok := loaders[path.Ext(args.Path)]
	switch args.Namespace {
	case clientSpace:
		text, err := fs.ReadFile(b.client, args.Path)
		if err != nil {
			return api.OnLoadResult{}, fmt.Errorf("reading the library's source: %w", err)
		}
		contents = string(text)
	case gameSpace:
		if !ok {
			return api.OnLoadResult{Errors: []api.Message{{Text: fmt.Sprintf("files of the kind %q cannot be imported", path.Ext(args.Path))}}}, nil
		}
		text, _ := b.game.Source(args.Path)
		contents = string(text)
		if loader != api.LoaderText {
			if problem := b.refused(args.Path, contents); problem != nil {
				return api.OnLoadResult{Errors: []api.Message{*problem}}, nil
			}
		}
	case buildSpace:
		if args.Path == "config" {
			contents, loader = b.config, api.LoaderJSON
		} else {
			contents, loader = string(b.game.Program.Client), api.LoaderBase64
		}
	}
	return api.OnLoadResult{Contents: &contents, Loader: loader}, nil
}

// limits keep esbuild, which recurses and has to read whatever an author sends, from
// running out of stack: that would end the process, and no recover helps.
var limits = tokens.Limits{Nesting: 500, Tokens: 10000, Elses: 5000, Angles: 2000}

// refused is why a file is not given to esbuild; nil if it is.
func (b *builder) refused(file, text string) *api.Message {
	at, p := limits.Check(text)
	if p == tokens.Fine {
		return nil
	}
	m := &api.Message{Text: "this is nested too deeply to be read"}
	if p == tokens.NoText {
		m.Text = "the file is not UTF-8 text from here on"
	}
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	m.Location = &api.Location{File: gameSpace + ":" + file, Line: 1 + strings.Count(text[:start], "\n"), Column: at - start, LineText: line}
	return m
}

// findings turns esbuild's messages into ours.
func (b *builder) findings(result api.BuildResult) (list diag.List) {
	add := func(severity diag.Severity, m api.Message) {
		d := diag.Diagnostic{Severity: severity, Pos: diag.Position{File: games.ScriptFile}, Message: sentence(m.Text)}
		if l := m.Location; l != nil && strings.HasPrefix(l.File, gameSpace+":") {
			d.Pos.File = strings.TrimPrefix(l.File, gameSpace+":")
			d.Pos.Line = l.Line
			d.Pos.Column = 1 + utf8.RuneCountInString(l.LineText[:min(l.Column, len(l.LineText))])
			if text, ok := b.game.Source(d.Pos.File); ok {
				d.Source = diag.NewSource(d.Pos.File, text).Line(l.Line)
			}
		} else if severity == diag.Warning {
			return // of the library's own sources; nothing that the author could mend
		}
		list = append(list, d)
	}
	for _, m := range result.Errors {
		add(diag.Error, m)
	}
	for _, m := range result.Warnings {
		add(diag.Warning, m)
	}
	list.Sort()
	return list
}

// own is an error that is no file's.
func own(err error) diag.List {
	return diag.List{{Pos: diag.Position{File: games.ScriptFile}, Message: err.Error()}}
}

// sentence brings a message of esbuild to the form of ours.
func sentence(s string) string {
	s = strings.ReplaceAll(s, `"`+gameSpace+":", `"`)
	r, n := utf8.DecodeRuneInString(s)
	if r >= 'A' && r <= 'Z' && n < len(s) && !(s[n] >= 'A' && s[n] <= 'Z') {
		s = strings.ToLower(s[:n]) + s[n:]
	}
	return strings.TrimSuffix(s, ".")
}
