package ws

import "bytes"

// MaxHead is the greatest size in bytes of a request's head, the empty line included.
const MaxHead = 8 << 10

// HandshakeError is why a request was refused, with the HTTP status to answer.
type HandshakeError struct {
	Status int
	Reason string
}

// Error is the reason.
func (e *HandshakeError) Error() string { return "handshake refused: " + e.Reason }

// Every way in which a head or handshake is refused. They are variables so that refusing takes no memory.
var (
	ErrHeadTooLong    = &HandshakeError{431, "request head over 8192 bytes"}
	ErrLineEnd        = &HandshakeError{400, "line does not end in CR LF"}
	ErrRequestLine    = &HandshakeError{400, "malformed request line"}
	ErrTarget         = &HandshakeError{400, "malformed request target"}
	ErrHTTPVersion    = &HandshakeError{505, "neither HTTP/1.0 nor HTTP/1.1"}
	ErrHeaderName     = &HandshakeError{400, "malformed header name"}
	ErrHeaderValue    = &HandshakeError{400, "control character in a header value"}
	ErrFolded         = &HandshakeError{400, "folded header line"}
	ErrDuplicate      = &HandshakeError{400, "header given twice that must be given once"}
	ErrTooManyLines   = &HandshakeError{400, "list header spread over too many lines"}
	ErrHost           = &HandshakeError{400, "host missing or malformed"}
	ErrMethod         = &HandshakeError{405, "an upgrade needs GET"}
	ErrBody           = &HandshakeError{400, "an upgrade has no body"}
	ErrKey            = &HandshakeError{400, "Sec-WebSocket-Key is not 16 bytes in base64"}
	ErrSocketVersion  = &HandshakeError{426, "Sec-WebSocket-Version is not 13"}
	ErrSocketProtocol = &HandshakeError{400, "malformed Sec-WebSocket-Protocol"}
)

// HeadEnd looks for the end of a request's head in buf, of which the first from bytes were there at
// the call before (0 at the first). It returns the size of the head, or 0 while it is incomplete; what
// follows in buf is not the head's. A head that got too long or cannot become one any more
// is an error, a *HandshakeError, as early as that is certain.
func HeadEnd(buf []byte, from int) (end int, err error) {
	if from == 0 && len(buf) > 0 && !isToken[buf[0]] {
		return 0, ErrRequestLine
	}
	for from < len(buf) {
		i := bytes.IndexByte(buf[from:], '\n')
		if i < 0 {
			break
		}
		i += from
		if i == 0 || buf[i-1] != '\r' {
			return 0, ErrLineEnd
		}
		from = i + 1
		if i >= 3 && buf[i-2] == '\n' {
			if from > MaxHead {
				return 0, ErrHeadTooLong
			}
			return from, nil
		}
	}
	if len(buf) >= MaxHead {
		return 0, ErrHeadTooLong
	}
	return 0, nil
}

// maxLines is on how many header lines one list may be spread.
const maxLines = 4

// List is a comma-separated header as it was sent, on up to four lines. It borrows from the head.
type List struct {
	lines [maxLines][]byte
	n     int
}

// Present says whether the header was there at all.
func (l *List) Present() bool { return l.n > 0 }

// All yields the elements in order, without the white space around them; empty ones are left out.
func (l *List) All(yield func(element []byte) bool) {
	for _, line := range l.lines[:l.n] {
		for more := true; more; {
			var element []byte
			element, line, more = bytes.Cut(line, comma)
			if element = trim(element); len(element) > 0 && !yield(element) {
				return
			}
		}
	}
}

// Last is the last element, nil if there is none: in X-Forwarded-For what the nearest proxy added.
func (l *List) Last() (last []byte) {
	for element := range l.All {
		last = element
	}
	return last
}

// Has says whether an element equals s, which is in lower case, letters compared without case.
func (l *List) Has(s string) bool {
	for element := range l.All {
		if equalFold(element, s) {
			return true
		}
	}
	return false
}

