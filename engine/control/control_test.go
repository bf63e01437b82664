package control

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"gamehoster/engine/worker"
)

var someone = worker.Reservation{
	Instance: 7, InstanceName: "abcdefgh", Named: true, Resume: worker.NewToken(1, 7, 0x1122334455667788),
	Client: worker.Client{Player: "Ann", Watch: true, Peer: netip.MustParseAddr("192.0.2.7"), Host: "g.example"},
}

// examples has one message of each kind, and its bytes.
var examples = []struct {
	m    Message
	want string
}{
	{&Start{Shard: 9}, "01 09000000"},
	{&Seat{Number: 1<<40 + 5, Reservation: someone, Early: []byte("hi")},
		"02 0500000000010000 07000000 05 01000000070000008877665544332211 0800 6162636465666768 0300 416e6e 04 c0000207 0900 672e6578616d706c65 02000000 6869"},
	{&Reseated{Ticket: 3, OK: true, Reservation: worker.Reservation{Instance: 8}},
		"03 03000000 01 08000000 00 00000000000000000000000000000000 0000 0000 00 0000"},
	{&Retired{Instance: 8}, "04 08000000"},
	{&Drain{}, "05"},
	{&Drop{Code: 1001, Reason: "x"}, "06 e903 0100 78"},
	{&Inspect{Ticket: 2}, "07 02000000"},
	{&End{Code: 4005, Reason: "y"}, "08 a50f 0100 79"},
	{&Hello{Hash: 0x0102030405060708}, "41 0807060504030201"},
	{&Claimed{Number: 5}, "42 0500000000000000"},
	{&Lost{Number: 6}, "43 0600000000000000"},
	{&Reseat{Ticket: 1, Reservation: worker.Reservation{Instance: 8, Client: worker.Client{Thin: true}}},
		"44 01000000 08000000 02 00000000000000000000000000000000 0000 0000 00 0000"},
	{&Release{Instance: 8}, "45 08000000"},
	{&Open{Instance: 8, Open: true}, "46 08000000 01"},
	{&Retire{Instance: 8, Force: true}, "47 08000000 01"},
	{&Closed{Player: 11, Code: 1006, Reason: "z", Duration: 258, BytesIn: 3, BytesOut: 4},
		"48 00000000 00 00000000000000000000000000000000 0000 0000 00 0000 0b000000 ee03 0100 7a 0201000000000000 0300000000000000 0400000000000000"},
	{&Load{Instances: 1, Players: 2, Sockets: 3, Adopted: 4, Gone: 5, Overflows: 6, Expired: 7, BytesIn: 8, BytesOut: 9, Dropped: 10, Memory: 11,
		Late: Times{1, 2, 3, 4, 5}, Took: Times{6, 7, 8, 9, 10}, Counts: []byte{1}},
		"49 01000000 02000000 03000000 0400000000000000 0500000000000000 0600000000000000 0700000000000000" +
			"0800000000000000 0900000000000000 0a00000000000000 0b00000000000000" +
			"0100000000000000 0200000000000000 0300000000000000 0400000000000000 0500000000000000" +
			"0600000000000000 0700000000000000 0800000000000000 0900000000000000 0a00000000000000 01000000 01"},
	{&Inspected{Ticket: 2, More: true, Part: []byte("{")}, "4a 02000000 01 01000000 7b"},
	{&Bye{}, "4b"},
}

func TestGoldenBytes(t *testing.T) {
	told := map[Kind]bool{}
	for _, e := range examples {
		told[e.m.Kind()] = true
		want, err := hex.DecodeString(strings.ReplaceAll(e.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Append([]byte("before"), e.m)
		if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%T: %x, %v, want %x", e.m, got, err, want)
		}
		back, err := Parse(want)
		if err != nil || !reflect.DeepEqual(back, e.m) {
			t.Errorf("%T came back as %+v, %v", e.m, back, err)
		}
		for n := range want { // nothing that is cut short is a message, and nothing with more behind it
			if m, err := Parse(want[:n]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%d bytes of a %T: %+v, %v", n, e.m, m, err)
			}
		}
		if m, err := Parse(append(want, 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("a %T with a byte too many: %+v, %v", e.m, m, err)
		}
	}
	for k := range kinds {
		if !told[k] {
			t.Errorf("kind %d has no example", k)
		}
	}
}

func TestMalformedMessages(t *testing.T) {
	for name, text := range map[string]string{
		"no byte":            "",
		"unknown kind":       "ff",
		"a bool of 2":        "46 08000000 02",
		"unknown bit":        "44 01000000 08000000 08 00000000000000000000000000000000 0000 0000 00 0000",
		"address of 5 bytes": "44 01000000 08000000 00 00000000000000000000000000000000 0000 0000 05 0102030405",
		"name of 256 bytes":  "44 01000000 08000000 00 00000000000000000000000000000000 0001" + strings.Repeat("61", 256) + "0000 00",
		"negative duration":  "48 00000000 00 00000000000000000000000000000000 0000 0000 00 0b000000 ee03 0000 0000000000000080",
		"length without end": "4a 02000000 00 ffffffff 7b",
	} {
		p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Parse(p); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if _, err := Parse(make([]byte, MaxMessage+1)); !errors.Is(err, ErrMalformed) {
		t.Errorf("one that is too long: %v", err)
	}
}

func TestWhatIsTooLong(t *testing.T) {
	b, err := Append(nil, &Drop{Reason: strings.Repeat("ä", maxReason)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(b)
	if err != nil || m.(*Drop).Reason != strings.Repeat("ä", maxReason/2) {
		t.Errorf("a long reason came as %+v, %v", m, err)
	}
	if b, err := Append([]byte("x"), &Seat{Early: make([]byte, MaxEarly+1)}); err == nil || string(b) != "x" {
		t.Errorf("too many early bytes: %q, %v", b, err)
	}
	longest := someone
	longest.InstanceName, longest.Player, longest.Host = strings.Repeat("n", maxName), strings.Repeat("p", maxName), strings.Repeat("h", maxName)
	longest.Peer = netip.MustParseAddr("2001:db8::1")
	b, err = Append(nil, &Seat{Reservation: longest, Early: make([]byte, MaxEarly)})
	if err != nil || len(b) > MaxMessage {
		t.Errorf("the longest seat has %d bytes, %v", len(b), err)
	}
}

// FuzzParse wants whatever is taken to be the one encoding of what it is taken for.
func FuzzParse(f *testing.F) {
	for _, e := range examples {
		b, err := Append(nil, e.m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		m, err := Parse(p)
		if err != nil {
			if m != nil || !errors.Is(err, ErrMalformed) {
				t.Fatalf("%+v, %v", m, err)
			}
			return
		}
		again, err := Append(nil, m)
		if err != nil || !bytes.Equal(again, p) {
			t.Fatalf("%x is read as %+v and written as %x, %v", p, m, again, err)
		}
	})
}
