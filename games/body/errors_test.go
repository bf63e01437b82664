package body_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"gamehoster/games/body"
)

var rewrite = flag.Bool("rewrite", false, "write the findings of testdata/errors.txt anew")

// errorTypes is the definition that the wrong programs are checked against.
const errorTypes = `
instance round:u16:shared pace:f32:sent hidden:i32:server title:str8:sent
player 8 x:f32:shared y:f32:sent lives:u8:shared coins:u32:server hand:u8:sent:owner name:str32:server mate:ref.player:shared
asteroid asteroids 32 x:f32:shared y:f32:shared size:i8:shared big:bool:shared near:ref.asteroid:shared
bullet bullets 16 owned x:f32:shared ttl:u8:shared
command thrust power:f32 left:bool
command fire
`

// errorBase are the handlers that the definition's commands need, so that a
// case shows its own mistake only.
const errorBase = `
-- commands.server.js --
export function thrust() {}
export function fire() {}
`

// TestErrors checks the findings of wrong programs word for word. A case in
// testdata/errors.txt is "### name", files, and "-- findings --".
func TestErrors(t *testing.T) {
	const path = "testdata/errors.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	def := define(t, errorTypes)
	var out strings.Builder
	cases := strings.Split(string(text), "### ")[1:]
	if len(cases) < 150 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		name, rest, _ := strings.Cut(c, "\n")
		program, want, _ := strings.Cut(rest, "-- findings --\n")
		files := bodies(program)
		own := false
		for _, f := range files {
			own = own || strings.HasPrefix(f.Path, "commands.server.")
		}
		if !own {
			files = append(files, bodies(errorBase)...)
		}
		p, list := body.Compile(def, files, body.Options{})
		got := ""
		for _, d := range list {
			got += d.String() + "\n"
			if d.Source != "" {
				render := strings.Split(d.Render(), "\n")
				got += strings.Join(render[1:len(render)-1], "\n") + "\n"
			}
		}
		if list.Failed() != (p == nil) {
			t.Errorf("%s: a program in spite of errors, or none without", name)
		}
		if len(list) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
		if got != want && !*rewrite {
			t.Errorf("%s:\ngot\n%swant\n%s", name, got, want)
		}
		out.WriteString("### " + name + "\n" + program + "-- findings --\n" + got)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
