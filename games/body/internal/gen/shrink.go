package gen

import "time"

// Shrink makes a game that fails as small as it finds in the time given, cutting
// and trying again. fails is called with games that may not compile, for which it
// must say false. The game given is changed and is what comes out.
func Shrink(g *Game, fails func(*Game) bool, limit time.Duration) *Game {
	s := &shrinker{g: g, fails: fails, end: time.Now().Add(limit)}
	for s.again = true; s.again && s.left(); {
		s.again = false
		s.ticks()
		s.list(g.files)
		s.lists(g.files)
		s.statements(&g.files.Kids)
		s.expressions(&g.files.Kids)
		s.list(g.script)
		s.lists(g.def)
	}
	return g
}

type shrinker struct {
	g     *Game
	fails func(*Game) bool
	end   time.Time
	again bool // something was cut
}

func (s *shrinker) left() bool { return time.Now().Before(s.end) }

// try keeps a cut that was made if the game still fails.
func (s *shrinker) try() bool {
	if s.left() && s.fails(s.g) {
		s.again = true
		return true
	}
	return false
}

func (s *shrinker) ticks() {
	for step := s.g.Ticks / 2; step > 0; step /= 2 {
		for s.g.Ticks > step {
			s.g.Ticks -= step
			if !s.try() {
				s.g.Ticks += step
				break
			}
		}
	}
}

// list leaves out kids, many at once first.
func (s *shrinker) list(n *Node) {
	for size := len(n.Kids); size > 0; size /= 2 {
		for at := 0; at < len(n.Kids); {
			all := n.Kids
			to := min(at+size, len(all))
			n.Kids = append(append([]*Node{}, all[:at]...), all[to:]...)
			if !s.try() {
				n.Kids = all
				at = to
			}
		}
	}
}

// lists does so with the lists in a node, outer ones first.
func (s *shrinker) lists(n *Node) {
	for _, k := range n.Kids {
		if k.Sort == List {
			s.list(k)
		}
		s.lists(k)
	}
}

// statements puts what is in statements in their places.
func (s *shrinker) statements(kids *[]*Node) {
	for i := 0; i < len(*kids); i++ {
		k := (*kids)[i]
		if k.Sort == Statement {
			for _, in := range k.Kids {
				if in.Sort != List {
					continue
				}
				(*kids)[i] = in
				if s.try() {
					break
				}
				(*kids)[i] = k
			}
		}
		s.statements(&(*kids)[i].Kids)
	}
}

var literals = map[Sort][]string{
	Number: {"0", "1"},
	Bool:   {"false", "true"},
	Str:    {`""`},
	Object: {"null"},
}

// expressions makes expressions simpler, outer ones first.
func (s *shrinker) expressions(kids *[]*Node) {
	for i := 0; i < len(*kids); i++ {
		for s.simpler(&(*kids)[i]) {
		}
		s.expressions(&(*kids)[i].Kids)
	}
}

// simpler puts a literal or a part of an expression in its place.
func (s *shrinker) simpler(at **Node) bool {
	n := *at
	if n.Sort < Number {
		return false
	}
	for _, text := range literals[n.Sort] {
		if n.Text == text {
			return false
		}
	}
	for _, text := range literals[n.Sort] {
		*at = &Node{Sort: n.Sort, Text: text}
		if s.try() {
			return false
		}
	}
	for _, k := range n.Kids {
		if k.Sort != n.Sort {
			continue
		}
		*at = k
		if s.try() {
			return true
		}
	}
	*at = n
	return false
}
