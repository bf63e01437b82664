package tokens

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	const text = "a = `x${b + `${c}` /* } */}y` // {\n[1.5e3, \"\\\"}\", /[/}]/g] => {d++ / 2}\n\"open\nelse 'q"
	want := "a = `x${ b + `${ c } } [ 1.5e3 , \"\\\"}\" , /[/}]/ g ] => { d ++ / 2 } \"open else 'q"
	tk := &Tokenizer{Text: text}
	var got []string
	for {
		k := tk.Next()
		if k.Kind == End {
			break
		}
		got = append(got, tk.Word(k))
		if k.Kind == Close {
			tk.Close()
		}
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if len(tk.Opens) > 0 {
		t.Errorf("%d brackets are open", len(tk.Opens))
	}
}

func TestUnclosed(t *testing.T) {
	for text, want := range map[string]string{
		"f(a, [1, 2], { b: `${c}` });":                                         "",
		"function f() {\n  if (a) {\n    b();\n  c();\n}\nfunction g() {\n}\n": "{\n    b",
		"function f() {\n  if (a) {\n    b();\n  }\n":                          "{\n  if",
		"a = (1 + [2);":                     "[2",
		"a = (1 + 2;":                       "(1",
		"a = `x ${b + `y}`;":                "${b",
		"if (a) {\n\tif (b) {\n\t\tc;\n}\n": "{\n\t\tc",
	} {
		at, ok := Unclosed(text)
		if ok != (want != "") || ok && !strings.HasPrefix(text[at:], want) {
			t.Errorf("%q: %v, %q", text, ok, text[at:])
		}
	}
}

func TestLimits(t *testing.T) {
	l := &Limits{Nesting: 10, Tokens: 100, Elses: 20, Angles: 20, Arrows: 50, Inner: 5}
	many := strings.Repeat
	for text, want := range map[string]Problem{
		"\xff":                      NoText,
		many("(", 11):               TooDeep,
		many("!", 101):              TooDeep,
		many("! /*;*/", 101):        TooDeep,
		many("!\n", 101):            TooDeep,
		many("1 +", 60):             TooDeep,
		many("a ? {} : ", 60):       TooDeep,
		many("a ? {;} : ", 60):      TooDeep,
		many("a ? `${b};` : ", 60):  TooDeep,
		many("a ? f(1, 2) :\n", 60): TooDeep,
		many("keyof\n", 101):        TooDeep,
		many("A<b, ", 21):           TooDeep,
		many("if (a)\n", 101):       TooDeep,
		many("for (;;)\n", 101):     TooDeep,
		many("if (a) {} else ", 21): TooDeep,
		many("a:\n", 101):           TooDeep,
		many("a => b, ", 51):        Arrows,
		"(" + many("a => b, ", 6):   Arrows,
		many("a = b / c\n", 1000):   Fine,
		many("f(x);", 1000):         Fine,
		many("f(x, y < 1)\n", 1000): Fine,
		many("function f() { if (a) { b; } else { c; } }\n", 1000):      Fine,
		many("export function f(): void { let a = 1\n a++\n }\n", 1000): Fine,
		"[" + many("1, ", 10000) + "]":                                  Fine,
		"{" + many("a: { b: [1, 2], c: -1 },\n", 1000) + "}":            Fine,
		many("log(`${a} and ${b.c}`)\n", 1000):                          Fine,
		"{\n" + many("case 1: { a = b; break; }\n", 1000) + "}":         Fine,
	} {
		if _, got := l.Check(text); got != want {
			t.Errorf("%.30q: %v, want %v", text, got, want)
		}
	}
	if at, p := l.Check("é\xff"); at != 2 || p != NoText {
		t.Errorf("%d, %v", at, p)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("a = `x${b}` ? /c/ : {d: (1)};\n// e\n/* f */ '")
	l := &Limits{Nesting: 100, Tokens: 1000, Elses: 100, Angles: 100, Arrows: 100, Inner: 10}
	f.Fuzz(func(t *testing.T, text string) {
		if at, _ := l.Check(text); at < 0 || at > len(text) {
			t.Errorf("place %d of %d", at, len(text))
		}
		if at, _ := Unclosed(text); at < 0 || at > len(text) {
			t.Errorf("place %d of %d", at, len(text))
		}
	})
}
