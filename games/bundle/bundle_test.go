package bundle

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gamehoster/games"
	"gamehoster/games/schema"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens in testdata anew")

// A library of two modules, in place of the real one.
var standIn = fstest.MapFS{
	"index.ts": {Data: []byte(`import { join } from "./util";
export function create(config: object, wasm: string, game: object): unknown { return { config, wasm, game, kept: join("a", "b") }; }`)},
	"util.ts": {Data: []byte(`export const join = (a: string, b: string): string => a + b; export const unused: string = "not in the script";`)},
}

func load(t testing.TB, files map[string]string) *games.Game {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	g, list := games.LoadFS(fsys, "rocks")
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return g
}

const bodies = `export function aim(player, command) { player.x = command.x; }
export function stop(player, command) { player.x = 0; }
`

const definition = `{
  "instance": { "fields": { "level": "u16 shared" } },
  "player": { "fields": {
    "secret": "u32", "x": { "type": "f32", "sync": "shared", "smooth": true, "snap": 20 }, "heading": "f32 shared smooth angle",
    "hand": "u8 sent owner", "y": { "type": "f32", "sync": "sent", "step": 0.5, "min": -10, "max": 10, "default": 2 },
    "alive": { "type": "bool", "sync": "shared", "default": true }, "nick": { "type": "str(12)", "sync": "sent", "default": "nobody" }
  } },
  "entities": { "bullet": { "max": 16, "owned": true, "fields": { "target": "ref(player) shared" } }, "bus": { "plural": "buses", "max": 3 } },
  "commands": { "aim": { "fields": { "x": { "type": "f32", "min": -1, "max": 1 }, "at": "ref(bullet)", "text": "str(8)", "free": "f64", "gear": { "type": "u8", "min": 1, "max": 5 } } }, "stop": {} }
}`

func TestBuild(t *testing.T) {
	g := load(t, map[string]string{
		games.DefinitionFile: definition, "commands.js": bodies,
		"client.ts":  `import { hull } from "./shapes"; import words from "./words.json"; export { hull }; export const hello: string = words.hello;`,
		"shapes.js":  `export const hull = [[16, 0]]; export const flame = "left out";`,
		"words.json": `{"hello": "good day"}`,
	})
	g.Program.Client = []byte("\x00asm the module")
	lib, list := build(g, standIn)
	if len(list) > 0 {
		t.Fatal(list)
	}
	script := string(lib.Script)
	for _, want := range []string{"globalThis.gamehoster=", "good day", base64.StdEncoding.EncodeToString(g.Program.Client), "//# sourceMappingURL=gamehoster.js.map"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %q", want)
		}
	}
	for _, bad := range []string{"not in the script", "left out", "secret", "export ", "import "} {
		if strings.Contains(script, bad) {
			t.Errorf("the script has %q", bad)
		}
	}
	if !strings.HasPrefix(script, "\"use strict\";\n(()=>{") {
		t.Errorf("the script begins %.40s", script)
	}
	var m struct {
		Version        int
		Sources        []string
		SourcesContent []string
	}
	if err := json.Unmarshal(lib.Map, &m); err != nil {
		t.Fatal(err)
	}
	if m.Version != 3 || len(m.Sources) != len(m.SourcesContent) {
		t.Errorf("map %+v", m)
	}
	if got := strings.Join(m.Sources, " "); !strings.Contains(got, "gamehoster:index.ts") || !strings.Contains(got, "game:shapes.js") {
		t.Errorf("sources %s", got)
	}
	if strings.Contains(string(lib.Map), base64.StdEncoding.EncodeToString(g.Program.Client)) {
		t.Error("the map has the module in it")
	}
	again, _ := build(g, standIn)
	if string(again.Script) != script || string(again.Map) != string(lib.Map) || string(again.Types) != string(lib.Types) {
		t.Error("two builds of one game differ")
	}
}

func TestFrontEndErrors(t *testing.T) {
	for _, c := range []struct{ name, client, want string }{
		{"syntax", "export const a = 1;\nexport const é = (;\n", `client.js:2:19: unexpected ";"`},
		{"missing file", `import { a } from "./missing.js"; export { a };`, `client.js:1:19: there is no file "missing.js" in the game's folder`},
		{"outside", `import "../../secret.js";`, `client.js:1:8: there is no file "../../secret.js" in the game's folder`},
		{"package", `import * as three from "three"; export { three };`,
			`client.js:1:24: only the game's own files can be imported, by a path such as "./three"; there are no packages`},
		{"address", `import "https://a.example/x.js";`,
			`client.js:1:8: only the game's own files can be imported, by a path such as "./x.js"; there are no packages`},
		{"missing export", `export { a } from "./other.js";`, `client.js:1:10: no matching export in "other.js" for import "a"`},
		{"kind of file", `import "./picture.png";`, `client.js:1:8: files of the kind ".png" cannot be imported`},
		{"the machine's files", `import "/etc/passwd";`, `client.js:1:8: only the game's own files can be imported, by a path such as "./passwd"; there are no packages`},
	} {
		g := load(t, map[string]string{games.DefinitionFile: "{}", "client.js": c.client, "other.js": "export const b = 1;", "picture.png": "x"})
		lib, list := build(g, standIn)
		if lib != nil || list.Error() != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.name, list.Error(), c.want)
		}
		if checked := Check(g); !reflect.DeepEqual(checked, list) {
			t.Errorf("%s: checking gives\n%v\nbuilding\n%v", c.name, checked, list)
		}
		for _, d := range list {
			if d.Source == "" {
				t.Errorf("%s: no source line", c.name)
			}
		}
	}
}

