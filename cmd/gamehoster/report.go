package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gamehoster/engine/box"
	"gamehoster/games"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// reporter tells an author what becomes of the games. A box calls it from one
// goroutine at a time.
type reporter struct {
	out io.Writer
	// name is what a game is called.
	name func(games.Place) string
	// address is what comes before the name in a game's URL; empty until the port is
	// open, and where the pages are not served.
	address string

	rolls bool // players of an older version go on with it
	fresh bool // worlds begin anew

	live     map[string]bool // games of which some version is live, by place
	rejected int             // games that had errors so far
}

func newReporter(out io.Writer, name func(games.Place) string) *reporter {
	return &reporter{out: out, name: name, live: map[string]bool{}}
}

// change reports one game's.
func (r *reporter) change(c box.Change) {
	var text strings.Builder
	if c.Page == nil { // else the rules are as they were, and so is what was said of them
		render(&text, c.Place.Dir, c.Findings)
	}
	name, key := r.name(c.Place), c.Place.String()
	switch {
	case c.Page != nil:
		fmt.Fprintf(&text, "%s: page saved; open pages are told to reload\n", name)
	case c.Kept != nil:
		fmt.Fprintf(&text, "%s: fine again; it is what was live all along\n", name)
	case c.New == nil && c.Old == nil:
		r.rejected++
		after := "it is not served"
		if r.live[key] {
			after = "what was live goes on"
		}
		fmt.Fprintf(&text, "%s: rejected; %s\n", name, after)
	case c.New == nil:
		delete(r.live, key)
		fmt.Fprintf(&text, "%s: removed\n", name)
	case c.Old == nil:
		r.live[key] = true
		where := ""
		if r.address != "" {
			where = " at " + r.address + c.Place.Game + "/"
		}
		fmt.Fprintf(&text, "%s: live%s, %s\n", name, where, sizes(c.New))
	default:
		r.live[key] = true
		fmt.Fprintf(&text, "%s: reloaded, %s; %s\n", name, sizes(c.New), r.after(c))
	}
	fmt.Fprint(r.out, text.String())
}

// after is what becomes of those who play a game that was reloaded.
func (r *reporter) after(c box.Change) string {
	switch {
	case r.rolls:
		return "who plays goes on with what was live"
	case r.fresh:
		return "open pages are told to reload; games begin anew"
	case schema.SameState(c.Old.Def, c.New.Def):
		return "open pages are told to reload; games go on where they were"
	}
	return "open pages are told to reload; games begin anew, for what they keep is another state now"
}

func sizes(l *box.Live) string {
	return fmt.Sprintf("library %d KB, rules %.1f KB of wasm, state %.1f KB an instance",
		(len(l.Library.Script)+512)/1024, float64(len(l.Program.Server))/1024, float64(l.Program.ServerLayout.Size)/1024)
}

// render writes findings with paths that a terminal can make links of: as seen from
// the working directory if the files are below it.
func render(w io.Writer, dir string, findings diag.List) {
	for _, d := range findings {
		d.Pos.File = shown(dir, d.Pos.File)
		fmt.Fprint(w, d.Render())
	}
}

// shown is the path of a file of the game in dir. A shared one may be the domain's
// or the root's.
func shown(dir, file string) string {
	full := filepath.Join(dir, filepath.FromSlash(file))
	if strings.HasPrefix(file, games.SharedFolder+"/") {
		for _, up := range []string{"", "..", "../.."} {
			p := filepath.Join(dir, up, filepath.FromSlash(file))
			if _, err := os.Stat(p); err == nil {
				full = p
				break
			}
		}
	}
	if !filepath.IsAbs(full) {
		return full
	}
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, full); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return full
}
