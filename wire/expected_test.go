package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

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

// TestConfig keeps testdata/config.json: the fixture as the client library's
// generated code has it, so that the library's tests can read the golden files.
func TestConfig(t *testing.T) {
	d := fixture()
	l := schema.NewLayout(d, schema.OnClient)
	fields := func(list []*schema.Field, offsets []int, command bool) []any {
		out := []any{}
		for i, f := range list {
			if !command && f.Sync == schema.Server {
				continue
			}
			m := map[string]any{"name": f.Name, "kind": f.Kind.String(), "offset": offsets[i]}
			if !command {
				m["sync"] = map[schema.Sync]string{schema.Sent: "sent", schema.Shared: "shared"}[f.Sync]
				m["audience"] = map[schema.Audience]string{schema.All: "all", schema.Owner: "owner"}[f.Audience]
			}
			if f.Kind == schema.Str {
				m["len"] = f.Len
			}
			if f.Kind == schema.Ref {
				m["ref"] = f.Ref
			}
			if f.Smooth != schema.Steps {
				m["smooth"] = map[schema.Smooth]string{schema.Linear: "linear", schema.Angle: "angle"}[f.Smooth]
			}
			if f.Snap != 0 {
				m["snap"] = f.Snap
			}
			if f.Default != 0 {
				m["default"] = f.Default
			}
			if q := f.Quant; q != nil {
				m["quant"] = map[string]any{"step": q.Step, "min": q.Min, "max": q.Max, "bytes": q.Bytes}
			}
			if command && !math.IsInf(f.Min, -1) {
				m["min"] = f.Min
			}
			if command && !math.IsInf(f.Max, 1) {
				m["max"] = f.Max
			}
			out = append(out, m)
		}
		return out
	}
	types, commands := []any{}, []any{}
	for i, typ := range d.Types {
		tl := l.Types[i]
		types = append(types, map[string]any{
			"name": typ.Name, "plural": typ.Plural, "max": typ.Max, "owned": typ.Owned,
			"counts": tl.Counts, "rows": tl.Rows, "stride": tl.Stride, "owner": tl.Owner,
			"fields": fields(typ.Fields, tl.Offsets, false),
		})
	}
	for i, c := range d.Commands {
		commands = append(commands, map[string]any{
			"name": c.Name, "shared": c.Name != "say",
			"fields": fields(c.Fields, l.Commands[i].Offsets, true),
		})
	}
	text, err := json.MarshalIndent(map[string]any{
		"protocol": Version, "name": d.Name, "hash": hex64(fixtureHash),
		"tickRate": d.TickRate, "sendRate": d.SendRate, "timelineDepth": d.TimelineDepth, "view": false,
		"layout": map[string]any{"size": l.Size, "commandStride": l.CommandStride},
		"types":  types, "commands": commands,
	}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, "config.json", append(text, '\n'))
}
