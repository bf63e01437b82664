package wire

import (
	"testing"

	"gamehoster/games/schema"
)

// allocScene is one of everything, made before the counting starts.
type allocScene struct {
	w, base *world
	rows    [][]byte
	olds    [][]byte
	rec     []byte
	scratch []byte
	dst     []byte
}

func newAllocScene() *allocScene {
	w := fixtureWorld()
	sc := &allocScene{w: w, base: w.edited(map[uint32]values{1: {"score": 1.0, "note": "?"}, 2: {"hits": 1.0}, 3: {"note": "!"}, 6: {"heat": 0.0}})}
	for i, o := range w.objects {
		sc.rows = append(sc.rows, w.row(o))
		sc.olds = append(sc.olds, sc.base.row(sc.base.objects[i]))
	}
	sc.rec = w.record(cmdFire, fireAhead)
	sc.scratch = make([]byte, w.s.MaxStride())
	sc.dst = make([]byte, 0, 4096)
	return sc
}

func (sc *allocScene) snapshot(dst []byte) []byte {
	s := sc.w.s
	dst = Snapshot{Tick: 1, Seed: 2, Next: 300, Processed: 4}.Append(dst)
	dst = s.Fields(schema.InstanceType, Whole, false).AppendAll(dst, sc.rows[0])
	return sc.wholes(dst)
}

func (sc *allocScene) wholes(dst []byte) []byte {
	var ow ObjectWriter
	for i, o := range sc.w.objects[1:] {
		dst = ow.Whole(dst, sc.w.s, o.typ, sc.rows[i+1], 3)
	}
	return dst
}

func (sc *allocScene) changes(dst []byte, sub Subset) []byte {
	var ow ObjectWriter
	for i, o := range sc.w.objects {
		dst = ow.Changes(dst, o.id, sc.w.s.Seen(o.typ, sub, sc.rows[i], 3), sc.rows[i], sc.olds[i])
	}
	return dst
}

func (sc *allocScene) full(dst []byte) []byte {
	var ow ObjectWriter
	for i, o := range sc.w.objects {
		dst = ow.Full(dst, o.id, sc.w.s.Fields(o.typ, Shared, false), sc.rows[i])
	}
	return dst
}

func (sc *allocScene) commands(dst []byte) []byte {
	cw := NewCommandWriter(9)
	for i := range uint32(5) {
		dst = cw.Append(dst, Relayed{5, 1, 1 + i, cmdFire})
		dst = sc.w.s.Command(cmdFire).AppendAll(dst, sc.rec)
	}
	return dst
}

func (sc *allocScene) leaves(dst []byte) []byte {
	var ow ObjectWriter
	for _, o := range sc.w.objects[1:] {
		dst = ow.ID(dst, o.id)
	}
	return dst
}

func checkAllocs(t *testing.T, what string, f func()) {
	t.Helper()
	const budget = 0
	if n := testing.AllocsPerRun(100, f); n > budget {
		t.Errorf("%s: %v allocations, budget %d", what, n, budget)
	}
	t.Logf("%s: budget %d allocations", what, budget)
}

func TestAllocAppend(t *testing.T) {
	sc := newAllocScene()
	s := sc.w.s
	welcome := Welcome{Name: []byte("k3v9"), Player: 3, TickRate: 30, SendRate: 15}
	for _, c := range []struct {
		what string
		f    func()
	}{
		{"command", func() {
			sc.dst = s.Command(cmdFire).AppendAll(CommandHeader{1, 2, cmdFire}.Append(sc.dst[:0]), sc.rec)
		}},
		{"ack", func() { sc.dst = Ack{1}.Append(sc.dst[:0]) }},
		{"ping", func() { sc.dst = Ping{1}.Append(sc.dst[:0]) }},
		{"state hash", func() { sc.dst = StateHash{1, 2}.Append(sc.dst[:0]) }},
		{"resync", func() { sc.dst = Resync{}.Append(sc.dst[:0]) }},
		{"welcome", func() { sc.dst = welcome.Append(sc.dst[:0]) }},
		{"snapshot", func() { sc.dst = sc.snapshot(sc.dst[:0]) }},
		{"delta", func() { sc.dst = sc.changes(Delta{1, 0, 3}.Append(sc.dst[:0]), Sent) }},
		{"thin delta", func() { sc.dst = sc.changes(Delta{1, 0, 3}.Append(sc.dst[:0]), Whole) }},
		{"keyframe", func() { sc.dst = sc.full(Keyframe{1}.Append(sc.dst[:0])) }},
		{"commands", func() { sc.dst = sc.commands(Commands{9}.Append(sc.dst[:0])) }},
		{"enter", func() { sc.dst = sc.wholes(Enter{1}.Append(sc.dst[:0])) }},
		{"leave", func() { sc.dst = sc.leaves(Leave{1}.Append(sc.dst[:0])) }},
		{"pong", func() { sc.dst = Pong{1, 2, 3}.Append(sc.dst[:0]) }},
	} {
		checkAllocs(t, "append "+c.what, c.f)
	}
}

