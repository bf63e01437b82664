// Package ticktest is a client in Go for tests: it reads what a viewer is sent as
// the protocol demands, runs the shared bodies' client module between the packets,
// and holds the confirmed world, or complains. It knows nothing of package tick,
// so that tests of that package can use it.
//
//	message --> Client.Message --> leave enter commands keyframe wait for
//	                               the delta, which ends the send tick:
//	                               run the ticks, write what waited over
//	                               the result, write the delta
//
// A Client is a reader that trusts nothing and repairs nothing: what a lenient
// client would ask a resync for is counted, and what no server may send is an
// error that stays.
package ticktest
