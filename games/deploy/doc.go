// Package deploy brings the folder of a game to a box, by the box's HTTP API: it uploads
// what the box lacks and waits for what the box makes of it.
//
//	folder --> games.ReadFolder: paths, sizes, hashes
//	       --> PUT    /api/games/D/_shared/files/PATH   helpers that differ, each against the hash it replaces
//	       --> POST   /api/games/D/G/commit             the whole manifest
//	       <--        {"missing": [hash, ...]}          what the box has nowhere
//	       --> PUT    /api/games/D/G/blobs/HASH         each of them, a few at a time
//	       --> POST   /api/games/D/G/commit             the same manifest again
//	       <--        {"verdict": status}
//	       --> GET    /api/games/D/G/status?wait=30s    as long as the box is building
//	       <--        live, or rejected with findings
//
// The commit is atomic: until the box has every file of the manifest nothing of it is
// there, so that a connection which breaks leaves the game as it was. Every request can
// be sent twice without harm, and is, when the connection breaks: see Client.
//
// Only helpers that the game imports are brought from a _shared folder. Other games of
// the domain may import them too, so they are written before the game that needs them
// and never deleted.
package deploy
