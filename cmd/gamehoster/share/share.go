// Package share holds what a box is set up with, as files that work as they are:
//
//	players --- https, wss ---> Caddy --- /GAME/gamehoster.js ---> games root
//	                              |                                    ^
//	                              +--- the rest ---> gamehoster <------+
//	                                                    ^ port kept over restarts
//	                                   systemd ---------+ gamehoster.socket
//
// `gamehoster example` prints them. Their tests run the Caddyfile in a real Caddy in front
// of a real gamehoster with its workers, and have systemd check the units.
package share

import "embed"

// Files are the examples, by name: Caddyfile, gamehoster.service and gamehoster.socket.
//
//go:embed Caddyfile gamehoster.service gamehoster.socket
var Files embed.FS
