package ws

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Options of a Reader, to be combined with |.
type Options uint8

const (
	// BinaryOnly refuses text frames by their header, with close code 1003.
	BinaryOnly Options = 1 << iota
	// ClientSide reads what a server sends: frames must not be masked.
	ClientSide
)

// Event is what a Reader found: a whole data message, or a control frame.
type Event struct {
	// Op is OpText, OpBinary, OpPing, OpPong or OpClose; the zero Event (OpContinuation) says
	// that all bytes are consumed and nothing is complete.
	Op Opcode
	// Code is set for OpClose only: the peer's code, or CloseNoStatus when it sent none.
	Code CloseCode
	// Payload is the message, the control frame's data, or the close's reason (valid UTF-8).
	// It is borrowed, see the package's text on who owns which bytes.
	Payload []byte
}

// keepBuffer is the greatest capacity of a reassembly buffer, in bytes, that a Reader holds on to between messages.
const keepBuffer = 512

// phase is where in the stream a Reader stands.
type phase uint8

const (
	atHeader  phase = iota // a frame's header is incomplete
	atPayload              // its payload is
	atEnd                  // a close frame came, nothing after it counts
)

// Reader turns one connection's incoming bytes into events. It is a small value without
// references to anything but its reassembly buffer; embed it where the connection's state is. Not for concurrent use.
type Reader struct {
	buf   []byte // the message so far, then what came of a control frame between its fragments
	err   *Error // why reading ended; sticky
	limit uint32
	size  uint32 // bytes of buf that belong to the message
	left  uint32 // payload bytes of this frame that did not come yet
	mask  uint32 // masking key, turned to the next payload byte
	head  [MaxHeader]byte
	have  uint8 // bytes of an incomplete header that stand in head
	phase phase
	opts  Options
	op    Opcode    // of this frame
	fin   bool      // this frame ends its message
	msg   Opcode    // of the message whose frames are coming, OpContinuation between messages
	text  utf8State // of the message, when it is text
}

// NewReader makes a Reader that refuses data messages over limit bytes, 1 to 2^31-1.
func NewReader(limit int, opts Options) Reader {
	if limit < 1 || limit > math.MaxInt32 {
		panic("ws: message limit out of range")
	}
	return Reader{limit: uint32(limit), opts: opts}
}

// Next takes the stream further by in and stops at the first event; rest is what it did not consume.
// It is called until the event is the zero one:
//
//	for {
//		var ev ws.Event
//		if ev, in, err = r.Next(in); err != nil || ev.Op == 0 {
//			break
//		}
//		...
//	}
//
// Next unmasks in place. The error is always an *Error and stays: no later call reads on.
// After an event of OpClose everything that follows is consumed without an event.
func (r *Reader) Next(in []byte) (ev Event, rest []byte, err error) {
	if r.err != nil {
		return Event{}, nil, r.err
	}
	if r.phase == atHeader && len(r.buf) > int(r.size) {
		r.reclaim()
	}
	for len(in) > 0 {
		if r.phase != atPayload {
			if r.phase == atEnd {
				break
			}
			n, failed := r.header(in)
			if failed != nil {
				return r.fail(failed)
			}
			in = in[n:]
			if r.phase == atHeader {
				break
			}
		}
		p := in
		if uint64(len(p)) > uint64(r.left) {
			p = in[:r.left]
		}
		in = in[len(p):]
		r.left -= uint32(len(p))
		if r.opts&ClientSide == 0 {
			r.mask = Mask(p, r.mask)
		}
		if r.op.Control() {
			if r.left > 0 || len(r.buf) > int(r.size) {
				r.keep(p)
				p = r.buf[r.size:]
			}
			if r.left > 0 {
				break
			}
			r.phase = atHeader
			if r.op == OpClose {
				return r.close(p)
			}
			return Event{Op: r.op, Payload: p}, in, nil
		}
		if r.msg == OpText && !r.text.feed(p) {
			return r.fail(ErrUTF8)
		}
		whole := r.left == 0 && r.fin
		if !whole || len(r.buf) > 0 {
			r.keep(p)
			r.size = uint32(len(r.buf))
			p = r.buf
		}
		if r.left > 0 {
			break
		}
		r.phase = atHeader
		if !whole {
			continue
		}
		if !r.text.done() {
			return r.fail(ErrUTF8)
		}
		ev = Event{Op: r.msg, Payload: p}
		r.msg, r.size = OpContinuation, 0
		return ev, in, nil
	}
	return Event{}, nil, nil
}

