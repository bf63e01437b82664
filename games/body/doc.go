// Package body compiles a game's rules, written as plain JavaScript, to
// WebAssembly. One program gives two modules: the server's, with every body, and
// the client's, with those that browsers run as well.
//
//	files --front--> tree --lower--> ir --opt--> ir --link--> server module
//	       (parse,   (all names and   (doubles,      |   `----> client module
//	        types,    types known)     addresses)    |
//	        sync check)                              rt: driver, rows, random numbers
//	         |                                       libm: sin, cos, ... in the body language
//	         strip: TypeScript without its types
//	         eval:  what constants are, from the same tree
//
// # Meaning
//
// An accepted program does what it does in JavaScript, to the bit: numbers are
// doubles, a store into a field converts like an element of a typed array. What
// differs is what JavaScript leaves open, the functions of Math, which are the
// project's own on both sides. A test runs the same text in Node over plain objects
// and compares every state. The optimiser may compute in integers only where that
// cannot be told from outside.
//
// # What is refused, and how
//
// Everything outside the language is an error with its place and, where there is
// one, the way out; so is a shared body that reads what some browser does not have
// or writes what only the server has. All mistakes of a game come in one run. Using
// what may be null is a warning: it ends the body's run when it is null.
//
// # Containment
//
// No body can hang or break its host. Each round of a loop takes fuel for what it weighs,
// and so do functions that are heavy with all that they call, and what the runtime finds to
// be long: a search among many new objects, a division of numbers far apart. A body run
// has a fixed amount of it, the same on both sides. On the server all runs of a tick, or
// all judgements of a send, have one together, which also pays for what takes no fuel in
// a run but is done for many objects; where a tick's ends the instance does, so that no
// client has to know.
//
// Rows and tables are read in bounds. A use of null, an index outside a table and spent
// fuel end in a trap, with the reason, the place, the body and the actor in the module's
// globals. The host restores the instance and runs the tick again, telling the module
// what to skip. What all those runs take together is bounded, too.
//
// # Files that come from outside
//
// Compiling is done where games are served, so a file must not cost much however it
// is written: its size, the depth of its tree, the number of helper instances and
// what may make the parser slow are bounded before they are worked on.
package body
