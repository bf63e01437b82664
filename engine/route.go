package engine

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/unix"

	"gamehoster/engine/box"
	"gamehoster/engine/door"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
	"gamehoster/games/schema"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// usher is the part of a crew that takes sockets.
type usher interface {
	// Hand passes a socket on to the shard of its placement. It owns fd from then on, unless
	// it returns an error. early, which the client has sent already, is the caller's.
	Hand(g *box.Live, at box.Placement, fd int, early []byte) error
	// Crowded reports whether a shard is so far behind that Hand may soon fail.
	Crowded(shard uint32) bool
}

// Route places a new socket: which game, is the page allowed to open it, which seat.
// It makes a Box a door.Router.
func (b *Box) Route(req *ws.Request, client netip.AddrPort) door.Decision {
	if r := b.gate.Admit(client.Addr()); r != nil {
		if r.Times > 0 {
			b.web.Warn("sockets refused", "peer", client.Addr(), "status", http.StatusTooManyRequests, "reason", r.Reason, "times", r.Times)
		}
		return door.Decision{Response: tooMany}
	}
	segment, rest, _ := strings.Cut(strings.TrimPrefix(string(req.Path), "/"), "/")
	live := b.catalog.Resolve(string(req.Host), segment)
	if live == nil || rest != "" {
		return b.refuse(req, client, http.StatusNotFound, "no such game")
	}
	if !b.originAllowed(live, req) {
		b.meters.origins.Add(1)
		return b.refuse(req, client, http.StatusForbidden, "origin not allowed")
	}
	want, err := parseQuery(string(req.Query))
	if err != nil {
		return b.refuse(req, client, http.StatusBadRequest, err.Error())
	}
	want.Peer, want.Host, want.CPU = client.Addr(), short(req.Host), core()
	v, at, err := b.place(live.Place.String(), &want)
	switch {
	case err == nil:
	case errors.Is(err, errOutdated):
		return b.closeWith(req, client, wire.CloseOutdated)
	case errors.Is(err, box.ErrNoInstance):
		return b.closeWith(req, client, wire.CloseNoInstance)
	case errors.Is(err, box.ErrClosed), errors.Is(err, box.ErrSuspect):
		return b.closeWith(req, client, wire.CloseDraining)
	default:
		if !errors.Is(err, box.ErrBoxFull) {
			b.log.Error("a shard could not be raised", "game", v.Name, "error", err)
		}
		return b.closeWith(req, client, wire.CloseBoxFull)
	}
	if b.crew.Crowded(at.Shard) {
		// It is told before it is promised anything: the newest of a crowd have to wait.
		v.Table.Cancel(at.Number)
		if n := b.crowded.count(loop.Now()); n > 0 {
			b.log.Warn("sockets refused: a loop is too far behind to open them", "code", wire.CloseBoxFull, "times", n)
		}
		return door.Decision{Response: refusal(req, wire.CloseBoxFull)}
	}
	return door.Decision{
		Response: ws.AppendResponse(nil, req.Key, ""),
		Target: door.TargetFunc(func(fd int, early []byte) error {
			if !v.Table.Hand(at.Number) {
				// It expired, or its instance or version has ended meanwhile.
				turnAway(fd, wire.CloseDraining)
				return nil
			}
			err := b.crew.Hand(v.Live, at, fd, early)
			if err != nil {
				v.Table.Cancel(at.Number)
			}
			return err
		}),
	}
}

// turnAway closes a socket that was welcomed already and has come to nobody. The frame is
// so short that a new socket takes it at once; where it does not, the client finds the
// connection broken, and does the same.
func turnAway(fd int, code uint16) {
	_, _ = unix.Write(fd, ws.AppendClose(nil, ws.CloseCode(code), wire.CloseReason(code)))
	_ = unix.Shutdown(fd, unix.SHUT_WR)
	_ = unix.Close(fd)
}

// lost gives up the seat of a socket that was dead before its loop could open it.
func (b *Box) lost(number uint64) {
	if v := b.versions.numbered(number >> worker.GameShift); v != nil {
		v.Table.Cancel(number)
	}
}

