package bundle

import (
	"strings"
	"testing"
	"time"
)

// TestHostileFiles builds libraries of files that would use up esbuild's stack or
// keep it busy for ever.
func TestHostileFiles(t *testing.T) {
	const most = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, (most-100)/len(s)) }
	for name, c := range map[string]struct{ file, text, want string }{
		"not":        {"client.js", "export const a = " + fill("!") + "1;\n", "client.js:1:10014: this is nested too deeply to be read"},
		"brackets":   {"client.js", "export const a = " + fill("("), "client.js:1:518: this is nested too deeply to be read"},
		"types":      {"client.ts", "let a: " + fill("A<"), "client.ts:1:4009: this is nested too deeply to be read"},
		"conditions": {"client.js", "export const a = " + fill("1?2:"), "client.js:1:10014: this is nested too deeply to be read"},
		"no text":    {"client.ts", "#!\xd2\xd2\xd2", "client.ts:1:3: the file is not UTF-8 text from here on"},
		"sums":       {"client.js", "export const a = 1" + strings.Repeat("+1", 4000) + ";\n", ""},
		"lists":      {"client.js", "export const a = [" + strings.Repeat("1, [2], {c: 3}, ", 50000) + "];\n", ""},
		"functions":  {"client.js", strings.Repeat("(function () { if (a) return 1; else return 2; })();\n", 15000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := load(t, map[string]string{"gamehoster-game.json": "{}", c.file: c.text})
			began := time.Now()
			_, list := Build(g)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("building took %v", took)
			}
			got := ""
			if len(list) > 0 {
				got = list[0].String()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
