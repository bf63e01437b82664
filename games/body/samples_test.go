package body_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gamehoster/games/body"
)

// sampleFiles are the JavaScript files of a sample.
func sampleFiles(t testing.TB, name string) (files []body.Source) {
	t.Helper()
	dir := "../localhost/" + name
	paths, err := filepath.Glob(dir + "/*.js")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no files (%v)", dir, err)
	}
	for _, p := range paths {
		base := filepath.Base(p)
		if base == "client.js" || strings.HasPrefix(base, "gamehoster") {
			continue
		}
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, body.Source{Path: base, Text: text})
	}
	return files
}