// core is the processor that the caller runs on, which is the one that accepts the socket;
// -1 where the kernel does not tell.
func core() int {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// throttle counts what happens often and says now and then how often it did.
type throttle struct {
	mu    sync.Mutex
	due   int64 // when it may say it again
	total int64
	said  int64
}

// count counts one, at now, and returns how many there were since it said so last; 0 when
// that was less than a second ago.
func (t *throttle) count(now int64) (times int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total++
	if now < t.due {
		return 0
	}
	times = t.total - t.said
	t.due, t.said = now+int64(time.Second), t.total
	return times
}

// short is what a log line takes of what a stranger has sent.
func short(p []byte) string {
	const most = 128
	if len(p) > most {
		return string(p[:most]) + "…"
	}
	return string(p)
}

var tooMany = ws.AppendError(nil, http.StatusTooManyRequests, "too many connections from this address")

// originAllowed applies the game's rules; a development box's own pages are always
// allowed.
func (b *Box) originAllowed(live *box.Live, req *ws.Request) bool {
	if live.Source.Origins.Allows(req.Origin, req.Origin != nil) {
		return true
	}
	if !b.cfg.Dev {
		return false
	}
	_, host, ok := strings.Cut(string(req.Origin), "://")
	return ok && strings.EqualFold(host, string(req.Host))
}

// refuse answers with an HTTP status. What is not there is the same bare 404 as everywhere:
// the door's, for a decision that says nothing.
func (b *Box) refuse(req *ws.Request, client netip.AddrPort, status int, why string) door.Decision {
	if b.refusals.take(loop.Now()) {
		b.web.Info("socket refused", "peer", client.Addr(), "host", short(req.Host), "path", short(req.Path),
			"origin", short(req.Origin), "status", status, "reason", why)
	}
	if status == http.StatusNotFound {
		return door.Decision{}
	}
	return door.Decision{Response: ws.AppendError(nil, status, why)}
}

// closeWith accepts the socket only to close it with a code that the client library
// can explain: a page cannot see an HTTP status.
func (b *Box) closeWith(req *ws.Request, client netip.AddrPort, code uint16) door.Decision {
	if b.refusals.take(loop.Now()) {
		b.web.Info("socket refused", "peer", client.Addr(), "host", short(req.Host), "path", short(req.Path),
			"code", code, "reason", wire.CloseReason(code))
	}
	return door.Decision{Response: refusal(req, code)}
}

// refusal accepts a socket and closes it.
func refusal(req *ws.Request, code uint16) []byte {
	return ws.AppendClose(ws.AppendResponse(nil, req.Key, ""), ws.CloseCode(code), wire.CloseReason(code))
}

// query is what a socket's address asks for.
type query struct {
	box.Request
	def    uint64 // the definition that the client library was built for
	hasDef bool
}

// returns reports whether the client means an instance that is there.
func (q *query) returns() bool { return !q.Resume.IsZero() || q.Instance != "" }

var errQuery = errors.New("malformed query")

// parseQuery reads a socket's query. Parameters that it does not know are ignored.
func parseQuery(raw string) (q query, err error) {
	v, err := url.ParseQuery(raw)
	if err != nil {
		return q, errQuery
	}
	q.Instance = v.Get("instance")
	q.Resume = worker.ParseToken(v.Get("resume"))
	q.Player = playerName(v.Get("name"))
	q.Thin = v.Get("thin") == "1"
	q.Watch = v.Get("watch") == "1"
	if d := v.Get("def"); d != "" {
		q.hasDef = true
		if q.def, err = strconv.ParseUint(d, 16, 64); err != nil || len(d) != 16 {
			return q, errQuery
		}
	}
	return q, nil
}

// playerName makes what a client calls its player fit for a body: one line of valid
// UTF-8, at most schema.MaxPlayerName bytes.
func playerName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(s))
	for len(s) > schema.MaxPlayerName {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}
