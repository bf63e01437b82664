package bundle

import (
	_ "embed"
	"fmt"
	"slices"
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
	w.block("declare namespace gamehoster {", func() {
		w.objects("what there is once", func(t *schema.Type) {
			w.identity(t)
			w.fields(t)
		})
		w.entities()
		w.commands()
		w.text(libraryTypes)
		w.exports(g, exports)
	}, "}")
	return []byte(w.out.String())
}

// fields writes the fields that leave the server.
func (w *declarer) fields(t *schema.Type) {
	for _, f := range t.Fields {
		if f.Sync != schema.Server {
			w.line("/** %s */", fieldDoc(f))
			w.line("readonly %s: %s;", f.Name, w.value(f))
		}
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

func (w *declarer) entities() {
	w.line("/** The entities of the picture by type, under the type's name and its plural. */")
	w.block("interface Entities {", func() {
		for i, t := range w.def.Entities() {
			w.line("readonly %s: Collection<%s>;", t.Name, w.types[i+2])
			if t.Plural != t.Name {
				w.line("readonly %s: Collection<%s>;", t.Plural, w.types[i+2])
			}
		}
	}, "}")
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
	w.block("interface Send {", func() {
		for _, c := range w.def.Commands {
			w.send(c)
		}
	}, "}")
	w.line("")
}

// send writes how a page sends a command.
func (w *declarer) send(c *schema.Command) {
	if c.MaxPerSecond > 0 {
		w.line("/** At most %d a second are accepted. */", c.MaxPerSecond)
	}
	if len(c.Fields) == 0 {
		w.line("%s(): boolean;", c.Name)
		return
	}
	values := "values?"
	if slices.ContainsFunc(c.Fields, required) {
		values = "values"
	}
	w.block(fmt.Sprintf("%s(%s: {", c.Name, values), func() {
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
	}, "}): boolean;")
}

// required reports whether a command's field cannot be left out: 0 is out of its range.
func required(f *schema.Field) bool { return f.Kind.Number() && (f.Min > 0 || f.Max < 0) }

func (w *declarer) exports(g *games.Game, names []string) {
	if g.Client() == "" {
		w.line("/** The exports of the game's client.js, which it does not have. */")
	} else {
		w.line("/** The exports of the game's %s. */", g.Client())
	}
	w.block("const game: {", func() {
		for _, name := range names {
			w.line("readonly %s: any;", strconv.Quote(name))
		}
	}, "};")
}
