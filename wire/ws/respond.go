package ws

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"strconv"
)

const (
	keySize    = 24 // 16 bytes in base64
	acceptSize = 28 // a SHA-1 sum in base64
	guid       = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

// validKey says whether a Sec-WebSocket-Key is the base64 of 16 bytes.
func validKey(key []byte) bool {
	var raw [18]byte
	if len(key) != keySize {
		return false
	}
	n, err := base64.StdEncoding.Decode(raw[:], key)
	return err == nil && n == 16
}

// appendAccept adds the proof that the key was read: the base64 of SHA-1 of key and GUID.
func appendAccept(dst, key []byte) []byte {
	var text [keySize + len(guid)]byte
	n := copy(text[:], key)
	n += copy(text[n:], guid)
	sum := sha1.Sum(text[:n])
	return base64.StdEncoding.AppendEncode(dst, sum[:])
}

// AppendResponse adds the answer that switches protocols. Key is Request.Key after Handshake found nothing wrong;
// subprotocol is one of the client's offers, or empty for none. Frames may follow at once.
func AppendResponse(dst, key []byte, subprotocol string) []byte {
	dst = append(dst, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "...)
	dst = appendAccept(dst, key)
	if subprotocol != "" {
		dst = append(dst, "\r\nSec-WebSocket-Protocol: "...)
		dst = append(dst, subprotocol...)
	}
	return append(dst, "\r\n\r\n"...)
}

// AppendRefusal is AppendError with the status and reason of the *HandshakeError in err; any other error is a 500 that says no more.
func AppendRefusal(dst []byte, err error) []byte {
	if e, ok := errors.AsType[*HandshakeError](err); ok {
		return AppendError(dst, e.Status, e.Reason)
	}
	return AppendError(dst, 500, statusText(500))
}

// AppendError adds a whole HTTP response that refuses a request, with the reason as its text. The connection
// is to be closed after it, which the response says too.
func AppendError(dst []byte, status int, reason string) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(append(dst, ' '), statusText(status)...)
	switch status {
	case 426:
		dst = append(dst, "\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"...)
	case 405:
		dst = append(dst, "\r\nConnection: close\r\nAllow: GET"...)
	case 429, 503: // whoever can read it may wait a little
		dst = append(dst, "\r\nConnection: close\r\nRetry-After: 1"...)
	default:
		dst = append(dst, "\r\nConnection: close"...)
	}
	dst = append(dst, "\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(reason)+1), 10)
	dst = append(append(dst, "\r\n\r\n"...), reason...)
	return append(dst, '\n')
}

// statusText is the reason phrase of the statuses that a front door answers with; net/http, which
// knows them all, would pull its servers and clients in here.
func statusText(status int) string {
	switch status {
	case 400:
		return "Bad Request"
	case 403:
		return "Forbidden"
	case 404:
		return "Not Found"
	case 405:
		return "Method Not Allowed"
	case 408:
		return "Request Timeout"
	case 426:
		return "Upgrade Required"
	case 429:
		return "Too Many Requests"
	case 431:
		return "Request Header Fields Too Large"
	case 500:
		return "Internal Server Error"
	case 503:
		return "Service Unavailable"
	case 505:
		return "HTTP Version Not Supported"
	}
	return "Refused"
}

// Dial is what a client asks for when it opens a WebSocket. For bots and tests.
type Dial struct {
	Host     string   // with the port
	Target   string   // path and query, begins with a slash
	Origin   string   // empty: the header is left out, as by clients that are no browsers
	Protocol string   // Sec-WebSocket-Protocol, empty for none
	Nonce    [16]byte // random, the key's bytes
}

// AppendRequest adds the client's half of the handshake.
func (d *Dial) AppendRequest(dst []byte) []byte {
	dst = append(append(dst, "GET "...), d.Target...)
	dst = append(append(dst, " HTTP/1.1\r\nHost: "...), d.Host...)
	dst = append(dst, "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "...)
	dst = base64.StdEncoding.AppendEncode(dst, d.Nonce[:])
	if d.Origin != "" {
		dst = append(append(dst, "\r\nOrigin: "...), d.Origin...)
	}
	if d.Protocol != "" {
		dst = append(append(dst, "\r\nSec-WebSocket-Protocol: "...), d.Protocol...)
	}
	return append(dst, "\r\n\r\n"...)
}

// Accepted says whether head, measured by HeadEnd, is a server's consent to this dial.
func (d *Dial) Accepted(head []byte) bool {
	line, rest, err := cutLine(head)
	if err != nil || !bytes.HasPrefix(line, []byte("HTTP/1.1 101")) {
		return false
	}
	key := base64.StdEncoding.AppendEncode(make([]byte, 0, keySize), d.Nonce[:])
	want := appendAccept(make([]byte, 0, acceptSize), key)
	for {
		if line, rest, err = cutLine(rest); err != nil || len(line) == 0 {
			return false
		}
		name, value, err := header(line)
		if err == nil && equalFold(name, "sec-websocket-accept") {
			return bytes.Equal(value, want)
		}
	}
}
