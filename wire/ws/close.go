package ws

import (
	"errors"
	"strconv"
)

// CloseCode is the status of a close frame. Codes from 4000 on are the application's.
type CloseCode uint16

// The codes of RFC 6455 and its registry that this server meets.
const (
	CloseNormal      CloseCode = 1000 // done
	CloseGoingAway   CloseCode = 1001 // the server stops, or the page is left
	CloseProtocol    CloseCode = 1002 // bytes that the protocol does not allow
	CloseUnsupported CloseCode = 1003 // a kind of data that is not taken, as text
	CloseNoStatus    CloseCode = 1005 // never sent: stands for a close frame without a code
	CloseAbnormal    CloseCode = 1006 // never sent: stands for a stream that ended without a close frame
	CloseInvalidData CloseCode = 1007 // text that is no UTF-8
	ClosePolicy      CloseCode = 1008 // a rule of the application's, as a flood
	CloseTooBig      CloseCode = 1009 // a message over the limit
	CloseExtension   CloseCode = 1010 // sent by clients only
	CloseInternal    CloseCode = 1011 // a fault of the server's
)

// ValidCloseCode says whether a close frame may carry the code: those that the protocol and
// its registry define for the wire, and 3000 to 4999.
func ValidCloseCode(c CloseCode) bool {
	switch {
	case c >= 1000 && c <= 1003, c >= 1007 && c <= 1014:
		return true
	}
	return c >= 3000 && c <= 4999
}

// Error is why a Reader gave up: what to close the connection with.
type Error struct {
	Code   CloseCode
	Reason string // fits into a close frame
}

// Error names the code and the reason.
func (e *Error) Error() string {
	return "websocket closes with " + strconv.Itoa(int(e.Code)) + ": " + e.Reason
}

// CodeOf is the close code in err: that of an *Error it wraps, otherwise CloseInternal.
func CodeOf(err error) CloseCode {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CloseInternal
}

// Every way in which a Reader fails. They are variables so that failing takes no memory.
var (
	ErrReserved       = &Error{CloseProtocol, "reserved bit set"}
	ErrOpcode         = &Error{CloseProtocol, "reserved opcode"}
	ErrControlFrame   = &Error{CloseProtocol, "control frame fragmented or over 125 bytes"}
	ErrNoMessage      = &Error{CloseProtocol, "continuation without a message"}
	ErrInterleaved    = &Error{CloseProtocol, "new message inside a fragmented one"}
	ErrMasking        = &Error{CloseProtocol, "frame masked wrongly for its direction"}
	ErrLength         = &Error{CloseProtocol, "payload length not in its shortest form or out of range"}
	ErrCloseFrame     = &Error{CloseProtocol, "malformed close frame"}
	ErrText           = &Error{CloseUnsupported, "text is not accepted"}
	ErrUTF8           = &Error{CloseInvalidData, "text is not valid UTF-8"}
	ErrMessageTooLong = &Error{CloseTooBig, "message over the limit"}
)
