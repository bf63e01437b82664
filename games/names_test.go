package games

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evanw/esbuild/pkg/api"
)

// contextual mean something at some places, and are names at all others.
var contextual = strings.Fields("accessor any as async from get infer is meta number of out set string target type using")

// TestReserved asks a parser of modules which words no function can be called.
func TestReserved(t *testing.T) {
	for _, word := range slices.Concat(slices.Collect(maps.Keys(jsReserved)), contextual) {
		text := fmt.Sprintf("export function %s() {}", word)
		refused := len(api.Transform(text, api.TransformOptions{Format: api.FormatESModule, LogLevel: api.LogLevelSilent}).Errors) > 0
		if refused != jsReserved[word] || refused != (functionName(word) != "") {
			t.Errorf("%s: the parser refuses it: %t, the definition: %t, %q", word, refused, jsReserved[word], functionName(word))
		}
	}
}

// TestNamesOfFields has each word that JavaScript knows as a field, which bodies use,
// and the ones that can be as the name of an entity and of a command, too.
func TestNamesOfFields(t *testing.T) {
	var fields, entities, commands, uses, handlers strings.Builder
	words := slices.Sorted(maps.Keys(jsReserved))
	for _, word := range slices.Concat(words, contextual) {
		fmt.Fprintf(&fields, `, %q: "u8 shared"`, word)
		fmt.Fprintf(&uses, "\tp.%s += game.%[1]s;\n\tgame.%[1]s = p?.%[1]s ?? 1;\n", word)
	}
	for _, word := range contextual {
		fmt.Fprintf(&entities, `, %q: { "max": 1 }`, word)
		fmt.Fprintf(&commands, `, %q: { "fields": { "new": "u8" } }`, word)
		fmt.Fprintf(&uses, "\tfor (const x of game.%ss) x.remove();\n", word)
		fmt.Fprintf(&handlers, "export function %s(player, command) { player.%[1]s = command.new; }\n", word)
	}
	for _, ext := range []string{".js", ".ts"} {
		g, list := LoadFS(fstest.MapFS{
			DefinitionFile: &fstest.MapFile{Data: fmt.Appendf(nil, `{
				"instance": { "fields": { "x": "u8"%[1]s } },
				"player": { "fields": { "x": "u8"%[1]s } },
				"entities": { "rock": { "max": 1, "plural": "NaN" }%[2]s },
				"commands": { "go": {}%[3]s }
			}`, fields.String(), entities.String(), commands.String())},
			"player" + ext: &fstest.MapFile{Data: []byte("export function update(p) {\n" + uses.String() +
				"\tconst { if: x, of } = p;\n\tp.do = x + of + game.NaN.count;\n}\n")},
			"commands" + ext: &fstest.MapFile{Data: []byte(handlers.String() + "export function go() {}\n")},
		}, "words")
		if len(list) > 0 || g.Program == nil {
			t.Errorf("%s: %v", ext, list)
		}
	}
}
