package main

import (
	"fmt"
	"net/netip"

	"gamehoster/engine"
)

type echoCommand struct {
	Port       uint16     `help:"Port to listen on; 0 takes any free one." default:"7352"`
	Bind       netip.Addr `help:"Address to listen on." default:"127.0.0.1"`
	MaxMessage int        `help:"Most bytes of a message." default:"16777216"`
	transportFlag
	logFlags
}

func (c *echoCommand) Run(env *environment) error {
	e, err := engine.NewEcho(engine.EchoConfig{
		Addr: netip.AddrPortFrom(c.Bind, c.Port).String(), MaxMessage: c.MaxMessage,
		Transport: engine.Transport(c.Transport), Log: c.logger(env),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "echoing at ws://%s/\n", e.Addr())
	return e.Run(env.ctx)
}
