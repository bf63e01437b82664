package main

import (
	"fmt"
	"net"
	"strconv"

	"gamehoster/engine"
)

type echoCommand struct {
	Port       int    `help:"Port to listen on; 0 takes any free one." default:"7352"`
	Bind       string `help:"Address to listen on." default:"127.0.0.1"`
	MaxMessage int    `help:"Most bytes of a message." default:"16777216"`
	logFlags
}

func (c *echoCommand) Run(env *environment) error {
	e, err := engine.NewEcho(engine.EchoConfig{
		Addr: net.JoinHostPort(c.Bind, strconv.Itoa(c.Port)), MaxMessage: c.MaxMessage, Log: c.logger(env.stderr),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "echoing at ws://%s/\n", e.Addr())
	return e.Run(env.ctx)
}
