package bundle

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gamehoster/games/schema"
)

// declarer writes declarations in TypeScript. A game has two files of them: what its
// page has (declarations) and what its rules have (rules).
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

// block writes what stands between two lines.
func (w *declarer) block(head string, body func(), foot string) {
	w.line("%s", head)
	w.depth++
	body()
	w.depth--
	w.line("%s", foot)
}

// text writes lines that are the same for every game.
func (w *declarer) text(lines string) {
	for line := range strings.Lines(lines) {
		w.line("%s", strings.TrimSuffix(line, "\n"))
	}
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

// objects writes an interface for the instance, the player and each type of entity.
// instance tells what the instance is; members writes what stands in an interface.
func (w *declarer) objects(instance string, members func(t *schema.Type)) {
	for _, t := range w.def.Types {
		switch t.Index {
		case schema.InstanceType:
			w.line("/** The instance: %s. */", instance)
		case schema.PlayerType:
			w.line("/** A player; at most %d in an instance. */", t.Max)
		default:
			w.line("/** An entity; at most %d in an instance. */", t.Max)
		}
		w.block(fmt.Sprintf("interface %s {", w.types[t.Index]), func() { members(t) }, "}")
		w.line("")
	}
}

// identity writes what every object has that is not declared.
func (w *declarer) identity(t *schema.Type) {
	w.line("readonly id: number;")
	if t.Owned {
		w.line("/** Its player; null once that one is gone. */")
		w.line("readonly owner: Player | null;")
	}
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

func kindDoc(f *schema.Field) string {
	switch f.Kind {
	case schema.Str:
		return fmt.Sprintf("at most %d bytes of UTF-8", f.Len)
	case schema.Ref:
		return "null for none and for one out of view"
	}
	return f.Kind.String()
}

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
