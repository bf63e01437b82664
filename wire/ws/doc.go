// Package ws is the server's side of WebSocket (RFC 6455) for a stream of bytes that
// somebody else reads and writes. It owns no socket, goroutine, clock or logger:
// bytes go in as they arrived, events and bytes come out.
//
// # Handshake
//
//	bytes -> HeadEnd -> Request.Parse -> Request.Handshake -> AppendResponse | AppendError
//	           |             |                  |
//	       more bytes    400, 431 ...   not an upgrade: hand the bytes to net/http
//
// HeadEnd finds the end of a request's head and can be asked again after each byte
// at the cost of that byte. Parse fills a reusable Request whose fields are borrowed
// from the head. Handshake then judges the WebSocket part; a request that asks for
// no upgrade is not an error (Request.Upgrade is false). Bytes behind the head are
// the client's first frames and go to the Reader. Extensions are never accepted.
//
// # Frames
//
//	 0               1               2               3
//	 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
//	+-+-+-+-+-------+-+-------------+-------------------------------+
//	|F|R|R|R| opcode|M|   length    | if length = 126: u16          |
//	|I|S|S|S|  (4)  |A|    (7)      | if length = 127: u64          |
//	|N|V|V|V|       |S| 0..125: it  |   (big-endian, shortest form) |
//	| |1|2|3|       |K| is the size |                               |
//	+-+-+-+-+-------+-+-------------+-------------------------------+
//	| masking key (4), client to server only | payload XOR key ...  |
//	+---------------------------------------------------------------+
//
// A Reader is the state of one connection's incoming half:
//
//	        header complete              all of the payload is here
//	header ----------------> payload ---------------------------------> header
//	   |  \                     |  FIN: event; else: kept as a fragment
//	   |   \ bad bits, order,   |  bad UTF-8
//	   |    \ size              v
//	   |     `--------------> failed: the same error for ever
//	   `--- close frame ----> closed: everything after it is dropped
//
// A data message is checked as it comes in: order and size when its header is
// complete, before any memory is taken; text byte by byte, so that a message that
// cannot become UTF-8 any more fails at once and not at its end.
//
// # Who owns which bytes
//
// The slice given to Next belongs to the caller, but Next unmasks it in place, so the
// caller must not look at consumed bytes as they were. A message that lies whole in
// that slice is handed out as a part of it: nothing is copied, and it stays valid as
// long as the caller leaves the slice alone. A message in pieces is put together in
// a buffer of the Reader; such a payload is valid until the following call of Next.
// The buffer grows with the bytes that came, not with what a header promises, and a
// large one is let go after use, so an idle connection costs the struct alone.
// With the build tag `invariants` an expired payload is overwritten.
//
// # Writing
//
// The Append functions add frames to a slice and never fail. The server's frames are
// unmasked and not fragmented. AppendMasked and AppendRequest are the client's, for bots
// and tests; a Reader with ClientSide reads the server's frames.
package ws
