package wire

import "fmt"

// WebSocket close codes that the server closes a game socket with.
const (
	CloseDone       uint16 = 1000
	CloseStopping   uint16 = 1001
	CloseMalformed  uint16 = 1002
	CloseText       uint16 = 1003
	CloseFlood      uint16 = 1008
	CloseTooBig     uint16 = 1009
	CloseFailed     uint16 = 1011
	CloseTakenOver  uint16 = 4001
	CloseEnded      uint16 = 4002
	CloseRemoved    uint16 = 4003
	CloseNoInstance uint16 = 4004
	CloseOutdated   uint16 = 4005
	CloseDraining   uint16 = 4006
	CloseTooSlow    uint16 = 4007
	CloseIdle       uint16 = 4008
	CloseBoxFull    uint16 = 4009
)

// CloseReason is what a close code means, for a close frame's reason and for logs.
// It is at most 123 bytes long, as a close frame demands.
func CloseReason(code uint16) string {
	switch code {
	case CloseDone:
		return "done"
	case CloseStopping:
		return "the server is stopping"
	case CloseMalformed:
		return "malformed message"
	case CloseText:
		return "text frames are not understood"
	case CloseFlood:
		return "too many messages"
	case CloseTooBig:
		return "message too big"
	case CloseFailed:
		return "the server failed"
	case CloseTakenOver:
		return "the seat was taken over by another connection"
	case CloseEnded:
		return "the instance has ended"
	case CloseRemoved:
		return "removed by the game"
	case CloseNoInstance:
		return "no such instance, or it is full"
	case CloseOutdated:
		return "the client library is out of date: reload the page"
	case CloseDraining:
		return "the worker is draining: reconnect now"
	case CloseTooSlow:
		return "the connection is too slow to keep up"
	case CloseIdle:
		return "the connection is idle or half-open"
	case CloseBoxFull:
		return "the box is full: try later"
	}
	return fmt.Sprintf("close code %d", code)
}

// MayReconnect reports whether a client that was closed with the code should
// connect again by itself: at once for CloseDraining, with backoff for the others.
// Codes that are not in the list come from the network and allow it.
func MayReconnect(code uint16) bool {
	switch code {
	case CloseDone, CloseMalformed, CloseText, CloseFlood, CloseTooBig,
		CloseTakenOver, CloseEnded, CloseRemoved, CloseNoInstance, CloseOutdated:
		return false
	}
	return true
}

// CloseError says that a connection has to be closed, with which code and why. The
// reason goes to the log; what the other side is told is CloseReason(Code).
type CloseError struct {
	Code   uint16
	Reason string
}

func (e *CloseError) Error() string {
	if e.Reason == "" {
		return CloseReason(e.Code)
	}
	return fmt.Sprintf("%s: %s", CloseReason(e.Code), e.Reason)
}
