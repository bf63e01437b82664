package games

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gamehoster/games/diag"
)

// Folder is the source of a game as Load reads it, not compiled: what has to be
// somewhere else for the same game to be there. It is immutable.
type Folder struct {
	Name string // of the game
	// Files is the folder's source in the order of paths, without what is generated.
	Files []File
	// Shared is what the files import from _shared folders beside and above the game's,
	// in the order of paths, which begin with "_shared/".
	Shared []File

	texts map[string][]byte
}

// ReadFolder reads the folder of a game by the rules of Load, which leave out generated
// and hidden files and node_modules. The folder is nil where the findings hold an error.
// Whether the game compiles is not looked at.
func ReadFolder(dir string) (*Folder, diag.List) {
	g, list := readFolder(dir)
	if list.Failed() {
		return nil, list
	}
	return &Folder{Name: g.Name, Files: g.Files, Shared: g.Shared, texts: g.texts}, list
}

// Text is the content of one of Files or Shared. It belongs to the folder.
func (f *Folder) Text(path string) ([]byte, bool) {
	text, ok := f.texts[path]
	return text, ok
}

func readFolder(dir string) (*Game, diag.List) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, folderError(fmt.Errorf("finding the folder %s: %w", dir, err))
	}
	root, err := os.OpenRoot(full)
	if err != nil {
		return nil, folderError(fmt.Errorf("opening the game's folder: %w", errors.Unwrap(err)))
	}
	defer root.Close()
	domain, name := filepath.Dir(full), filepath.Base(full)
	if !ValidGameName(name) {
		return nil, folderError(fmt.Errorf("the folder %q cannot be a game: its name is part of addresses, "+
			"so it has at most 64 letters, digits, dots, - and _, does not begin with a dot or _, and is not api or internal", name))
	}
	return readGame(root.FS(), name, os.DirFS(domain), os.DirFS(filepath.Dir(domain)))
}

// Fingerprint changes when a file that a game's folder is made of does, or one of the
// _shared folders beside and above it: names, sizes and times are looked at. It leaves
// out what Load does; what cannot be read is left to ReadFolder to complain of.
func Fingerprint(dir string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	domain := filepath.Dir(full)
	var b strings.Builder
	for _, d := range []string{full, filepath.Join(domain, SharedFolder), filepath.Join(filepath.Dir(domain), SharedFolder)} {
		_ = filepath.WalkDir(d, func(p string, e os.DirEntry, err error) error {
			name := filepath.Base(p)
			switch {
			case err != nil:
				return nil
			case p != d && (name[0] == '.' || name == "node_modules"):
				if e.IsDir() {
					return filepath.SkipDir
				}
				return nil
			case e.IsDir() || Generated(name):
				return nil
			}
			if info, err := e.Info(); err == nil {
				fmt.Fprintf(&b, "%s %d %d\n", p, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return b.String()
}