func (l *List) add(line []byte) bool {
	if l.n == maxLines {
		return false
	}
	l.lines[l.n] = line
	l.n++
	return true
}

// Request is the head of an HTTP/1.x request, as far as an upgrade and its routing need it. All slices
// borrow from the head that was parsed. A Request is meant to be used again; Parse overwrites all of it.
type Request struct {
	Method []byte
	Target []byte // as sent
	Path   []byte // of the target, still percent-encoded, "/" at least; "*" when the target is that
	Query  []byte // behind the question mark, still encoded; nil if there was none
	// Scheme is set when the target was in absolute form, as sent, else nil. Host is then the
	// target's, which overrides the header.
	Scheme []byte
	Host   []byte // with the port, as sent; empty only if an HTTP/1.0 request had none
	Origin []byte // nil if there was no such header; not nil, but maybe empty, if there was
	Key    []byte // Sec-WebSocket-Key

	Protocols    List // Sec-WebSocket-Protocol: what the client offers, by preference
	ForwardedFor List // X-Forwarded-For: to be believed only if the peer is a trusted proxy

	// Upgrade says that the request asks to become a WebSocket: HTTP/1.1 with `upgrade` in Connection and `websocket`
	// in Upgrade. If it is false the request is plain HTTP and none of this package's business.
	Upgrade bool

	host             []byte // the header, which the target may override
	version          []byte // Sec-WebSocket-Version
	contentLength    []byte
	transferEncoding []byte
	connection       List
	upgrade          List
	http10           bool
}

// Parse reads a whole head, as HeadEnd measured it. The error is a *HandshakeError; it is about HTTP
// alone, a request without an upgrade is fine here. Stricter than HTTP demands where leniency is what
// request smuggling lives on.
func (q *Request) Parse(head []byte) error {
	*q = Request{}
	line, rest, err := cutLine(head)
	if err != nil {
		return err
	}
	if err := q.requestLine(line); err != nil {
		return err
	}
	for {
		if line, rest, err = cutLine(rest); err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		if err := q.headerLine(line); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return ErrRequestLine
	}
	if err := q.judgeHost(); err != nil {
		return err
	}
	if q.contentLength != nil && q.transferEncoding != nil {
		return ErrDuplicate
	}
	q.Upgrade = !q.http10 && q.connection.Has("upgrade") && q.upgrade.Has("websocket")
	return nil
}

// headerLine keeps a header's value if it is one that counts.
func (q *Request) headerLine(line []byte) error {
	name, value, err := header(line)
	if err != nil {
		return err
	}
	once, list := q.place(name)
	switch {
	case once != nil && *once != nil:
		return ErrDuplicate
	case once != nil:
		*once = value
	case list != nil && !list.add(value):
		return ErrTooManyLines
	}
	return nil
}

// place is where a header's value belongs: one that may be given once, or a list; nil and nil for one that
// does not count.
func (q *Request) place(name []byte) (once *[]byte, list *List) {
	switch {
	case equalFold(name, "host"):
		return &q.host, nil
	case equalFold(name, "origin"):
		return &q.Origin, nil
	case equalFold(name, "upgrade"):
		return nil, &q.upgrade
	case equalFold(name, "connection"):
		return nil, &q.connection
	case equalFold(name, "content-length"):
		return &q.contentLength, nil
	case equalFold(name, "x-forwarded-for"):
		return nil, &q.ForwardedFor
	case equalFold(name, "sec-websocket-key"):
		return &q.Key, nil
	case equalFold(name, "transfer-encoding"):
		return &q.transferEncoding, nil
	case equalFold(name, "sec-websocket-version"):
		return &q.version, nil
	case equalFold(name, "sec-websocket-protocol"):
		return nil, &q.Protocols
	}
	return nil, nil
}

