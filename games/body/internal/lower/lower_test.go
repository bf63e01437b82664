package lower_test

import (
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"gamehoster/games/body/internal/front"
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/libm"
	"gamehoster/games/body/internal/lower"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/schema"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/lower.txt anew")

// definition has a field of every kind that is lowered in a way of its own.
func definition() *schema.Definition {
	fields := func(list ...*schema.Field) []*schema.Field {
		for i, f := range list {
			f.Index, f.Sync = i, schema.Shared
			f.Min, f.Max = math.Inf(-1), math.Inf(1)
		}
		return list
	}
	d := &schema.Definition{Name: "test", TickRate: 30, Types: []*schema.Type{
		{Name: "instance", Max: 1, Fields: fields(&schema.Field{Name: "r", Kind: schema.F64})},
		{Index: 1, Name: "player", Plural: "players", Max: 4, Fields: fields(&schema.Field{Name: "x", Kind: schema.F32})},
		{Index: 2, Name: "rock", Plural: "rocks", Max: 8, Fields: fields(
			&schema.Field{Name: "x", Kind: schema.F32}, &schema.Field{Name: "n", Kind: schema.U8}, &schema.Field{Name: "u", Kind: schema.U32},
			&schema.Field{Name: "on", Kind: schema.Bool}, &schema.Field{Name: "near", Kind: schema.Ref, Ref: 2},
			&schema.Field{Name: "name", Kind: schema.Str, Len: 8}, &schema.Field{Name: "sent", Kind: schema.I16})},
	}}
	d.Types[2].Fields[6].Sync = schema.Sent
	return d
}

// TestLower compares what instance.js is lowered to, before anything is optimised, with
// testdata/lower.txt: "### name", the body, "-- ir --".
func TestLower(t *testing.T) {
	const path = "testdata/lower.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range strings.Split(string(text), "### ")[1:] {
		name, rest, _ := strings.Cut(c, "\n")
		program, want, _ := strings.Cut(rest, "-- ir --\n")
		def := definition()
		file := "instance.js"
		if strings.Contains(name, "server") {
			file = "instance.server.js"
		}
		read := front.Read(def, map[string][]byte{file: []byte(program)}, libm.Func)
		if read.List.Failed() {
			t.Errorf("%s: %v", name, read.List)
			continue
		}
		l := lower.New(rt.New(def), lower.Faults{Null: 2, Index: 3, Name: 4}, libm.Func)
		var b strings.Builder
		ir.Print(&b, l.Func(read.Bodies[0].Fn))
		got := b.String()
		if got != want && !*rewrite {
			t.Errorf("%s:\ngot\n%swant\n%s", name, got, want)
		}
		out.WriteString("### " + name + "\n" + program + "-- ir --\n" + got)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
