package wire

import "testing"

// One target per message, seeded with what the encoder makes. The property is
// checkEcho's: never a panic, and nothing taken for what it is not.
func fuzzMessage(f *testing.F, tag Tag) {
	w := fixtureWorld()
	for _, v := range vectors()[messageFiles[tag]] {
		f.Add(v.got[1:])
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		checkEcho(t, w, append([]byte{byte(tag)}, p...))
	})
}

func FuzzCommand(f *testing.F)   { fuzzMessage(f, TagCommand) }
func FuzzAck(f *testing.F)       { fuzzMessage(f, TagAck) }
func FuzzPing(f *testing.F)      { fuzzMessage(f, TagPing) }
func FuzzStateHash(f *testing.F) { fuzzMessage(f, TagStateHash) }
func FuzzResync(f *testing.F)    { fuzzMessage(f, TagResync) }
func FuzzWelcome(f *testing.F)   { fuzzMessage(f, TagWelcome) }
func FuzzSnapshot(f *testing.F)  { fuzzMessage(f, TagSnapshot) }
func FuzzDelta(f *testing.F)     { fuzzMessage(f, TagDelta) }
func FuzzKeyframe(f *testing.F)  { fuzzMessage(f, TagKeyframe) }
func FuzzCommands(f *testing.F)  { fuzzMessage(f, TagCommands) }
func FuzzEnter(f *testing.F)     { fuzzMessage(f, TagEnter) }
func FuzzLeave(f *testing.F)     { fuzzMessage(f, TagLeave) }
func FuzzPong(f *testing.F)      { fuzzMessage(f, TagPong) }

// FuzzUvarint holds the reader of varints to the writer.
func FuzzUvarint(f *testing.F) {
	for _, v := range []uint32{0, 127, 128, 1 << 14, 1 << 21, 1 << 28, 1<<32 - 1} {
		f.Add(AppendUvarint(nil, v))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		v, rest, err := ReadUvarint(p)
		if err != nil {
			return
		}
		if n := len(p) - len(rest); string(AppendUvarint(nil, v)) != string(p[:n]) {
			t.Errorf("% x is taken for %d", p[:n], v)
		}
	})
}
