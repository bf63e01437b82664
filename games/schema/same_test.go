package schema

import "testing"

func TestSameState(t *testing.T) {
	def := func(change func(d *Definition)) *Definition {
		d := &Definition{TickRate: 30, Types: []*Type{
			{Name: "instance", Max: 1},
			{Index: 1, Name: "player", Max: 8, Fields: []*Field{{Name: "x", Kind: F32, Sync: Shared}, {Index: 1, Name: PlayerName, Kind: Str, Len: MaxPlayerName}}},
			{Index: 2, Name: "rock", Max: 9, Fields: []*Field{{Name: "of", Kind: Ref, Ref: 1}}},
		}}
		change(d)
		return d
	}
	old := def(func(*Definition) {})
	for name, c := range map[string]struct {
		change func(d *Definition)
		same   bool
	}{
		"nothing":      {func(*Definition) {}, true},
		"rates":        {func(d *Definition) { d.TickRate = 20 }, true},
		"default":      {func(d *Definition) { d.Player().Fields[0].Default = 7 }, true},
		"smoothing":    {func(d *Definition) { d.Player().Fields[0].Smooth = Linear }, true},
		"command":      {func(d *Definition) { d.Commands = []*Command{{Name: "jump"}} }, true},
		"kind":         {func(d *Definition) { d.Player().Fields[0].Kind = F64 }, false},
		"class":        {func(d *Definition) { d.Player().Fields[0].Sync = Sent }, false},
		"field's name": {func(d *Definition) { d.Player().Fields[0].Name = "y" }, false},
		"length":       {func(d *Definition) { d.Player().Fields[1].Len = 3 }, false},
		"reference":    {func(d *Definition) { d.Types[2].Fields[0].Ref = 2 }, false},
		"one field":    {func(d *Definition) { d.Player().Fields = d.Player().Fields[1:] }, false},
		"type's name":  {func(d *Definition) { d.Types[2].Name = "stone" }, false},
		"most":         {func(d *Definition) { d.Types[2].Max = 10 }, false},
		"owner":        {func(d *Definition) { d.Types[2].Owned = true }, false},
		"one type":     {func(d *Definition) { d.Types = d.Types[:2] }, false},
	} {
		got := SameState(old, def(c.change))
		if got != c.same {
			t.Errorf("%s: %t", name, got)
		}
		if NewLayout(old, OnServer).Size != NewLayout(def(c.change), OnServer).Size && got {
			t.Errorf("%s: the same state of another size", name)
		}
	}
}
