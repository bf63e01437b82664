// Package games turns a folder of data and plain JavaScript or TypeScript into a checked,
// compiled game, and finds the games of a server.
//
//	gamehoster-game.json --> schema.Definition --+
//	*.js, *.ts           --> body.Compile -------+--> Game --> bundle --> gamehoster.js
//	_shared/*.js         --> (game, domain, root) +               .d.ts, .js.map
//
// Load reads a folder once and keeps what later steps need, so that a file which
// changes meanwhile cannot make two halves of one game. Whatever is wrong comes
// back as findings with file, line and column, all of one run together. A Game is
// immutable and safe for concurrent use.
//
// ReadRoot lists a directory of domains and games, and resolves the host and path
// of a request to one of them from memory.
package games

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gamehoster/games/body"
	"gamehoster/games/diag"
	"gamehoster/games/origin"
	"gamehoster/games/schema"
)

// What a game's folder may hold.
const (
	MaxFileBytes = 1 << 20  // of one file
	MaxGameBytes = 16 << 20 // of all files together, imported helpers included
	MaxFiles     = 1024     // in the folder, and as many imported helpers
)

// Files of a game's folder that the build writes; they are no part of its source.
const (
	ScriptFile = "gamehoster.js"
	MapFile    = "gamehoster.js.map"
	TypesFile  = "gamehoster.d.ts"
	RulesFile  = "bodies.d.ts"
)

// SharedFolder is the folder of helpers that the games of a domain, or of the
// whole root, import from.
const SharedFolder = "_shared"

// Generated reports whether the path is one of the files that the build writes.
func Generated(path string) bool {
	return path == ScriptFile || path == MapFile || path == TypesFile || path == RulesFile
}

// File is one file of a game's source.
type File struct {
	Path   string // relative to the game's folder, with forward slashes
	Size   int    // bytes
	SHA256 [sha256.Size]byte
}

// Sum is the file's hash in hexadecimal.
func (f File) Sum() string { return hex.EncodeToString(f.SHA256[:]) }

// Game is a checked and compiled game.
type Game struct {
	Name    string
	Def     *schema.Definition
	Program *body.Program
	Hash    uint64 // of the definition; see DefinitionHash
	Origins origin.Rules
	// Files is the folder's source in the order of paths.
	Files []File
	// Shared is what was imported from _shared folders, in the order of paths,
	// which begin with "_shared/". A change of one of them asks for a reload.
	Shared []File

	texts map[string][]byte // of Files and Shared, by path
}

// Source is the text of one of Files or Shared. It belongs to the game.
func (g *Game) Source(path string) ([]byte, bool) {
	text, ok := g.texts[path]
	return text, ok
}

func (g *Game) has(path string) bool {
	_, ok := g.texts[path]
	return ok
}

// Client is the path of the front-end code that is bundled into the library,
// client.js or client.ts; empty where there is none.
func (g *Game) Client() string {
	for _, name := range []string{"client.js", "client.ts"} {
		if g.has(name) {
			return name
		}
	}
	return ""
}

// Load reads, checks and compiles the game in a folder. The game's name is the
// folder's. _shared folders are looked for in it, in its parent and in the
// parent's parent. The game is nil when the findings hold an error; with none
// that is an error they may still hold warnings. Generated files are skipped,
// symbolic links are errors.
func Load(dir string) (*Game, diag.List) {
	g, list := readFolder(dir)
	if list.Failed() {
		return nil, list
	}
	return g.build(list)
}

// LoadFS is Load of the game that is the whole of a file system. In parents
// _shared folders are looked for after the game's own, in their order.
func LoadFS(fsys fs.FS, name string, parents ...fs.FS) (*Game, diag.List) {
	g, list := readGame(fsys, name, parents...)
	if list.Failed() {
		return nil, list
	}
	return g.build(list)
}

// readGame takes a game's files in.
func readGame(fsys fs.FS, name string, parents ...fs.FS) (*Game, diag.List) {
	g := &Game{Name: name, texts: map[string][]byte{}}
	list := g.read(fsys, parents)
	if _, ok := g.texts[DefinitionFile]; !ok && !list.Failed() {
		list.Errorf(diag.Position{File: DefinitionFile}, "the folder has no %s, so it is no game", DefinitionFile)
	}
	return g, list
}

