package bundle

import (
	"encoding/json"
	"fmt"
	"math"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// The configuration that is baked into a library: the client's side of the
// schema, as the TypeScript interface GameConfig has it. Server fields are not
// in it, and fields are numbered without them.
type config struct {
	Protocol      int             `json:"protocol"`
	Name          string          `json:"name"`
	Hash          string          `json:"hash"`
	TickRate      int             `json:"tickRate"`
	SendRate      int             `json:"sendRate"`
	TimelineDepth int             `json:"timelineDepth"`
	View          bool            `json:"view"`
	Layout        layoutConfig    `json:"layout"`
	Types         []typeConfig    `json:"types"`
	Commands      []commandConfig `json:"commands"`
}

type layoutConfig struct {
	Size          int `json:"size"`
	CommandStride int `json:"commandStride"`
}

type typeConfig struct {
	Name   string        `json:"name"`
	Plural string        `json:"plural"`
	Max    int           `json:"max"`
	Owned  bool          `json:"owned"`
	Counts int           `json:"counts"`
	Rows   int           `json:"rows"`
	Stride int           `json:"stride"`
	Owner  int           `json:"owner"`
	Fields []fieldConfig `json:"fields"`
}

type fieldConfig struct {
	Name     string       `json:"name"`
	Kind     string       `json:"kind"`
	Len      int          `json:"len,omitempty"`
	Ref      *int         `json:"ref,omitempty"`
	Sync     string       `json:"sync,omitempty"`     // of a type's field
	Audience string       `json:"audience,omitempty"` // of a type's field
	Smooth   string       `json:"smooth,omitempty"`
	Snap     float64      `json:"snap,omitempty"`
	Quant    *quantConfig `json:"quant,omitempty"`
	Default  any          `json:"default,omitempty"`
	Min      *float64     `json:"min,omitempty"` // of a command's field
	Max      *float64     `json:"max,omitempty"` // of a command's field
	Offset   int          `json:"offset"`
}

type quantConfig struct {
	Step  float64 `json:"step"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Bytes int     `json:"bytes"`
}

type commandConfig struct {
	Name   string        `json:"name"`
	Shared bool          `json:"shared"`
	Fields []fieldConfig `json:"fields"`
}

// Config is the configuration of a game's library, as JSON. hash is the definition's.
func Config(d *schema.Definition, p *body.Program, hash uint64) ([]byte, error) {
	layout := p.ClientLayout
	c := config{
		Protocol: schema.Protocol, Name: d.Name, Hash: fmt.Sprintf("%016x", hash),
		TickRate: d.TickRate, SendRate: d.SendRate, TimelineDepth: d.TimelineDepth, View: p.HasView,
		Layout: layoutConfig{layout.Size, layout.CommandStride},
		Types:  []typeConfig{}, Commands: []commandConfig{},
	}
	for i, t := range d.Types {
		l := layout.Types[i]
		tc := typeConfig{t.Name, t.Plural, t.Max, t.Owned, l.Counts, l.Rows, l.Stride, l.Owner, []fieldConfig{}}
		for j, f := range t.Fields {
			if f.Sync == schema.Server {
				continue
			}
			fc := valueConfig(f, l.Offsets[j])
			fc.Sync, fc.Audience, fc.Snap = f.Sync.String(), "all", f.Snap
			if f.Audience == schema.Owner {
				fc.Audience = "owner"
			}
			switch f.Smooth {
			case schema.Linear:
				fc.Smooth = "linear"
			case schema.Angle:
				fc.Smooth = "angle"
			}
			if q := f.Quant; q != nil {
				fc.Quant = &quantConfig{q.Step, q.Min, q.Max, q.Bytes}
			}
			switch {
			case f.Kind == schema.Bool && f.Default != 0:
				fc.Default = true
			case f.Kind == schema.Str && f.Text != "":
				fc.Default = f.Text
			case f.Kind.Number() && f.Default != 0:
				fc.Default = f.Default
			}
			tc.Fields = append(tc.Fields, fc)
		}
		c.Types = append(c.Types, tc)
	}
	for i, command := range d.Commands {
		cc := commandConfig{Name: command.Name, Shared: p.Commands[i].Shared, Fields: []fieldConfig{}}
		for j, f := range command.Fields {
			fc := valueConfig(f, layout.Commands[i].Offsets[j])
			fc.Min, fc.Max = finite(f.Min), finite(f.Max)
			cc.Fields = append(cc.Fields, fc)
		}
		c.Commands = append(c.Commands, cc)
	}
	return json.Marshal(c)
}

func valueConfig(f *schema.Field, offset int) fieldConfig {
	fc := fieldConfig{Name: f.Name, Kind: f.Kind.String(), Len: f.Len, Offset: offset}
	if f.Kind == schema.Ref {
		fc.Ref = &f.Ref
	}
	return fc
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}
