package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/bundle"
	"gamehoster/games/schema"
)

// vectors are all messages of the golden files, by file.
func vectors() map[string][]vector {
	w := fixtureWorld()
	return map[string][]vector{
		"command": commandVectors(w), "ack": ackVectors(), "ping": pingVectors(),
		"statehash": stateHashVectors(w), "resync": resyncVectors(),
		"welcome": welcomeVectors(), "snapshot": snapshotVectors(w), "delta": deltaVectors(w),
		"keyframe": keyframeVectors(w), "commands": commandsVectors(w), "enter": enterVectors(w),
		"leave": leaveVectors(), "pong": pongVectors(),
	}
}

// TestExpected keeps testdata/expected.json: what each message of the golden files
// means, for readers in other languages. Numbers of 64 bits are 16 hex digits; NaN
// and negative zero, which JSON lacks, are the strings "NaN" and "-0".
func TestExpected(t *testing.T) {
	all := map[string][]map[string]any{}
	for file, list := range vectors() {
		for _, v := range list {
			v.expect["name"] = v.name
			all[file] = append(all[file], v.expect)
		}
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, "expected.json", append(text, '\n'))
}

func hex64(v uint64) string { return fmt.Sprintf("%016x", v) }

// plain is a value for JSON.
func plain(x any) any {
	if f, ok := x.(float64); ok {
		switch {
		case math.IsNaN(f):
			return "NaN"
		case f == 0 && math.Signbit(f):
			return "-0"
		}
	}
	return x
}

func expectFields(fields []*schema.Field, v values) map[string]any {
	m := map[string]any{}
	for _, f := range fields {
		m[f.Name] = plain(naiveArrived(f, v[f.Name]))
	}
	return m
}

func expectWhole(w *world, viewer uint32, objects ...*object) []any {
	list := []any{}
	for _, o := range objects {
		list = append(list, map[string]any{
			"id": o.id, "type": o.typ, "owner": o.owner,
			"fields": expectFields(w.naiveFields(o, Whole, viewer), o.v),
		})
	}
	return list
}

// expectEntries is what a delta or keyframe lists; base is nil for full masks.
func expectEntries(w, base *world, sub Subset, viewer uint32, ids ...uint32) []any {
	list := []any{}
	for _, id := range ids {
		o := w.find(id)
		var b *object
		if base != nil {
			b = base.find(id)
		}
		var changed []*schema.Field
		for _, f := range w.naiveFields(o, sub, viewer) {
			if b == nil || string(naiveValue(f, o.v[f.Name])) != string(naiveValue(f, b.v[f.Name])) {
				changed = append(changed, f)
			}
		}
		list = append(list, map[string]any{"id": id, "type": o.typ, "fields": expectFields(changed, o.v)})
	}
	return list
}

// TestConfig keeps testdata/config.json: the fixture as client libraries have it baked
// in, so that the library's tests can read the golden files.
func TestConfig(t *testing.T) {
	d := fixture()
	p := &body.Program{ClientLayout: schema.NewLayout(d, schema.OnClient), Commands: make([]body.CommandBodies, len(d.Commands))}
	for i := range p.Commands {
		p.Commands[i].Shared = i != cmdSay
	}
	text, err := bundle.Config(d, p, fixtureHash)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "\t"); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	checkFile(t, "config.json", out.Bytes())
}
