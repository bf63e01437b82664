// Package metrics counts what a box does and shows it to Prometheus.
//
//	loop: shard.run, instance.step, ...   plain counters, no lock, no memory
//	  |  once a second, or when it is asked
//	  v
//	Snapshot: what was counted since the last, what runs now
//	  |  in one process as it is, from a worker process as bytes (Append, ParseSnapshot)
//	  v
//	Registry: sums for each game and core  --> GET /metrics
//	          when each worker spoke last  --> GET /healthz
//
// Counting is done where things happen, by who does them, into numbers of their own: a
// tick pays for an addition. What is told of them are differences. So a sum does not
// shrink when a worker ends or a game is loaded anew; what a worker process has counted in
// the last second before it dies is lost.
//
// # Labels
//
// There is a series for a game, a core, a type of message, a cause, and never for an
// instance, a player, an address or a worker process, of which there is no end: workers
// are told apart by the core they are bound to. A game's series go with the game.
package metrics
