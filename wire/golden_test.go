package wire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// vector is one message of a golden file: what the twin says it must be, what the
// encoder made of it, and what a reader must make of that.
type vector struct {
	name   string
	want   dump
	got    []byte
	expect map[string]any // for testdata/expected.json
}

// checkVectors compares messages with the twin and both with testdata/NAME.golden:
// a line "# name" before each, then lines of hex and a note after a bar.
func checkVectors(t *testing.T, file string, list ...vector) {
	t.Helper()
	var text bytes.Buffer
	for i, v := range list {
		if want := v.want.bytes(); !bytes.Equal(want, v.got) {
			t.Errorf("%s: the encoder made\n%x\nthe twin\n%x", v.name, v.got, want)
		}
		if i > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "# %s\n", v.name)
		for _, l := range v.want {
			fmt.Fprintf(&text, "%-24s | %s\n", fmt.Sprintf("% x", l.b), l.note)
		}
	}
	checkFile(t, file+".golden", text.Bytes())
	read := readVectors(t, file+".golden")
	for i, v := range list {
		if read[i].name != v.name || !bytes.Equal(read[i].b, v.got) {
			t.Errorf("%s: the file has %x", v.name, read[i].b)
		}
	}
}

// checkFile compares a file of testdata, or writes it with -update.
func checkFile(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what this version makes; with -update it is written anew:\n%s", name, want)
	}
}

type named struct {
	name string
	b    []byte
}

// readVectors reads a golden file as any implementation would.
func readVectors(t testing.TB, file string) (list []named) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(l, "# "); ok {
			list = append(list, named{name: name})
			continue
		}
		digits, _, _ := strings.Cut(l, "|")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatalf("%s: %q: %v", file, l, err)
		}
		if len(b) > 0 {
			last := &list[len(list)-1]
			last.b = append(last.b, b...)
		}
	}
	return list
}

// messageFiles are the golden files of messages, by the tag they hold.
var messageFiles = map[Tag]string{
	TagCommand: "command", TagAck: "ack", TagPing: "ping", TagStateHash: "statehash", TagResync: "resync",
	TagWelcome: "welcome", TagSnapshot: "snapshot", TagDelta: "delta", TagKeyframe: "keyframe",
	TagCommands: "commands", TagEnter: "enter", TagLeave: "leave", TagPong: "pong",
}

// corpus is every message of the golden files.
func corpus(t testing.TB) (list []named) {
	for tag, file := range messageFiles {
		for _, v := range readVectors(t, file+".golden") {
			if TagOf(v.b) != tag {
				t.Fatalf("%s: %s begins with another tag", file, v.name)
			}
			list = append(list, named{file + ": " + v.name, v.b})
		}
	}
	return list
}
