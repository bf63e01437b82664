package tick

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

var update = flag.Bool("update", false, "write the scenarios' expected messages anew")

// A scenario is a script of what engine, players and game do, each step followed
// by a line of dashes and by what comes of it: testdata/scenarios.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			old, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := playScenario(t, string(old))
			if got == string(old) {
				return
			}
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s has come out otherwise (-update writes it anew):\n%s", name, firstDifference(string(old), got))
		})
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, x, y)
		}
	}
	return ""
}

const dashes = "----"

// playScenario runs the steps of a file and returns the file as it should be.
func playScenario(t *testing.T, text string) string {
	s := &scenario{t: t, viewers: map[string]*scenarioViewer{}, acted: map[uint32][]func(w *ticktest.World){}}
	var out strings.Builder
	for _, part := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		script, _, is := strings.Cut(part, "\n"+dashes)
		if !is {
			out.WriteString(part + "\n\n") // a remark
			continue
		}
		s.out.Reset()
		for _, line := range strings.Split(script, "\n") {
			if !strings.HasPrefix(line, "#") {
				s.step(strings.Fields(line))
			}
		}
		out.WriteString(script + "\n" + dashes + "\n" + s.out.String() + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

type scenario struct {
	t       *testing.T
	def     *schema.Definition
	shard   *Shard
	in      *Instance
	module  *ticktest.Module
	actions []func(w *ticktest.World)            // of server bodies, to come
	acted   map[uint32][]func(w *ticktest.World) // and those of ticks that may run again
	order   []string
	viewers map[string]*scenarioViewer
	out     strings.Builder
}

type scenarioViewer struct {
	s    *scenario
	name string
	v    *Viewer
	c    *ticktest.Client
	skip int
	seq  uint32
}

func (v *scenarioViewer) Message(m []byte) {
	v.s.printf("%s < %s\n", v.name, v.s.describe(v.v, m))
	v.c.Message(m)
	if v.c.Err != nil {
		v.s.printf("%s ! %v\n", v.name, v.c.Err)
	}
}

func (s *scenario) printf(format string, a ...any) { fmt.Fprintf(&s.out, format, a...) }

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// step runs one line of a script.
func (s *scenario) step(words []string) {
	if s.in == nil && words[0] != "game" {
		s.t.Fatal("a scenario begins with its game")
	}
	do := map[string]func([]string){
		"game": s.game, "join": s.join, "attach": s.attach, "watch": s.watch, "leave": s.leave, "detach": s.detach,
		"tick": s.tick, "server": s.server, "send": s.send, "ack": s.ack, "resync": s.resync, "ping": s.ping,
		"hash": s.hash, "skip": s.skipSends, "raw": s.raw, "stats": s.stats,
	}[words[0]]
	if do == nil {
		s.t.Fatalf("no step %q", words[0])
	}
	do(words[1:])
}

// game TICKRATE SENDRATE SEATS [start TICK]
func (s *scenario) game(words []string) {
	s.def = testDef(number(s.t, words[0]), number(s.t, words[1]), number(s.t, words[2]))
	s.def.KeyframeSeconds = 1000 // turns are another matter
	quiet := calm
	g := testGame(s.def, &quiet)
	g.Removes = nil // what is to be removed comes from the script
	for i, b := range g.Bodies {
		if b.Step == ticktest.Start || b.Step == ticktest.Update && b.Side == schema.OnServer && b.Type == player {
			g.Bodies[i].Run = func(*ticktest.World, ticktest.Object) {}
		}
		if b.Step == ticktest.Update && b.Side == schema.OnServer && b.Type == instance {
			g.Bodies[i].Run = func(w *ticktest.World, _ ticktest.Object) {
				s.acted[w.Tick()] = append(s.acted[w.Tick()], s.actions...)
				s.actions = nil
				for _, a := range s.acted[w.Tick()] {
					a(w)
				}
			}
		}
	}
	o := Options{OnFault: func(in *Instance, f FaultReport) {
		s.printf("fault %d of %s for %d in tick %d, all %v, ended %v\n", f.Fault, f.Name, f.Actor, f.Tick, f.All, f.Ended)
	}}
	if len(words) > 3 {
		o.StartTick = uint32(number(s.t, words[4]))
	}
	s.shard = newTestShard(s.t, g, o)
	in, err := s.shard.Create("room", 5, 6)
	if err != nil {
		s.t.Fatal(err)
	}
	s.in = in
	s.module = g.Module()
}

// join NAME
func (s *scenario) join(words []string) {
	p, err := s.in.Join(words[0])
	if err != nil {
		s.printf("%v\n", err)
		return
	}
	s.printf("player %d\n", p)
}

// attach NAME PLAYER [thin]
func (s *scenario) attach(words []string) {
	s.add(words[0], uint32(number(s.t, words[1])), ViewerOptions{Thin: len(words) > 2})
}

// watch NAME [thin]
func (s *scenario) watch(words []string) {
	s.add(words[0], 0, ViewerOptions{Watch: true, Thin: len(words) > 1})
}

func (s *scenario) add(name string, player uint32, o ViewerOptions) {
	c, err := s.module.NewClient(o.Thin)
	if err != nil {
		s.t.Fatal(err)
	}
	o.Token[0] = byte(len(s.order) + 1)
	v := s.in.Attach(player, o)
	if v == nil {
		s.printf("no seat\n")
		return
	}
	s.viewers[name] = &scenarioViewer{s: s, name: name, v: v, c: c}
	if v.seat != nil {
		s.viewers[name].seq = v.seat.received
	}
	s.order = append(s.order, name)
	for _, n := range s.order {
		if !s.viewers[n].v.Attached() {
			s.printf("%s is detached\n", n)
		}
	}
}

// leave PLAYER
func (s *scenario) leave(words []string) { s.in.Leave(uint32(number(s.t, words[0]))) }

// detach NAME
func (s *scenario) detach(words []string) { s.in.Detach(s.viewers[words[0]].v) }

// tick [N]
func (s *scenario) tick(words []string) {
	n := 1
	if len(words) > 0 {
		n = number(s.t, words[0])
	}
	for range n {
		s.in.Step()
		if s.in.Ended() {
			s.printf("ended\n")
		}
		if !s.in.SendDue() {
			continue
		}
		s.in.Commit()
		for _, name := range s.order {
			v := s.viewers[name]
			if v.v.Removed() {
				s.printf("%s is removed\n", name)
				v.v.removed = false
			}
			if !v.v.Attached() {
				continue
			}
			if v.skip > 0 {
				v.skip--
				v.v.Skip()
				continue
			}
			v.v.Send(v)
			if v.c.Err == nil && v.c.Ready {
				if err := v.c.Compare(s.shard.layout, s.in.block, nil, nil); err != nil {
					s.printf("%s ! %v\n", name, err)
				}
			}
		}
	}
}

// server DOES: spawn TYPE, remove ID, set ID FIELD VALUE, end, close. It is done by
// the instance's server body in the next tick.
func (s *scenario) server(words []string) {
	types := map[string]int{"player": player, "rock": rock, "bullet": bullet, "token": token}
	all := func(w *ticktest.World, id int, f func(o ticktest.Object)) {
		if id == 0 {
			f(w.Instance())
		}
		for _, typ := range types {
			if o, ok := w.Find(typ, uint32(id)); ok {
				f(o)
			}
		}
	}
	var act func(w *ticktest.World)
	switch words[0] {
	case "spawn":
		act = func(w *ticktest.World) { w.Spawn(types[words[1]], 0) }
	case "remove":
		act = func(w *ticktest.World) { all(w, number(s.t, words[1]), w.Remove) }
	case "set":
		act = func(w *ticktest.World) {
			all(w, number(s.t, words[1]), func(o ticktest.Object) {
				f := s.def.Types[o.Type].Field(words[2])
				w.Set(o, f.Index, uint32(number(s.t, words[3])))
			})
		}
	case "end":
		act = func(w *ticktest.World) { w.End() }
	case "close":
		act = func(w *ticktest.World) { w.CloseSeats() }
	default:
		s.t.Fatalf("no server step %q", words[0])
	}
	s.actions = append(s.actions, act)
}

// send NAME COMMAND [ARG] [tick T] [seq N]: T may be relative to the server's, as in
// +3 or -1.
func (s *scenario) send(words []string) {
	v := s.viewers[words[0]]
	v.seq++
	h := wire.CommandHeader{Tick: s.in.Tick() + 1, Seq: v.seq}
	for i, c := range s.def.Commands {
		if c.Name == words[1] {
			h.Number = uint32(i)
		}
	}
	fields := s.def.Commands[h.Number].Fields
	var arg uint64
	for words = words[2:]; len(words) > 0; words = words[1:] {
		switch words[0] {
		case "tick":
			n := number(s.t, words[1])
			if strings.ContainsAny(words[1][:1], "+-") {
				n += int(s.in.Tick())
			}
			h.Tick = uint32(n)
			words = words[1:]
		case "seq":
			h.Seq = uint32(number(s.t, words[1]))
			words = words[1:]
		default:
			arg = uint64(number(s.t, words[0]))
		}
	}
	m := h.Append(nil)
	for _, f := range fields {
		m = append(m, le.AppendUint64(nil, arg)[:f.Kind.Size()]...)
	}
	s.receive(v, m)
}

func (s *scenario) receive(v *scenarioViewer, m []byte) {
	var c *wire.CloseError
	if err := v.v.Receive(m, 0x8000, v); errors.As(err, &c) {
		s.printf("%s closed %d: %v\n", v.name, c.Code, err)
	} else if err != nil {
		s.t.Fatal(err)
	}
}

// ack NAME [TICK]
func (s *scenario) ack(words []string) {
	v := s.viewers[words[0]]
	tick := v.c.Tick
	if len(words) > 1 {
		tick = uint32(number(s.t, words[1]))
	}
	s.receive(v, wire.Ack{Tick: tick}.Append(nil))
}

// resync NAME
func (s *scenario) resync(words []string) {
	s.receive(s.viewers[words[0]], wire.Resync{}.Append(nil))
}

// ping NAME
func (s *scenario) ping(words []string) {
	s.receive(s.viewers[words[0]], wire.Ping{Nonce: 77}.Append(nil))
}

// hash NAME [wrong]
func (s *scenario) hash(words []string) {
	v := s.viewers[words[0]]
	h := v.c.Hash()
	if len(words) > 1 {
		h++
	}
	s.receive(v, wire.StateHash{Tick: v.c.Tick, Hash: h}.Append(nil))
}

// skip NAME N: its next N sends
func (s *scenario) skipSends(words []string) { s.viewers[words[0]].skip = number(s.t, words[1]) }

// raw NAME HEX
func (s *scenario) raw(words []string) {
	m, err := hex.DecodeString(strings.Join(words[1:], ""))
	if err != nil {
		s.t.Fatal(err)
	}
	s.receive(s.viewers[words[0]], m)
}

// stats
func (s *scenario) stats([]string) {
	x := s.shard.Stats()
	for _, c := range Causes() {
		if n := x.Snapshots[c]; n > 0 {
			s.printf("snapshots for %v: %d\n", c, n)
		}
	}
	for _, r := range Refusals() {
		if n := x.Refused[r]; n > 0 {
			s.printf("commands refused for %v: %d\n", r, n)
		}
	}
	s.printf("acks ignored: %d, skipped: %d, hashes: %d, drifts: %d, malformed: %d\n", x.Acks, x.Skipped, x.Hashes, x.Drifts, x.Malformed)
}
