package games

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func files(texts map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestLoad(t *testing.T) {
	g, list := LoadFS(files(map[string]string{
		DefinitionFile: `{ "origins": "*.a.example", "entities": { "rock": { "max": 4 } } }`,
		"rock.js":      "export function update(self) {}\n",
		"client.ts":    "export const a: number = 1;\n",
		"page/main.js": "window.alert('the page is no body');\n",
		ScriptFile:     "generated",
		MapFile:        "generated",
		TypesFile:      "generated",
		RulesFile:      "generated",
		".hidden":      "x",
		".git/config":  "x",
	}), "rocks")
	if len(list) > 0 {
		t.Fatal(list)
	}
	var names []string
	for _, f := range g.Files {
		names = append(names, f.Path)
		text, ok := g.Source(f.Path)
		if !ok || len(text) != f.Size || sha256.Sum256(text) != f.SHA256 || len(f.Sum()) != 64 {
			t.Errorf("%s: %d bytes, %t", f.Path, f.Size, ok)
		}
	}
	if got, want := strings.Join(names, " "), "client.ts gamehoster-game.json page/main.js rock.js"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if g.Name != "rocks" || g.Def.Name != "rocks" || g.Client() != "client.ts" || g.Program == nil {
		t.Errorf("%+v", g)
	}
	if g.Hash == 0 || g.Hash != DefinitionHash(g.Def, g.Program.Client) {
		t.Errorf("hash %x", g.Hash)
	}
	if !g.Origins.Allows([]byte("https://www.a.example"), true) || g.Origins.Allows([]byte("https://a.example"), true) {
		t.Error("the origins are not the definition's")
	}
	if _, ok := g.Source(ScriptFile); ok {
		t.Error("the generated script counts as source")
	}
}

func TestLoadTypeScript(t *testing.T) {
	definition := `{ "entities": { "rock": { "max": 4, "fields": { "x": "f32 shared" } } } }`
	g, list := LoadFS(files(map[string]string{
		DefinitionFile: definition,
		"rock.ts":      "import { move } from \"./move\";\nexport function update(self: { x: number }): void { move(self); }\n",
		"move.ts":      "export function move(p: { x: number }) { p.x += 1 as number; }\n",
		"plaer.ts":     "export const a: number = 1;\n",
		"types.d.ts":   "declare const a: 1;\n",
	}), "rocks")
	if want := `plaer.ts: warning: this file's bodies never run; did you mean "player.ts"?`; len(list) != 1 || list[0].String() != want {
		t.Fatalf("got %v", list)
	}
	if b := g.Program.Bodies; len(b) != 1 || b[0].File != "rock.ts" || b[0].Name != "rock.update" {
		t.Errorf("bodies %+v", b)
	}
	_, list = LoadFS(files(map[string]string{
		DefinitionFile: definition,
		"rock.ts":      "interface A {\n  b: 1;\n}\nexport function update(self: A) {\n  const c = <number>self.y;\n}\n",
	}), "rocks")
	if len(list) != 1 || list[0].Pos.String() != "rock.ts:5:26" || list[0].Source != "  const c = <number>self.y;" {
		t.Errorf("got %v", list)
	}
}

func TestLoadRefuses(t *testing.T) {
	big := strings.Repeat(" ", MaxFileBytes+1)
	many := map[string]string{DefinitionFile: "{}"}
	for i := range MaxFiles {
		many["f"+strings.Repeat("x", i)+".txt"] = ""
	}
	heavy := map[string]string{DefinitionFile: "{}"}
	for i := range 17 {
		heavy[strings.Repeat("x", i+1)+".txt"] = big[1:]
	}
	linked := files(map[string]string{DefinitionFile: "{}"})
	linked["secret.js"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: os.ModeSymlink}
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		want string
	}{
		{"no definition", files(map[string]string{"rock.js": ""}), "gamehoster-game.json: the folder has no gamehoster-game.json, so it is no game"},
		{"wrong definition", files(map[string]string{DefinitionFile: "{"}), "gamehoster-game.json:1:1: this object has no closing }"},
		{"link", linked, "secret.js: symbolic links are not followed; put the file itself here"},
		{"large file", files(map[string]string{DefinitionFile: "{}", "a.txt": big}), "a.txt: the file is larger than 1 MiB"},
		{"large folder", files(heavy), "gamehoster-game.json: the folder's files are larger than 16 MiB together"},
		{"many files", files(many), "gamehoster-game.json: the folder has more than 1024 files"},
	} {
		g, list := LoadFS(c.fsys, "game")
		if g != nil || list.Error() != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.name, list.Error(), c.want)
		}
	}
}