func (r *Reader) fail(e *Error) (Event, []byte, error) {
	r.err, r.buf, r.size = e, nil, 0
	return Event{}, nil, e
}

// reclaim ends the life of a payload that was handed out of buf.
func (r *Reader) reclaim() {
	expire(r.buf[r.size:])
	r.buf = r.buf[:r.size]
	if r.size == 0 && cap(r.buf) > keepBuffer {
		r.buf = nil
	}
}

// keep copies a piece of a frame into buf. The buffer at most doubles what really came, and does
// not pass the end of the message once its last frame has begun.
func (r *Reader) keep(p []byte) {
	need := len(r.buf) + len(p)
	if need > cap(r.buf) {
		size := 2 * need
		if r.fin && !r.op.Control() {
			size = min(size, need+int(r.left))
		}
		grown := make([]byte, len(r.buf), size)
		copy(grown, r.buf)
		r.buf = grown
	}
	r.buf = append(r.buf, p...)
}

// header reads a frame's header from in and says how many bytes it took. When they complete it, the phase is atPayload.
func (r *Reader) header(in []byte) (n int, failed *Error) {
	if r.have == 0 {
		if n, failed = r.parse(in); n > 0 || failed != nil {
			return n, failed
		}
	}
	for n < len(in) {
		r.head[r.have] = in[n]
		r.have++
		n++
		done, failed := r.parse(r.head[:r.have])
		if failed != nil {
			return n, failed
		}
		if done > 0 {
			r.have = 0
			break
		}
	}
	return n, nil
}

// parse judges a header, of which b may be any prefix of at least a byte, in the order of its bytes: however
// the stream is cut, the same fault is found. It returns the header's size, or 0 when b is too short.
func (r *Reader) parse(b []byte) (n int, failed *Error) {
	op, fin := Opcode(b[0]&0x0F), b[0]&bitFin != 0
	switch {
	case b[0]&bitsRsv != 0:
		return 0, ErrReserved
	case op > OpPong, op > OpBinary && op < OpClose:
		return 0, ErrOpcode
	case op.Control():
		if !fin {
			return 0, ErrControlFrame
		}
	case op == OpContinuation:
		if r.msg == OpContinuation {
			return 0, ErrNoMessage
		}
	case r.msg != OpContinuation:
		return 0, ErrInterleaved
	case op == OpText && r.opts&BinaryOnly != 0:
		return 0, ErrText
	}
	if len(b) < 2 {
		return 0, nil
	}
	if masked := b[1]&bitMask != 0; masked == (r.opts&ClientSide != 0) {
		return 0, ErrMasking
	}
	size, n := uint64(b[1]&^bitMask), 2
	if size >= len16 {
		switch {
		case op.Control():
			return 0, ErrControlFrame
		case size == len16:
			if len(b) < 4 {
				return 0, nil
			}
			size, n = uint64(binary.BigEndian.Uint16(b[2:])), 4
			if size < len16 {
				return 0, ErrLength
			}
		default:
			if len(b) < 10 {
				return 0, nil
			}
			size, n = binary.BigEndian.Uint64(b[2:]), 10
			if size <= math.MaxUint16 || size > math.MaxInt64 {
				return 0, ErrLength
			}
		}
	}
	if !op.Control() && size > uint64(r.limit-r.size) {
		return 0, ErrMessageTooLong
	}
	if r.opts&ClientSide == 0 {
		if len(b) < n+4 {
			return 0, nil
		}
		r.mask = binary.LittleEndian.Uint32(b[n:])
		n += 4
	}
	if op == OpText || op == OpBinary {
		r.msg, r.text = op, utf8Start
	}
	r.op, r.fin, r.left, r.phase = op, fin, uint32(size), atPayload
	return n, nil
}

// close judges the payload of a close frame.
func (r *Reader) close(p []byte) (Event, []byte, error) {
	r.phase = atEnd
	if len(p) == 0 {
		return Event{Op: OpClose, Code: CloseNoStatus}, nil, nil
	}
	if len(p) == 1 {
		return r.fail(ErrCloseFrame)
	}
	code := CloseCode(binary.BigEndian.Uint16(p))
	if !ValidCloseCode(code) {
		return r.fail(ErrCloseFrame)
	}
	if !utf8.Valid(p[2:]) {
		return r.fail(ErrUTF8)
	}
	return Event{Op: OpClose, Code: code, Payload: p[2:]}, nil, nil
}
