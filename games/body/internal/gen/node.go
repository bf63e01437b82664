// Package gen writes random games for the compiler's tests: a definition, body
// files and a script of players, all well typed, all of bodies that end.
//
//	seed --> Game: a tree of text with holes --> gamehoster-game.json, *.js
//	           |                            `--> the same for Node, where that differs
//	           `--> Shrink: parts left out, expressions become literals, while it fails
//
// A Game is a tree only as far as taking it apart needs one: a Node is a piece of
// text with holes, and knows what may stand in its place. Whether what is left
// after a cut is still a program is not known here; the test that is to fail finds
// out by compiling it. So the tree needs no types, and whatever the language gets
// can be written as text.
//
// Programs end because their loops do, by a counter that nothing else writes; how
// often statements run is counted while they are made. Faults are made on purpose
// only, where the options ask for them: for Node, which knows no fuel and no table
// that ends, the fault is a throw.
package gen

import (
	"fmt"
	"strings"

	"gamehoster/games/body"
)

// Sort is what a node is, which is what may stand in its place.
type Sort uint8

const (
	Fixed     Sort = iota // no cut but in its kids
	List                  // kids that can be left out one by one; Text stands between them
	Statement             // the lists in it can stand in its place
	Number                // an expression: kids of its sort, or a literal
	Bool
	Str
	Object // an object or null
)

// Node is a piece of a program.
type Node struct {
	Sort Sort
	Text string // with a @ for each kid; of a List, what is between them
	Twin string // the text for Node, empty where it is the same
	Kids []*Node

	Path  string // of a file
	Event *Event // of a line of the script
}

// Event is something that a player does before a tick.
type Event struct {
	Tick   int // from 1 on
	What   Happening
	Player uint32
	Name   string // of a joining player
	// A command's number is found by its name, and what it has by the names of its
	// fields, so that cuts of the definition leave the script as it is.
	Command string
	Seq     uint32
	Values  map[string]float64
	Texts   map[string]string
}

// Happening is the kind of an event.
type Happening uint8

const (
	Join Happening = iota
	Leave
	Send
)

// Game is a random game.
type Game struct {
	Seed   uint64
	Ticks  int  // that the script is for
	Faults bool // bodies are made to fail

	def    *Node
	files  *Node // a List
	script *Node // a List
}

func (n *Node) render(b *strings.Builder, twin bool) {
	if n.Sort == List {
		for i, k := range n.Kids {
			if i > 0 {
				b.WriteString(n.Text)
			}
			k.render(b, twin)
		}
		return
	}
	text := n.Text
	if twin && n.Twin != "" {
		text = n.Twin
	}
	for _, k := range n.Kids {
		before, after, _ := strings.Cut(text, "@")
		b.WriteString(before)
		k.render(b, twin)
		text = after
	}
	b.WriteString(text)
}

func (n *Node) text(twin bool) string {
	var b strings.Builder
	n.render(&b, twin)
	return b.String()
}

// Definition is the text of gamehoster-game.json.
func (g *Game) Definition() string { return g.def.text(false) }

// Sources are the body files.
func (g *Game) Sources() (list []body.Source) {
	for _, f := range g.files.Kids {
		list = append(list, body.Source{Path: f.Path, Text: []byte(f.text(false))})
	}
	return list
}

// Twins are the body files by their paths, as Node is to run them.
func (g *Game) Twins() map[string]string {
	texts := map[string]string{}
	for _, f := range g.files.Kids {
		texts[f.Path] = f.text(true)
	}
	return texts
}

// Events is the script in its order.
func (g *Game) Events() (list []*Event) {
	for _, n := range g.script.Kids {
		list = append(list, n.Event)
	}
	return list
}

// String is the whole game, as files and the script.
func (g *Game) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- gamehoster-game.json --\n%s\n", g.Definition())
	for _, f := range g.files.Kids {
		fmt.Fprintf(&b, "-- %s --\n%s\n", f.Path, f.text(false))
	}
	fmt.Fprintf(&b, "-- %d ticks of seed %d --\n", g.Ticks, g.Seed)
	for _, e := range g.Events() {
		b.WriteString(e.String() + "\n")
	}
	return b.String()
}

// String is the event as a line of a script.
func (e *Event) String() string {
	switch e.What {
	case Join:
		return fmt.Sprintf("%d: %d joins as %q", e.Tick, e.Player, e.Name)
	case Leave:
		return fmt.Sprintf("%d: %d leaves", e.Tick, e.Player)
	}
	return fmt.Sprintf("%d: %d sends %s %d %v %q", e.Tick, e.Player, e.Command, e.Seq, e.Values, e.Texts)
}

func list(between string, kids ...*Node) *Node { return &Node{Sort: List, Text: between, Kids: kids} }

func node(s Sort, text string, kids ...*Node) *Node { return &Node{Sort: s, Text: text, Kids: kids} }

func fixed(format string, args ...any) *Node { return &Node{Text: fmt.Sprintf(format, args...)} }
