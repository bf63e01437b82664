package front

import (
	"fmt"
	"slices"
	"strings"
)

// suggest is the end of a sentence about a name that there is not: the known name
// nearest to it, or nothing when none is near: a name of one letter is near to none.
func suggest(name string, known []string) string {
	slices.Sort(known)
	best, at := max(1, len(name)/3)+1, ""
	for _, k := range known {
		if d := distance(name, k, best); d < best && d < min(len(name), len(k)) {
			best, at = d, k
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(`; did you mean "%s"?`, at)
}

// listed is what there is, as ": it has a, b and c".
func listed(known []string) string {
	const most = 24
	switch n := len(known); {
	case n == 0:
		return ": it has none"
	case n == 1:
		return ": it has " + known[0]
	case n > most:
		return fmt.Sprintf(": it has %s and %d more", strings.Join(known[:most], ", "), n-most)
	default:
		return fmt.Sprintf(": it has %s and %s", strings.Join(known[:n-1], ", "), known[n-1])
	}
}

// offer is listed and suggest together.
func offer(name string, known []string) string {
	return listed(known) + suggest(name, slices.Clone(known))
}

// offerField is offer of what the definition declares.
func offerField(name string, known []string) string {
	near := suggest(name, slices.Clone(known))
	if near == "" {
		near = "; fields are declared in gamehoster-game.json"
	}
	return listed(known) + near
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour to get from a to b; limit if it is that or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 64 || len(b) > 64 {
		return limit
	}
	before := make([]int, len(b)+1)
	above := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if lower(a[i-1]) == lower(b[j-1]) {
				change = 0
			}
			d := min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
		}
		before, above, row = above, row, before
	}
	return min(above[len(b)], limit)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func sorted[V any](m map[string]V) []string {
	list := keys(m)
	slices.Sort(list)
	return list
}

func keys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	return list
}