func TestConfig(t *testing.T) {
	g := load(t, map[string]string{games.DefinitionFile: definition, "commands.js": bodies})
	g.Hash = 0x0123456789abcdef // the real one has the compiled module in it
	text, err := Config(g.Def, g.Program, g.Hash)
	if err != nil {
		t.Fatal(err)
	}
	var indented strings.Builder
	enc := json.NewEncoder(&indented)
	enc.SetIndent("", "  ")
	var raw json.RawMessage = text
	if err := enc.Encode(raw); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/config.json", indented.String())
}

func TestDeclarations(t *testing.T) {
	g := load(t, map[string]string{games.DefinitionFile: definition, "commands.js": bodies, "client.js": "export const hull = [], outline = () => 0; export default 1;"})
	lib, list := build(g, standIn)
	if len(list) > 0 {
		t.Fatal(list)
	}
	golden(t, "testdata/gamehoster.d.ts", string(lib.Types))
	golden(t, "testdata/bodies.d.ts", string(lib.Rules))
	if strings.Contains(string(lib.Types), "secret") {
		t.Error("a server field is declared")
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", file, got)
	}
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	lib := &Library{Script: []byte("script"), Map: []byte("map"), Types: []byte("types"), Rules: []byte("rules")}
	if err := lib.Publish(dir); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, games.ScriptFile)
	old, err := os.Stat(script)
	if err != nil {
		t.Fatal(err)
	}
	// What has not changed is left alone; what has is another file in one step.
	lib.Map = []byte("another map")
	if err := lib.Publish(dir); err != nil {
		t.Fatal(err)
	}
	if same, err := os.Stat(script); err != nil || !os.SameFile(old, same) {
		t.Error("the script was written though it is the same")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("%v %v", entries, err)
	}
	for name, want := range map[string]string{games.ScriptFile: "script", games.MapFile: "another map", games.TypesFile: "types", games.RulesFile: "rules"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q %v", name, got, err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if err := lib.Publish(filepath.Join(dir, "missing")); err == nil {
		t.Error("published into a folder that is not there")
	}
	// A link in the place of a file is replaced, not followed.
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, script); err != nil {
		t.Fatal(err)
	}
	if err := lib.Publish(dir); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "precious" {
		t.Errorf("the link's target is %q", got)
	}
}

// Versions that follow at once have times that differ in whole seconds, by which web servers
// tell them apart.
func TestPublishedVersionsDifferInTime(t *testing.T) {
	dir := t.TempDir()
	var last int64
	for _, script := range []string{"one", "two", "six", "ten"} {
		lib := &Library{Script: []byte(script)}
		if err := lib.Publish(dir); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, games.ScriptFile))
		if err != nil {
			t.Fatal(err)
		}
		if now := info.ModTime().Unix(); now <= last {
			t.Errorf("version %q is of %d, the one before of %d", script, now, last)
		} else {
			last = now
		}
	}
}

// The library without a game's module must stay small enough to load anywhere.
func TestScriptSize(t *testing.T) {
	const limit = 20 << 10
	g := load(t, map[string]string{games.DefinitionFile: definition, "commands.js": bodies})
	g.Program.Client = nil
	lib, list := Build(g)
	if len(list) > 0 {
		t.Fatal(list)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(lib.Script); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d gzipped, limit %d", len(lib.Script), packed.Len(), limit)
	if packed.Len() >= limit {
		t.Errorf("%d bytes gzipped, limit %d", packed.Len(), limit)
	}
}

// The TypeScript side lays worlds out by constants of its own, which must be ours.
func TestClientKnowsTheLayout(t *testing.T) {
	text, err := fs.ReadFile(games.Client(), "layout.ts")
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]uint64{
		"HeaderTick": schema.HeaderTick, "HeaderFlags": schema.HeaderFlags, "HeaderNextShared": schema.HeaderNextShared,
		"HeaderNextServer": schema.HeaderNextServer, "HeaderSeed": schema.HeaderSeed, "HeaderServerSeed": schema.HeaderServerSeed,
		"HeaderCounts": schema.HeaderCounts, "CountRows": schema.CountRows, "CountLive": schema.CountLive, "CountSorted": schema.CountSorted,
		"CountsSize": schema.CountsSize, "RowID": schema.RowID, "RowMark": schema.RowMark, "RowOwner": schema.RowOwner,
		"InputHeader": schema.InputHeader, "SkipSize": schema.SkipSize, "CommandPlayer": schema.CommandPlayer, "CommandSeq": schema.CommandSeq,
		"CommandNumber": schema.CommandNumber, "CommandFields": schema.CommandFields, "InstanceType": schema.InstanceType,
		"PlayerType": schema.PlayerType, "FirstShared": schema.FirstShared, "IDStep": schema.IDStep, "MarkRemoved": schema.MarkRemoved,
		"FlagClosed": schema.FlagClosed, "FlagEnded": schema.FlagEnded, "MarkWritten": schema.MarkWritten, "AllActors": schema.AllActors,
		"JoinSize": schema.JoinSize, "LeaveSize": schema.LeaveSize, "JoinName": schema.JoinName, "FirstPlayer": schema.FirstPlayer,
		"PlayerIDStep": schema.PlayerIDStep, "FirstServer": schema.FirstServer,
	}
	constants := regexp.MustCompile(`\bexport const (\w+) = (\w+)`).FindAllSubmatch(text, -1)
	if len(constants) < 10 {
		t.Errorf("layout.ts has %d constants", len(constants))
	}
	for _, c := range constants {
		name := string(c[1])
		if name == "FirstProvisional" {
			continue // of the client alone
		}
		want, ok := ours[name]
		if got, err := strconv.ParseUint(string(c[2]), 0, 64); err != nil || !ok || got != want {
			t.Errorf("layout.ts has %s = %s, want %d", name, c[2], want)
		}
	}
}