func TestAllocParse(t *testing.T) {
	sc := newAllocScene()
	s := sc.w.s
	welcome := Welcome{Name: []byte("k3v9"), Player: 3, TickRate: 30, SendRate: 15}
	command := s.Command(cmdFire).AppendAll(CommandHeader{1, 2, cmdFire}.Append(nil), sc.rec)
	refused := append([]byte{}, command...)
	refused[len(refused)-3] = 99
	bad := append([]byte{}, command...)
	bad = append(bad, 0)
	snapshot := sc.snapshot(nil)
	delta := sc.changes(Delta{1, 0, 3}.Append(nil), Sent)
	keyframe := sc.full(Keyframe{1}.Append(nil))
	commands := sc.commands(Commands{9}.Append(nil))
	enter := sc.wholes(Enter{1}.Append(nil))
	leave := sc.leaves(Leave{1}.Append(nil))
	hello := welcome.Append(nil)
	small := [][]byte{Ack{1}.Append(nil), Ping{1}.Append(nil), StateHash{1, 2}.Append(nil), Resync{}.Append(nil), Pong{1, 2, 3}.Append(nil)}

	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	wholes := func(rest []byte) {
		r := NewWholeReader(s, 3, rest)
		for r.Next() {
			must(r.Read(sc.scratch))
		}
		must(r.Err())
	}
	changes := func(rest []byte, sub Subset) {
		r := NewChangesReader(rest)
		for i := 0; r.Next(); i++ {
			must(r.Read(s.Seen(sc.w.objects[i].typ, sub, sc.rows[i], 3), sc.scratch))
		}
		must(r.Err())
	}
	for _, c := range []struct {
		what string
		f    func()
	}{
		{"command", func() { _, err := s.ParseCommand(command, sc.rec); must(err) }},
		{"refused command", func() {
			if _, err := s.ParseCommand(refused, sc.rec); err != ErrRefused {
				t.Fatal(err)
			}
		}},
		{"malformed command", func() {
			if _, err := s.ParseCommand(bad, sc.rec); err != errTrailing {
				t.Fatal(err)
			}
		}},
		{"ack", func() { _, err := ParseAck(small[0]); must(err) }},
		{"ping", func() { _, err := ParsePing(small[1]); must(err) }},
		{"state hash", func() { _, err := ParseStateHash(small[2]); must(err) }},
		{"resync", func() { _, err := ParseResync(small[3]); must(err) }},
		{"welcome", func() { _, err := ParseWelcome(hello); must(err) }},
		{"snapshot", func() {
			_, rest, err := ParseSnapshot(snapshot)
			must(err)
			rest, err = s.Fields(schema.InstanceType, Whole, false).ReadAll(rest, sc.scratch)
			must(err)
			wholes(rest)
		}},
		{"delta", func() { _, rest, err := ParseDelta(delta); must(err); changes(rest, Sent) }},
		{"keyframe", func() { _, rest, err := ParseKeyframe(keyframe); must(err); changes(rest, Shared) }},
		{"commands", func() {
			m, rest, err := ParseCommands(commands)
			must(err)
			r := NewCommandReader(s, m.Tick, rest)
			for r.Next(sc.rec) {
			}
			must(r.Err())
		}},
		{"enter", func() { _, rest, err := ParseEnter(enter); must(err); wholes(rest) }},
		{"leave", func() {
			_, rest, err := ParseLeave(leave)
			must(err)
			r := NewIDReader(rest)
			for r.Next() {
			}
			must(r.Err())
		}},
		{"pong", func() { _, err := ParsePong(small[4]); must(err) }},
	} {
		checkAllocs(t, "parse "+c.what, c.f)
	}
}

func TestAllocFields(t *testing.T) {
	sc := newAllocScene()
	s := sc.w.s
	var h Hash
	var differ bool
	checkAllocs(t, "state hash of a world", func() {
		h = NewHash().Fields(s.Fields(schema.InstanceType, Shared, false), sc.rows[0])
		for i, o := range sc.w.objects[1:] {
			h = h.Object(s, o.typ, sc.rows[i+1])
		}
	})
	checkAllocs(t, "differ", func() {
		differ = s.Fields(typePlayer, Sent, true).Differ(sc.rows[1], sc.olds[1])
	})
	f := sc.w.def.Types[typePlayer].Fields[5]
	off := sc.w.server.Types[typePlayer].Offsets[5]
	checkAllocs(t, "a field by itself", func() {
		sc.dst = AppendField(sc.dst[:0], f, sc.rows[1], off)
		if _, err := ReadField(f, sc.dst, sc.scratch, off); err != nil {
			t.Fatal(err)
		}
	})
	if h == 0 || !differ {
		t.Error("nothing was done")
	}
}
