package games

import (
	"embed"
	"io/fs"
)

//go:embed _client/src
var client embed.FS

// Client is the source of the client library, in TypeScript, that the bundler
// builds into every game's script; its entry is index.ts.
func Client() fs.FS {
	src, err := fs.Sub(client, "_client/src")
	if err != nil {
		panic(err) // the pattern above guarantees the folder
	}
	return src
}
