package bots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gamehoster/games"
	"gamehoster/games/schema"
	"gamehoster/wire"
)

// game is what bots know of what they play.
type game struct {
	def      *schema.Definition
	layout   *schema.Layout
	schema   *wire.Schema
	commands []*schema.Command // that are sent, in turns
}

func loadGame(dir, command string) (*game, error) {
	text, err := os.ReadFile(filepath.Join(dir, games.DefinitionFile))
	if err != nil {
		return nil, fmt.Errorf("reading the bots' game: %w", err)
	}
	def, findings := games.ParseDefinition(filepath.Base(dir), text)
	if def == nil {
		return nil, fmt.Errorf("reading the bots' game: %w", findings)
	}
	g := &game{def: def, layout: schema.NewLayout(def, schema.OnClient)}
	g.schema = wire.NewSchema(def, g.layout)
	for _, c := range def.Commands {
		if command == "" || command == c.Name {
			g.commands = append(g.commands, c)
		}
	}
	if command != "" && len(g.commands) == 0 {
		return nil, fmt.Errorf("the bots' game %s has no command %s", def.Name, command)
	}
	return g, nil
}

// append appends a command message of which the fields are by chance, within their bounds.
// rec is a command record for scratch.
func (g *game) append(dst []byte, h wire.CommandHeader, rng *rand.Rand, rec []byte) []byte {
	c := g.commands[int(h.Seq)%len(g.commands)]
	h.Number = uint32(c.Index)
	clear(rec)
	for i, f := range c.Fields {
		fill(f, rng, rec[g.layout.Commands[c.Index].Offsets[i]:])
	}
	return g.schema.Command(h.Number).AppendAll(h.Append(dst), rec)
}

// unbounded is the size of numbers where the definition sets no bounds.
const unbounded = 100

// fill puts a value into a field that stands at the front of v.
func fill(f *schema.Field, rng *rand.Rand, v []byte) {
	switch {
	case f.Kind == schema.Bool:
		v[0] = byte(rng.IntN(2))
	case f.Kind == schema.Str:
		v[0] = byte(rng.IntN(min(f.Len, 16) + 1))
		for i := range int(v[0]) {
			v[1+i] = 'a' + byte(rng.IntN(26))
		}
	case f.Kind.Number():
		least, most := f.Min, f.Max
		if math.IsInf(least, 0) {
			least = 0
		}
		if math.IsInf(most, 0) {
			most = least + unbounded
		}
		x := least + rng.Float64()*(most-least)
		if f.Kind.Integer() {
			x = math.Floor(least + rng.Float64()*(most-least+1))
		}
		schema.StoreNumber(f.Kind, v, min(x, most))
	}
	// A reference stays 0, which names nothing.
}
