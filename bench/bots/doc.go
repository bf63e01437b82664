// Package bots plays games over the network: thousands of clients in one process, which
// speak the real protocol, keep time and say what they saw. Some behave badly on
// purpose.
//
//	           spec (JSON)                    report (JSON lines)
//	               |                                  ^
//	               v                                  |
//	+---------- fleet -----------------------------------------------+
//	| dialers       connect, upgrade                                 |
//	| wheel   --->  bot.act       commands, pings, tricks, by the ms |
//	| netpoll --->  bot.OnRequest stream in, acks out                |
//	| stripes       histograms and counts of some bots each          |
//	+----------------------------------------------------------------+
//	               ||  one socket a bot, from 127.0.0.2 on where
//	               ||  one address has too few ports
//	             server
//
// # Use
//
// Run plays a Spec in this process. Benchmarks want it in a process of its own: the
// command that is given to such a process calls Main, which writes one JSON object a line,
// progress first and the report last, and the parent reads them with Read:
//
//	cmd := exec.CommandContext(ctx, self, "bench", "bots", "--spec", spec.String())
//	out, _ := cmd.StdoutPipe()
//	err := proc.Start(cmd, cpus...)
//	report, err := bots.Read(out, func(p bots.Progress) { ... })
//
// Spec.Watch names processes, the server for one, whose CPU time and memory are read
// exactly when the measured part begins and ends.
//
// # What a bot does
//
// An honest bot takes the full stream, acks send ticks as often as the client library
// does, about ten times a second, pings and sends commands by a schedule of its own, which
// nothing that the server does can hold up. Of the stream it looks at the headers. One in Spec.Thin bots says thin=1 and keeps all objects: each of
// its messages is decoded to the last byte and checked against what the protocol
// promises; what does not hold is a fault in the report.
//
// # What is measured
//
//   - Command: from the time that a command was due to be sent to the arrival of the first
//     delta or snapshot that says it was processed.
//   - Late: how much later than one send period after the one before a send tick came,
//     corrected for those that did not come meanwhile.
//   - RoundTrip: from a ping's due time to its pong.
//   - Seat: from the start of the connection to the first snapshot.
//   - Messages and bytes by type, close codes, and what the server did about each trick of
//     the hostile bots.
//
// # How it is done
//
// There is no goroutine for a bot. netpoll reads the sockets and calls one bot's
// OnRequest at a time, on its poller's own goroutine: what a bot does then never
// waits, so there is nothing to gain from another goroutine and a switch to lose. All
// that is due by time is done by one goroutine that walks a wheel of milliseconds.
// Writing goes past netpoll, whose Write waits for a full socket and, for a connection
// made from a descriptor, fails badly when that takes too long: what a socket does
// not take is kept, bounded, and tried again; a bot whose socket takes nothing for
// writeTimeout gives up. A connection is ended by shutting it down, so that only
// the poller ever closes a descriptor.
//
// The choices of a run follow from Spec.Seed; the network's timing does not.
package bots