func TestLoadFolder(t *testing.T) {
	root := makeRoot(t, "a.example/rocks/_shared", "a.example/_shared", "_shared")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.example/rocks/"+DefinitionFile, "{}")
	write("a.example/rocks/client.js", `export * from "./_shared/own.js";
export * from "./_shared/domain.js";
export * from "_shared/root.js";
`)
	write("a.example/rocks/_shared/own.js", `export const own = "of the game";`)
	write("a.example/_shared/own.js", `export const own = "of the domain";`)
	write("a.example/_shared/domain.js", `import { deep } from "./deep.js"; export const domain = deep;`)
	write("a.example/_shared/deep.js", `export const deep = 1;`)
	write("a.example/_shared/unused.js", `export const unused = 1;`)
	write("_shared/domain.js", `export const domain = "of the root";`)
	write("_shared/root.js", `export const root = 1;`)
	g, list := Load(filepath.Join(root, "a.example", "rocks"))
	if len(list) > 0 {
		t.Fatal(list)
	}
	var shared []string
	for _, f := range g.Shared {
		shared = append(shared, f.Path)
	}
	if got, want := strings.Join(shared, " "), "_shared/deep.js _shared/domain.js _shared/root.js"; got != want {
		t.Errorf("shared %s, want %s", got, want)
	}
	for path, want := range map[string]string{"_shared/own.js": "of the game", "_shared/domain.js": "deep", "_shared/root.js": "root"} {
		if text, _ := g.Source(path); !strings.Contains(string(text), want) {
			t.Errorf("%s is %s", path, text)
		}
	}
	for _, c := range []struct{ from, spec, want string }{
		{"client.js", "./_shared/own.js", "_shared/own.js"},
		{"client.js", "../_shared/root.js", "_shared/root.js"},
		{"client.js", "_shared/root", "_shared/root.js"},
		{"page/main.js", "../client.js", "client.js"},
		{"_shared/domain.js", "./deep.js", "_shared/deep.js"},
		{"client.js", "../../client.js", ""},
		{"client.js", "client.js", ""},
		{"client.js", "./_shared/../../x.js", ""},
		{"client.js", "_shared/../client.js", ""},
		{"client.js", "_shared/unused.js", ""},
	} {
		if got, _ := g.Resolve(c.from, c.spec); got != c.want {
			t.Errorf("Resolve(%s, %s) = %q, want %q", c.from, c.spec, got, c.want)
		}
	}
	// A link in a shared folder leads nowhere.
	if err := os.Remove(filepath.Join(root, "_shared", "root.js")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "a.example", "_shared", "deep.js"), filepath.Join(root, "_shared", "root.js")); err != nil {
		t.Fatal(err)
	}
	if g, list := Load(filepath.Join(root, "a.example", "rocks")); g != nil {
		if _, ok := g.Source("_shared/root.js"); ok {
			t.Error("a link was followed", list)
		}
	}
	if _, list := Load(filepath.Join(root, "missing")); !list.Failed() || !strings.Contains(list.Error(), "opening the game's folder: no such file or directory") {
		t.Errorf("a missing folder: %v", list)
	}
}

func TestStrayFiles(t *testing.T) {
	_, list := LoadFS(files(map[string]string{
		DefinitionFile:     `{ "player": { "fields": { "x": "f32 shared", "y": "f32 shared" } }, "entities": { "asteroid": { "max": 4, "fields": { "x": "f32 shared", "y": "f32 shared" }, "view": { "radius": 5, "x": "x", "y": "y" } } } }`,
		"asteriod.js":      "",
		"playr.server.js":  "",
		"geometry.js":      "",
		"asteroids.js":     "",
		"Instance.js":      "",
		"page/instanc.js":  "",
		"asteroid.html":    "",
		"geom.etry.js":     "",
		"helper.server.js": "",
	}), "game")
	want := `Instance.js: warning: this file's bodies never run; did you mean "instance.js"?
asteriod.js: warning: this file's bodies never run; did you mean "asteroid.js"?
gamehoster-game.json: warning: asteroid has a view hint, but there is no view.js, so every viewer sees all of them
helper.server.js: warning: the definition has no entity helper, so this file's bodies never run
playr.server.js: warning: the definition has no entity playr, so this file's bodies never run; did you mean "player"?`
	if list.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", list.Error(), want)
	}
}

func TestSamplesLoad(t *testing.T) {
	r, err := ReadRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range r.Games {
		if p.Domain != "localhost" {
			continue
		}
		n++
		g, list := Load(p.Dir)
		if len(list) > 0 {
			t.Errorf("%s: %v", p, list)
		}
		if g != nil {
			t.Logf("%s: %d files, hash %016x, modules of %d and %d bytes", p, len(g.Files), g.Hash, len(g.Program.Server), len(g.Program.Client))
		}
	}
	if n < 2 {
		t.Errorf("%d samples", n)
	}
}
