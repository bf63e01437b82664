package main

import (
	"bytes"
	"log/slog"

	"gamehoster/engine/logs"
	"gamehoster/engine/worker/process"
)

// workerCommand is what serve starts for a game. It gets all it needs from there.
type workerCommand struct{}

func (workerCommand) Run(env *environment) error {
	// The backend reads its log, and may be stopped or gone.
	env.log = logs.NewSpool(env.stderr, func(lines int64) []byte {
		var b bytes.Buffer
		slog.New(slog.NewJSONHandler(&b, nil)).Warn("log lines of a worker were lost: nobody took them in time", "lines", lines)
		return b.Bytes()
	})
	return process.Main(env.log)
}
