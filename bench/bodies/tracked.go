package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// encoded is the tracked peer with the changes encoded. It shares the instances
// of the process that it is.
type encoded struct{ *process }

func (e encoded) Run(ticks int) (time.Duration, error) {
	if _, err := e.tell(order{Do: "encode", On: true}); err != nil {
		return 0, err
	}
	spent, err := e.process.Run(ticks)
	_, off := e.tell(order{Do: "encode"})
	return spent, errors.Join(err, off)
}

// Load in a crowd must not throw away what the tracked peer has loaded.
func (e encoded) Load(states [][]byte, from int) error {
	if len(states) > 1 {
		return nil
	}
	return e.process.Load(states, from)
}

// Close leaves the process to the peer that it is.
func (e encoded) Close() error { return nil }

const schemaPackage = "node_modules/@colyseus/schema/package.json"

// install puts the peers' npm packages into a folder and gives the script there.
func install(peers, dir string) (string, error) {
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "node.mjs", "objects.js", "tracker.mjs"} {
		text, err := os.ReadFile(filepath.Join(peers, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			return "", fmt.Errorf("copying %s: %w", name, err)
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--prefer-offline", "--silent")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return filepath.Join(dir, "node.mjs"), nil
}

// version is that of @colyseus/schema.
func version(dir string) string {
	var v struct {
		Version string `json:"version"`
	}
	text, err := os.ReadFile(filepath.Join(dir, schemaPackage))
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return "unknown"
	}
	return v.Version
}
