package bundle

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gamehoster/games"
	"gamehoster/games/schema"
)

// The declarations that are the same for every game.
//
//go:embed library.d.ts
var libraryTypes string

// Names of library.d.ts and of the parts around it, which no entity's interface
// may take.
var takenTypes = []string{"Instance", "Player", "Entities", "Send", "Collection", "Reason", "Stats", "ConnectOptions",
	"EntityEvents", "Events", "Game"}

// declarations writes a game's gamehoster.d.ts: what the library is, with the
// types of this game's objects and commands. exports are the names that the
// game's front-end code exports.
func declarations(g *games.Game, exports []string) []byte {
	w := &declarer{def: g.Def}
	w.names(takenTypes)
	w.line("// The library of the game %s, as a page sees it. Written with gamehoster.js; changes here are lost.", strconv.Quote(g.Def.Name))
	w.line("//")
	w.line("// Next to <script src=%s>: /// <reference path=\"./%s\" />", strconv.Quote("/"+g.Def.Name+"/"+games.ScriptFile), games.TypesFile)
	w.line("")
	w.line("declare namespace gamehoster {")
	w.depth++
	w.objects()
	w.entities()
	w.commands()
	for line := range strings.Lines(libraryTypes) {
		w.line("%s", strings.TrimSuffix(line, "\n"))
	}
	w.exports(g, exports)
	w.depth--
	w.line("}")
	return []byte(w.out.String())
}

type declarer struct {
	def   *schema.Definition
	out   strings.Builder
	depth int
	types []string // interface names by type number
}

func (w *declarer) line(format string, args ...any) {
	if format != "" {
		if text := fmt.Sprintf(format, args...); text != "" {
			w.out.WriteString(strings.Repeat("\t", w.depth))
			w.out.WriteString(text)
		}
	}
	w.out.WriteByte('\n')
}

// names gives each type an interface: the name with a capital, which stays clear
// of the library's own and of its like by an underscore.
func (w *declarer) names(others []string) {
	taken := map[string]bool{}
	for _, name := range others {
		taken[name] = true
	}
	w.types = []string{"Instance", "Player"}
	for _, t := range w.def.Entities() {
		name := strings.ToUpper(t.Name[:1]) + t.Name[1:]
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		w.types = append(w.types, name)
	}
}

func (w *declarer) objects() {
	for i, t := range w.def.Types {
		switch i {
		case schema.InstanceType:
			w.line("/** The instance: what there is once. */")
		case schema.PlayerType:
			w.line("/** A player; at most %d in an instance. */", t.Max)
		default:
			w.line("/** An entity; at most %d in an instance. */", t.Max)
		}
		w.line("interface %s {", w.types[i])
		w.depth++
		w.line("readonly id: number;")
		if t.Owned {
			w.line("/** Its player; null once that one is gone. */")
			w.line("readonly owner: Player | null;")
		}
		for _, f := range t.Fields {
			if f.Sync != schema.Server {
				w.line("/** %s */", fieldDoc(f))
				w.line("readonly %s: %s;", f.Name, w.value(f))
			}
		}
		w.depth--
		w.line("}")
		w.line("")
	}
}

func fieldDoc(f *schema.Field) string {
	parts := []string{kindDoc(f), f.Sync.String()}
	if f.Audience == schema.Owner {
		parts = append(parts, "only to its owner, empty for others")
	}
	switch f.Smooth {
	case schema.Linear:
		parts = append(parts, "drawn between ticks")
	case schema.Angle:
		parts = append(parts, "an angle in radians, drawn between ticks")
	}
	if q := f.Quant; q != nil {
		parts = append(parts, fmt.Sprintf("from %s to %s by %s", number(q.Min), number(q.Max), number(q.Step)))
	}
	return strings.Join(parts, ", ")
}

func kindDoc(f *schema.Field) string {
	switch f.Kind {
	case schema.Str:
		return fmt.Sprintf("at most %d bytes of UTF-8", f.Len)
	case schema.Ref:
		return "null for none and for one out of view"
	}
	return f.Kind.String()
}

