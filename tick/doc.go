// Package tick runs instances: it steps their worlds, keeps what was sent to
// whom, and turns both into messages. It has no goroutine, socket or clock: ticks
// are run when the caller says so, bytes of clients come in as arguments, messages
// go out through a Sink.
//
// # Flow
//
// A Shard is one game's code and one linear memory; an Instance is one block in
// it; a Viewer is one connection's view of an instance.
//
//	        Receive                Step                 Commit              Send
//	bytes ---------> filing ------------------> block --------> history ----------> bytes
//	       parse,    leaves, joins,  wasm runs   rows    merge   objects,   per viewer:
//	       seq,      commands by     the tick            walk    stamps,    leave enter
//	       clamp,    effective                           once    images,    commands
//	       refuse    tick              |                 per     undo log   keyframe
//	                                   v                 send               delta,
//	                                 relay ------------------------------>  or a snapshot
//
// The order for each tick is Step; then, if SendDue, Commit once and Send or Skip
// for each viewer. Receive may be called between these at any time.
//
// # Filing
//
// What is to happen in a tick is filed on it: leaves, joins, and commands in the
// order of player and seq. Commands are filed on their effective tick, which is
// the one a client asked for where the past allows it. Joins and leaves are filed
// on the next tick that is a send tick: a viewer is told of them at the next send
// anyway, and until then it would run ticks with another set of players than the
// server.
//
// # A tick
//
// The input is written where the module finds it, the block (its header and live
// rows, nothing else) is copied aside, and the module's tick is called once. If a
// body traps, the copy is put back and the tick runs again with that body skipped
// for that actor; from the ninth time in one tick on, for all its actors.
//
// # History
//
// Commit walks the rows and the table of known objects side by side, both in
// ascending id order. Each known object has an image, which is the part of its row
// that was sent, as it was sent, and stamps: the number of the send at which it
// was born, changed, or was written by a server body. An image that changes goes
// to the undo log first, which links an object's older images together, so that
// the value at any of the last 64 sends can be found, as far back as the oldest base
// of a viewer is, and an object that rests costs a comparison and no memory. Nothing
// in there is per viewer: a viewer is its base, the number of its last send, and a
// bit for each of the last 64 sends.
//
// While an instance has a thin viewer, for which shared fields are treated as
// sent, the images go as far as the shared fields do. Without one they cost
// nothing.
//
// # What is announced
//
// A viewer that runs the shared bodies reproduces what they make and remove. It is
// told of the rest. Where an object comes from is in its id: players and what
// server bodies made are announced by enter. Who removed an object is not known, so
// the rule for leave is on the safe side: players and server-made objects always;
// and, in a game that has any server body, each object that shared bodies made too,
// even one that came and went between two sends. Leave of an object that the
// viewer's own bodies have removed already is ignored there. In a game with a view
// body, and for thin viewers, existence is the server's alone and every appearance
// and disappearance is announced.
//
// A delta passes over objects of which the viewer sees no sent field.
package tick
