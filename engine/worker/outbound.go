package worker

// largestState is what all of an instance takes at most in messages, in bytes. It has at
// most 64 MiB in a browser, which a definition is checked for, and an object takes a
// quarter more in a message if it is all references.
const largestState = 80 << 20

// OutboundCap is the most that one send writes to a client, in bytes: a snapshot that comes
// again and all that has come into being since, and what else there is to say. What waits
// for a socket is that or less: one that has not taken all it was sent gets no more.
const OutboundCap = 2*largestState + 16<<20
