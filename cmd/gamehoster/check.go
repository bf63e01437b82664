package main

import (
	"fmt"
	"time"

	"gamehoster/games"
	"gamehoster/games/bundle"
)

type checkCommand struct {
	Dir string `arg:"" help:"The game's folder." default:"."`
}

func (c *checkCommand) Run(env *environment) error {
	began := time.Now()
	g, findings := games.Load(c.Dir)
	var lib *bundle.Library
	if g != nil {
		l, more := bundle.Build(g)
		findings = append(findings, more...)
		lib = l
	}
	for _, d := range findings {
		fmt.Fprint(env.stderr, d.Render())
	}
	if findings.Failed() {
		return errReported
	}
	layout := g.Program.ServerLayout
	fmt.Fprintf(env.stdout, "%s is fine (%d ms)\n", g.Name, time.Since(began).Milliseconds())
	fmt.Fprintf(env.stdout, "  definition %016x\n", g.Hash)
	fmt.Fprintf(env.stdout, "  rules      %d bytes of wasm on the server, %d in the browser\n", len(g.Program.Server), len(g.Program.Client))
	fmt.Fprintf(env.stdout, "  state      %d bytes an instance at most\n", layout.Size)
	fmt.Fprintf(env.stdout, "  library    %d bytes\n", len(lib.Script))
	return nil
}
