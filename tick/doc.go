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
// # Rewind
//
// A command of a tick that has run is late. The next Step goes back to the newest
// state kept before it, runs all ticks since once more with what is filed on them,
// and goes on with its own:
//
//	kept states     s            s            s            s
//	ticks       ----+-----+------+-----+------+-----+------+----> next
//	                      ^ late
//	                |- - - - - - - - - - - - - - - - - - - |     run again
//
// A state is kept for each send tick, outside the Go heap, as far back as the
// timeline is deep; so are the commands, joins and leaves of those ticks. All late
// commands of an instance share one rewind. The turn of the loop has a budget of
// ticks that run again (Shard.Turn); what is over it waits as a whole, and with it
// later commands of the same seats, so that nobody's commands change their order.
//
// A rewind turns back the counters of entities' ids with the rest of the state, and
// nothing else: not players' ids, not seats (a tick in which the game removed a player
// bounds how far commands go back), not what was sent. It notes what it makes
// untrue of that: objects whose shared fields were others at a past send tick, ids
// that were given in another tick or to another owner. The next Commit takes both
// into account: the former get a keyframe for each viewer that was told of them since,
// the latter leave and enter.
//
// A client has no past before its last snapshot. What a late command of before changed
// is told by keyframe in games with view bodies. In others, where a viewer reproduces
// what shared bodies make and remove, that snapshot is sent again as it has become, and
// with it what has come since (again.go).
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
// Numbers that travel as steps are in the images as their steps. Such an image has the
// row of which it was made beside it, and of that only what has changed is divided
// again, once for all viewers and bases.
//
// Objects that move are most of the work, and most of them have neighbours of their type
// that move, too: Commit and deltas go through such runs in loops of their own (run.go).
//
// While an instance has a thin viewer, for which shared fields are treated as
// sent, the images go as far as the shared fields do. Without one they cost
// nothing.
//
// # Deltas and the budget
//
// What has changed since a base is encoded once for all viewers with that base, object
// by object, and a viewer's delta is put together from it. A send has a budget of
// bytes. Over it objects are left out: what is near and what has waited goes first
// (budget.go has the rule and its bound). A viewer then remembers of each object since
// when it waits, when it was listed last, and until which base its masks have to be
// full.
//
// # What is announced
//
// A viewer that runs the shared bodies reproduces what they make and remove. It is
// told of the rest. Where an object comes from is in its id: players and what
// server bodies made are announced by enter. Who removed an object is not known, so
// the rule for leave is on the safe side: players and server-made objects always;
// and, of types of which a server body removes any, each object that shared bodies
// made too, even one that came and went between two sends. Leave of an object that the
// viewer's own bodies have removed already is ignored there. For thin viewers every
// appearance and disappearance is announced.
//
// A delta passes over objects of which the viewer sees no sent field.
//
// # Views
//
// In a game with view bodies existence is the server's alone, and a viewer holds what
// view.js lets it see. Which objects those are is judged at each send, by the module
// (package vm has the call), for each viewer:
//
//	all objects --> grid of places --> near ones --> view body --> seen
//	                once per send      9 cells       one call      |
//	                                                 per type      v
//	        held, not seen: leave       seen, not held: enter, as far as there is room
//
// Types without a view body are seen by all, types with one by no spectator, as that
// has no place to see from. A player always sees itself. With a radius in the
// definition, what is further off is not even judged; what a viewer holds may be an
// eighth further, so that nothing comes and goes at the rim, and the view body is told
// what is held so that it can do likewise. Sets of objects are bits by slot, a number
// that an object has while it lives. An object that has to wait for room to enter is
// not held: it is in no other message.
package tick
