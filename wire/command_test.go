package wire

import (
	"bytes"
	"math"
	"testing"

	"gamehoster/games/schema"
)

func appendCommand(dst []byte, w *world, h CommandHeader, v values) []byte {
	return w.s.Command(h.Number).AppendAll(h.Append(dst), w.record(int(h.Number), v))
}

var (
	thrustOn  = values{"on": true}
	fireAhead = values{"angle": float64(float32(3.2)), "power": 10.0, "at": uint32(300)}
	sayHello  = values{"text": "hello wörld ☃"}
	probing   = values{"a": -128.0, "b": -2.0, "c": 65535.0, "d": -2147483648.0, "e": 4294967295.0, "f": math.Copysign(0, -1)}
)

func commandVectors(w *world) (list []vector) {
	add := func(name string, h CommandHeader, v values) {
		list = append(list, vector{name, naiveCommand(w, h, v), appendCommand(nil, w, h, v), map[string]any{
			"tick": h.Tick, "seq": h.Seq, "command": h.Number, "fields": expectFields(w.def.Commands[h.Number].Fields, v)}})
	}
	add("thrust", CommandHeader{901, 1, cmdThrust}, thrustOn)
	add("fire, at its bounds", CommandHeader{902, 127, cmdFire}, fireAhead)
	add("say", CommandHeader{903, 128, cmdSay}, sayHello)
	add("probe, every whole kind at an end", CommandHeader{904, 70000, cmdProbe}, probing)
	add("stop, without fields", CommandHeader{0, 0xffffffff, cmdStop}, nil)
	return list
}

func TestCommand(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "command", commandVectors(w)...)
	for number, v := range []values{thrustOn, fireAhead, sayHello, probing, nil} {
		h := CommandHeader{Tick: 7, Seq: 300, Number: uint32(number)}
		p := appendCommand(nil, w, h, v)
		if len(p) > w.s.MaxCommand() {
			t.Errorf("%d bytes, over MaxCommand", len(p))
		}
		rec := bytes.Repeat([]byte{0xaa}, w.server.CommandStride)
		got, err := w.s.ParseCommand(p, rec)
		if err != nil || got != h {
			t.Fatalf("%+v, %v", got, err)
		}
		if want := w.record(number, v)[schema.CommandFields:]; !bytes.Equal(rec[schema.CommandFields:], want) {
			t.Errorf("command %d: record\n% x, want\n% x", number, rec[schema.CommandFields:], want)
		}
		if !bytes.Equal(rec[:schema.CommandFields], bytes.Repeat([]byte{0xaa}, schema.CommandFields)) {
			t.Error("the record's front was written")
		}
	}
	rejects(t, func(p []byte) error {
		_, err := w.s.ParseCommand(p, make([]byte, w.server.CommandStride))
		return err
	},
		bad{"short tick", "01 000000", errShort},
		bad{"no seq", "01 00000000", errShort},
		bad{"seq 0", "01 00000000 00 04", errSeq},
		bad{"seq over 32 bits", "01 00000000 ffffffff10 04", errUvarint},
		bad{"unknown command", "01 00000000 01 05", errCommand},
		bad{"trailing", "01 00000000 01 04 00", errTrailing},
		bad{"bool", "01 00000000 01 00 02", errBool},
		bad{"no bool", "01 00000000 01 00", errShort},
		bad{"NaN", "01 00000000 01 01 0000c07f 05 00", errFinite},
		bad{"infinity", "01 00000000 01 01 0000807f 05 00", errFinite},
		bad{"NaN of 64 bits", "01 00000000 01 03 00 0000 0000 00000000 00000000 000000000000f87f", errFinite},
		bad{"str of 17", "01 00000000 01 02 11 6161616161616161616161616161616161", errStr},
		bad{"str cut", "01 00000000 01 02 05 61616161", errShort},
		bad{"str with an overlong length", "01 00000000 01 02 8100 61", errUvarint},
		bad{"half a character", "01 00000000 01 02 01 c3", errUTF8},
		bad{"a surrogate", "01 00000000 01 02 03 eda080", errUTF8},
		bad{"out of bounds and trailing", "01 00000000 01 01 00000000 63 00 00", errTrailing})
}

func TestCommandOutOfBoundsIsRefused(t *testing.T) {
	w := fixtureWorld()
	rec := make([]byte, w.server.CommandStride)
	for _, v := range []values{
		{"angle": 3.3, "power": 5.0, "at": uint32(0)},
		{"angle": -3.3, "power": 5.0, "at": uint32(0)},
		{"angle": 0.0, "power": 0.0, "at": uint32(0)},
		{"angle": 0.0, "power": 11.0, "at": uint32(0)},
		{"angle": float64(math.Nextafter32(3.2, 4)), "power": 1.0, "at": uint32(0)},
	} {
		h, err := w.s.ParseCommand(appendCommand(nil, w, CommandHeader{5, 6, cmdFire}, v), rec)
		if err != ErrRefused || h != (CommandHeader{5, 6, cmdFire}) {
			t.Errorf("%v: %+v, %v", v, h, err)
		}
	}
	for _, angle := range []float64{3.2, -3.2, 0} {
		v := values{"angle": angle, "power": 1.0, "at": uint32(0)}
		if _, err := w.s.ParseCommand(appendCommand(nil, w, CommandHeader{5, 6, cmdFire}, v), rec); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}
