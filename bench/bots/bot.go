package bots

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// kind is how a bot behaves.
type kind uint8

const (
	honest kind = iota
	slow
	trickle
	silent
	hostile
	restless
)

var kindNames = [...]string{"honest", "slow", "trickle", "silent", "hostile", "restless"}

// stage is where a bot's connection stands.
type stage uint8

const (
	idle      stage = iota // it has none; the next is due at bot.again
	dialing                // a dialer has it
	upgrading              // connected, no answer to the upgrade yet
	talking                // a WebSocket
	closing                // a close frame is out
)

// Times of all bots.
const (
	writeTimeout = 5 * time.Second        // a socket that takes nothing for so long is given up
	goodbye      = 2 * time.Second        // how long a server has to end a connection that was closed
	pauseLeast   = 200 * time.Millisecond // before a lost connection is made again
	pauseMost    = time.Second
	meanStay     = 5 * time.Second // of a restless bot
	trickleBytes = 256             // a second
	lookEvery    = int64(100 * time.Millisecond)
)

// sent is a command or a ping that has not been answered.
type sent struct {
	number uint32 // seq or nonce
	due    int64
}

// upto is how many of a list have numbers up to n.
func upto(list []sent, n uint32) (k int) {
	for k < len(list) && list[k].number <= n {
		k++
	}
	return k
}

// without is the list without its first k.
func without(list []sent, k int) []sent { return list[:copy(list, list[k:])] }

// bot is one client. Its methods hold mu, but for those that say otherwise: the
// poller's goroutine and the wheel's meet here.
type bot struct {
	fleet  *fleet
	stripe *stripe
	number int
	kind   kind
	rng    *rand.Rand

	mu    sync.Mutex
	stage stage
	again int64 // idle: when to connect
	link  link  // the connection, where there is one

	reader ws.Reader
	head   []byte // of the answer to the upgrade, as far as it has come
	began  int64  // when the connection was begun
	lost   int64  // when the last seat's connection was lost; 0 for never
	raised bool   // the upgrade has been answered
	done   bool   // for the first time seated, refused, or as far as a bad bot gets

	out    []byte // frames to be written
	msg    []byte // scratch for a message
	record []byte // and for a command's fields

	hasToken bool
	token    [wire.TokenSize]byte
	player   uint32 // of this connection; 0 before the welcome
	seated   bool   // a snapshot has come on this connection
	snapshot uint32 // the tick of the last one

	acked    uint32 // the last send tick that was
	newest   uint32 // the last one that would be, which goes out with a ping
	withheld bool   // if it has not been

	tick    uint32 // of the newest send tick
	tickAt  int64  // when it came
	seq     uint32
	waiting []sent // commands
	pings   []sent

	commandDue, pingDue, actDue int64 // what is due next
	nonce                       uint32

	mirror *mirror // of a thin bot
	trick  *trick  // of a hostile one
	tried  int     // the next trick's place in the list, which begins again at its end
	step   int     // of the trick
	more   bool    // there is another step
}

func newBot(f *fleet, number int, k kind) *bot {
	b := &bot{
		fleet: f, stripe: f.stripes[number%numStripes], number: number, kind: k,
		rng:    rand.New(rand.NewPCG(f.Seed, uint64(number))),
		msg:    make([]byte, 0, 64),
		record: make([]byte, f.game.layout.CommandStride),
	}
	b.link.fd = -1
	if k == honest && f.Thin > 0 && number%f.Thin == f.Thin-1 {
		b.mirror = newMirror(f.game)
		b.stripe.thin.Bots++
	}
	return b
}

// act does what is due at now and says when more is. It takes mu.
func (b *bot) act(now int64) (next int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	leaving := b.fleet.leaving.Load()
	switch b.stage {
	case idle:
		switch {
		case leaving, b.link.fd >= 0: // the poller has yet to close what was hung up
		case now >= b.again:
			b.stage, b.began = dialing, now
			b.fleet.dials <- b // has room for all
		default:
			return min(b.again, now+lookEvery)
		}
		return now + lookEvery
	case dialing:
		return now + lookEvery/10
	case upgrading:
		if leaving || b.waits(now) {
			b.hangUp()
		}
		b.retry(now)
		return now + lookEvery/10
	case closing:
		b.retry(now)
		if now-b.actDue > int64(goodbye) {
			b.hangUp()
		}
		return now + lookEvery
	}
	if leaving {
		b.leave(now)
		return now + lookEvery
	}
	switch b.kind {
	case slow, trickle:
		return b.dawdle(now)
	case silent:
		return now + lookEvery
	case hostile:
		return b.beBad(now)
	case restless:
		if b.seated && now >= b.actDue {
			b.hangUp() // without a word
			return now + lookEvery
		}
	}
	return b.play(now)
}

