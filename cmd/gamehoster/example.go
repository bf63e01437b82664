package main

import (
	"fmt"

	"gamehoster/cmd/gamehoster/share"
)

type exampleCommand struct {
	What string `arg:"" help:"Which: ${enum}. service and socket are units of systemd." enum:"caddyfile,service,socket"`
}

// exampleFiles are what exampleCommand.What names.
var exampleFiles = map[string]string{
	"caddyfile": "Caddyfile",
	"service":   "gamehoster.service",
	"socket":    "gamehoster.socket",
}

func (c *exampleCommand) Run(env *environment) error {
	text, err := share.Files.ReadFile(exampleFiles[c.What])
	if err != nil {
		return fmt.Errorf("reading what the program has in itself: %w", err)
	}
	_, err = env.stdout.Write(text)
	return err
}
