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
// # Faults
//
// A body that fails (fuel, a null used, ...) sets the module's fault globals and
// traps. Nothing is undone: the caller restores the block. The call's context is
// never cancelled, because checking for that costs several times what the bodies
// do; what ends a body that loops is the fuel that the compiler put into it.
package vm