// build checks and compiles a game whose files have been read. list is what was found
// with them.
func (g *Game) build(list diag.List) (*Game, diag.List) {
	def, found := ParseDefinition(g.Name, g.texts[DefinitionFile])
	list = append(list, found...)
	if list.Failed() {
		return nil, list
	}
	g.Def = def
	// A bad pattern is an error of the definition, so there is none left.
	g.Origins, _ = origin.Parse(def.Origins)
	list = append(list, g.compile()...)
	list = append(list, g.strays()...)
	list.Sort()
	if list.Failed() {
		return nil, list
	}
	g.Hash = DefinitionHash(def, g.Program.Client)
	return g, list
}

func folderError(err error) diag.List {
	return diag.List{{Pos: diag.Position{File: DefinitionFile}, Message: err.Error()}}
}

// read takes in the folder and what it imports from shared ones.
func (g *Game) read(fsys fs.FS, parents []fs.FS) (list diag.List) {
	total := 0
	err := fs.WalkDir(fsys, ".", func(p string, entry fs.DirEntry, err error) error {
		at := diag.Position{File: p}
		base := path.Base(p)
		switch {
		case err != nil:
			list.Errorf(at, "reading the folder: %v", err)
			return fs.SkipDir
		case p == ".":
			return nil
		case base[0] == '.' || base == "node_modules":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			list.Errorf(at, "symbolic links are not followed; put the file itself here")
			return nil
		case entry.IsDir() || Generated(p):
			return nil
		case !entry.Type().IsRegular():
			list.Errorf(at, "this is no regular file")
			return nil
		case len(g.Files) == MaxFiles:
			list.Errorf(diag.Position{File: DefinitionFile}, "the folder has more than %d files", MaxFiles)
			return fs.SkipAll
		}
		text, err := readFile(fsys, p)
		if err != nil {
			list.Errorf(at, "%v", err)
			return nil
		}
		if total += len(text); total > MaxGameBytes {
			list.Errorf(diag.Position{File: DefinitionFile}, "the folder's files are larger than 16 MiB together")
			return fs.SkipAll
		}
		g.Files = append(g.Files, File{p, len(text), sha256.Sum256(text)})
		g.texts[p] = text
		return nil
	})
	if err != nil {
		list.Errorf(diag.Position{File: DefinitionFile}, "reading the folder: %v", err)
	}
	slices.SortFunc(g.Files, byPath)
	if !list.Failed() {
		list = append(list, g.gather(parents, total)...)
	}
	return list
}

// readFile reads a file that may grow while it is read.
func readFile(fsys fs.FS, p string) ([]byte, error) {
	f, err := fsys.Open(p)
	if err != nil {
		return nil, fmt.Errorf("opening the file: %w", errors.Unwrap(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	if len(text) > MaxFileBytes {
		return nil, errors.New("the file is larger than 1 MiB")
	}
	return slices.Clip(text), nil
}

// strays warns of files whose names look like a body file's but are none.
func (g *Game) strays() (list diag.List) {
	known := []string{"instance", "player", "commands", "view", "client"}
	for _, t := range g.Def.Entities() {
		known = append(known, t.Name)
	}
	for _, f := range g.Files {
		ext := path.Ext(f.Path)
		stem := strings.TrimSuffix(f.Path, ext)
		if !bodyFile(f.Path) || strings.Contains(stem, "/") {
			continue
		}
		stem, server := strings.CutSuffix(stem, ".server")
		if slices.Contains(known, stem) {
			continue
		}
		meant := suggest(stem, known)
		if server {
			list.Warnf(diag.Position{File: f.Path}, "the definition has no entity %s, so this file's bodies never run%s", short(stem), didYouMean(stem, known))
		} else if meant != "" && distance(strings.ToLower(stem), strings.ToLower(meant)) <= 1 && meant+"s" != stem {
			list.Warnf(diag.Position{File: f.Path}, `this file's bodies never run; did you mean "%s%s"?`, meant, ext)
		}
	}
	for _, t := range g.Def.Types {
		if t.View != nil && !g.has("view.js") && !g.has("view.ts") {
			list.Warnf(diag.Position{File: DefinitionFile}, "%s has a view hint, but there is no view.js, so every viewer sees all of them", t.Name)
		}
	}
	return list
}
