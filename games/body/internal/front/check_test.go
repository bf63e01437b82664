package front

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// access are the ways to a field f of an object o.
var access = []struct{ name, text string }{
	{"read", "let v = 0; v = o.f;"},
	{"write", "o.f = 1;"},
	{"add", "o.f += 1;"},
	{"step", "o.f++;"},
	{"lazy", "o.f ||= 1;"},
	{"take", "const { f } = o; let v = 0; v = f;"},
	{"name", "let v = 0; v = o[NAMES[game.tick % 1]];"},
	{"names", "o[NAMES[game.tick % 1]] = 1;"},
	{"sum", "o[NAMES[game.tick % 1]] += 1;"},
}

// allowed is what each kind of body may do to each kind of field: . for all is well,
// w for a warning, E for an error; a column for each of access.
const allowed = `
shared  server all    EEEEEEEEE
shared  server owner  EEEEEEEEE
shared  sent   all    w...www..
shared  sent   owner  E.EEEEE.E
shared  shared all    .........
server  server all    .........
server  server owner  .........
server  sent   all    .........
server  sent   owner  .........
server  shared all    .........
view    server all    .EEEE..EE
view    server owner  .EEEE..EE
view    sent   all    .EEEE..EE
view    sent   owner  .EEEE..EE
view    shared all    .EEEE..EE
`

// bodiesOf are the bodies of a kind that reach an object o.
func bodiesOf(kind, do string) map[string]string {
	const helper = "const NAMES = [\"f\"];\n"
	all := map[string]string{}
	switch kind {
	case "shared":
		all["rock.js"] = "export function update(o) { DO }"
		all["player.js"] = "export function update() { for (const o of game.rocks) { DO } }"
		all["instance.js"] = "export function update() { for (const o of game.rocks) far(o); }\nfunction far(o) { DO }"
		all["commands.js"] = "export function go(player, { o }) { if (o) { DO } }"
	case "server":
		all["rock.server.js"] = "export function update(o) { DO }"
		all["player.server.js"] = "export function update() { for (const o of game.rocks) { DO } }\nexport function join() { for (const o of game.rocks) { DO } }\nexport function leave() { for (const o of game.rocks) { DO } }"
		all["instance.server.js"] = "export function update() { for (const o of game.rocks) far(o); }\nexport function start() { for (const o of game.rocks) { DO } }\nfunction far(o) { DO }"
		all["commands.server.js"] = "export function go(player, { o }) { if (o) { DO } }"
	case "view":
		all["view.js"] = "export function rock(viewer, o) { DO return true; }"
	}
	for name, text := range all {
		all[name] = helper + strings.ReplaceAll(text, "DO", do)
	}
	return all
}

func TestSyncClassesAndAudiences(t *testing.T) {
	syncs := map[string]schema.Sync{"server": schema.Server, "sent": schema.Sent, "shared": schema.Shared}
	audiences := map[string]schema.Audience{"all": schema.All, "owner": schema.Owner}
	for _, line := range strings.Split(strings.TrimSpace(allowed), "\n") {
		words := strings.Fields(line)
		want := strings.Join(words[3:], "")
		def := &schema.Definition{TickRate: 30, Types: []*schema.Type{
			{Name: "instance", Max: 1}, {Index: 1, Name: "player", Plural: "players", Max: 4},
			{Index: 2, Name: "rock", Plural: "rocks", Max: 4, Owned: true, Fields: []*schema.Field{
				{Name: "f", Kind: schema.F64, Sync: syncs[words[1]], Audience: audiences[words[2]], Min: math.Inf(-1), Max: math.Inf(1)}}},
		}, Commands: []*schema.Command{{Name: "go", Fields: []*schema.Field{{Name: "o", Kind: schema.Ref, Ref: 2}}}}}
		for i, a := range access {
			all := bodiesOf(words[0], a.text)
			for name, text := range all {
				sources := map[string][]byte{name: []byte(text)}
				if !strings.HasPrefix(name, "commands.") {
					sources["commands.server.js"] = []byte("export function go() {}")
				}
				r := Read(def, sources, func(string) *tree.Func { return nil })
				got := byte('.')
				if r.List.Failed() {
					got = 'E'
				} else if len(r.List) > 0 {
					got = 'w'
				}
				if got != want[i] {
					t.Errorf("%s %s %s, %s in %s: %c, want %c\n%v", words[0], words[1], words[2], a.name, name, got, want[i], r.List)
				}
			}
		}
	}
}

// What only some bodies may do besides.
func TestWhatBodiesMayDo(t *testing.T) {
	def := &schema.Definition{TickRate: 30, Types: []*schema.Type{
		{Name: "instance", Max: 1}, {Index: 1, Name: "player", Plural: "players", Max: 4},
		{Index: 2, Name: "rock", Plural: "rocks", Max: 4},
	}}
	for _, c := range []struct{ do, shared, server, view string }{
		{"random();", ".", ".", "E"},
		{"serverRandom();", "E", ".", "E"},
		{"game.open = false;", "E", ".", "E"},
		{"if (game.open) log(1);", "E", ".", "E"},
		{"game.end();", "E", ".", "E"},
		{"o.remove();", ".", ".", "E"},
		{"for (const p of game.players) p.remove();", "E", ".", "E"},
		{"game.rocks.spawn();", ".", ".", "E"},
		{"log(o.id);", ".", ".", "E"},
		{"let n = 0; n++; n += o.id; game.rocks.find(n);", ".", ".", "."},
	} {
		for name, want := range map[string]string{"rock.js": c.shared, "rock.server.js": c.server, "view.js": c.view} {
			text := fmt.Sprintf("export function update(o) { %s }", c.do)
			if name == "view.js" {
				text = fmt.Sprintf("export function rock(viewer, o) { %s return true; }", c.do)
			}
			r := Read(def, map[string][]byte{name: []byte(text)}, func(string) *tree.Func { return nil })
			if failed := r.List.Failed(); failed != (want == "E") {
				t.Errorf("%s in %s: %v", c.do, name, r.List)
			}
		}
	}
}
