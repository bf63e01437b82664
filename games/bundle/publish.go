package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gamehoster/games"
)

// Publish writes the four files into a game's folder. Each appears whole or not
// at all, the script last; a file that would not change is left alone, so that
// a watcher of the folder sees nothing.
func (l *Library) Publish(dir string) error {
	if err := l.PublishTypes(dir); err != nil {
		return err
	}
	return publish(dir, file{games.MapFile, l.Map}, file{games.ScriptFile, l.Script})
}

// PublishTypes writes the declarations alone, as Publish does.
func (l *Library) PublishTypes(dir string) error {
	return publish(dir, file{games.RulesFile, l.Rules}, file{games.TypesFile, l.Types})
}

type file struct {
	name     string
	contents []byte
}

func publish(dir string, files ...file) error {
	for _, f := range files {
		if err := replace(filepath.Join(dir, f.name), f.contents); err != nil {
			return fmt.Errorf("publishing %s: %w", f.name, err)
		}
	}
	return nil
}

func replace(file string, contents []byte) error {
	var written time.Time // the file that is replaced
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
		written = info.ModTime()
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, contents) {
			return nil
		}
	}
	// A name with a dot in front is passed over by everything that reads the folder.
	temp, err := os.CreateTemp(filepath.Dir(file), ".gamehoster-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after the rename, as it should
	_, err = temp.Write(contents)
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	// Web servers that serve the folder tell a file's versions apart by its size and its time
	// in whole seconds. Two in one second would be one to a browser that has the first.
	if next := written.Truncate(time.Second).Add(time.Second); err == nil && time.Now().Before(next) {
		err = os.Chtimes(temp.Name(), next, next)
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// exported reads the names that a module exports from esbuild's metafile.
func exported(metafile string) ([]string, error) {
	var meta struct {
		Outputs map[string]struct {
			Exports []string `json:"exports"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("reading the bundler's report: %w", err)
	}
	names := meta.Outputs[games.ScriptFile].Exports
	slices.Sort(names)
	return names, nil
}
