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

// TestAsserted tells expressions with a ! behind them from others that a ! is near.
func TestAsserted(t *testing.T) {
	const text = `export function update(self: any, b: any) {
  a1! .x = f1(a2!, a3 !) !;
  if (a4! == b || a5 != b || a6!==b || a7! === !b) f2(
    a8,
  )!.x = (a9 as any)[ b1 ]!.b2!;
  b3
  !b4;
}
`
	code, m, p := TypeScript(text)
	if p != nil {
		t.Fatal(p)
	}
	got := ""
	for _, end := range []string{"a1", "a2", "a3", "f1(a2, a3)", "a4", "a5", "a6", "a7", "f2(\n    a8\n  )", "a8", "a9", "[b1]", ".b2", "b3", "b4"} {
		at := strings.Index(code, end)
		if at < 0 {
			t.Fatalf("%q is not in the code:\n%s", end, code)
		}
		if m.Asserted(at + len(end)) {
			got += end + " "
		}
	}
	if want := "a1 a2 a3 f1(a2, a3) a4 a7 f2(\n    a8\n  ) [b1] .b2 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if m.Asserted(-1) || m.Asserted(0) || m.Asserted(1<<20) {
		t.Error("there is something behind places that are none")
	}
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

// Every word of the source that is left leads back to itself, whatever stood around it.
func TestWordsComeFromThemselves(t *testing.T) {
	const text = `import { type A, b1 } from "./a.js";
declare const outer: number;
export enum Kind { Rock1 = 1, Ship1 = Rock1 + 1 }
abstract class Never1 { private x1?: string; constructor(readonly y1: number) {} }
export function f1<T extends { z1: number }>(this: void, { z1 }: T, o1?: Partial<T>): asserts o1 is T {
	let v1 = b1<number>(z1)! as unknown as number, w1 = <any>v1; // 日本語 🚀
	for (const q1 of list1 satisfies number[]) { v1 += q1!; w1 ||= { r1: v1 } as const; }
	label1: while (v1 > 0) { if (!w1) continue label1; v1--; }
	return;
}
`
	code, m, p := TypeScript(text)
	if p != nil {
		t.Fatal(p.Message)
	}
	for _, word := range []string{"b1", "Kind", "f1", "z1", "o1", "v1", "w1", "q1", "list1", "r1", "label1", "Never1"} {
		found := 0
		for at := 0; ; at++ {
			next := strings.Index(code[at:], word)
			if next < 0 {
				break
			}
			at += next
			if before := at > 0 && (code[at-1] >= 'a' && code[at-1] <= 'z'); before {
				continue
			}
			found++
			if from := text[m.Source(at):]; !strings.HasPrefix(from, word) && !strings.HasPrefix(from, "Rock1") && !strings.HasPrefix(from, "Ship1") && !strings.HasPrefix(from, "enum") {
				t.Errorf("%s at %d comes from %.20q", word, at, from)
			}
		}
		if found == 0 {
			t.Errorf("%s is not in the code:\n%s", word, code)
		}
	}
}

// What stays behind when types go is what ran: nothing is moved or left out.
func TestStatementsStay(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"let a: number;", "let a;\n"},
		{"const b = <T>x!;", "const b = x;\n"},
		{"export type A = 1; export interface B {} declare function c(): void;", ""},
		{"function f(a?: number, b: string = \"x\"): void {}", "function f(a, b = \"x\") {\n}\n"},
		{"import type { A } from \"./a.js\"; import { b } from \"./b.js\"; b();", "import { b } from \"./b.js\";\nb();\n"},
		{"export const enum K { A, B = \"b\" } const x = K.B;", "const x = \"b\" /* B */;\n"},
		{"for (const x of a as any) x;", "for (const x of a) x;\n"},
	} {
		got, _, p := TypeScript(c.text)
		if p != nil {
			t.Errorf("%s: %s", c.text, p.Message)
		} else if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s:\n%swant\n%s", c.text, got, c.want)
		}
	}
}