// play sends the commands and pings that are due.
func (b *bot) play(now int64) int64 {
	b.retry(now)
	next := now + lookEvery
	if !b.seated {
		if b.waits(now) {
			b.hangUp()
		}
		return now + lookEvery/10
	}
	if period := b.fleet.commandPeriod; period > 0 {
		for ; b.commandDue <= now; b.commandDue += period {
			b.command(b.commandDue, now)
		}
		next = min(next, b.commandDue)
	}
	if b.fleet.Ping > 0 {
		if b.pingDue <= now {
			b.ping(b.pingDue)
			b.pingDue += int64(b.fleet.Ping) * (1 + (now-b.pingDue)/int64(b.fleet.Ping))
		}
		next = min(next, b.pingDue)
	}
	b.flush(now)
	return next
}

// waits reports whether a seat has been waited for too long, and notes that.
func (b *bot) waits(now int64) bool {
	if now-b.began < int64(b.fleet.patience) {
		return false
	}
	b.refused("no answer")
	return true
}

// serverTick is the tick that the server runs at now, as far as a client can know.
func (b *bot) serverTick(now int64) uint32 {
	passed := max(now-b.tickAt, 0)
	return b.tick + uint32(passed*int64(b.fleet.game.def.TickRate)/int64(time.Second))
}

// command adds a command that was due at the time given.
func (b *bot) command(due, now int64) {
	f := b.fleet
	b.seq++
	tick := b.serverTick(now) + 1 + uint32(f.Lead)
	if f.Spec.Late.Share > 0 && b.rng.Float64() < f.Spec.Late.Share {
		late := f.Spec.Late.Least + time.Duration(b.rng.Float64()*float64(f.Spec.Late.Most-f.Spec.Late.Least))
		tick -= uint32(late.Seconds() * float64(f.game.def.TickRate))
	}
	b.waiting = append(b.waiting, sent{b.seq, due})
	b.msg = f.game.append(b.msg[:0], wire.CommandHeader{Tick: tick, Seq: b.seq}, b.rng, b.record)
	b.send(b.msg)
	if f.measured(due) {
		b.stripe.mu.Lock()
		b.stripe.lag.Record(time.Duration(loop.Now() - due))
		b.stripe.mu.Unlock()
	}
}

func (b *bot) ping(due int64) {
	b.flushAck()
	b.nonce++
	b.pings = append(b.pings, sent{b.nonce, due})
	b.send(wire.Ping{Nonce: b.nonce}.Append(b.msg[:0]))
}

// message adds a message to the frames to be written.
func (b *bot) message(m []byte) { b.out = ws.AppendMasked(b.out, ws.OpBinary, b.key(), m) }

// send adds a message and counts it.
func (b *bot) send(m []byte) {
	at := len(b.out)
	b.message(m)
	if b.kind != honest || !b.fleet.measuring() {
		return
	}
	b.stripe.mu.Lock()
	b.stripe.sent[m[0]].add(Traffic{1, int64(len(m))})
	b.stripe.bytesOut += int64(len(b.out) - at)
	b.stripe.mu.Unlock()
}

func (b *bot) key() (k [4]byte) {
	n := b.rng.Uint32()
	return [4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
}

// leave begins a polite end.
func (b *bot) leave(now int64) {
	if b.kind == slow || b.kind == trickle {
		b.hangUp()
		return
	}
	b.out = ws.AppendMasked(b.out, ws.OpClose, b.key(), []byte{byte(wire.CloseDone >> 8), byte(wire.CloseDone & 0xFF)})
	b.stage, b.actDue = closing, now
	b.flush(now)
}

// refused notes that a connection came to nothing.
func (b *bot) refused(why string) {
	b.stripe.mu.Lock()
	b.stripe.refused[why]++
	b.stripe.mu.Unlock()
	b.settle()
}

// resumable tells whether a client would come back to its seat.
func resumable(how string) bool {
	n, err := strconv.ParseUint(how, 10, 16)
	return err != nil || wire.MayReconnect(uint16(n))
}

// farewell is how the connection of a bot ends that closed it politely.
const farewell = "1000"

// settle tells the fleet, once, that it need not wait for this bot any more.
func (b *bot) settle() {
	if !b.done {
		b.done = true
		b.fleet.settled.Add(1)
	}
}

// ended is called when the connection is gone, whoever ended it. how is a close code
// where the server gave one, else "cut".
func (b *bot) ended(how string, mine bool) {
	now := loop.Now()
	if b.seated {
		b.fleet.count(b, -1)
		b.lost = now
	}
	if b.stage == upgrading {
		b.refused("cut")
	}
	if !mine && (b.stage == talking || how != cut && how != farewell) {
		b.stripe.mu.Lock()
		switch b.kind {
		case honest:
			b.stripe.closes[how]++
		case hostile:
		default:
			inc(b.stripe.ends, kindNames[b.kind], how)
		}
		b.stripe.mu.Unlock()
	}
	if b.kind == hostile {
		b.judge(how, mine)
	}
	b.hasToken = b.hasToken && b.kind != hostile && resumable(how)
	b.stage, b.seated, b.player, b.waiting, b.pings = idle, false, 0, b.waiting[:0], b.pings[:0]
	b.withheld = false
	b.out = b.out[:0]
	b.again = now + int64(pauseLeast) + b.rng.Int64N(int64(pauseMost-pauseLeast))
	b.settle()
}
