package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gamehoster/games"
)

// compiler is TypeScript's own, which the library's tests install.
const compiler = "../_client/node_modules/.bin/tsc"

// typeCheck runs the compiler over files, of which the names tell what they are.
func typeCheck(t *testing.T, files map[string]string, options string) {
	t.Helper()
	tsc, err := filepath.Abs(compiler)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tsc); err != nil {
		t.Fatal("the compiler of TypeScript is missing: make test installs it, or npm ci in games/_client")
	}
	dir := t.TempDir()
	files["tsconfig.json"] = `{"compilerOptions": {"target": "esnext", "module": "esnext", "moduleResolution": "bundler", "noEmit": true,
		"allowJs": true, "checkJs": true, "types": [], ` + options + `}, "include": ["*.js", "*.ts"]}`
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := exec.Command(tsc, "-p", dir)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, strings.ReplaceAll(string(out), dir+string(filepath.Separator), ""))
	}
}

// The bodies of the samples, and of the games that test the body language, are right
// for TypeScript as well, given bodies.d.ts.
func TestTypeScriptTakesBodies(t *testing.T) {
	dirs, err := filepath.Glob("../localhost/*/" + games.DefinitionFile)
	more, err2 := filepath.Glob("../body/testdata/games/*/" + games.DefinitionFile)
	if dirs = append(dirs, more...); err != nil || err2 != nil || len(dirs) < 5 {
		t.Fatalf("the games are %v", dirs)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			g, list := games.Load(dir)
			if g == nil {
				t.Fatal(list)
			}
			files := map[string]string{games.RulesFile: string(rules(g))}
			for _, f := range append(g.Files, g.Shared...) {
				ext := filepath.Ext(f.Path)
				if page := strings.HasPrefix(f.Path, "page/"); page || f.Path == g.Client() || ext != ".js" && ext != ".ts" {
					continue
				}
				text, _ := g.Source(f.Path)
				files[f.Path] = string(text)
			}
			typeCheck(t, files, `"lib": ["esnext"]`+looseInJS(files))
		})
	}
}

// looseInJS turns off what JavaScript cannot say: the types of parameters.
func looseInJS(files map[string]string) string {
	for name := range files {
		if strings.HasSuffix(name, ".js") {
			return `, "strict": false`
		}
	}
	return `, "strict": true`
}

// What an editor is told of a game, as a body and as a page would use it. Every line
// with an error in it expects one: the compiler complains if there is none.
func TestTypeScriptKnowsTheGame(t *testing.T) {
	g := load(t, map[string]string{games.DefinitionFile: definition, "commands.js": bodies, "client.js": "export const hull = [1];"})
	typeCheck(t, map[string]string{games.RulesFile: string(rules(g)), "player.ts": `
export function update(player: rules.Player) {
	player.secret += game.level + game.tick * game.dt + player.x + player.heading + player.hand + random() + serverRandom();
	player.alive = player.nick === "a" && player.name !== "b" && game.open;
	const b: rules.Bullet | null = game.bullets.spawn(player);
	if (b) { b.target = player; b.target = b.owner; b.remove(); }
	for (const bus of game.buses) { bus.remove(); log(bus.id, "text", true); }
	const found = game.players.find(3);
	log(game.buses.count + game.bullets.count, found ? found.id : 0);
	game.open = false; game.end(); player.remove();
	// @ts-expect-error
	player.speed = 1;
	// @ts-expect-error
	player.id = 2;
	// @ts-expect-error
	player.x = "far";
	// @ts-expect-error
	player.name.nothing;
	// @ts-expect-error
	game.players.spawn();
	// @ts-expect-error
	game.bullets.spawn();
	// @ts-expect-error
	game.buses.spawn(player);
	// @ts-expect-error
	found.x = 1;
	// @ts-expect-error
	game.tick = 1;
	// @ts-expect-error
	game.bus;
	// @ts-expect-error
	random(1);
	// @ts-expect-error
	log(player);
}
`, "commands.ts": `
export function aim(player: rules.Player, { x, at, text, free, gear }: rules.AimCommand) {
	player.x = x + free + gear + text.length + (at ? at.id : 0);
}
export function stop(player: rules.Player, command: rules.StopCommand) {
	// @ts-expect-error
	command.x;
}
`}, `"strict": true, "lib": ["esnext"]`)
	typeCheck(t, map[string]string{games.TypesFile: string(declarations(g, []string{"hull"})), "page.ts": `
const game = gamehoster.connect({ name: "Ann" });
game.on("ready", () => {});
game.on("closed", (reason) => { reason.text; reason.code; });
game.frame(performance.now());
if (game.me) { game.me.x + game.me.heading; }
for (const p of game.players) { p.nick.length; }
for (const b of game.entities.bullets) { b.target; b.owner; }
game.send.aim({ gear: 1, x: 0.5, at: 4 });
game.send.stop();
game.stats.ping;
gamehoster.game.hull;
// @ts-expect-error
game.send.aim();
// @ts-expect-error
game.send.fire();
// @ts-expect-error
game.me.secret;
// @ts-expect-error
game.entities.rocks;
// @ts-expect-error
gamehoster.connect({ nick: 1 });
`}, `"strict": true, "lib": ["esnext", "dom"]`)
}
