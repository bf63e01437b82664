package bundle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gamehoster/games"
	"gamehoster/games/schema"
)

// Names of rulesTypes, which no entity's interface may take there.
var takenRules = []string{"Instance", "Player", "Collection", "Makes", "MakesOwned"}

// rulesTypes is what the declarations of all games' bodies have.
const rulesTypes = `/** The objects of a type, in ascending order of id. */
interface Collection<T> extends Iterable<T> {
	/** How many there are; what was removed in this tick is left out. */
	readonly count: number;
	/** Null where there is none, and for one that was removed. */
	find(id: number): T | null;
}

interface Makes<T> extends Collection<T> {
	/** A new object; null when all that max allows are in use. */
	spawn(): T | null;
}

interface MakesOwned<T> extends Collection<T> {
	/** A new object of a player, for life; null when all that max allows are in use. */
	spawn(owner: Player): T | null;
}
`

// rulesGlobals stand outside the namespace.
const rulesGlobals = `/** A number from 0 up to, not including, 1: the same one on the server and in browsers. */
declare function random(): number;

/** A number that no browser can know; in server bodies only. */
declare function serverRandom(): number;

/** Writes a line to the server's log. Templates are for this alone: log(` + "`${p.id} is at ${p.x}`" + `). */
declare function log(...values: (string | number | boolean)[]): void;
`

// rules writes a game's bodies.d.ts: what body files have without importing it.
func rules(g *games.Game) []byte {
	w := &declarer{def: g.Def}
	taken := slices.Clone(takenRules)
	for _, c := range g.Def.Commands {
		taken = append(taken, commandType(c))
	}
	w.names(taken)
	w.line("// What the rules of the game %s have. Written with gamehoster.js; changes here are lost.", strconv.Quote(g.Def.Name))
	w.line("//")
	w.line("// At the top of a body file: /// <reference path=\"./%s\" />", games.RulesFile)
	w.line("// and before its function:   /** @param {rules.Player} player */")
	w.line("")
	w.block("declare namespace rules {", func() {
		w.objects("its fields and all objects", w.ruleMembers)
		w.ruleCommands()
		w.text(rulesTypes)
	}, "}")
	w.line("")
	w.line("/** The instance. */")
	w.line("declare const game: rules.Instance;")
	w.line("")
	w.out.WriteString(rulesGlobals)
	return []byte(w.out.String())
}

// ruleMembers writes what bodies find in an object.
func (w *declarer) ruleMembers(t *schema.Type) {
	switch t.Index {
	case schema.InstanceType:
		w.instanceMembers()
	case schema.PlayerType:
		w.identity(t)
		w.line("/** Closes the player's connection with 4003; in server bodies only. */")
		w.line("remove(): void;")
	default:
		w.identity(t)
		w.line("remove(): void;")
	}
	for _, f := range t.Fields {
		w.line("/** %s */", ruleDoc(f))
		w.line("%s: %s;", f.Name, w.value(f))
	}
}

func (w *declarer) instanceMembers() {
	w.line("/** The tick that is running. */")
	w.line("readonly tick: number;")
	w.line("/** Seconds of a tick. */")
	w.line("readonly dt: number;")
	w.line("/** Whether the instance takes new players; in server bodies only. */")
	w.line("open: boolean;")
	w.line("/** Ends the instance; in server bodies only. */")
	w.line("end(): void;")
	for i, t := range w.def.Types[1:] {
		kind := "Makes"
		switch {
		case i == 0:
			kind = "Collection"
		case t.Owned:
			kind = "MakesOwned"
		}
		w.line("readonly %s: %s<%s>;", t.Plural, kind, w.types[i+1])
	}
}

// ruleDoc is what a field is to bodies.
func ruleDoc(f *schema.Field) string {
	doc := f.Kind.String()
	switch f.Kind {
	case schema.Str:
		doc = kindDoc(f)
	case schema.Ref:
		doc = "null for none and for one that is gone"
	}
	switch {
	case f.Sync == schema.Server:
		return doc + ", in server bodies only"
	case f.Audience == schema.Owner:
		return doc + ", " + f.Sync.String() + ", read in server bodies only"
	}
	return doc + ", " + f.Sync.String()
}

// commandType is the interface of what a command's function is called with.
func commandType(c *schema.Command) string {
	return strings.ToUpper(c.Name[:1]) + c.Name[1:] + "Command"
}

func (w *declarer) ruleCommands() {
	for _, c := range w.def.Commands {
		w.line("/** What %s(player, command) is called with. */", c.Name)
		w.block(fmt.Sprintf("interface %s {", commandType(c)), func() {
			for _, f := range c.Fields {
				w.line("/** %s */", commandDoc(f))
				w.line("readonly %s: %s;", f.Name, w.value(f))
			}
		}, "}")
		w.line("")
	}
}

func commandDoc(f *schema.Field) string {
	if f.Kind == schema.Ref {
		return "null for none and for one that is gone"
	}
	return argumentDoc(f)
}
