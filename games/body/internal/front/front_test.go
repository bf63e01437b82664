package front

import (
	"testing"

	"github.com/grafana/sobek/file"

	"gamehoster/games/diag"
)

func TestSuggest(t *testing.T) {
	known := []string{"position", "size", "speed", "x", "y"}
	for name, want := range map[string]string{
		"siez": "size", "Size": "size", "sped": "speed", "positoin": "position", "z": "", "colour": "", "s": "", "xs": "", "speedometer": "",
	} {
		if want != "" {
			want = `; did you mean "` + want + `"?`
		}
		if got := suggest(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestPositions(t *testing.T) {
	f := &Files{}
	f.add("a.js", "ab\n名x\r\n", 1)
	f.add("b.js", "", 12)
	f.add("c.js", "z", 13)
	for at, want := range map[file.Idx]diag.Position{
		1:  {File: "a.js", Line: 1, Column: 1},
		3:  {File: "a.js", Line: 1, Column: 3},
		4:  {File: "a.js", Line: 2, Column: 1},
		7:  {File: "a.js", Line: 2, Column: 2},
		10: {File: "a.js", Line: 3, Column: 1},
		12: {File: "b.js", Line: 1, Column: 1},
		14: {File: "c.js", Line: 1, Column: 2},
		99: {File: "c.js", Line: 1, Column: 2},
		0:  {},
	} {
		if got := f.Position(at); got != want {
			t.Errorf("%d: %v, want %v", at, got, want)
		}
	}
	if _, line := f.locate(7); line != "名x" {
		t.Errorf("the line is %q", line)
	}
}
