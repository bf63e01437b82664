package body_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/body/internal/libm"
	"gamehoster/games/body/internal/strip"
	"gamehoster/games/schema"
)

// The twin runs bodies as plain JavaScript in Node. What the compiler makes of
// them must leave the same state, bit for bit, after every tick.
//
//go:embed testdata/twin.mjs
var twinSource string

type twinField struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Len     int     `json:"len"`
	Ref     int     `json:"ref"`
	Default float64 `json:"default"`
	Text    string  `json:"text"`
}

type twinType struct {
	Index  int         `json:"index"`
	Name   string      `json:"name"`
	Plural string      `json:"plural"`
	Max    int         `json:"max"`
	Owned  bool        `json:"owned"`
	Fields []twinField `json:"fields"`
}

func twinFields(fields []*schema.Field) (list []twinField) {
	list = []twinField{}
	for _, f := range fields {
		list = append(list, twinField{f.Name, f.Kind.String(), f.Len, f.Ref, f.Default, f.Text})
	}
	return list
}

// plain is the JavaScript file that a TypeScript one is made into.
func plain(path string) string {
	if stem, ok := strings.CutSuffix(path, ".ts"); ok {
		return stem + ".js"
	}
	return path
}

// twin runs a game in Node and gives a line per state, from state 0 on.
func twin(t testing.TB, def *schema.Definition, p *body.Program, files []body.Source, o worldOptions, ticks, dump int, drive func(tick int) input) []string {
	t.Helper()
	lines, _ := twinLogged(t, def, p, files, o, ticks, dump, drive)
	return lines
}

// twinLogged is twin, and gives what the bodies logged.
func twinLogged(t testing.TB, def *schema.Definition, p *body.Program, files []body.Source, o worldOptions, ticks, dump int, drive func(tick int) input) (lines, logged []string) {
	t.Helper()
	types := []twinType{}
	for _, ty := range def.Types {
		types = append(types, twinType{ty.Index, ty.Name, ty.Plural, ty.Max, ty.Owned, twinFields(ty.Fields)})
	}
	commands := []any{}
	for _, c := range def.Commands {
		commands = append(commands, map[string]any{"name": c.Name, "fields": twinFields(c.Fields)})
	}
	list := []any{}
	for _, b := range p.Bodies {
		list = append(list, map[string]any{"name": b.Name, "file": plain(b.File), "server": b.Side == schema.OnServer})
	}
	inputs := map[int]any{}
	for i := 1; i <= ticks; i++ {
		in := drive(i)
		joins, cmds := []any{}, []any{}
		for _, j := range in.joins {
			joins = append(joins, map[string]any{"id": j.id, "name": j.name})
		}
		for _, c := range in.commands {
			cmds = append(cmds, map[string]any{"player": c.player, "seq": c.seq, "number": c.number, "values": c.values, "texts": c.texts})
		}
		if len(in.leaves)+len(joins)+len(cmds) > 0 {
			inputs[i] = map[string]any{"leaves": in.leaves, "joins": joins, "commands": cmds}
		}
	}
	texts := map[string]string{"package.json": `{"type":"module"}`}
	for _, f := range files {
		texts[f.Path] = string(f.Text)
		if strings.HasSuffix(f.Path, ".ts") { // which the oldest Node that we test with does not take
			code, _, problem := strip.TypeScript(string(f.Text))
			if problem != nil {
				t.Fatal(problem.Message)
			}
			texts[plain(f.Path)] = code
		}
	}
	dir := t.TempDir()
	job, err := json.Marshal(map[string]any{
		"dir": dir, "math": libm.Script(), "def": map[string]any{"types": types, "commands": commands, "tickRate": def.TickRate},
		"seed": fmt.Sprint(o.seed), "serverSeed": fmt.Sprint(o.serverSeed), "bodies": list, "files": texts, "ticks": ticks, "inputs": inputs, "dump": dump,
		"logs": filepath.Join(dir, "logs.json"),
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", twinSource)
	cmd.Stdin = bytes.NewReader(job)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("node is needed for this test: %v\n%s", err, problems.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "logs.json"))
	if err == nil {
		err = json.Unmarshal(text, &logged)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n"), logged
}

// line is the twin's line for the state of a world.
func (w *world) line(dump bool) string {
	h := uint32(2166136261)
	var b strings.Builder
	put := func(v float64) {
		if dump {
			fmt.Fprintf(&b, " %v", v)
		}
		bits := math.Float64bits(v)
		if v != v {
			bits = 0x7ff8000000000000
		}
		h = (h ^ uint32(bits)) * 16777619
		h = (h ^ uint32(bits>>32)) * 16777619
	}
	for _, off := range []int{schema.HeaderTick, schema.HeaderFlags, schema.HeaderNextShared, schema.HeaderNextServer} {
		put(float64(w.get32(off)))
	}
	for _, ty := range w.def.Types {
		if dump {
			b.WriteString(" | " + ty.Name)
		}
		l := w.layout.Types[ty.Index]
		for _, row := range w.rows(ty.Index) {
			if dump {
				b.WriteString(" /")
			}
			put(float64(row[0]) + 256*float64(row[1]) + 65536*float64(row[2]))
			owner := 0.0
			if ty.Owned {
				owner = float64(row[schema.RowOwner]) + 256*float64(row[schema.RowOwner+1])
			}
			put(owner)
			for _, f := range ty.Fields {
				p := row[l.Offsets[f.Index]:]
				if f.Kind != schema.Str {
					put(w.readField(f, p))
					continue
				}
				put(float64(p[0]))
				for _, c := range p[1 : 1+p[0]] {
					put(float64(c))
				}
			}
		}
	}
	return fmt.Sprint(h) + b.String()
}

// compareTwin runs a game both ways and compares every state.
func compareTwin(t *testing.T, def *schema.Definition, files []body.Source, ticks int, drive func(tick int) input) {
	t.Helper()
	p, list := body.Compile(def, files, body.Options{})
	if p == nil {
		t.Fatalf("compile:\n%s", list.Error())
	}
	o := worldOptions{seed: 0x123456789abcdef, serverSeed: 42}
	lines := twin(t, def, p, files, o, ticks, ticks+1, drive)
	w := newWorld(t, def, p, o)
	for i := 0; i <= ticks; i++ {
		if i > 0 {
			w.must(drive(i))
		}
		if got := w.line(false); got != lines[i] {
			dump := twin(t, def, p, files, o, i, i, drive)
			t.Fatalf("state %d differs\nwasm %s\nnode %s", i, w.line(true), dump[i])
		}
	}
}

func idle(int) input { return input{} }

func TestTwinAsteroids(t *testing.T) {
	compareTwin(t, define(t, asteroidsTypes), bodies(asteroidsText), 5000, driveAsteroids)
}
