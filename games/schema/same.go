package schema

import "slices"

// SameState reports whether two definitions keep the same state: the same types with the
// same fields in the same places. A state of one is a state of the other then, whatever
// their bodies, commands and rates are.
func SameState(a, b *Definition) bool {
	return slices.EqualFunc(a.Types, b.Types, func(s, t *Type) bool {
		return s.Name == t.Name && s.Max == t.Max && s.Owned == t.Owned &&
			slices.EqualFunc(s.Fields, t.Fields, func(f, g *Field) bool {
				return f.Name == g.Name && f.Kind == g.Kind && f.Len == g.Len && f.Ref == g.Ref && f.Sync == g.Sync
			})
	})
}