// value is the TypeScript type of a field's value.
func (w *declarer) value(f *schema.Field) string {
	switch f.Kind {
	case schema.Bool:
		return "boolean"
	case schema.Str:
		return "string"
	case schema.Ref:
		return w.types[f.Ref] + " | null"
	}
	return "number"
}

func (w *declarer) entities() {
	w.line("/** The entities of the picture by type, under the type's name and its plural. */")
	w.line("interface Entities {")
	w.depth++
	for i, t := range w.def.Entities() {
		w.line("readonly %s: Collection<%s>;", t.Name, w.types[i+2])
		if t.Plural != t.Name {
			w.line("readonly %s: Collection<%s>;", t.Plural, w.types[i+2])
		}
	}
	w.depth--
	w.line("}")
	w.line("")
	w.line("/** An entity and the name of its type, as events have them. */")
	events := []string{}
	for i, t := range w.def.Entities() {
		events = append(events, fmt.Sprintf("[entity: %s, type: %q]", w.types[i+2], t.Name))
	}
	if len(events) == 0 {
		events = append(events, "[entity: never, type: never]")
	}
	w.line("type EntityEvents = %s;", strings.Join(events, " | "))
	w.line("")
}

func (w *declarer) commands() {
	w.line("/**")
	w.line(" * What a player can do. The result is false where there is nobody to send to. A value of a wrong type is a")
	w.line(" * TypeError, one that the server would refuse a RangeError; what is left out is 0, false, empty or null.")
	w.line(" */")
	w.line("interface Send {")
	w.depth++
	for _, c := range w.def.Commands {
		if c.MaxPerSecond > 0 {
			w.line("/** At most %d a second are accepted. */", c.MaxPerSecond)
		}
		if len(c.Fields) == 0 {
			w.line("%s(): boolean;", c.Name)
			continue
		}
		values := "values?"
		for _, f := range c.Fields {
			if required(f) {
				values = "values"
			}
		}
		w.line("%s(%s: {", c.Name, values)
		w.depth++
		for _, f := range c.Fields {
			w.line("/** %s */", argumentDoc(f))
			mark := "?"
			if required(f) {
				mark = ""
			}
			kind := w.value(f)
			if f.Kind == schema.Ref {
				kind = w.types[f.Ref] + " | number | null"
			}
			w.line("%s%s: %s;", f.Name, mark, kind)
		}
		w.depth--
		w.line("}): boolean;")
	}
	w.depth--
	w.line("}")
	w.line("")
}

// required reports whether a command's field cannot be left out: 0 is out of its range.
func required(f *schema.Field) bool { return f.Kind.Number() && (f.Min > 0 || f.Max < 0) }

func argumentDoc(f *schema.Field) string {
	switch {
	case f.Kind == schema.Ref:
		return "an object or its id"
	case !f.Kind.Number() || math.IsInf(f.Min, -1) && math.IsInf(f.Max, 1):
		return kindDoc(f)
	case math.IsInf(f.Max, 1):
		return fmt.Sprintf("%s, at least %s", f.Kind, bound(f, f.Min))
	case math.IsInf(f.Min, -1):
		return fmt.Sprintf("%s, at most %s", f.Kind, bound(f, f.Max))
	}
	return fmt.Sprintf("%s from %s to %s", f.Kind, bound(f, f.Min), bound(f, f.Max))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// bound writes a bound as its author did, though that of an f32 was rounded to one.
func bound(f *schema.Field, v float64) string {
	if f.Kind == schema.F32 {
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	return number(v)
}

func (w *declarer) exports(g *games.Game, names []string) {
	if g.Client() == "" {
		w.line("/** The exports of the game's client.js, which it does not have. */")
	} else {
		w.line("/** The exports of the game's %s. */", g.Client())
	}
	w.line("const game: {")
	w.depth++
	for _, name := range names {
		w.line("readonly %s: any;", strconv.Quote(name))
	}
	w.depth--
	w.line("};")
}
