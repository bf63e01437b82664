package games

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gamehoster/games/schema"
)

var rewrite = flag.Bool("rewrite", false, "write the findings in testdata anew")

func TestWrongDefinitions(t *testing.T) {
	const file = "testdata/wrong.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split("\n"+string(text), "\n== ")
	out := strings.TrimPrefix(cases[0], "\n")
	if n := len(cases) - 1; n < 60 {
		t.Errorf("%d cases, want at least 60", n)
	}
	for _, c := range cases[1:] {
		name, rest, _ := strings.Cut(c, "\n")
		source, want, ok := strings.Cut("\n"+rest, "\n--")
		if !ok {
			t.Fatalf("%s: no line --", name)
		}
		source, want = strings.TrimPrefix(source, "\n"), strings.TrimSpace(want)
		def, list := ParseDefinition("game", []byte(source))
		got := list.Error()
		if def != nil || !list.Failed() {
			t.Errorf("%s: no error", name)
		}
		if got != want && !*rewrite {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
		for _, d := range list {
			if d.Pos.Line == 0 || d.Pos.Column == 0 {
				t.Errorf("%s: no place: %s", name, d)
			}
			if d.Message == "" || strings.HasSuffix(d.Message, ".") {
				t.Errorf("%s: message %q", name, d.Message)
			}
			if lines := strings.Split(source, "\n"); d.Source != lines[d.Pos.Line-1] {
				t.Errorf("%s: source line %q", name, d.Source)
			}
		}
		out += fmt.Sprintf("\n== %s\n", name)
		if source != "" {
			out += source + "\n"
		}
		out += "--\n" + got
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(t testing.TB, text string) *schema.Definition {
	t.Helper()
	d, list := ParseDefinition("game", []byte(text))
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDefaults(t *testing.T) {
	d := parse(t, `{}`)
	if d.TickRate != 30 || d.SendRate != 15 || d.TimelineDepth != 32 || d.PlayersPerInstance != 8 || d.InstancesPerShard != 500 ||
		d.PlayersPerShard != 0 || d.ResumeSeconds != 10 || d.KeyframeSeconds != 1 || d.BytesPerSend != 1200 || d.Origins != nil {
		t.Errorf("%+v", d)
	}
	if len(d.Types) != 2 || d.Instance().Max != 1 || d.Player().Max != 8 || d.Player().Plural != "players" {
		t.Errorf("%+v", d.Types)
	}
	name := d.Player().Field(schema.PlayerName)
	if name == nil || name.Kind != schema.Str || name.Len != schema.MaxPlayerName || name.Sync != schema.Server {
		t.Errorf("the player's name is %+v", name)
	}
}

const everything = `{
  "$schema": "https://example.org/schema.json",
  "tickRate": 60, "sendRate": 20, "timelineDepth": 16,
  "origins": ["https://a.example", "*.b.example"],
  "playersPerInstance": 4, "shardPlayers": 90,
  "resumeSeconds": 2.5, "keyframeSeconds": 0.5, "bytesPerSend": 900,
  "instance": { "fields": { "zone": "u8 shared", "alpha": { "type": "bool", "sync": "sent", "default": true } } },
  "player": { "fields": {
    "heading": "f32 shared smooth angle",
    "hand": "u8 sent owner",
    "x": { "type": "f32", "sync": "sent", "audience": "all", "smooth": true, "snap": 20, "step": 0.1, "min": -100, "max": 100, "default": 2.5 },
    "plain": "f64",
    "target": "ref(ship) shared",
    "nick": { "type": "str(12)", "sync": "sent", "default": "n\u00f6b\ud83d\ude00" },
    "ease": { "type": "i16", "sync": "shared", "smooth": false }
  } },
  "entities": {
    "ship": { "max": 10, "owned": true, "fields": { "secret": "u32 sent owner", "deep": { "type": "u16", "sync": "sent", "step": 5, "min": 0, "max": 1275 } } },
    "bus": { "plural": "buses", "max": 3 }
  },
  "commands": {
    "move": { "maxPerSecond": 30, "fields": { "x": { "type": "f32", "min": -0.1, "max": 0.1 }, "who": "ref(player)" } },
    "stop": {}
  }
}`

func TestEverything(t *testing.T) {
	d := parse(t, everything)
	if d.TickRate != 60 || d.SendRate != 20 || d.TimelineDepth != 16 || d.PlayersPerInstance != 4 || d.InstancesPerShard != 0 ||
		d.PlayersPerShard != 90 || d.ShardInstances() != 23 || d.ResumeSeconds != 2.5 || d.KeyframeSeconds != 0.5 || d.BytesPerSend != 900 {
		t.Errorf("%+v", d)
	}
	var names []string
	for i, typ := range d.Types {
		if typ.Index != i {
			t.Errorf("type %s has index %d", typ.Name, typ.Index)
		}
		names = append(names, typ.Name+":"+typ.Plural)
		for j, f := range typ.Fields {
			if f.Index != j {
				t.Errorf("field %s has index %d", f.Name, f.Index)
			}
			names = append(names, f.Name)
		}
	}
	if got, want := strings.Join(names, " "), "instance: zone alpha player:players heading hand x plain target nick ease name ship:ships secret deep bus:buses"; got != want {
		t.Errorf("order\n got %s\nwant %s", got, want)
	}
	p := d.Player()
	if f := p.Field("heading"); f.Smooth != schema.Angle || f.Sync != schema.Shared || f.Kind != schema.F32 {
		t.Errorf("heading %+v", f)
	}
	if f := p.Field("hand"); f.Audience != schema.Owner || f.Sync != schema.Sent {
		t.Errorf("hand %+v", f)
	}
	if f := p.Field("x"); f.Smooth != schema.Linear || f.Snap != 20 || f.Default != 2.5 || f.Quant == nil ||
		*f.Quant != (schema.Quant{Step: 0.1, Min: -100, Max: 100, Bytes: 2}) {
		t.Errorf("x %+v %+v", f, f.Quant)
	}
	if f := p.Field("plain"); f.Sync != schema.Server || f.Kind != schema.F64 || !math.IsInf(f.Min, -1) || !math.IsInf(f.Max, 1) {
		t.Errorf("plain %+v", f)
	}
	if f := p.Field("target"); f.Kind != schema.Ref || f.Ref != 2 {
		t.Errorf("target %+v", f)
	}
	if f := p.Field("nick"); f.Text != "nöb😀" || f.Len != 12 {
		t.Errorf("nick %+v", f)
	}
	if f := d.Instance().Field("alpha"); f.Default != 1 {
		t.Errorf("alpha %+v", f)
	}
	if s := d.Types[2]; !s.Owned || s.Max != 10 || s.Field("deep").Quant.Bytes != 1 {
		t.Errorf("ship %+v", s)
	}
	move := d.Commands[0]
	if move.MaxPerSecond != 30 || move.Fields[1].Kind != schema.Ref || move.Fields[1].Ref != schema.PlayerType {
		t.Errorf("move %+v", move)
	}
	// The nearest f32 to a bound must not be out of range.
	if f := move.Fields[0]; f.Max != float64(float32(0.1)) || f.Min != -f.Max {
		t.Errorf("bounds %v %v", f.Min, f.Max)
	}
	if d.Commands[1].Index != 1 || d.Commands[1].Name != "stop" {
		t.Errorf("stop %+v", d.Commands[1])
	}
}

func TestLimits(t *testing.T) {
	many := func(n int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(parts, ",")
	}
	for _, c := range []struct{ text, want string }{
		{`{"entities":{` + many(63, `"e%d":{"max":1}`) + `}}`, "there are 63 entity types, more than 62"},
		{`{"player":{"fields":{` + many(256, `"f%d":"u8"`) + `}}}`, "there are 256 fields, more than 255"},
		{`{"instance":{"fields":{` + many(257, `"f%d":"u8"`) + `}}}`, "there are 257 fields, more than 256"},
		{`{"commands":{` + many(257, `"c%d":{}`) + `}}`, "there are 257 commands, more than 256"},
		{`{"origins":[` + many(65, `"a%d.example"`) + `]}`, "origins has 65 entries, more than 64"},
		{`{` + many(300, `"key%d":1`) + `}`, "and 100 more errors"},
		{strings.Repeat(" ", MaxFileBytes) + `{}`, "the file is larger than 1 MiB"},
	} {
		_, list := ParseDefinition("game", []byte(c.text))
		if len(list) == 0 || list[len(list)-1].Message != c.want {
			t.Errorf("got %v, want %s", list, c.want)
		}
	}
	for _, text := range []string{
		`{"shardInstances":1,"entities":{` + many(62, `"e%d":{"max":1}`) + `}}`,
		`{"player":{"fields":{` + many(255, `"f%d":"u8"`) + `}}}`,
		`{"instance":{"fields":{` + many(256, `"f%d":"u8"`) + `}}}`,
		`{"commands":{` + many(256, `"c%d":{}`) + `}}`,
	} {
		parse(t, text)
	}
}

// A hash must not depend on how the file is written, only on what it says.
func TestHashIgnoresFormat(t *testing.T) {
	d := parse(t, everything)
	var tree any
	if err := json.Unmarshal([]byte(everything), &tree); err != nil {
		t.Fatal(err)
	}
	compact := strings.NewReplacer("\n", "", ": ", ":", ", ", ",", "{ ", "{", " }", "}").Replace(everything)
	long := strings.NewReplacer(`"u8 shared"`, `{ "sync" : "shared", "type":"u8" }`, `"plain": "f64"`, `"plain": "  f64   server  all "`,
		`"f32 shared smooth angle"`, `"f32  angle shared"`).Replace(everything)
	indifferent := strings.NewReplacer(`"bytesPerSend": 900`, `"bytesPerSend": 901`, `"resumeSeconds": 2.5`, `"resumeSeconds": 3`,
		`"maxPerSecond": 30`, `"maxPerSecond": 31`, `"https://a.example"`, `"https://c.example"`, `"snap": 20`, `"snap": 21`,
		`"shardPlayers": 90`, `"shardInstances": 20`).Replace(everything)
	for name, text := range map[string]string{"compact": compact, "long": long, "indifferent": indifferent} {
		if text == everything {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if got, want := DefinitionHash(parse(t, text), []byte("wasm")), DefinitionHash(d, []byte("wasm")); got != want {
			t.Errorf("%s: hash %x, want %x", name, got, want)
		}
	}
}

func TestHashTellsApart(t *testing.T) {
	seen := map[uint64]string{DefinitionHash(parse(t, everything), []byte("wasm")): "nothing"}
	note := func(what string, hash uint64) {
		if other, ok := seen[hash]; ok {
			t.Errorf("a change of %s has the hash of a change of %s", what, other)
		}
		seen[hash] = what
	}
	note("the module", DefinitionHash(parse(t, everything), []byte("wasn")))
	for _, change := range [][2]string{
		{`"tickRate": 60`, `"tickRate": 40`},
		{`"sendRate": 20`, `"sendRate": 30`},
		{`"timelineDepth": 16`, `"timelineDepth": 17`},
		{`"playersPerInstance": 4`, `"playersPerInstance": 5`},
		{`"zone": "u8 shared"`, `"zone": "u8 sent"`},
		{`"zone": "u8 shared"`, `"zone": "i8 shared"`},
		{`"zone": "u8 shared"`, `"zonk": "u8 shared"`},
		{`"zone": "u8 shared", "alpha": { "type": "bool", "sync": "sent", "default": true }`, `"alpha": { "type": "bool", "sync": "sent", "default": true }, "zone": "u8 shared"`},
		{`"default": true`, `"default": false`},
		{`"u8 sent owner"`, `"u8 sent"`},
		{`"step": 0.1`, `"step": 0.2`},
		{`"min": -100`, `"min": -101`},
		{`"default": 2.5`, `"default": 2.25`},
		{`"ref(ship) shared"`, `"ref(bus) shared"`},
		{`"str(12)"`, `"str(13)"`},
		{`"default": "n`, `"default": "m`},
		{`"max": 10`, `"max": 11`},
		{`"buses"`, `"busses"`},
		{`"bus": { "plural": "buses", "max": 3 }`, `"bus": { "plural": "buses", "max": 3, "owned": true }`},
		{`"min": -0.1`, `"min": -0.2`},
		{`"stop": {}`, `"halt": {}`},
		{`"who": "ref(player)"`, `"who": "u32"`},
	} {
		text := strings.Replace(everything, change[0], change[1], 1)
		if text == everything {
			t.Fatalf("nothing to replace: %s", change[0])
		}
		note(change[0], DefinitionHash(parse(t, text), []byte("wasm")))
	}
}

// The hash is compared between builds of different ages, so a change of it is a
// change of the protocol.
func TestHashGolden(t *testing.T) {
	const file = "testdata/canonical.txt"
	d := parse(t, everything)
	got := canonical(d) + fmt.Sprintf("hash with the module \"wasm\": %016x\n", DefinitionHash(d, []byte("wasm")))
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// write puts a definition into JSON, every field in the long form.
func write(d *schema.Definition) string {
	type object = map[string]any
	ordered := func(keys []string, values []any) json.RawMessage {
		var b strings.Builder
		for i, k := range keys {
			text, err := json.Marshal(values[i])
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(&b, ",%q:%s", k, text)
		}
		return json.RawMessage("{" + strings.TrimPrefix(b.String(), ",") + "}")
	}
	list := func(fields []*schema.Field, command bool) json.RawMessage {
		var keys []string
		var values []any
		for _, f := range fields {
			if f.Name == schema.PlayerName && !command {
				continue
			}
			o := object{"type": f.Kind.String()}
			switch f.Kind {
			case schema.Str:
				o["type"] = fmt.Sprintf("str(%d)", f.Len)
			case schema.Ref:
				o["type"] = "ref(" + d.Types[f.Ref].Name + ")"
			}
			if !math.IsInf(f.Min, 0) {
				o["min"] = f.Min
			}
			if !math.IsInf(f.Max, 0) {
				o["max"] = f.Max
			}
			if !command {
				o["sync"] = f.Sync.String()
				o["smooth"] = []any{false, true, "angle"}[f.Smooth]
				if f.Audience == schema.Owner {
					o["audience"] = "owner"
				}
				if f.Snap != 0 {
					o["snap"] = f.Snap
				}
				if f.Quant != nil {
					o["step"] = f.Quant.Step
				}
				switch {
				case f.Kind == schema.Bool:
					o["default"] = f.Default != 0
				case f.Kind == schema.Str:
					o["default"] = f.Text
				case f.Kind.Number():
					o["default"] = f.Default
				}
			}
			keys, values = append(keys, f.Name), append(values, o)
		}
		return ordered(keys, values)
	}
	var names []string
	var entities, commands []any
	for _, t := range d.Entities() {
		o := object{"max": t.Max, "plural": t.Plural, "owned": t.Owned, "fields": list(t.Fields, false)}
		if v := t.View; v != nil {
			o["view"] = object{"radius": v.Radius, "x": v.X, "y": v.Y}
		}
		names, entities = append(names, t.Name), append(entities, o)
	}
	all := object{"tickRate": d.TickRate, "sendRate": d.SendRate, "timelineDepth": d.TimelineDepth, "playersPerInstance": d.PlayersPerInstance,
		"resumeSeconds": d.ResumeSeconds, "keyframeSeconds": d.KeyframeSeconds, "bytesPerSend": d.BytesPerSend,
		"instance": object{"fields": list(d.Instance().Fields, false)}, "player": object{"fields": list(d.Player().Fields, false)},
		"entities": ordered(names, entities)}
	if d.InstancesPerShard > 0 {
		all["shardInstances"] = d.InstancesPerShard
	} else {
		all["shardPlayers"] = d.PlayersPerShard
	}
	names = nil
	for _, c := range d.Commands {
		o := object{"fields": list(c.Fields, true)}
		if c.MaxPerSecond > 0 {
			o["maxPerSecond"] = c.MaxPerSecond
		}
		names, commands = append(names, c.Name), append(commands, o)
	}
	all["commands"] = ordered(names, commands)
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{`{}`, everything} {
		d := parse(t, text)
		again := parse(t, write(d))
		again.Origins = d.Origins
		if got, want := fmt.Sprintf("%+v", dump(again)), fmt.Sprintf("%+v", dump(d)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// dump follows the pointers of a definition.
func dump(d *schema.Definition) []any {
	all := []any{d.TickRate, d.SendRate, d.TimelineDepth, d.Origins, d.ShardInstances(), d.ResumeSeconds, d.KeyframeSeconds, d.BytesPerSend, canonical(d)}
	for _, t := range d.Types {
		for _, f := range t.Fields {
			all = append(all, *f)
			if f.Quant != nil {
				all[len(all)-1] = *f.Quant
			}
		}
	}
	for _, c := range d.Commands {
		all = append(all, c.MaxPerSecond)
	}
	return all
}

func FuzzDefinition(f *testing.F) {
	text, err := os.ReadFile("testdata/wrong.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range strings.Split(string(text), "\n== ") {
		_, rest, _ := strings.Cut(c, "\n")
		source, _, _ := strings.Cut(rest, "\n--")
		f.Add([]byte(source))
	}
	f.Add([]byte(everything))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, list := ParseDefinition("game", text)
		if (d == nil) != list.Failed() {
			t.Fatalf("definition %v with findings %v", d, list)
		}
		if len(list) > maxFindings+1 {
			t.Fatalf("%d findings", len(list))
		}
		if d == nil {
			return
		}
		// What is accepted has a layout of bounded size, and JSON that others accept too.
		if l := schema.NewLayout(d, schema.OnServer); l.Size*d.ShardInstances() > maxShardBytes {
			t.Fatalf("blocks of %d bytes", l.Size)
		}
		if text = []byte(strings.TrimPrefix(string(text), "\ufeff")); !json.Valid(text) {
			t.Fatal("accepted what is no JSON")
		}
		again, list := ParseDefinition("game", []byte(write(d)))
		if list.Failed() || canonical(again) != canonical(d) {
			t.Fatalf("written out and read again it is another: %v", list)
		}
	})
}
