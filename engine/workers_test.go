package engine_test

import (
	"fmt"
	"os"

	"gamehoster/engine"
	"gamehoster/engine/sandbox"
	"gamehoster/engine/worker/process"
)

// workers are who runs the games of all tests where they do not say it themselves. The
// variable is that of the command's flag: anything but inline is a pool.
var workers = workersOf(os.Getenv("GAMEHOSTER_WORKERS"))

// workerProcess makes this test binary a worker process.
const workerProcess = "GAMEHOSTER_WORKER_PROCESS"

// pooled are worker processes that are this test binary: enough of them for a hundred
// definitions, one after the other, some of which are still played.
var pooled = engine.Workers{Pool: true, Max: 64, Sandbox: sandbox.Require, Command: []string{"/proc/self/exe"}, Env: []string{workerProcess + "=1"}}

func workersOf(name string) engine.Workers {
	if name == "" || name == "inline" {
		return engine.Workers{}
	}
	return pooled
}

func beWorker() {
	if err := process.Main(os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
