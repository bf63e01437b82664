package games

import (
	"crypto/sha256"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"gamehoster/games/diag"
)

// importPaths gives the files that an import can mean, in the order in which
// they are tried: relative to the importing file and, for whatever leads into a
// _shared folder, that file of the shared ones. "./_shared/a.js" from any folder
// and "_shared/a.js" mean the same. A path that leaves the game's folder means
// nothing. There are none for an import that names a package.
func importPaths(from, spec string) []string {
	var paths []string
	relative := strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
	if p := path.Join(path.Dir(from), spec); relative && fs.ValidPath(p) {
		paths = append(paths, p)
	}
	shared := strings.TrimPrefix(spec, "./")
	for strings.HasPrefix(shared, "../") {
		shared = strings.TrimPrefix(shared, "../")
	}
	if shared = path.Clean(shared); strings.HasPrefix(shared, SharedFolder+"/") && !slices.Contains(paths, shared) {
		paths = append(paths, shared)
	}
	return paths
}

// spellings are the files that a path without its extension may mean, and a .js
// that was written in TypeScript.
func spellings(p string) []string {
	tries := []string{p, p + ".js", p + ".ts", p + "/index.js", p + "/index.ts"}
	if stem, ok := strings.CutSuffix(p, ".js"); ok {
		tries = append(tries, stem+".ts")
	}
	return tries
}

// Resolve finds the file of the game, or of its _shared folders, that an import
// in another one means. from is the importing file's path.
func (g *Game) Resolve(from, spec string) (string, bool) {
	for _, p := range importPaths(from, spec) {
		for _, try := range spellings(p) {
			if _, ok := g.texts[try]; ok {
				return try, true
			}
		}
	}
	return "", false
}

// importLike finds the strings in JavaScript that could be imports of a file. A
// string elsewhere that looks like one costs a file read and nothing more.
var importLike = regexp.MustCompile(`["'](\.{1,2}/[^"'\n]+|_shared/[^"'\n]+)["']`)

// gather takes in the helpers of the parents' _shared folders that the game's
// files, or helpers taken in before, import.
func (g *Game) gather(parents []fs.FS, total int) (list diag.List) {
	queue := make([]string, 0, len(g.Files))
	for _, f := range g.Files {
		queue = append(queue, f.Path)
	}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		if ext := path.Ext(from); ext != ".js" && ext != ".ts" && ext != ".mjs" {
			continue
		}
		for _, m := range importLike.FindAllSubmatch(g.texts[from], -1) {
			spec := string(m[1])
			if _, ok := g.Resolve(from, spec); ok {
				continue
			}
			p, text, err := findShared(parents, from, spec)
			if err != nil {
				list.Errorf(diag.Position{File: p}, "%v", err)
				continue
			}
			if text == nil {
				continue // whoever compiles the import says what is missing
			}
			if total += len(text); total > MaxGameBytes || len(g.Shared) == MaxFiles {
				list.Errorf(diag.Position{File: DefinitionFile}, "the folder and the helpers it imports are more than 16 MiB or %d files", MaxFiles)
				return list
			}
			g.texts[p] = text
			g.Shared = append(g.Shared, File{p, len(text), sha256.Sum256(text)})
			queue = append(queue, p)
		}
	}
	slices.SortFunc(g.Shared, byPath)
	return list
}

func byPath(a, b File) int { return strings.Compare(a.Path, b.Path) }

// findShared looks for a helper in the parents; the text is nil where there is none.
func findShared(parents []fs.FS, from, spec string) (string, []byte, error) {
	for _, p := range importPaths(from, spec) {
		if !strings.HasPrefix(p, SharedFolder+"/") {
			continue
		}
		for _, parent := range parents {
			for _, try := range spellings(p) {
				// A link could lead out of the root, and what it leads to into a browser.
				if !plainPath(parent, try) {
					continue
				}
				text, err := readFile(parent, try)
				return try, text, err
			}
		}
	}
	return "", nil, nil
}

// plainPath reports whether the path leads to a regular file through no links.
func plainPath(fsys fs.FS, p string) bool {
	for i, b := range []byte(p) {
		if b != '/' {
			continue
		}
		if info, err := fs.Lstat(fsys, p[:i]); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := fs.Lstat(fsys, p)
	return err == nil && info.Mode().IsRegular()
}
