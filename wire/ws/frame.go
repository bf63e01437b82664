package ws

import (
	"encoding/binary"
	"unicode/utf8"
)

// Opcode says what a frame carries.
type Opcode uint8

// The opcodes of RFC 6455, section 5.2. All others are reserved.
const (
	OpContinuation Opcode = 0x0
	OpText         Opcode = 0x1
	OpBinary       Opcode = 0x2
	OpClose        Opcode = 0x8
	OpPing         Opcode = 0x9
	OpPong         Opcode = 0xA
)

// Control tells close, ping and pong from data.
func (o Opcode) Control() bool { return o >= OpClose }

// String is the opcode's name in lower case.
func (o Opcode) String() string {
	switch o {
	case OpContinuation:
		return "continuation"
	case OpText:
		return "text"
	case OpBinary:
		return "binary"
	case OpClose:
		return "close"
	case OpPing:
		return "ping"
	case OpPong:
		return "pong"
	}
	return "reserved"
}

// Sizes fixed by the protocol, in bytes.
const (
	MaxHeader      = 14  // two bytes, a u64 length, a masking key
	MaxControl     = 125 // payload of a control frame
	MaxCloseReason = MaxControl - 2
)

const (
	bitFin  = 0x80
	bitsRsv = 0x70
	bitMask = 0x80
	len16   = 126
	len64   = 127
)

// HeaderSize is the size in bytes of the header that the server puts before a payload of n bytes: 2, 4 or 10.
func HeaderSize(n int) int {
	switch {
	case n < len16:
		return 2
	case n <= 0xFFFF:
		return 4
	}
	return 10
}

// AppendHeader adds the header of an unmasked, unfragmented frame whose n payload bytes follow.
// n is not negative; for a control frame it is at most MaxControl.
func AppendHeader(dst []byte, op Opcode, n int) []byte {
	return appendHeader(dst, bitFin|byte(op), 0, n)
}

func appendHeader(dst []byte, b0, masked byte, n int) []byte {
	if n < 0 || Opcode(b0&0x0F).Control() && n > MaxControl {
		panic("ws: payload size out of range")
	}
	switch {
	case n < len16:
		return append(dst, b0, masked|byte(n))
	case n <= 0xFFFF:
		return append(dst, b0, masked|len16, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, b0, masked|len64), uint64(n))
}

// AppendFrame adds one whole unmasked frame. The payload is copied; for a control frame it is at most MaxControl bytes.
func AppendFrame(dst []byte, op Opcode, payload []byte) []byte {
	return append(AppendHeader(dst, op, len(payload)), payload...)
}

// AppendClose adds an unmasked close frame. Code 0 stands for a close without a code, in which case
// the reason is left out; any other code must be one that may be sent (ValidCloseCode). A reason that
// is too long or no UTF-8 is cut to the longest prefix that fits.
func AppendClose(dst []byte, code CloseCode, reason string) []byte {
	if code == 0 {
		return AppendHeader(dst, OpClose, 0)
	}
	if !ValidCloseCode(code) {
		panic("ws: close code must not be sent")
	}
	reason = cutUTF8(reason, MaxCloseReason)
	dst = AppendHeader(dst, OpClose, 2+len(reason))
	dst = append(dst, byte(code>>8), byte(code))
	return append(dst, reason...)
}

// AppendReply adds the frame that an event demands: a pong with the ping's payload, or the answer
// to a close, which repeats its code. Other events demand nothing. Once this side has sent
// a close, no event demands a reply any more: the caller then just waits for the peer's close.
func AppendReply(dst []byte, ev Event) []byte {
	switch ev.Op {
	case OpPing:
		return AppendFrame(dst, OpPong, ev.Payload)
	case OpClose:
		if ev.Code == CloseNoStatus {
			return AppendClose(dst, 0, "")
		}
		return AppendClose(dst, ev.Code, "")
	}
	return dst
}

// AppendMasked adds one whole frame as a client sends it, masked with the four bytes of key.
func AppendMasked(dst []byte, op Opcode, key [4]byte, payload []byte) []byte {
	return appendMasked(dst, bitFin|byte(op), key, payload)
}

func appendMasked(dst []byte, b0 byte, key [4]byte, payload []byte) []byte {
	dst = appendHeader(dst, b0, bitMask, len(payload))
	dst = append(dst, key[:]...)
	at := len(dst)
	dst = append(dst, payload...)
	Mask(dst[at:], binary.LittleEndian.Uint32(key[:]))
	return dst
}

// cutUTF8 is the longest prefix of s that is UTF-8 and no longer than n bytes.
func cutUTF8(s string, n int) string {
	at := 0
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if at+size > n || r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return s[:at]
}