// requestLine reads "GET /path?query HTTP/1.1".
func (q *Request) requestLine(line []byte) error {
	method, rest, found := bytes.Cut(line, space)
	if !found || !allIn(method, &isToken) || len(method) == 0 {
		return ErrRequestLine
	}
	target, version, found := bytes.Cut(rest, space)
	if !found {
		return ErrRequestLine
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		q.http10 = true
	default:
		if len(version) == 8 && string(version[:5]) == "HTTP/" && version[6] == '.' && isDigit(version[5]) && isDigit(version[7]) {
			return ErrHTTPVersion
		}
		return ErrRequestLine
	}
	q.Method, q.Target = method, target
	return q.target(target)
}

// target reads the origin, absolute and asterisk forms. The authority form belongs to CONNECT, which nobody here serves.
func (q *Request) target(t []byte) error {
	if !allIn(t, &isTarget) {
		return ErrTarget
	}
	if len(t) == 1 && t[0] == '*' && string(q.Method) == "OPTIONS" {
		q.Path = t
		return nil
	}
	if len(t) > 0 && t[0] != '/' {
		colon := bytes.Index(t, schemeEnd)
		if colon < 0 {
			return ErrTarget
		}
		q.Scheme = t[:colon]
		if !equalFold(q.Scheme, "http") && !equalFold(q.Scheme, "https") && !equalFold(q.Scheme, "ws") && !equalFold(q.Scheme, "wss") {
			return ErrTarget
		}
		t = t[colon+len(schemeEnd):]
		end := bytes.IndexAny(t, "/?")
		if end < 0 {
			end = len(t)
		}
		if q.Host = t[:end]; len(q.Host) == 0 || !allIn(q.Host, &isHost) {
			return ErrHost
		}
		t = t[end:]
	}
	q.Path = t
	if i := bytes.IndexByte(t, '?'); i >= 0 {
		q.Path, q.Query = t[:i], t[i+1:]
	}
	if len(q.Path) == 0 {
		if q.Scheme == nil {
			return ErrTarget
		}
		q.Path = rootPath
	}
	return nil
}

// judgeHost checks the Host header, which HTTP/1.1 demands even when the target names the host.
func (q *Request) judgeHost() error {
	if q.host == nil && !q.http10 || !allIn(q.host, &isHost) {
		return ErrHost
	}
	if q.Scheme == nil {
		q.Host = q.host
	}
	return nil
}

// Handshake judges an upgrade once Upgrade is true; the error is a *HandshakeError. Nil means that AppendResponse may be sent.
func (q *Request) Handshake() error {
	switch {
	case string(q.Method) != "GET":
		return ErrMethod
	case q.transferEncoding != nil, q.contentLength != nil && !equalFold(q.contentLength, "0"):
		return ErrBody
	case len(q.Host) == 0:
		return ErrHost
	case string(q.version) != "13":
		return ErrSocketVersion
	case !validKey(q.Key):
		return ErrKey
	}
	if q.Protocols.Present() {
		offers := 0
		for offer := range q.Protocols.All {
			if offers++; !allIn(offer, &isToken) {
				return ErrSocketProtocol
			}
		}
		if offers == 0 {
			return ErrSocketProtocol
		}
	}
	return nil
}

// Offers says whether the client offers the subprotocol; names are compared with case.
func (q *Request) Offers(protocol string) bool {
	for offer := range q.Protocols.All {
		if string(offer) == protocol {
			return true
		}
	}
	return false
}

// cutLine takes a line and its CR LF from the front of b.
func cutLine(b []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 1 || b[i-1] != '\r' {
		return nil, nil, ErrLineEnd
	}
	return b[:i-1], b[i+1:], nil
}

// header takes a header line apart. The value is without white space around it and never nil.
func header(line []byte) (name, value []byte, err error) {
	if line[0] == ' ' || line[0] == '\t' {
		return nil, nil, ErrFolded
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 1 || !allIn(line[:colon], &isToken) {
		return nil, nil, ErrHeaderName
	}
	if value = line[colon+1:]; !allIn(value, &isValue) {
		return nil, nil, ErrHeaderValue
	}
	return line[:colon], trim(value), nil
}
