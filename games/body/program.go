package body

import (
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// Source is one file of the game's folder.
type Source struct {
	Path string // relative to the game's folder, with forward slashes
	Text []byte
}

// Program is a game's bodies, compiled.
type Program struct {
	Server, Client   []byte // wasm modules
	ServerLayout     *schema.Layout
	ClientLayout     *schema.Layout
	Bodies           []Body          // by body number
	Commands         []CommandBodies // by command number
	Positions        []diag.Position // what the module's fault_at global indexes
	Logs             []Log           // what records of the log name
	HasView          bool            // there are view bodies: not every object is relevant to every viewer
	WritesSharedOnly bool            // no server body exists: clients reproduce everything
	ServerRemoves    []bool          // by type number: a server body may remove objects of the type
	Views            []bool          // by type number: view.js judges objects of the type; nil where it judges none
}

// Body is one function that the engine calls.
type Body struct {
	Name string // as in "asteroid.update", "commands.thrust", "player.server.join"
	File string
	Side schema.Side // OnClient: a shared body, which both modules have; OnServer: the server's only
}

// CommandBodies tells which handlers a command has.
type CommandBodies struct {
	Shared, Server bool
}

// Fault is why a body run ended early: the value of the module's fault global.
type Fault uint32

const (
	FaultNone    Fault = iota
	FaultFuel          // the body ran past its fuel: an endless loop
	FaultNull          // a null was used
	FaultIndex         // a constant table was read out of range
	FaultName          // a name computed at run time is no field's
	FaultTickCap       // all bodies of the tick together ran past the server's cap
)
