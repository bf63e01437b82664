package games

import (
	_ "embed"
	"slices"
)

//go:embed gamehoster-game.schema.json
var editorSchema []byte

// EditorSchema is the JSON Schema (draft 7) of gamehoster-game.json, with which
// editors complete and check one while it is written. It knows less than
// ParseDefinition, and refuses nothing that ParseDefinition accepts. The bytes
// are a copy.
func EditorSchema() []byte { return slices.Clone(editorSchema) }
