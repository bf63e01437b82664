// Package vm runs a game's compiled bodies: it is the only importer of wazero.
//
// A Compiled is machine code, made once per game and shared by all its shards. A
// Machine is one instantiation with a linear memory of its own, used by one
// goroutine at a time. The memory is laid out by us, not by the guest:
//
//	0        heap              heap+reserved                        grown as needed
//	+--------+-----------------+--------+--------+--------+-- - - - - - - - - - -+
//	| tables | reserved areas  | slot 0 | slot 1 | slot 2 |   address range only  |
//	+--------+-----------------+--------+--------+--------+-- - - - - - - - - - -+
//
// The whole address range that the module may ever use is reserved at once and
// made accessible page by page, so the memory never moves: a slice taken from
// Bytes stays valid, and shows what the guest writes, until Close. It is mapped
// outside the Go heap and costs the collector nothing.
//
// # Views
//
// The server module of a game with a view.js has one more function and one more
// mutable global, which are called between ticks and write nothing but the list:
//
//	view(base i32, viewer i32, type i32, list i32, count i32, fresh i32)        global view_at i32
//
//	list   count words u32, one for each object that is asked about:
//	           31                                1   0
//	          +-----------------------------------+------+
//	       in | index of its row among the type's | held |   1: the viewer holds it now
//	          +-----------------------------------+------+
//	      out | the same                          | seen |   1: the viewer may see it
//	          +-----------------------------------+------+
//
// viewer is a player's id. If there is no such player nothing is seen. The list is
// judged in its order; view_at is the index of the word that is being judged, so that
// after a trap the caller knows which it was and can go on behind it. held is there
// for the body, as view.js's third argument: what it holds can have a wider rim than
// what is to come in. Each judgement has the fuel of one body run, and all of them up to
// the next call with fresh, which is 1 in the first of a send, that of a tick; past it
// the fault is that of a tick that is past its. fault_body is the
// number of the view body, which follow on those that ticks run, and fault_actor the
// object's id. There is no random() in a view: it is no part of a tick.
//
// # Faults
//
// A body that fails (fuel, a null used, ...) sets the module's fault globals and
// traps. Nothing is undone: the caller restores the block. The call's context is
// never cancelled, because checking for that costs several times what the bodies
// do; what ends a body that loops is the fuel that the compiler put into it.
package vm
