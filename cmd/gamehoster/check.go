package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/bundle"
)

type checkCommand struct {
	Dir   string `arg:"" help:"Folder of a game, or of games; the current one by default." default:"."`
	Emit  string `help:"Print what the rules are compiled to: ir for the compiler's own form, wat for WebAssembly."`
	Types bool   `help:"Write gamehoster.d.ts and bodies.d.ts, which complete names in an editor."`
}

// Validate tells what --emit can be. An enum tag would list the empty text, too.
func (c *checkCommand) Validate() error {
	switch c.Emit {
	case "", "ir", "wat":
		return nil
	}
	return fmt.Errorf("--emit must be ir or wat but is %q", c.Emit)
}

func (c *checkCommand) Run(env *environment) error {
	all := gameFolders(c.Dir)
	if all == nil {
		return noGame(c.Dir)
	}
	failed := false
	for _, dir := range all {
		if !c.check(env, dir) {
			failed = true
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// gameFolders is dir where it is a game, and else the games in it.
func gameFolders(dir string) (all []string) {
	if isGame(dir) {
		return []string{dir}
	}
	entries, _ := os.ReadDir(dir) // a folder that cannot be read is a finding
	for _, e := range entries {
		if sub := filepath.Join(dir, e.Name()); e.IsDir() && !strings.ContainsAny(e.Name()[:1], "._") && isGame(sub) {
			all = append(all, sub)
		}
	}
	return all
}

// noGame tells why there is nothing to check in dir, and where there may be.
func noGame(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("opening the game's folder: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is a file; check the folder of its game", dir)
	}
	where := ""
	if below := gamesBelow(dir); below != "" {
		where = "; there are games in " + below
	}
	return fmt.Errorf("there is no game in %s: a game is a folder with a %s%s", dir, games.DefinitionFile, where)
}

// gamesBelow names the folders of games that are not far below dir, as in the project's
// own folder or in a games root; empty where there are none.
func gamesBelow(dir string) string {
	var all []string
	for _, pattern := range []string{"*/*", "*/*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern, games.DefinitionFile)) // the pattern is a good one
		for _, f := range found {
			game := filepath.Dir(f)
			folder := filepath.Dir(game)
			if rel, err := filepath.Rel(dir, game); err == nil && !hidden(rel) && !slices.Contains(all, folder) {
				all = append(all, folder)
			}
		}
	}
	const most = 4 // that are a help
	return strings.Join(all[:min(len(all), most)], ", ")
}

// hidden reports whether a part of the path is passed over where games are looked for.
func hidden(path string) bool {
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if strings.ContainsAny(part[:1], "._") {
			return true
		}
	}
	return false
}

func isGame(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, games.DefinitionFile))
	return err == nil
}

// check prints what there is to say of one game, and reports whether it is fine.
func (c *checkCommand) check(env *environment, dir string) bool {
	began := time.Now()
	g, findings := games.Load(dir)
	var lib *bundle.Library
	switch {
	case g == nil:
	case c.Types:
		l, more := bundle.Build(g)
		lib, findings = l, append(findings, more...)
	default:
		findings = append(findings, bundle.Check(g)...)
	}
	render(env.stderr, dir, findings)
	if findings.Failed() {
		return false
	}
	if c.Types {
		if err := lib.PublishTypes(dir); err != nil {
			fmt.Fprintln(env.stderr, "gamehoster:", err)
			return false
		}
	}
	if c.Emit != "" {
		return emit(env, g, c.Emit)
	}
	layout := g.Program.ServerLayout
	fmt.Fprintf(env.stdout, "%s is fine (%d ms)\n", g.Name, time.Since(began).Milliseconds())
	fmt.Fprintf(env.stdout, "  definition %016x\n", g.Hash)
	fmt.Fprintf(env.stdout, "  rules      %d bytes of wasm on the server, %d in the browser\n", len(g.Program.Server), len(g.Program.Client))
	fmt.Fprintf(env.stdout, "  state      %d bytes an instance at most\n", layout.Size)
	return true
}

// emit prints what a game's rules are compiled to.
func emit(env *environment, g *games.Game, form string) bool {
	if form == "ir" {
		text, err := g.IR()
		if err != nil {
			fmt.Fprintln(env.stderr, "gamehoster:", err)
			return false
		}
		fmt.Fprint(env.stdout, text)
		return true
	}
	p, err := g.Named()
	if err != nil {
		fmt.Fprintln(env.stderr, "gamehoster:", err)
		return false
	}
	for _, m := range []struct {
		side string
		code []byte
	}{{"server", p.Server}, {"browser", p.Client}} {
		text, err := body.Disassemble(m.code)
		if err != nil {
			fmt.Fprintln(env.stderr, "gamehoster:", err)
			return false
		}
		fmt.Fprintf(env.stdout, ";; %s, in the %s\n%s", g.Name, m.side, text)
	}
	return true
}
