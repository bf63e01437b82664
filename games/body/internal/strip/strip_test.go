package strip

import (
	"slices"
	"strings"
	"testing"
)

const source = `import type { Rock } from "./types";
interface Ship { x: number; }

type Name = string;
export function update(self: Ship, /* 名前𝄞 */ other?: Rock): void {
  const wörld: number = self.x as number; let y = <number>wörld;
	self!.x = y + 1;
}
`

func TestPlacesOfTheSource(t *testing.T) {
	code, m, p := TypeScript(source)
	if p != nil {
		t.Fatal(p)
	}
	if strings.Contains(code, "number") || strings.Contains(code, "import") {
		t.Errorf("there are types left:\n%s", code)
	}
	for _, word := range []string{"update", "self", "const", "wörld", "let", "= y + 1", "y + 1", "+ 1"} {
		at := strings.Index(code, word)
		if at < 0 {
			t.Errorf("%q is not in the code:\n%s", word, code)
			continue
		}
		got := m.Source(at)
		if !strings.HasPrefix(source[got:], word) {
			t.Errorf("%q comes from %q", word, source[got:])
		}
	}
	if got := m.Source(strings.Index(code, "update") + 3); !strings.HasPrefix(source[got:], "ate(") {
		t.Errorf("inside a word: %q", source[got:])
	}
	m.Source(-1)
	m.Source(1 << 20)
}

func TestImportsOfDeadStatements(t *testing.T) {
	code, _, p := TypeScript("import { f } from \"./f.js\";\nexport function update(self: any) {\n  if (1 || self.x) self.x = 1;\n  else f(self);\n}\n")
	if p != nil || !strings.Contains(code, "import { f }") || !strings.Contains(code, "f(self)") {
		t.Errorf("%v\n%s", p, code)
	}
}

func TestSyntaxErrors(t *testing.T) {
	text := "export function update(self) {\n  const é = 1; let x: number number;\n}\n"
	_, _, p := TypeScript(text)
	if p == nil || !strings.HasPrefix(text[p.At:], "number;") || p.Message != `expected ";" but found "number"` {
		t.Errorf("got %+v", p)
	}
}

func TestNumbers(t *testing.T) {
	for segment, want := range map[string][]int{"": nil, "AAgBC": {0, 0, 16, 1}, "D": {-1}, "2HjB": {123, -17}} {
		if got, err := numbers(segment); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", segment, got, err, want)
		}
	}
	for _, bad := range []string{"=", "////////A"} {
		if _, err := numbers(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
